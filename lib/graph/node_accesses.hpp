// What the nodes of a graph do to memory, as far as cudag knows.
#pragma once

#include "node_place.hpp"
#include "plan/memory_access.hpp"

#include <cudag/detail/call_effects.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// Which node says so, and by which of its arguments (see MemoryArgument).
struct AccessOrigin {
    NodePlace place;
    std::uint32_t argument;
    std::size_t element_bytes;
};

struct NodeAccesses {
    std::vector<MemoryAccess> list;    ///< by the nodes of the graph that was asked for, in order
    std::vector<AccessOrigin> origins; ///< of each: the same node, or one inside it
};

/// Of copies and fills, all; of kernels, the arguments whose memory is known; and what was declared. Parts of CUDA
/// arrays are regions of an address space of their own, in elements. Reads a captured graph. Takes as long as there are
/// nodes and accesses.
[[nodiscard]] NodeAccesses accesses_of(const GraphState& graph);

/// Calls `use(argument)` for each argument of the node that may be an address and is not tracked.
template <class Use>
void for_each_untracked(const GraphState& graph, std::uint32_t index, const Use& use) {
    const auto* const* kernel = std::get_if<const KernelParams*>(&graph.params(index));
    if (kernel == nullptr) return;
    const KernelSignature& signature = graph.signature_of(index, **kernel);
    for (std::uint32_t i = 0; i < signature.count; ++i) {
        if (!may_be_address(signature.parameters[i])) continue;
        bool is_tracked = false;
        graph.for_each_declared(index,
                                [&](const ArgumentAccess& access) { is_tracked = is_tracked || access.argument == i; });
        if (!is_tracked) use(i);
    }
}

} // namespace cudag::detail
