// Known memory accesses of the nodes of a graph.
#pragma once

#include "accesses/access_list.hpp"
#include "accesses/memory_access.hpp"
#include "graph/in_force.hpp"
#include "graph/node_place.hpp"

#include <cudag/access.hpp>
#include <cudag/detail/call_effects.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace cudag::detail {

/// An access of a node of a graph, with its origin.
struct NodeAccess : MemoryAccess {
    NodePlace place; ///< the node with the argument: `node`, or one inside it
    MemoryArgument argument;
    std::size_t element_bytes;
};

/// The access of `node` by an argument of the node at `place`, a part of `region` (0: of none). `by_region`: accesses
/// declared by regions count as theirs, not as the node's own.
[[nodiscard]] NodeAccess node_access(std::uint32_t node, const NodePlace& place, const ArgumentAccess& access,
                                     std::uint32_t region, bool by_region);

/// Whether a block represents a condition.
[[nodiscard]] bool is_condition_cell(const MemoryBlock& block) noexcept;

/// Blocks for parts of CUDA arrays, in elements. Each array has room for the largest possible one, above all addresses
/// of programs.
class ArrayAddresses {
  public:
    [[nodiscard]] MemoryBlock block(cudaArray_t array, const cudaPos& from, const cudaExtent& extent);

  private:
    std::unordered_map<cudaArray_t, std::size_t> numbers_;
};

/// The assumed sizes of copies and fills driven by a DynamicParam.
enum class Sizes : std::uint8_t {
    in_force,
    most, ///< the sizes at their creation
};
/// The effective accesses of a graph, by its nodes in ascending order: all accesses of copies and fills, kernel
/// arguments with known memory, and declared accesses. A condition is one more cell of memory: kernels with the
/// Condition write it, its conditional reads it. Reads a captured graph. Takes nodes + accesses.
[[nodiscard]] AccessList access_list_of(const GraphState& graph, Sizes sizes = Sizes::in_force);
/// By node: whether a DynamicParam drives its size, or that of a node inside it. Empty if no node is driven.
[[nodiscard]] std::vector<bool> driven_nodes(const GraphState& graph);
/// The same accesses with their origins, in the same order: those of all nodes, or only of the nodes in `of`.
[[nodiscard]] std::vector<NodeAccess> accesses_of(const GraphState& graph, const InForce& in_force,
                                                  ArrayAddresses& arrays, const std::vector<bool>* of = nullptr);

/// The memory accesses of `node` with `params`, except declared accesses and freed memory.
[[nodiscard]] std::vector<ArgumentAccess> accesses_of(const NodePlace& node, const NodeParams& params,
                                                      ArrayAddresses& arrays);
/// Whether a quick check shows that a node of `graph` has the same accesses with both.
[[nodiscard]] bool have_same_accesses(const GraphState& graph, const NodeParams& a, const NodeParams& b);

} // namespace cudag::detail
