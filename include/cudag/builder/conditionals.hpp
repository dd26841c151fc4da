// Conditionals and loops: the calls of GraphBuilder and StreamCapture for nodes with bodies.
#pragma once

#include <cudag/builder/kernels.hpp>
#include <cudag/condition.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/condition_kernels.hpp>
#include <cudag/detail/graph_body.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/detail/private_access.hpp>
#include <cudag/detail/record.hpp>
#include <cudag/function.hpp>
#include <cudag/nested_node.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <vector>

namespace cudag::detail {

/// The calls that add conditional nodes, of GraphBuilder and of StreamCapture: `if_`, `while_`, `repeat` and `switch_`,
/// the conditions that they test, and `set` for these. A StreamCapture adds them in place, and throws CaptureError, as
/// StreamCapture::add does.
///
///     cudag::DeviceScalar<unsigned> wanted(1U);
///     const cudag::Condition condition = b.condition(0);
///     auto body = [&](cudag::GraphBuilder& inside) { inside.kernel(config, step, x, n); };
///     b.if_(condition, body).after(b.set(condition, wanted));
template <class Self>
class ConditionalCalls {
  public:
    /// Makes a condition for one conditional node of this graph, or of a body inside it, on the current device. Its
    /// value is `initial` at the start of each launch. If the conditional node is in a body that a `while_` repeats,
    /// the value is also reset at each start of that body: cudag adds a kernel node to the body, before all its other
    /// nodes. This needs CUDA 12.8, and the first one in a process takes some 60 ms to load. Without `initial`, the
    /// value is undefined until a kernel sets it, and is never reset.
    [[nodiscard]] Condition condition(unsigned initial, SourceLocation location = SourceLocation::current()) {
        return Access::place(self(), location,
                             [&](GraphState& graph) { return make_condition(graph, initial, location); });
    }
    [[nodiscard]] Condition condition(SourceLocation location = SourceLocation::current()) {
        return Access::place(self(), location,
                             [&](GraphState& graph) { return make_condition(graph, std::nullopt, location); });
    }

    /// Adds an if node: it runs the nodes of the body `then` if `condition` is not 0 when the node starts.
    /// `then` is a function `void(GraphBuilder&)`. It is called at once, with a builder for the nodes of the body; that
    /// builder accepts no nodes later, and the outer one none during the call. An exception of `then` is rethrown, and
    /// the builder is as before the call; but if the graph has graph memory nodes, `build()` then throws, since CUDA
    /// removes no nodes.
    /// A body may have kernel, memcpy, memset, join, child and conditional nodes, all of one device, and may use host
    /// memory only if page-locked (rules of CUDA). Edges never cross the border of a body. Throws GraphError if
    /// `condition` belongs to another graph, was made on another device than the current one, or already has a node.
    IfNode if_( // cudag: if_(condition, then), with a Condition of builder.condition()
        const Condition& condition, GraphBody then, SourceLocation location = SourceLocation::current()) {
        return {Passkey(),
                Access::add_conditional(self(), ConditionalKind::if_, condition, &then, std::size_t{1}, location)};
    }

    /// Adds an if-else node: it runs the body `then` if `condition` is not 0 when the node starts, and `else_` if it is
    /// 0. Rules and errors are those of `if_` with one body. Needs CUDA 12.8.
    IfNode if_(const Condition& condition, GraphBody then, GraphBody else_,
               SourceLocation location = SourceLocation::current()) {
        const GraphBody bodies[] = {then, else_};
        return {Passkey(),
                Access::add_conditional(self(), ConditionalKind::if_, condition, bodies, std::size_t{2}, location)};
    }

