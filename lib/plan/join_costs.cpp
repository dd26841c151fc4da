// Costs of joins: when an empty kernel is faster than edges.
#include "join_costs.hpp"

namespace cudag::detail {

JoinCosts join_costs(int, int) noexcept {
    // H200 with a driver for CUDA 13.0, used for every GPU: an H100, the only other one measured, gives 4.0 and 3.2
    return {.edges_up_to = 4.364, .joins_up_to = 3.4};
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
