// Parameters of the nodes of external semaphores, signals and waits: queries and changes.
#include "exec/exec_model.hpp"
#include "graph/graph_semaphore_work.hpp"

namespace cudart_cpu::detail {

namespace {

template <class Kind>
cudaError_t get_params(const char* name, cudaGraphNode_t node, typename Kind::Params* params) noexcept {
    return graph_api(name, [&] {
        require_pointer(params, "params_out");
        *params = work_of<Kind>(node_of(node)).params();
    });
}

template <class Kind>
cudaError_t set_params(const char* name, cudaGraphNode_t handle, const typename Kind::Params* params) noexcept {
    return graph_api(name, [&] {
        Node& node = node_of(handle);
        work_of<Kind>(node);
        require_pointer(params, "nodeParams");
        node.set_work(std::make_shared<Kind>(*params));
    });
}

template <class Kind>
cudaError_t set_exec_params(const char* name, cudaGraphExec_t handle, cudaGraphNode_t node,
                            const typename Kind::Params* params) noexcept {
    return graph_api(name, [&] {
        Exec& exec = exec_of(handle);
        NodeState& state = exec.state_of(node);
        work_as<Kind>(*state.work);
        require_pointer(params, "nodeParams");
        exec.update_work(state, std::make_shared<Kind>(*params));
    });
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExternalSemaphoresSignalNodeGetParams(
    cudaGraphNode_t hNode, struct cudaExternalSemaphoreSignalNodeParams* params_out) {
    return get_params<SignalWork>("cudaGraphExternalSemaphoresSignalNodeGetParams", hNode, params_out);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExternalSemaphoresSignalNodeSetParams(
    cudaGraphNode_t hNode, const struct cudaExternalSemaphoreSignalNodeParams* nodeParams) {
    return set_params<SignalWork>("cudaGraphExternalSemaphoresSignalNodeSetParams", hNode, nodeParams);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecExternalSemaphoresSignalNodeSetParams(
    cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, const struct cudaExternalSemaphoreSignalNodeParams* nodeParams) {
    return set_exec_params<SignalWork>("cudaGraphExecExternalSemaphoresSignalNodeSetParams", hGraphExec, hNode,
                                       nodeParams);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExternalSemaphoresWaitNodeGetParams(
    cudaGraphNode_t hNode, struct cudaExternalSemaphoreWaitNodeParams* params_out) {
    return get_params<SemaphoreWaitWork>("cudaGraphExternalSemaphoresWaitNodeGetParams", hNode, params_out);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExternalSemaphoresWaitNodeSetParams(
    cudaGraphNode_t hNode, const struct cudaExternalSemaphoreWaitNodeParams* nodeParams) {
    return set_params<SemaphoreWaitWork>("cudaGraphExternalSemaphoresWaitNodeSetParams", hNode, nodeParams);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecExternalSemaphoresWaitNodeSetParams(
    cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, const struct cudaExternalSemaphoreWaitNodeParams* nodeParams) {
    return set_exec_params<SemaphoreWaitWork>("cudaGraphExecExternalSemaphoresWaitNodeSetParams", hGraphExec, hNode,
                                              nodeParams);
}
