// What every segment of a program keeps.
#include "shared_owners.hpp"

#include "graph/graph_owners.hpp"

#include <memory>
#include <vector>

namespace cudag::detail {

void share_owners(CapturedSegments& parts) {
    std::vector<std::shared_ptr<const void>> all = parts.owners;
    for (const CapturedBreak& each : parts.breaks)
        if (each.task.function) all.push_back(each.task.function);
    if (all.empty()) return;
    for (const Graph& graph : parts.graphs)
        keep_owners(Access::state(graph), std::vector(all));
}

} // namespace cudag::detail
