// Declared accesses of the nodes of a graph.
#include "declarations.hpp"

#include "graph/declared_accesses.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"

namespace cudag::detail {

void declare_accesses(GraphState& graph, std::uint32_t index, std::vector<ArgumentAccess>&& accesses) {
    std::erase_if(accesses, [](const ArgumentAccess& access) { return access.block.is_empty(); });
    if (accesses.empty()) return;
    DeclaredAccesses& as_made = records_of(graph).initial_accesses();
    const auto lock = as_made.lock(); // Execs may be reading
    as_made.reserve(index, accesses.size());
    if (records_of(graph).updated().find(index) != nullptr) {
        std::vector<ArgumentAccess>& in_force = records_of(graph).updated(index).accesses;
        in_force.insert(in_force.end(), accesses.begin(), accesses.end());
    }
    as_made.add(index, accesses);
    for (const GraphState* each = &graph; each != nullptr; each = tree_of(*each).parent())
        records_of(*each).count_declared();
    records_of(graph).special().accesses = true;
}

} // namespace cudag::detail
