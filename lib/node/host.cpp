// Calls of host functions.
#include "host.hpp"

#include "cuda/compat.hpp"

namespace cudag::detail {

CUgraphNodeParams native_params(const HostParams& host) noexcept {
    CUgraphNodeParams params = native_params(CU_GRAPH_NODE_TYPE_HOST);
    params.host.fn = host.fn;
    params.host.userData = host.userData;
    compat::set_host_sync_mode(params, host.sync_mode);
    return params;
}

HostParams read_host(cudaGraphNode_t node) {
    const CUgraphNodeParams params = read_native_node(node, CU_GRAPH_NODE_TYPE_HOST);
    return {params.host.fn, params.host.userData, compat::host_sync_mode(params)};
}

} // namespace cudag::detail
