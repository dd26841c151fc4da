// The structure of a graph: the calls of GraphBuilder for joins, child graphs and removals.
#pragma once

#include <cudag/captured_node.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/detail/private_access.hpp>
#include <cudag/detail/record.hpp>
#include <cudag/graph.hpp>
#include <cudag/inlined_graph.hpp>
#include <cudag/nested_node.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <span>
#include <vector>

namespace cudag::detail {

/// The calls for joins, child graphs, and the removal of nodes and edges.
///
///     auto first = b.kernel(config, fill, x, 1.0f, n);
///     auto second = b.kernel(config, fill, y, 1.0f, n);
///     auto child = b.child(graph).after(b.join(first, second));
///     b.remove_edge(first, child);
///     b.remove(second);
template <class Self>
class StructureCalls {
  public:
    /// Adds a barrier after one or more nodes, each given as a handle, a captured region or a range of these. Nodes
    /// `.after` the barrier come after all of them, with n + m edges instead of n * m. Throws GraphError for a handle
    /// of another graph.
    template <class... Handle>
    JoinNode join( // cudag: join(a, b, ...) takes the nodes one by one, or a range of them
        Located<Node> first, const Handle&... rest) {
        return add_join_node(first.location, first.value, rest...);
    }
    template <class... Handle>
    JoinNode join(Located<CapturedNode> first, const Handle&... rest) {
        return add_join_node(first.location, first.value, rest...);
    }

    /// Adds a barrier after all nodes of a range, as `join(a, b, ...)` does.
    template <NodeRange Range>
    JoinNode join(const Range& nodes, SourceLocation location = SourceLocation::current()) {
        return add_join_node(location, nodes);
    }

    template <class... Handle>
    requires(sizeof...(Handle) == 0 || !(NodeSource<Handle> && ...))
    void join(const Handle&...) {
        static_assert(sizeof...(Handle) > 0, "cudag: join() needs at least one node");
        static_assert(sizeof...(Handle) == 0, "cudag: join() takes node handles or ranges of node handles");
    }

    /// Adds a clone of the current state of `graph` as one node. `inside` of the handle finds the nodes in it. The
    /// clone of a graph with memory nodes has memory of its own, and needs CUDA 12.9. Throws GraphError if `graph` has
    /// conditional nodes or device-updatable kernels, or is already inside another graph.
    ChildNode child(const Graph& graph, // cudag: child(graph) takes a Graph
                    SourceLocation location = SourceLocation::current()) {
        return {Passkey(), Access::place(self(), location, [&](GraphState& outer) {
                    return add_child(outer, Access::state(graph), location);
                })};
    }

    /// Adds `graph` itself as one node, without a clone. Its handles stay valid, and Execs of the outer graph accept
    /// them. `graph` may still be inspected, but not instantiated, cloned or added again. Needs CUDA 12.9. Throws
    /// GraphError, and leaves `graph` as it is, if it has conditional nodes or a live Exec, is a Graph::view, or is
    /// already inside another graph.
    ChildNode child(Graph&& graph, SourceLocation location = SourceLocation::current()) {
        static_cast<void>(Access::state(graph));
        return {Passkey(), Access::place(self(), location, [&](GraphState& outer) {
                    return move_child(outer, Access::shared_state(graph), location);
                })};
    }

    /// Writes the nodes and edges of `graph` again into this graph, as if each had been added here: with their labels,
    /// locations, declared accesses, parameters bound to a DynamicParam, and owners. Edges between them stay; all other
    /// order comes from `.after` of the result and of its nodes. Later changes of `graph` do not matter here.
    /// Races and the plan see the nodes like all others. Children become children again.
    /// Conditionals get conditions, and alloc nodes memory of their own; arguments that are conditions or addresses in
    /// that memory become those of the copy.
    /// Throws GraphError, and adds nothing, if `graph` is inside another graph, or has a device-updatable kernel, a
    /// kernel of a green context, a node unknown to cudag, a captured conditional, a kernel with an address of graph
    /// memory or a number of a condition in an object, or a node that frees memory of another graph.
    InlinedGraph inline_graph(const Graph& graph, // cudag: inline_graph(graph) takes a Graph
                              SourceLocation location = SourceLocation::current()) {
        return {Passkey(), Access::place(self(), location, [&](GraphState& outer) {
                    return inline_nodes(outer, Access::state(graph), location);
                })};
    }

