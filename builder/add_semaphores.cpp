// Adds nodes that signal external semaphores or wait for them.
#include "graph/graph_state.hpp"
#include "new_node.hpp"
#include "node/semaphore_params.hpp"

#include <cudag/detail/record.hpp>

#include <algorithm>
#include <utility>

namespace cudag::detail {

Node add_semaphores(GraphState& graph, NodeKind kind, std::span<const SemaphoreOperation> operations, Owners&& owners,
                    const SourceLocation& where) {
    require_allowed(graph, kind, where);
    const auto subject = [&] { return new_node_subject(kind, where); };
    require_semaphores(operations, subject);
    auto* list = graph.memory().allocate<SemaphoreOperation>(operations.size());
    std::copy(operations.begin(), operations.end(), list);
    const bool signals = kind == NodeKind::signal_semaphore;
    const SemaphoreParams* params =
        graph.memory().store(SemaphoreParams{signals, static_cast<std::uint32_t>(operations.size()), list});
    graph.reserve_node(owners.size());
    cudaGraphNode_t node = nullptr;
    const cudaError_t status = signals ? cudaGraphAddExternalSemaphoresSignalNode(&node, graph.native(), nullptr, 0,
                                                                                  NativeSignals(operations).get())
                                       : cudaGraphAddExternalSemaphoresWaitNode(&node, graph.native(), nullptr, 0,
                                                                                NativeWaits(operations).get());
    if (status != cudaSuccess)
        raise_call<GraphError>(
            status, signals ? "cudaGraphAddExternalSemaphoresSignalNode" : "cudaGraphAddExternalSemaphoresWaitNode",
            subject());
    return graph.append(node, {kind, params, {}, where}, std::move(owners));
}

} // namespace cudag::detail
