// Graph memory nodes: alloc nodes and free nodes.
#pragma once

#include <cudag/config.hpp>
#include <cudag/node.hpp>
#include <cudag/span.hpp>

#include <cstddef>
#include <optional>
#include <type_traits>
#include <vector>

namespace cudag {

/// The options of an alloc node: place, access rights and reuse of its memory.
///
///     auto first = b.alloc<float>(1024);
///     auto freed = b.free(first).after(first);
///     auto second = b.alloc<float>(1024, {.after = {freed}}); // may reuse the memory of `first`
struct AllocOptions {
    /// The device of the memory; the current device if none is given.
    std::optional<int> device = std::nullopt;
    /// The nodes that the alloc node comes after. CUDA lets the alloc node reuse memory freed by a node before it, but
    /// finds that node only when the alloc node is made: a later `.after` adds order, but no reuse. If `after` is not
    /// empty, CUDA receives the edges of the graph so far, except redundant ones, and never removes them.
    std::vector<Node> after = {};
    /// Other devices with access to the memory. Each must be able to have it (`cudaDeviceCanAccessPeer`).
    std::vector<int> peers = {};
    /// The maximum size of the memory's pool, in bytes; 0 for CUDA's default.
    std::size_t max_pool_bytes = 0;
};

namespace detail {

struct Allocation {
    void* address;
    std::size_t bytes;
    int device = 0; ///< unused by `free`
};

/// Returns the memory of an alloc node. Throws GraphError if the handle is empty or dead.
[[nodiscard]] CUDAG_EXPORT Allocation allocation_of(const Node& alloc);

/// Returns the address that a free node frees. Throws GraphError if the handle is empty or dead.
[[nodiscard]] CUDAG_EXPORT void* freed_by(const Node& free);

} // namespace detail

/// The handle of an alloc node: it allocates graph memory when the graph runs.
///
///     auto memory = b.alloc<float>(1024);
///     auto work = b.kernel(config, step, memory.span(), 1024).after(memory);
///     b.free(memory).after(work);
///
/// All uses of the memory come after this node, and before the FreeNode if the graph has one; `build()` checks this.
/// Without a FreeNode the memory stays allocated after the launch, until another graph, `cudaFree` or `cudaFreeAsync`
/// frees it. It must be freed before the next launch of this graph; an Exec made with `auto_free_on_launch` frees it
/// then.
template <class Element>
class AllocNode : public detail::TypedNode<AllocNode<Element>> {
  public:
    static constexpr NodeKind node_kind = NodeKind::alloc;
    using detail::TypedNode<AllocNode>::TypedNode;

    /// Returns the memory. Its address is known at once and is the same in every launch. The span is borrowed: the
    /// memory exists from the run of this node until it is freed.
    [[nodiscard]] DeviceSpan<Element> span() const {
        const detail::Allocation allocation = detail::allocation_of(*this);
        return {static_cast<Element*>(allocation.address), allocation.bytes / sizeof(Element)};
    }
    /// Returns the address of the memory.
    [[nodiscard]] void* address() const { return detail::allocation_of(*this).address; }
    /// Returns the size of the memory in bytes, as requested.
    [[nodiscard]] std::size_t bytes() const { return detail::allocation_of(*this).bytes; }
    /// Returns the device of the memory.
    [[nodiscard]] int device() const { return detail::allocation_of(*this).device; }
};

/// The handle of a free node: it frees the memory of an AllocNode, of this graph or of another one.
///
///     auto memory = b.alloc<float>(1024);
///     auto freed = b.free(memory).after(memory);
///     bool same = freed.address() == memory.address(); // true
class FreeNode : public detail::TypedNode<FreeNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::free;
    using TypedNode::TypedNode;

    /// Returns the address of the memory that the node frees.
    [[nodiscard]] void* address() const { return detail::freed_by(*this); }
};

} // namespace cudag
