// Adds nodes that record events or wait for them.
#include "graph/graph_state.hpp"
#include "new_node.hpp"
#include "node/operands.hpp"

#include <cudag/detail/record.hpp>

#include <utility>

namespace cudag::detail {

Node add_event(GraphState& graph, NodeKind kind, cudaEvent_t event, Owners&& owners, const SourceLocation& where) {
    require_allowed(graph, kind, where);
    require_event(event, [&] { return new_node_subject(kind, where); });
    const bool records = kind == NodeKind::record_event;
    const EventParams* params = graph.memory().store(EventParams{event, records});
    graph.reserve_node(owners.size());
    cudaGraphNode_t node = nullptr;
    const cudaError_t status = records ? cudaGraphAddEventRecordNode(&node, graph.native(), nullptr, 0, event)
                                       : cudaGraphAddEventWaitNode(&node, graph.native(), nullptr, 0, event);
    if (status != cudaSuccess)
        raise_call<GraphError>(status, records ? "cudaGraphAddEventRecordNode" : "cudaGraphAddEventWaitNode",
                               new_node_subject(kind, where));
    return graph.append(node, {kind, params, {}, where}, std::move(owners));
}

} // namespace cudag::detail
