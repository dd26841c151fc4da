// Calls of host functions.
#include "host.hpp"

namespace cudag::detail {

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const cudaHostNodeParams& host) {
    return {cudaGraphAddHostNode(&node, graph, nullptr, 0, &host), "cudaGraphAddHostNode"};
}

NativeResult set_native(const NodeTarget& target, const cudaHostNodeParams& host) {
    if (target.exec != nullptr)
        return {cudaGraphExecHostNodeSetParams(target.exec, target.node, &host), "cudaGraphExecHostNodeSetParams"};
    return {cudaGraphHostNodeSetParams(target.node, &host), "cudaGraphHostNodeSetParams"};
}

cudaHostNodeParams read_host(cudaGraphNode_t node) {
    cudaHostNodeParams native{};
    checked<GraphError>(cudaGraphHostNodeGetParams(node, &native), "cudaGraphHostNodeGetParams");
    return native;
}

} // namespace cudag::detail
