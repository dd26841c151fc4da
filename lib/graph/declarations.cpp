// What nodes of a graph say that they do to memory.
#include "declarations.hpp"

namespace cudag::detail {

std::vector<ArgumentAccess> all_declared(const GraphState& graph, std::uint32_t index) {
    std::vector<ArgumentAccess> accesses;
    for_each_declared(graph, index, [&](const ArgumentAccess& access) { accesses.push_back(access); });
    return accesses;
}

void declare_accesses(GraphState& graph, std::uint32_t index, std::vector<ArgumentAccess>&& accesses) {
    std::erase_if(accesses, [](const ArgumentAccess& access) { return access.region.is_empty(); });
    DeclaredAccesses& as_made = graph.declared_as_made();
    as_made.reserve(accesses.size());
    if (graph.updated().find(index) != nullptr) {
        std::vector<ArgumentAccess>& in_force = graph.updated(index).accesses;
        in_force.insert(in_force.end(), accesses.begin(), accesses.end());
    }
    as_made.add(index, accesses);
    graph.special().accesses = true;
}

} // namespace cudag::detail
