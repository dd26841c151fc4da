// Nodes that record events, or wait for them.
#include "event.hpp"

namespace cudag::detail {

std::string problem_of(const EventParams& event) {
    return event.event == nullptr ? "the event is null or was moved from" : "";
}

namespace {

constexpr CUgraphNodeType type_of(bool records) noexcept {
    return records ? CU_GRAPH_NODE_TYPE_EVENT_RECORD : CU_GRAPH_NODE_TYPE_WAIT_EVENT;
}

} // namespace

CUgraphNodeParams native_params(const EventParams& event) noexcept {
    CUgraphNodeParams params = native_params(type_of(event.records));
    (event.records ? params.eventRecord.event : params.eventWait.event) = event.event;
    return params;
}

EventParams read_event(cudaGraphNode_t node, bool records) {
    const CUgraphNodeParams params = read_native_node(node, type_of(records));
    return {records ? params.eventRecord.event : params.eventWait.event, records};
}

} // namespace cudag::detail
