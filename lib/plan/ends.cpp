// The ends of a graph: many kernels at once, or one kernel before and after them.
#include "ends.hpp"

namespace cudag::detail {

void plan_ends(const std::vector<bool>& is_kernel, PlannedEdges& planned) {
    const std::size_t nodes = is_kernel.size();
    const std::size_t all = nodes + planned.kernels;
    std::vector<bool> has_before(all), has_after(all);
    for (const EdgeRecord& edge : planned.edges)
        has_before[edge.to] = has_after[edge.from] = true;
    std::vector<std::uint32_t> first, last;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        if (!is_kernel[node]) continue;
        if (!has_before[node]) first.push_back(node);
        if (!has_after[node]) last.push_back(node);
    }
    const bool begins_at_once = first.size() >= min_kernels_at_end;
    if (begins_at_once) {
        const auto kernel = static_cast<std::uint32_t>(nodes + planned.kernels++);
        for (const std::uint32_t node : first)
            planned.edges.push_back({kernel, node});
        planned.joins.push_back({JoinRecord::no_node, 0, static_cast<std::uint32_t>(first.size()), JoinForm::kernel,
                                 JoinReason::launch_call});
    }
    if (last.size() >= min_kernels_at_end && (begins_at_once || first.size() == 1)) {
        const auto kernel = static_cast<std::uint32_t>(nodes + planned.kernels++);
        for (const std::uint32_t node : last)
            planned.edges.push_back({node, kernel});
        planned.joins.push_back({JoinRecord::no_node, static_cast<std::uint32_t>(last.size()), 0, JoinForm::kernel,
                                 JoinReason::launch_call});
    }
}

} // namespace cudag::detail
