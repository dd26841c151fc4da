// Events of event record and event wait nodes: queries and changes.
#include "exec/exec_model.hpp"
#include "graph/graph_event_work.hpp"

namespace cudart_cpu::detail {

namespace {

template <class Kind>
cudaError_t get_event(const char* name, cudaGraphNode_t node, cudaEvent_t* event) noexcept {
    return graph_api(name, [&] {
        require_pointer(event, "event_out");
        *event = work_of<Kind>(node_of(node)).event();
    });
}

template <class Kind>
cudaError_t set_event(const char* name, cudaGraphNode_t handle, cudaEvent_t event) noexcept {
    return graph_api(name, [&] {
        Node& node = node_of(handle);
        work_of<Kind>(node);
        node.set_work(std::make_shared<Kind>(event));
    });
}

template <class Kind>
cudaError_t set_event(const char* name, cudaGraphExec_t handle, cudaGraphNode_t node, cudaEvent_t event) noexcept {
    return graph_api(name, [&] {
        Exec& exec = exec_of(handle);
        NodeState& state = exec.state_of(node);
        work_as<Kind>(*state.work);
        exec.update_work(state, std::make_shared<Kind>(event));
    });
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event_out) {
    return get_event<EventRecordWork>("cudaGraphEventRecordNodeGetEvent", node, event_out);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return set_event<EventRecordWork>("cudaGraphEventRecordNodeSetEvent", node, event);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec,
                                                                          cudaGraphNode_t hNode, cudaEvent_t event) {
    return set_event<EventRecordWork>("cudaGraphExecEventRecordNodeSetEvent", hGraphExec, hNode, event);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event_out) {
    return get_event<EventWaitWork>("cudaGraphEventWaitNodeGetEvent", node, event_out);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return set_event<EventWaitWork>("cudaGraphEventWaitNodeSetEvent", node, event);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec,
                                                                        cudaGraphNode_t hNode, cudaEvent_t event) {
    return set_event<EventWaitWork>("cudaGraphExecEventWaitNodeSetEvent", hGraphExec, hNode, event);
}
