// Access: cudag's own way to the private parts of its public classes.
#pragma once

#include <cstdint>
#include <memory>

namespace cudag {
class BufferBinding;
template <class Element>
class BufferParam;
class CapturedNode;
template <class Value>
class DynamicParam;
class Exec;
class Function;
class Graph;
class Node;
struct SourceLocation;
} // namespace cudag

namespace cudag::detail {

class ExecState;
class GraphState;
struct FunctionState;
struct ParamMemory;
struct RegionNodes;
struct UpdateTarget;

/// The friend of public classes: gives cudag's own code their private parts. Each function is defined, inline, in the
/// header of its class.
struct Access {
    /// Returns the state of `graph`. Throws GraphError if it was moved from, or is inside a removed node.
    [[nodiscard]] static GraphState& state(const Graph& graph);
    /// Returns the shared state of `graph`; null if it was moved from.
    [[nodiscard]] static const std::shared_ptr<GraphState>& shared_state(const Graph& graph) noexcept;
    [[nodiscard]] static Graph graph_of(std::shared_ptr<GraphState>&& state) noexcept;
    /// Returns `graph` as the object of an update. Throws GraphError if it was moved from, or is an inner graph.
    [[nodiscard]] static UpdateTarget target(const Graph& graph);

    /// Returns the state of `exec`. Throws GraphError if it was moved from.
    [[nodiscard]] static ExecState& state(const Exec& exec);
    /// Returns the state of `exec`; null if it was moved from.
    [[nodiscard]] static const ExecState* find_state(const Exec& exec) noexcept;
    [[nodiscard]] static Exec exec_of(std::unique_ptr<ExecState>&& state) noexcept;
    /// Returns `exec` as the object of an update. Throws GraphError if it was moved from.
    [[nodiscard]] static UpdateTarget target(const Exec& exec);

    /// Calls `function(GraphState&)`, to add to the graph of `self`, a GraphBuilder or StreamCapture, and returns its
    /// result. A device chosen by `on` is current during the call. Throws GraphError or CaptureError if `self` accepts
    /// no nodes.
    template <class Self, class Function>
    [[nodiscard]] static auto place(Self& self, const SourceLocation& location, const Function& function) {
        return self.place(location, function);
    }
    /// Adds a conditional node, or a loop of a known number of turns, with `self`, a GraphBuilder or StreamCapture.
    template <class Self, class... Argument>
    [[nodiscard]] static auto add_conditional(Self& self, const Argument&... arguments) {
        return self.add_conditional(arguments...);
    }
    template <class Self, class... Argument>
    [[nodiscard]] static auto add_repeat(Self& self, const Argument&... arguments) {
        return self.add_repeat(arguments...);
    }
    /// Returns the graph of a GraphBuilder. Throws GraphError if the builder accepts no nodes.
    template <class Builder>
    [[nodiscard]] static GraphState& graph(const Builder& builder) {
        return builder.graph();
    }

    [[nodiscard]] static const Node& first_node(const CapturedNode& region) noexcept;
    /// Returns the nodes of `region`; null for an empty handle.
    [[nodiscard]] static const RegionNodes* nodes(const CapturedNode& region) noexcept;
    [[nodiscard]] static CapturedNode region_of(const Node& first, const RegionNodes& nodes) noexcept;

    [[nodiscard]] static const FunctionState& state(const Function& function) noexcept;

    /// Returns the identity of `param` in bindings.
    template <class Value>
    [[nodiscard]] static std::uint64_t id(const DynamicParam<Value>& param) noexcept {
        return param.id_;
    }

    /// Returns the identity and the memory of `param`. Throws GraphError if it was moved from.
    template <class Element>
    [[nodiscard]] static ParamMemory memory(const BufferParam<Element>& param);
    [[nodiscard]] static const ParamMemory& memory(const BufferBinding& binding) noexcept;
};

} // namespace cudag::detail
