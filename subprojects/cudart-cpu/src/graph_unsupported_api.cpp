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

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle*, cudaGraph_t,
                                                                      unsigned int, unsigned int) {
    return refuse("cudaGraphConditionalHandleCreate", cudaGraphNodeTypeConditional);
}
