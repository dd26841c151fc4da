// Nodes that record events, or wait for them.
#include "event.hpp"

namespace cudag::detail {

std::string problem_of(const EventParams& event) {
    return event.event == nullptr ? "the event is null or was moved from" : "";
}

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const EventParams& event) {
    if (event.records)
        return {cudaGraphAddEventRecordNode(&node, graph, nullptr, 0, event.event), "cudaGraphAddEventRecordNode"};
    return {cudaGraphAddEventWaitNode(&node, graph, nullptr, 0, event.event), "cudaGraphAddEventWaitNode"};
}

NativeResult set_native(const NodeTarget& target, const EventParams& event) {
    if (target.exec != nullptr && event.records)
        return {cudaGraphExecEventRecordNodeSetEvent(target.exec, target.node, event.event),
                "cudaGraphExecEventRecordNodeSetEvent"};
    if (target.exec != nullptr)
        return {cudaGraphExecEventWaitNodeSetEvent(target.exec, target.node, event.event),
                "cudaGraphExecEventWaitNodeSetEvent"};
    if (event.records)
        return {cudaGraphEventRecordNodeSetEvent(target.node, event.event), "cudaGraphEventRecordNodeSetEvent"};
    return {cudaGraphEventWaitNodeSetEvent(target.node, event.event), "cudaGraphEventWaitNodeSetEvent"};
}

EventParams read_event(cudaGraphNode_t node, bool records) {
    cudaEvent_t event = nullptr;
    if (records)
        checked<GraphError>(cudaGraphEventRecordNodeGetEvent(node, &event), "cudaGraphEventRecordNodeGetEvent");
    else
        checked<GraphError>(cudaGraphEventWaitNodeGetEvent(node, &event), "cudaGraphEventWaitNodeGetEvent");
    return {event, records};
}

} // namespace cudag::detail
