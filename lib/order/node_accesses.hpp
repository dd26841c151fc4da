// What the nodes of a graph do to memory, as far as cudag knows.
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

/// An access of `node`, which is a part of `region`, or of none if that is 0. `by_region`: what regions declare counts
/// as theirs, not as the node's own.
[[nodiscard]] MemoryAccess memory_access(std::uint32_t node, const ArgumentAccess& access, std::uint32_t region,
                                         bool by_region);

/// Whether a region stands for a condition.
[[nodiscard]] bool is_condition_cell(const MemoryRegion& region) noexcept;

/// Regions for parts of CUDA arrays, in elements: each array has room for all that one can have, above all addresses
/// that programs have.
class ArrayAddresses {
  public:
    [[nodiscard]] MemoryRegion region(cudaArray_t array, const cudaPos& from, const cudaExtent& extent);

  private:
    std::unordered_map<cudaArray_t, std::size_t> numbers_;
};

/// Of copies and fills, all; of kernels, the arguments whose memory is known; and what was declared. A condition is one
/// more cell of memory: kernels that take it write it, and its conditional reads it. Reads a captured graph. Takes as
/// long as there are nodes and accesses.
[[nodiscard]] NodeAccesses accesses_of(const GraphState& graph);
/// The sizes to assume for copies and fills that a DynamicParam drives.
enum class Sizes : std::uint8_t {
    in_force,
    most, ///< those that the nodes were made with
};
/// The same `list`, in less time and memory.
[[nodiscard]] AccessList access_list_of(const GraphState& graph, Sizes sizes = Sizes::in_force);
/// By node: whether a DynamicParam drives its size, or that of a node inside it. Empty where none is driven.
[[nodiscard]] std::vector<bool> driven_nodes(const GraphState& graph);
[[nodiscard]] NodeAccesses accesses_of(const GraphState& graph, const InForce& in_force, ArrayAddresses& arrays);

/// What `node` does to memory with `params`, besides what it declares and frees.
[[nodiscard]] std::vector<ArgumentAccess> accesses_of(const NodePlace& node, const NodeParams& params,
                                                      ArrayAddresses& arrays);
/// Whether that is the same for both in a node of `graph`, as far as can be told at once.
[[nodiscard]] bool have_same_accesses(const GraphState& graph, const NodeParams& a, const NodeParams& b);

} // namespace cudag::detail
