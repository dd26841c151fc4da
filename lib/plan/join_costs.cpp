// Costs of joins: when an empty kernel is faster than edges.
#include "join_costs.hpp"

#include <algorithm>
#include <cmath>

namespace cudag::detail {

JoinCosts JoinCosts::for_launches(unsigned launches) const noexcept {
    // On an H100, edges of these ratios instead of kernels are repaid by: 2.0: 10 launches, 2.7: 31, 3.0: 77. Those of
    // 3.2 never are, but the thresholds for many launches also hold for narrow joins, which repay sooner.
    constexpr unsigned many = 100;
    if (launches >= many) return *this;
    const double repaid = 2 + std::log(std::max(launches, 1U) / 10.0) / 2.05;
    const double limit = std::max(edges_at_once, repaid);
    JoinCosts costs = *this;
    costs.edges_up_to = std::min(edges_up_to, limit);
    costs.joins_up_to = std::min(joins_up_to, limit);
    return costs;
}

JoinCosts join_costs(int, int) noexcept {
    // H200 with a driver for CUDA 13.0, used for every GPU: an H100, the only other one measured, gives 4.0 and 3.2
    return {.edges_up_to = 4.364, .joins_up_to = 3.4, .edges_at_once = 1.6};
}

std::optional<JoinGains> join_gains(int major, int minor) noexcept {
    if (major != 9 || minor != 0) return std::nullopt;
    // H200, a driver for CUDA 13.0
    return JoinGains{.node_call = .48,
                     .node_gpu = .44,
                     .block_call = .024,
                     .block_gpu = .07,
                     .edge_instantiate = .5,
                     .begin_call = .8};
}

} // namespace cudag::detail