    /// Removes one or more nodes, each given as a handle, a captured region or a range of these. A repeated handle
    /// counts once.
    /// The edges of the nodes go too, and no edge replaces them: nodes before and after a removed node are no longer
    /// ordered by it. Their inner graphs go, too, including a moved child. Owners are released at once, except those of
    /// captured work: the graph keeps them. Inferred edges come from the remaining nodes only. All other handles stay
    /// valid; handles of removed nodes throw GraphError with this reason.
    /// The condition of a removed conditional may get another node. If it has none, `build()` gives it an `if_` with an
    /// empty body, because CUDA removes no conditions.
    /// Throws GraphError, and removes nothing, for
    /// - handles of other graphs,
    /// - nodes outside the body or capture under construction,
    /// - nodes that cannot be removed: all nodes of a graph with graph memory nodes, device-updatable kernels, and
    ///   parts of captured regions.
    ///
    /// The cost depends on the nodes and edges of the graph, not on the number removed: remove many nodes by one call.
    template <class... Handle>
    void remove( // cudag: remove(a, b, ...) takes the nodes one by one, or a range of them
        Located<Node> first, const Handle&... rest) {
        remove_all(first.location, first.value, rest...);
    }
    template <class... Handle>
    void remove(Located<CapturedNode> first, const Handle&... rest) {
        remove_all(first.location, first.value, rest...);
    }
    template <NodeRange Range>
    void remove(const Range& nodes, SourceLocation location = SourceLocation::current()) {
        remove_all(location, nodes);
    }

    template <class... Handle>
    requires(sizeof...(Handle) == 0 || !(NodeSource<Handle> && ...))
    void remove(const Handle&...) {
        static_assert(sizeof...(Handle) > 0, "cudag: remove() needs at least one node");
        static_assert(sizeof...(Handle) == 0, "cudag: remove() takes node handles or ranges of node handles");
    }

    /// Removes the edges of `to.after(from)`, of whatever kind. `from` is a handle, a captured region or a range of
    /// these; `to` is a handle or a region. The cost depends on the edges of the graph, not on the number removed.
    /// Throws GraphError, and removes nothing, as `remove` does, and if
    /// - there is no such edge,
    /// - both nodes belong to one region,
    /// - CUDA already has the edge, in a graph with graph memory nodes: CUDA removes no edges from it.
    template <class Callable>
    void remove_edge( // cudag: remove_edge(from, to) takes the nodes of `to.after(from)`
        const Callable& from, const Node& to, SourceLocation location = SourceLocation::current()) {
        remove_between(from, std::span(&to, 1), location);
    }
    template <class Callable>
    void remove_edge(const Callable& from, const CapturedNode& to,
                     SourceLocation location = SourceLocation::current()) {
        remove_between(from, to.roots(), location);
    }
    /// Removes all edges in a list, whatever their kinds in it. Throws, and removes nothing, as `remove_edge` does.
    void remove_edges(std::span<const Edge> edges, SourceLocation location = SourceLocation::current()) {
        detail::remove_edges(Access::graph(self()), edges, location);
    }

  private:
    template <class... Handle>
    JoinNode add_join_node(const SourceLocation& location, const Handle&... nodes) {
        static_assert((NodeSource<Handle> && ...), "cudag: join() takes node handles or ranges of node handles");
        const auto from = list_nodes(nodes...);
        return {Passkey(), Access::place(self(), location, [&](GraphState& graph) {
                    return add_join(graph, from.data(), from.size(), location);
                })};
    }

    template <class... Handle>
    void remove_all(const SourceLocation& location, const Handle&... nodes) {
        static_assert((NodeSource<Handle> && ...), "cudag: remove() takes node handles or ranges of node handles");
        std::vector<Node> all;
        (append_all_nodes(all, nodes), ...);
        remove_nodes(Access::graph(self()), all, location);
    }

    template <class Callable>
    void remove_between(const Callable& from, std::span<const Node> to, const SourceLocation& location) {
        static_assert(NodeSource<Callable>, "cudag: remove_edge() takes node handles or ranges of node handles");
        if constexpr (NodeSource<Callable>) {
            std::vector<Edge> edges;
            for (const Node& each : list_nodes(from))
                for (const Node& target : to)
                    edges.push_back({each, target});
            remove_edges(edges, location);
        }
    }

    [[nodiscard]] Self& self() noexcept { return static_cast<Self&>(*this); }
};

} // namespace cudag::detail
