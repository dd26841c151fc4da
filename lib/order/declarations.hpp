// What nodes of a graph say that they do to memory, as it is in force.
#pragma once

#include "graph/graph_state.hpp"
#include "node/kernel.hpp"

#include <cstdint>
#include <vector>

namespace cudag::detail {

/// Calls `visit(access)` for each access that the node has declared. Needs the graph's lock.
template <class Visit>
void for_each_declared(const GraphState& graph, std::uint32_t index, const Visit& visit) {
    if (const UpdatedNode* const changed = graph.updated().find(index); changed != nullptr)
        for (const ArgumentAccess& access : changed->accesses)
            visit(access);
    else
        graph.declared_as_made().for_each(index, visit);
}
[[nodiscard]] std::vector<ArgumentAccess> all_declared(const GraphState& graph, std::uint32_t index);

/// Adds to what the node declares. All or none.
void declare_accesses(GraphState& graph, std::uint32_t index, std::vector<ArgumentAccess>&& accesses);

/// What is known of the parameters of `kernel`, which the node launches: of a captured one more than CUDA tells.
[[nodiscard]] inline const KernelSignature& known_signature(const GraphState& graph, std::uint32_t index,
                                                            const KernelParams& kernel) {
    const KernelSignature* const launched = graph.declared_as_made().signature_of(index);
    return launched == nullptr ? *kernel.signature : *launched;
}

} // namespace cudag::detail
