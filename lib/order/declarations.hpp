// The accesses that nodes of a graph declare.
#pragma once

#include "graph/graph_state.hpp"
#include "node/kernel.hpp"

#include <cstdint>
#include <vector>

namespace cudag::detail {

/// Adds to what the node declares. All or none.
void declare_accesses(GraphState& graph, std::uint32_t index, std::vector<ArgumentAccess>&& accesses);

/// What is known of the parameters of `kernel`, which the node launches: of a captured one more than CUDA tells.
[[nodiscard]] inline const KernelSignature& known_signature(const GraphState& graph, std::uint32_t index,
                                                            const KernelParams& kernel) {
    const KernelSignature* const launched = graph.declared_as_made().signature_of(index);
    return launched == nullptr ? *kernel.signature : *launched;
}

} // namespace cudag::detail