    /// Adds a while loop: it tests `condition` before each iteration and runs the body while it is not 0, possibly
    /// never. Rules and errors are those of `if_`. A kernel in the body, or in an inner graph of it, must take the
    /// condition as an argument and set it to 0 eventually: otherwise `build()` throws GraphError, unless the condition
    /// is initially 0 and no kernel outside takes it.
    ///
    /// `build()` may add a kernel node without effect, labelled "end of a turn" (some 0.4 us per iteration), after a
    /// kernel that takes the condition: if nothing else in the body comes after that kernel, and the graph has other
    /// conditional nodes. Without it such launches sometimes end in cudaErrorLaunchFailure (H200, driver 580.159).
    WhileNode
    while_(const Condition& condition, // cudag: while_(condition, body), with a Condition of builder.condition()
           GraphBody body, SourceLocation location = SourceLocation::current()) {
        know_condition_kernels();
        return {Passkey(),
                Access::add_conditional(self(), ConditionalKind::while_, condition, &body, std::size_t{1}, location)};
    }

    /// Adds a loop that runs the nodes of `body` exactly `times` times in each launch, one iteration after the other.
    /// cudag adds one kernel node to the body, labelled "count of turns", that counts the iterations. Needs CUDA 12.8.
    /// Throws GraphError if `times` is negative or 2^32 or more, and as `while_` does.
    template <std::integral Number>
    WhileNode repeat( // cudag: repeat(times, body) takes a number; while_(condition, body) lets kernels decide
        Number times, GraphBody body, SourceLocation location = SourceLocation::current()) {
        know_condition_kernels();
        return {Passkey(), Access::add_repeat(self(), turn_count(times, location), body, location)};
    }

    /// Adds a kernel node that sets `condition` to a number in memory, read when the node runs. `value` holds one
    /// unsigned or int: a DeviceScalar, DeviceBuffer, BufferParam or PinnedBuffer, all of which the graph keeps, or a
    /// DeviceSpan.
    /// One node sets up to four conditions: `set(a, x, b, y)`. It counts as a kernel that takes them: it must run
    /// before the conditional node or inside it, and may end a loop. Updates take the same arguments:
    /// `exec.update(node, arg<1>(other))`.
    /// Needs CUDA 12.8; the first call in a process loads the kernel, in some 60 ms. Throws GraphError if a value is
    /// not one number, and as `kernel` does.
    template <class... Argument>
    auto set( // cudag: set(condition, value), with a Condition of builder.condition()
        Located<Condition> condition, const Argument&... values) {
        if constexpr (require_condition_pairs<Condition, Argument...>()) {
            (require_one_value(values, condition.location), ...);
            know_condition_kernels();
            const Function& function = set_conditions_function((1 + sizeof...(Argument)) / 2, condition.location);
            const Node node = Access::place(self(), condition.location, [&](GraphState& graph) {
                return add_typed_kernel<Condition, typename SetParameter<Argument>::type...>(
                    graph, {}, condition.location, function, condition.value, values...);
            });
            return KernelNode<Condition, typename SetParameter<Argument>::type...>(Passkey(), node);
        }
    }

    /// Adds a switch node: it runs the body numbered by the value of `condition` when the node starts, from 0 on, or
    /// none if there is no such body. Rules and errors are those of `if_`. Throws GraphError if there are no bodies.
    /// Needs CUDA 12.8.
    SwitchNode switch_( // cudag: switch_(condition, {body, body}), with a Condition of builder.condition()
        const Condition& condition, std::initializer_list<GraphBody> bodies,
        SourceLocation location = SourceLocation::current()) {
        return {Passkey(), Access::add_conditional(self(), ConditionalKind::switch_, condition, bodies.begin(),
                                                   bodies.size(), location)};
    }

    /// Adds a switch node with one body for each function of a range. Rules and errors are those of `switch_` with a
    /// list.
    template <GraphBodies Bodies>
    SwitchNode switch_( // cudag: switch_(condition, {body, body}), with a Condition of builder.condition()
        const Condition& condition, Bodies&& bodies, SourceLocation location = SourceLocation::current()) {
        const std::vector<GraphBody> list(std::ranges::begin(bodies), std::ranges::end(bodies));
        return {Passkey(), Access::add_conditional(self(), ConditionalKind::switch_, condition, list.data(),
                                                   list.size(), location)};
    }

  private:
    [[nodiscard]] Self& self() noexcept { return static_cast<Self&>(*this); }
};

} // namespace cudag::detail
