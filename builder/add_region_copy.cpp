// Adds copies of several dimensions, and of arrays.
#include "add_memory.hpp"
#include "body_copies.hpp"
#include "cuda/failure.hpp"
#include "graph/graph_state.hpp"
#include "new_node.hpp"
#include "node/region_params.hpp"

#include <cudag/detail/record.hpp>

namespace cudag::detail {

Node add_region_copy(GraphState& graph, const RegionCopy& copy, const SourceLocation& where) {
    require_allowed(graph, NodeKind::memcpy, where);
    const auto subject = [&] { return new_node_subject(NodeKind::memcpy, where); };
    require_region_copy(copy, subject);
    const cudaMemcpy3DParms* params = graph.memory().store(runtime_params(copy));
    require_body_copy(graph, params, where);
    require_unfreed(graph, params->dstPtr.ptr, "destination", NodeKind::memcpy, where);
    require_unfreed(graph, params->srcPtr.ptr, "source", NodeKind::memcpy, where);
    graph.reserve_node();
    cudaGraphNode_t node = nullptr;
    const cudaError_t status = cudaGraphAddMemcpyNode(&node, graph.native(), nullptr, 0, params);
    if (status != cudaSuccess) raise_call<GraphError>(status, "cudaGraphAddMemcpyNode", subject());
    return graph.append(node, {NodeKind::memcpy, params, {}, where});
}

} // namespace cudag::detail
