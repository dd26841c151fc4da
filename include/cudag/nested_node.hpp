// Nodes with inner graphs: a child graph, or the bodies of a conditional.
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

/// The handle of a child node: a graph that runs as one node of another graph.
///
///     auto child = b.child(graph);
///     cudag::Node inner = child.inside(graph.find_one("scale"));
///     b.memcpy(host, x).after(child);
class ChildNode : public detail::TypedNode<ChildNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::child;
    using TypedNode::TypedNode;

    /// Returns the counterpart of `node` in the inner graph. `node` is a handle of the graph given to `child`, or of an
    /// inner graph of that one. Execs of the outer graph accept the counterpart. Throws GraphError for other handles.
    template <detail::AnyNode Handle>
    [[nodiscard]] Handle inside(const Handle& node) const { // cudag: inside(node) takes a handle
        if constexpr (std::same_as<Handle, Node>)
            return detail::counterpart_inside(*this, node);
        else
            return Handle(detail::Passkey(), detail::counterpart_inside(*this, node));
    }

    /// Returns the inner graph, for inspection. It is instantiated, cloned and updated as a part of the outer graph,
    /// and does not keep that alive: calls throw GraphError once the outer graph no longer exists.
    [[nodiscard]] Graph graph() const { return detail::graph_inside(*this, 0); }
};

/// The handle of an if node: it runs its body if its condition is not 0 when it starts, and otherwise its else body, if
/// it has one.
///
///     const cudag::Condition condition = b.condition(1);
///     auto node = b.if_(condition, [&](cudag::GraphBuilder& body) { body.kernel(config, step, x, n); });
///     node.body().find_one(step).label("conditional step");
class IfNode : public detail::TypedNode<IfNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::conditional;
    static constexpr detail::ConditionalKind conditional_kind = detail::ConditionalKind::if_;
    using TypedNode::TypedNode;

    /// Returns the body, an inner graph for inspection; see ChildNode::graph.
    [[nodiscard]] Graph body() const { return detail::graph_inside(*this, 0); }
    /// Returns the else body, for inspection, as `body` does. Throws GraphError if there is none.
    [[nodiscard]] Graph else_body() const { return detail::graph_inside(*this, 1); }
    [[nodiscard]] bool has_else() const { return detail::count_inside(*this) == 2; }
};

/// The handle of a loop, made by `while_` or `repeat`: it runs its body repeatedly, while its condition is not 0.
///
///     auto loop = b.repeat(10, [&](cudag::GraphBuilder& body) { body.kernel(config, step, x, n); });
///     b.memcpy(host, x).after(loop);
class WhileNode : public detail::TypedNode<WhileNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::conditional;
    static constexpr detail::ConditionalKind conditional_kind = detail::ConditionalKind::while_;
    using TypedNode::TypedNode;

    /// Returns the body, for inspection, as IfNode::body does.
    [[nodiscard]] Graph body() const { return detail::graph_inside(*this, 0); }
};

/// The handle of a switch node: it runs the body with the number that its condition has when it starts, or none if
/// there is no such body.
///
///     const cudag::Condition choice = b.condition(0);
///     b.switch_(choice, {[&](cudag::GraphBuilder& body) { body.kernel(config, step, x, n); },
///                        [&](cudag::GraphBuilder& body) { body.clear(x); }});
class SwitchNode : public detail::TypedNode<SwitchNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::conditional;
    static constexpr detail::ConditionalKind conditional_kind = detail::ConditionalKind::switch_;
    using TypedNode::TypedNode;

    /// Returns body `number`, counted from 0, for inspection, as IfNode::body does. Throws GraphError if there is no
    /// such body.
    [[nodiscard]] Graph body(std::size_t number) const { return detail::graph_inside(*this, number); }
    [[nodiscard]] std::size_t body_count() const { return detail::count_inside(*this); }
};

} // namespace cudag
