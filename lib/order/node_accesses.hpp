// Known memory accesses of the nodes of a graph.
#pragma once

#include "accesses/access_list.hpp"
#include "accesses/memory_access.hpp"
#include "graph/in_force.hpp"
#include "graph/node_place.hpp"

#include <cudag/detail/call_effects.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace cudag::detail {

/// The origin of an access: a node and one of its arguments (see MemoryArgument).
struct AccessOrigin {
    NodePlace place;
    std::uint32_t argument;
    std::size_t element_bytes;
};

struct NodeAccesses {
    std::vector<MemoryAccess> list;    ///< by the nodes of the requested graph, in order
    std::vector<AccessOrigin> origins; ///< by access: the node, or one inside it
};

/// An access of `node`, a part of `region` (0: of none). `by_region`: accesses declared by regions count as theirs, not
/// as the node's own.
[[nodiscard]] MemoryAccess memory_access(std::uint32_t node, const ArgumentAccess& access, std::uint32_t region,
                                         bool by_region);

/// Whether a region represents a condition.
[[nodiscard]] bool is_condition_cell(const MemoryRegion& region) noexcept;

/// Regions for parts of CUDA arrays, in elements. Each array has room for the largest possible one, above all addresses
/// of programs.
class ArrayAddresses {
  public:
    [[nodiscard]] MemoryRegion region(cudaArray_t array, const cudaPos& from, const cudaExtent& extent);

  private:
    std::unordered_map<cudaArray_t, std::size_t> numbers_;
};

/// The accesses of a graph: all accesses of copies and fills, kernel arguments with known memory, and declared
/// accesses. A condition is one more cell of memory: kernels with the Condition write it, its conditional reads it.
/// Reads a captured graph. Takes nodes + accesses.
[[nodiscard]] NodeAccesses accesses_of(const GraphState& graph);
/// The assumed sizes of copies and fills driven by a DynamicParam.
enum class Sizes : std::uint8_t {
    in_force,
    most, ///< the sizes at their creation
};
/// The accesses of `accesses_of(graph)`, in less time and memory.
[[nodiscard]] AccessList access_list_of(const GraphState& graph, Sizes sizes = Sizes::in_force);
/// By node: whether a DynamicParam drives its size, or that of a node inside it. Empty if no node is driven.
[[nodiscard]] std::vector<bool> driven_nodes(const GraphState& graph);
[[nodiscard]] NodeAccesses accesses_of(const GraphState& graph, const InForce& in_force, ArrayAddresses& arrays);

/// The memory accesses of `node` with `params`, except declared accesses and freed memory.
[[nodiscard]] std::vector<ArgumentAccess> accesses_of(const NodePlace& node, const NodeParams& params,
                                                      ArrayAddresses& arrays);
/// Whether a quick check shows that a node of `graph` has the same accesses with both.
[[nodiscard]] bool have_same_accesses(const GraphState& graph, const NodeParams& a, const NodeParams& b);

} // namespace cudag::detail
