// The calls of all typed handles: labels, edges, declared accesses and owners of a node.
#pragma once

#include <cudag/any_node.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/owner_argument.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/edge.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace cudag::detail {

template <class Handle>
inline constexpr bool is_kernel_node = false;
template <class... Parameter>
inline constexpr bool is_kernel_node<KernelNode<Parameter...>> = true;

template <class GivenEvent>
inline constexpr bool is_early_edge = false;
template <class Handle>
inline constexpr bool is_early_edge<EarlyEdge<Handle>> = true;

template <class GivenEvent>
inline constexpr bool is_early_edge_of_kernel = false;
template <class Handle>
inline constexpr bool is_early_edge_of_kernel<EarlyEdge<Handle>> = is_kernel_node<Handle>;

/// A predecessor of a node, and the kind of the edge from it.
struct Dependency {
    Node node;
    EdgeKind kind = EdgeKind::full;
};

template <class Handle>
void append_dependencies(std::vector<Dependency>& list, const Handle& nodes) {
    if constexpr (AnyNode<Handle>)
        list.push_back({nodes});
    else if constexpr (is_early_edge<Handle>)
        list.push_back({nodes.node, nodes.kind});
    else
        for (const Node& node : list_nodes(nodes))
            list.push_back({node});
}

/// Adds all edges or none. Throws GraphError for a foreign or dead handle, an edge from a node to itself, or a graph
/// already built.
CUDAG_EXPORT void add_edges(const Node& to, const Node* from, std::size_t count);
CUDAG_EXPORT void add_edges(const Node& to, const Dependency* from, std::size_t count);

/// A handle of another type than Self.
template <class Handle, class Self>
concept OtherHandle = AnyNode<Handle> && !std::same_as<Handle, Self> && !std::derived_from<Handle, Self>;

/// The base of typed handles: labels, declarations and edges that return the handle itself.
template <class Self>
class TypedNode : public Node {
  public:
    TypedNode() noexcept = default;
    TypedNode(Passkey, const Node& node) noexcept : Node(node) {}
    template <OtherHandle<Self> Handle>
    explicit TypedNode( // cudag: handles get their type by as<>(), as(kernel) or find_one(kernel)
        const Handle&) = delete;

    using Node::label;
    Self label(std::string_view text) const { // cudag: label(text) takes a string
        Node::label(text);
        return static_cast<const Self&>(*this);
    }

    /// Keeps `owners` (DeviceBuffer, PinnedBuffer, CapturePool, shared_ptr) alive with the node's graph, as
    /// Graph::retain does: for memory borrowed by an argument, or reached by the kernel in another way.
    template <OwnerArgument... Owner>
    Self retain(const Owner&... owners) const { // cudag: retain(owner) keeps buffers, pools and shared_ptrs
        static_assert(sizeof...(Owner) > 0, "cudag: retain() needs at least one owner");
        keep_with_node(*this, {owner_of(owners)...});
        return static_cast<const Self&>(*this);
    }

    template <class... Memory>
    Self reads(const Memory&... memory) const { // cudag: reads(memory, ...) takes buffers, spans and host ranges
        Node::reads(memory...);
        return static_cast<const Self&>(*this);
    }
    template <class... Memory>
    Self writes(const Memory&... memory) const { // cudag: writes(memory, ...) takes buffers, spans and host ranges
        Node::writes(memory...);
        return static_cast<const Self&>(*this);
    }

    /// Adds edges: this node starts when all of `nodes` (handles, captured regions, or ranges of them) have finished. A
    /// kernel node also accepts `programmatic(kernel)` and `launch_completion(kernel)`, the edges of programmatic
    /// dependent launch (PDL). A repeated edge counts once. Throws GraphError, and adds nothing, if a handle is of
    /// another graph or the graph is already built.
    template <class... Handle>
    Self after(const Handle&... nodes) const { // cudag: after(a, b, ...) takes the nodes one by one, or a range of them
        static_assert(sizeof...(Handle) > 0, "cudag: after() needs at least one node");
        static_assert(
            ((AnyNode<Handle> || NodeRange<Handle> || is_captured_node<Handle> || is_early_edge<Handle>)&&...),
            "cudag: after() takes node handles or ranges of node handles; graph.find_one(label or kernel) gives one");
        constexpr bool early = (is_early_edge<Handle> || ...);
        static_assert(!early ||
                          (is_kernel_node<Self> && ((!is_early_edge<Handle> || is_early_edge_of_kernel<Handle>)&&...)),
                      "cudag: a programmatic edge leads from kernel to kernel");
        if constexpr (((AnyNode<Handle> || NodeRange<Handle> || is_captured_node<Handle>)&&...)) {
            const auto from = list_nodes(nodes...);
            add_edges(*this, from.data(), from.size());
        } else if constexpr (is_kernel_node<Self> &&
                             ((AnyNode<Handle> || NodeRange<Handle> || is_captured_node<Handle> ||
                               is_early_edge_of_kernel<Handle>)&&...)) {
            std::vector<Dependency> from;
            (append_dependencies(from, nodes), ...);
            add_edges(*this, from.data(), from.size());
        }
        return static_cast<const Self&>(*this);
    }
};

} // namespace cudag::detail
