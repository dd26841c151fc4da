// Early launch: programmatic edges to kernels that declare to wait for previous ones.
#include "early.hpp"

namespace cudag::detail {

namespace {

bool may_be_early(const EarlyNodes& nodes, const std::vector<bool>& keeps_all, const EdgeRecord& edge) {
    const std::size_t count = nodes.roles.size();
    if (edge.to >= count || nodes.roles[edge.to] != EarlyRole::waiting) return false;
    if (!keeps_all.empty() && keeps_all[edge.to]) return false;
    if (edge.from >= count) return nodes.contexts.empty(); // an empty kernel of the plan
    if (nodes.roles[edge.from] == EarlyRole::other) return false;
    return nodes.contexts.empty() || nodes.contexts[edge.from] == nodes.contexts[edge.to];
}

} // namespace

void plan_early(const EarlyNodes& nodes, const std::vector<bool>& keeps_all, PlannedEdges& planned) {
    std::vector<std::size_t> successors(nodes.roles.size() + planned.kernels);
    for (const EdgeRecord& edge : planned.edges)
        ++successors[edge.from];
    for (EdgeRecord& edge : planned.edges) {
        if (edge.kind != EdgeKind::full || successors[edge.from] > most_early_successors) continue;
        if (!may_be_early(nodes, keeps_all, edge)) continue;
        edge.kind = EdgeKind::programmatic;
        ++planned.early;
    }
}

} // namespace cudag::detail
