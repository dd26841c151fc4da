// Calls of host functions.
#include "host.hpp"

namespace cudag::detail {

CUgraphNodeParams native_params(const cudaHostNodeParams& host) noexcept {
    CUgraphNodeParams params = native_params(CU_GRAPH_NODE_TYPE_HOST);
    params.host.fn = host.fn;
    params.host.userData = host.userData;
    return params;
}

cudaHostNodeParams read_host(cudaGraphNode_t node) {
    const CUgraphNodeParams params = read_native_node(node, CU_GRAPH_NODE_TYPE_HOST);
    return {params.host.fn, params.host.userData};
}

} // namespace cudag::detail
