// The functions behind the templates of updates, without types, and the sentences for mistaken updates.
#pragma once

#include <cudag/config.hpp>
#include <cudag/copy_batch.hpp>
#include <cudag/detail/call_effects.hpp>
#include <cudag/detail/copy_3d.hpp>
#include <cudag/detail/event_operand.hpp>
#include <cudag/detail/given_arguments.hpp>
#include <cudag/detail/host_task.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/detail/semaphore_operand.hpp>
#include <cudag/external_semaphore.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/memory_node.hpp>
#include <cudag/memory_operation.hpp>
#include <cudag/node.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

namespace cudag {
class Exec;
class Graph;
class GraphBuilder;
} // namespace cudag

namespace cudag::detail {

class ExecState;

/// The object that an update changes: the exec, or the graph if `exec` is null.
struct UpdateTarget {
    ExecState* exec;
    GraphState* graph;
};

// Each function throws UpdateError and changes nothing if the update is refused.
/// Updates a kernel node: the values that are not null, and the configuration if there is one; the rest stays.
CUDAG_EXPORT void update_kernel(const UpdateTarget& target, const Node& node, const KernelCall& call,
                                CallEffects&& effects);
/// Updates any kernel node by untyped arguments, and by a configuration unless it is null.
CUDAG_EXPORT void update_function(const UpdateTarget& target, const Node& node, const GivenArguments& arguments,
                                  const LaunchConfig* config, CallEffects&& effects);
/// Updates the configuration of any kernel node; its arguments stay.
CUDAG_EXPORT void update_launch(const UpdateTarget& target, const Node& node, const LaunchConfig& config);
/// Updates the size of a one-dimensional copy or fill; the rest stays.
CUDAG_EXPORT void update_size(const UpdateTarget& target, const Node& node, std::size_t count);
CUDAG_EXPORT void update_memcpy(const UpdateTarget& target, const Node& node, const CopyParams& copy, Owners&& owners);
CUDAG_EXPORT void update_copy_in_batch(const UpdateTarget& target, const CopyInBatch& which, const CopyParams& copy,
                                       Owners&& owners);
CUDAG_EXPORT void update_copy_3d(const UpdateTarget& target, const Node& node, const Copy3D& copy);
CUDAG_EXPORT void update_memset(const UpdateTarget& target, const Node& node, const SetParams& set,
                                CallEffects&& effects);
CUDAG_EXPORT void update_host(const UpdateTarget& target, const Node& node, HostTask&& task);
CUDAG_EXPORT void update_semaphores(const UpdateTarget& target, const Node& node,
                                    std::span<const SemaphoreOperation> operations, Owners&& owners);
/// Updates all operations of a node.
CUDAG_EXPORT void update_memory_operations(const UpdateTarget& target, const Node& node,
                                           std::span<const MemoryOperation> operations);
/// Updates address and value of a node's only operation, and the comparison unless it is null.
CUDAG_EXPORT void update_memory_operation(const UpdateTarget& target, const Node& node,
                                          const MemoryOperation& operation, const Compare* compare, Owners&& owners);
CUDAG_EXPORT void update_event(const UpdateTarget& target, const Node& node, cudaEvent_t event, Owners&& owners);

/// Marks kernel and memory nodes: other overloads check their operands.
inline constexpr std::size_t any_operands = std::numeric_limits<std::size_t>::max();

/// The number of operands of an update of such a node; 0 for other types.
template <class Handle>
inline constexpr std::size_t update_operands = 0;
template <class Handle>
requires is_kernel_node<Handle> || is_alloc_node<Handle> || std::same_as<Handle, FreeNode> ||
             std::same_as<Handle, MemoryOperationNode> || std::same_as<Handle, CopyInBatch>
inline constexpr std::size_t update_operands<Handle> = any_operands;
template <>
inline constexpr std::size_t update_operands<MemcpyNode> = 2;
template <>
inline constexpr std::size_t update_operands<MemsetNode> = 2;
template <>
inline constexpr std::size_t update_operands<HostNode> = 1;
template <>
inline constexpr std::size_t update_operands<RecordNode> = 1;
template <>
inline constexpr std::size_t update_operands<WaitNode> = 1;

template <class Argument>
concept SemaphoreSignals =
    std::convertible_to<Argument, SemaphoreSignal> || std::convertible_to<Argument, std::span<const SemaphoreSignal>>;

/// Whether nodes of type Handle have no update by these operands.
template <class Handle, class... Argument>
inline constexpr bool no_update = update_operands<Handle> != any_operands &&
                                  (update_operands<Handle> == 0 || update_operands<Handle> != sizeof...(Argument));
template <class Argument>
inline constexpr bool no_update<Node, Argument> = !std::convertible_to<Argument, LaunchConfig>;
template <class Argument>
inline constexpr bool no_update<SignalNode, Argument> = !SemaphoreSignals<Argument>;
template <class Argument>
inline constexpr bool no_update<SemaphoreWaitNode, Argument> =
    !SemaphoreWaits<Argument> && !std::convertible_to<Argument, SemaphoreWait>;

/// A handle with operands that need no conversion. For other handles, a const overload would win overload resolution.
template <class Handle>
concept PlainOperands = !std::same_as<Handle, SignalNode> && !std::same_as<Handle, SemaphoreWaitNode> &&
                        !std::same_as<Handle, MemoryOperationNode>;

/// Refuses an update at compile time; the text names the right call.
template <class Self, class Handle>
constexpr void refuse_update() {
    constexpr bool is_text = std::convertible_to<const Handle&, std::string_view>;
    constexpr bool is_function = is_kernel<std::decay_t<const Handle&>>;
    constexpr bool is_list = NodeRange<Handle>;
    constexpr bool is_copy = std::same_as<Handle, MemcpyNode>;
    constexpr bool is_fill = std::same_as<Handle, MemsetNode>;
    constexpr bool is_host = std::same_as<Handle, HostNode>;
    constexpr bool is_event = std::same_as<Handle, RecordNode> || std::same_as<Handle, WaitNode>;
    constexpr bool is_semaphore = std::same_as<Handle, SignalNode> || std::same_as<Handle, SemaphoreWaitNode>;
    constexpr bool is_plain = std::same_as<Handle, Node>;
    constexpr bool is_region = is_captured_node<Handle>;
    constexpr bool is_graph = std::same_as<Handle, Graph>;
    constexpr bool is_for_exec = std::same_as<Self, Exec>;
    constexpr bool is_exec = std::same_as<Handle, Exec>;
    constexpr bool is_builder = std::same_as<Handle, GraphBuilder>;
    constexpr bool is_other_node =
        AnyNode<Handle> && !is_copy && !is_fill && !is_host && !is_event && !is_semaphore && !is_plain;
    static_assert(!is_plain, "cudag: a Node does not know the types of its node: update(node.as(kernel), ...), or "
                             "node.as<cudag::MemcpyNode>() and the like");
    static_assert(!is_fill, "cudag: a fill is updated by its range and value: update(node, range, value)");
    static_assert(!is_copy, "cudag: a copy is updated by both operands: update(node, destination, source)");
    static_assert(!is_host, "cudag: a host node is updated by a function: update(node, function)");
    static_assert(!is_event, "cudag: a node with an event is updated by an event: update(node, event)");
    static_assert(!is_semaphore, "cudag: update(node, {semaphore, value}): SemaphoreSignals for a SignalNode, "
                                 "SemaphoreWaits for a SemaphoreWaitNode");
    static_assert(!is_other_node,
                  "cudag: in a join, child or conditional node itself nothing can be updated; update the "
                  "nodes inside, or exec.update(child, graph)");
    static_assert(!is_region, "cudag: a captured region is updated node by node: region.nodes()");
    static_assert(!is_list, "cudag: an update takes one node, and find() gives a list: graph.find_one(kernel)");
    static_assert(!is_function, "cudag: an update takes the handle of the node: graph.find_one(kernel) finds it");
    static_assert(!is_text, "cudag: an update takes the handle of the node: graph.find_one(label) finds it, and "
                            ".as(kernel) or .as<cudag::MemcpyNode>() gives it its type");
    static_assert(!is_graph || is_for_exec, "cudag: only an Exec takes a whole graph: exec.update(graph)");
    static_assert(!is_graph || !is_for_exec, "cudag: a whole graph is given with UpdateOptions: exec.update(graph, "
                                             "{.match = cudag::Match::structure})");
    static_assert(!is_exec, "cudag: an update takes a Graph, not an Exec of it");
    static_assert(!is_builder, "cudag: an update takes a Graph: std::move(builder).build()");
    static_assert(AnyNode<Handle> || is_region || is_list || is_function || is_text || is_graph || is_exec ||
                      is_builder,
                  "cudag: an update takes the handle of a node, and what that node is made with");
}

} // namespace cudag::detail
