// Nodes that allocate graph memory and free it.
#pragma once

#include <cudag/config.hpp>
#include <cudag/node.hpp>
#include <cudag/span.hpp>

#include <cstddef>
#include <optional>
#include <type_traits>
#include <vector>

namespace cudag {

/// Where an alloc node takes its memory from.
struct AllocOptions {
    /// On which device the memory is; the current one if none is given.
    std::optional<int> device = std::nullopt;
    /// The nodes that the alloc node comes after. CUDA lets it reuse memory that a node before it has freed, but looks
    /// for such a node only when the alloc node is made: a later `.after` orders, but makes nothing reusable. The edges
    /// that exist then can be removed by nobody.
    std::vector<Node> after = {};
    /// Which other devices may access the memory. Each must be able to (`cudaDeviceCanAccessPeer`).
    std::vector<int> peers = {};
    /// To what size the pool that the memory comes from may grow; 0 for CUDA's default.
    std::size_t max_pool_bytes = 0;
};

namespace detail {

struct Allocation {
    void* address;
    std::size_t bytes;
};

/// Of an alloc node. Throws GraphError if the handle is empty or dead.
[[nodiscard]] CUDAG_EXPORT Allocation allocation_of(const Node& alloc);

} // namespace detail

/// Allocates memory when the graph runs. The nodes that use it come after this node, and before the FreeNode if the
/// graph has one: `build()` checks that. Otherwise the memory stays allocated after the launch, until another graph, or
/// `cudaFree` or `cudaFreeAsync`, frees it; it must be freed before this graph is launched again, unless the Exec was
/// made with `auto_free_on_launch`, which frees it then.
template <class Element>
class AllocNode : public detail::TypedNode<AllocNode<Element>> {
  public:
    static constexpr NodeKind node_kind = NodeKind::alloc;
    using detail::TypedNode<AllocNode>::TypedNode;

    /// The memory: its address is known at once, and is the same in every launch. Borrowed: it is there from when this
    /// node has run until it is freed.
    [[nodiscard]] DeviceSpan<Element> span() const {
        const detail::Allocation allocation = detail::allocation_of(*this);
        return {static_cast<Element*>(allocation.address), allocation.bytes / sizeof(Element)};
    }
};

/// Frees what an AllocNode, of this graph or of another one, has allocated.
class FreeNode : public detail::TypedNode<FreeNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::free;
    using TypedNode::TypedNode;
};

} // namespace cudag
