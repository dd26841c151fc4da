// Declared accesses of the nodes of a graph.
#pragma once

#include "graph/graph_records.hpp"
#include "node/kernel.hpp"

#include <cstdint>
#include <vector>

namespace cudag::detail {

class GraphState;

/// Adds to the node's declared accesses. Adds all or none.
void declare_accesses(GraphState& graph, std::uint32_t index, std::vector<ArgumentAccess>&& accesses);

/// The known signature of `kernel`, launched by the node: for a captured launch it holds more than CUDA reports.
[[nodiscard]] inline const KernelSignature& known_signature(const GraphState& graph, std::uint32_t index,
                                                            const KernelParams& kernel) {
    const KernelSignature* const launched = records_of(graph).initial_accesses().signature_of(index);
    return launched == nullptr ? *kernel.signature : *launched;
}

} // namespace cudag::detail
