// The functions behind GraphBuilder's templates: one for each kind of node, without types.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/call_effects.hpp>
#include <cudag/detail/copy_3d.hpp>
#include <cudag/detail/host_task.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/semaphore_operand.hpp>
#include <cudag/function.hpp>
#include <cudag/host_options.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/memory_node.hpp>
#include <cudag/memory_operation.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace cudag {

struct Edge;

}

namespace cudag::detail {

struct InlinedNodes;

/// A value with the source location of its call. A function that ends in a parameter pack gets its location this way.
template <class Value>
struct Located {
    Value value;
    SourceLocation location;

    template <class Other>
    requires std::convertible_to<Other, Value>
    Located(Other&& from, SourceLocation at = SourceLocation::current())
        : value(std::forward<Other>(from)), location(at) {}
};

// Each of these functions adds one node, or throws GraphError and adds nothing.
CUDAG_EXPORT Node add_kernel(GraphState& graph, const KernelCall& call, CallEffects&& effects,
                             const SourceLocation& where);
CUDAG_EXPORT Node add_function(GraphState& graph, const Function& function, const PassedConfig& config,
                               const GivenArguments& arguments, CallEffects&& effects, const SourceLocation& where);
struct BatchedCopy {
    CopyParams params;
    Owners owners;
};
/// Adds copies: one node for all, or one for each and, as the last, a join after all of them.
CUDAG_EXPORT std::vector<Node> add_copies(GraphState& graph, std::vector<BatchedCopy>&& copies,
                                          const SourceLocation& where);
CUDAG_EXPORT Node add_memcpy(GraphState& graph, const CopyParams& copy, Owners&& owners, const SourceLocation& where);
/// Adds the pieces of `copy`, without edges between them; on an error it may have added some of them.
CUDAG_EXPORT void add_pieces(GraphState& graph, const CopyParams& copy, const Owners& owners,
                             const SourceLocation& where);
CUDAG_EXPORT Node add_copy_3d(GraphState& graph, const Copy3D& copy, const SourceLocation& where);
CUDAG_EXPORT Node add_memset(GraphState& graph, const SetParams& set, CallEffects&& effects,
                             const SourceLocation& where);
CUDAG_EXPORT Node add_host(GraphState& graph, HostTask&& task, const HostOptions& options, const SourceLocation& where);
/// Adds an event node: `kind` is record_event or wait_event.
CUDAG_EXPORT Node add_event(GraphState& graph, NodeKind kind, cudaEvent_t event, Owners&& owners,
                            const SourceLocation& where);
CUDAG_EXPORT Node add_memory_operations(GraphState& graph, std::span<const MemoryOperation> operations, Owners&& owners,
                                        const SourceLocation& where);
/// Adds a semaphore node: `kind` is signal_semaphore or wait_semaphore.
CUDAG_EXPORT Node add_semaphores(GraphState& graph, NodeKind kind, std::span<const SemaphoreOperation> operations,
                                 Owners&& owners, const SourceLocation& where);
CUDAG_EXPORT Node add_alloc(GraphState& graph, std::size_t count, std::size_t element_bytes,
                            const AllocOptions& options, const SourceLocation& where);
/// Adds a node that frees the memory of `alloc`, a node of this graph or of another one.
CUDAG_EXPORT Node add_free(GraphState& graph, const Node& alloc, const SourceLocation& where);
/// Adds a node that frees `range`, all memory of an alloc node of this graph.
CUDAG_EXPORT Node add_free(GraphState& graph, const Allocation& range, const SourceLocation& where);
/// Adds a node of any kind except a conditional.
CUDAG_EXPORT Node add_native(GraphState& graph, cudaGraphNodeParams& params, const SourceLocation& where);
CUDAG_EXPORT Node add_join(GraphState& graph, const Node* from, std::size_t count, const SourceLocation& where);
/// Adds a child node with a clone of `source`.
CUDAG_EXPORT Node add_child(GraphState& graph, GraphState& source, const SourceLocation& where);
/// Adds a child node with `inner` itself.
CUDAG_EXPORT Node move_child(GraphState& graph, const std::shared_ptr<GraphState>& inner, const SourceLocation& where);

/// Writes the nodes of `source` again.
CUDAG_EXPORT std::shared_ptr<const InlinedNodes> inline_nodes(GraphState& graph, GraphState& source,
                                                              const SourceLocation& where);

/// Removes nodes: all, or none with a GraphError.
CUDAG_EXPORT void remove_nodes(GraphState& graph, std::span<const Node> nodes, const SourceLocation& where);
/// Removes edges: all, or none with a GraphError. Only the ends of each edge count.
CUDAG_EXPORT void remove_edges(GraphState& graph, std::span<const Edge> edges, const SourceLocation& where);

} // namespace cudag::detail
