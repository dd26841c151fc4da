// Calls for the kinds of nodes that cudart-cpu does not have: each is refused by name.
#include "graph_params.hpp"

namespace cudart_cpu::detail {

namespace {

cudaError_t refuse(const char* name, cudaGraphNodeType type) noexcept {
    return graph_api(name, [&] { refuse_kind(type); });
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI
cudaGraphAddExternalSemaphoresSignalNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t,
                                         const struct cudaExternalSemaphoreSignalNodeParams*) {
    return refuse("cudaGraphAddExternalSemaphoresSignalNode", cudaGraphNodeTypeExtSemaphoreSignal);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphAddExternalSemaphoresWaitNode(
    cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, size_t, const struct cudaExternalSemaphoreWaitNodeParams*) {
    return refuse("cudaGraphAddExternalSemaphoresWaitNode", cudaGraphNodeTypeExtSemaphoreWait);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle*, cudaGraph_t,
                                                                      unsigned int, unsigned int) {
    return refuse("cudaGraphConditionalHandleCreate", cudaGraphNodeTypeConditional);
}
