// Declared accesses of the nodes of a graph.
#include "declarations.hpp"

namespace cudag::detail {

void declare_accesses(GraphState& graph, std::uint32_t index, std::vector<ArgumentAccess>&& accesses) {
    std::erase_if(accesses, [](const ArgumentAccess& access) { return access.block.is_empty(); });
    if (accesses.empty()) return;
    DeclaredAccesses& as_made = graph.records().initial_accesses();
    const auto lock = as_made.lock(); // Execs may be reading
    as_made.reserve(index, accesses.size());
    if (graph.records().updated().find(index) != nullptr) {
        std::vector<ArgumentAccess>& in_force = graph.records().updated(index).accesses;
        in_force.insert(in_force.end(), accesses.begin(), accesses.end());
    }
    as_made.add(index, accesses);
    for (const GraphState* each = &graph; each != nullptr; each = each->tree().parent())
        each->records().count_declared();
    graph.records().special().accesses = true;
}

} // namespace cudag::detail
