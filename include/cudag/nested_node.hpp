// Nodes with graphs inside: a child graph, or the bodies of a conditional.
#pragma once

#include <cudag/config.hpp>
#include <cudag/graph.hpp>
#include <cudag/node.hpp>

#include <concepts>
#include <cstddef>

namespace cudag {

namespace detail {

CUDAG_EXPORT Node counterpart_inside(const Node& child, const Node& original);
CUDAG_EXPORT Graph graph_inside(const Node& node, std::size_t number);
[[nodiscard]] CUDAG_EXPORT std::size_t count_inside(const Node& node);

} // namespace detail

/// A graph that runs as one node of another one.
class ChildNode : public detail::TypedNode<ChildNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::child;
    using TypedNode::TypedNode;

    /// The handle, in the graph inside this node, of a node of the graph that was given to `child`, or of a graph
    /// inside that one. Execs of the outer graph know the node by it. Throws GraphError for other handles.
    template <detail::AnyNode Handle>
    [[nodiscard]] Handle inside(const Handle& node) const { // cudag: inside(node) takes a handle
        if constexpr (std::same_as<Handle, Node>)
            return detail::counterpart_inside(*this, node);
        else
            return Handle(detail::Passkey(), detail::counterpart_inside(*this, node));
    }

    /// The graph inside, to look at: it is instantiated, cloned and updated as a part of the graph around it.
    [[nodiscard]] Graph graph() const { return detail::graph_inside(*this, 0); }
};

/// Runs a body if its condition is not 0 when it starts, and else another one, if it has one.
class IfNode : public detail::TypedNode<IfNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::conditional;
    static constexpr detail::ConditionalKind conditional_kind = detail::ConditionalKind::if_;
    using TypedNode::TypedNode;

    /// The bodies, to look at. `else_body` throws GraphError if there is none.
    [[nodiscard]] Graph body() const { return detail::graph_inside(*this, 0); }
    [[nodiscard]] Graph else_body() const { return detail::graph_inside(*this, 1); }
    [[nodiscard]] bool has_else() const { return detail::count_inside(*this) == 2; }
};

/// Runs its body again and again, as long as its condition is not 0.
class WhileNode : public detail::TypedNode<WhileNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::conditional;
    static constexpr detail::ConditionalKind conditional_kind = detail::ConditionalKind::while_;
    using TypedNode::TypedNode;

    /// The body, to look at.
    [[nodiscard]] Graph body() const { return detail::graph_inside(*this, 0); }
};

/// Runs the body whose number its condition is when it starts; none if there is no such body.
class SwitchNode : public detail::TypedNode<SwitchNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::conditional;
    static constexpr detail::ConditionalKind conditional_kind = detail::ConditionalKind::switch_;
    using TypedNode::TypedNode;

    /// The bodies, to look at. Throws GraphError if there is no body `number`.
    [[nodiscard]] Graph body(std::size_t number) const { return detail::graph_inside(*this, number); }
    [[nodiscard]] std::size_t body_count() const { return detail::count_inside(*this); }
};

} // namespace cudag
