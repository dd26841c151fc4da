// CUDA's functions for nodes of any kind, and their parameters.
#pragma once

#include "driver.hpp"
#include "old_node_calls.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <span>

namespace cudag::detail {

/// The parameters of a node of this kind, still to be filled in. CUDA requires zeros in all unused ones.
[[nodiscard]] inline CUgraphNodeParams native_params(CUgraphNodeType type) noexcept {
    CUgraphNodeParams params{};
    params.type = type;
    return params;
}

/// The parameters of a node that runs a kernel of cudag's in one thread.
[[nodiscard]] inline CUgraphNodeParams own_kernel_params(cudaKernel_t kernel, void** arguments) noexcept {
    CUgraphNodeParams params = native_params(CU_GRAPH_NODE_TYPE_KERNEL);
    params.kernel.kern = reinterpret_cast<CUkernel>(kernel);
    params.kernel.gridDimX = params.kernel.gridDimY = params.kernel.gridDimZ = 1;
    params.kernel.blockDimX = params.kernel.blockDimY = params.kernel.blockDimZ = 1;
    params.kernel.kernelParams = arguments;
    return params;
}

/// CUDA reads parameters that it sets, despite its type.
[[nodiscard]] inline CUgraphNodeParams* to_set(const CUgraphNodeParams& params) noexcept {
    return const_cast<CUgraphNodeParams*>(&params);
}

inline constexpr const char* add_node_call = "cuGraphAddNode";
inline constexpr const char* set_node_call = "cuGraphNodeSetParams";
inline constexpr const char* exec_set_node_call = "cuGraphExecNodeSetParams";

/// Adds a node after `after`, over plain edges. CUDA writes addresses and graphs that it makes to `params`. Makes a
/// context current.
[[nodiscard]] inline CUresult add_native_node(cudaGraphNode_t& node, cudaGraph_t graph, CUgraphNodeParams& params,
                                              std::span<const cudaGraphNode_t> after = {}) {
    bind_context();
    return driver().graph_add_node(&node, graph, after.data(), nullptr, after.size(), &params);
}
/// Throws E if CUDA fails.
template <class E>
[[nodiscard]] cudaGraphNode_t added_native_node(cudaGraph_t graph, CUgraphNodeParams params,
                                                std::span<const cudaGraphNode_t> after = {}) {
    cudaGraphNode_t node = nullptr;
    checked_driver<E>(add_native_node(node, graph, params, after), add_node_call);
    return node;
}

/// Reads a node of this kind. Throws GraphError. Makes a context current.
[[nodiscard]] inline CUgraphNodeParams read_native_node(cudaGraphNode_t node, CUgraphNodeType type) {
    bind_context();
    CUgraphNodeParams params;
    params.type = type; // tells the functions for one kind which of them it is
    if (const CUresult result = driver().graph_node_get_params(node, &params); result != CUDA_SUCCESS) [[unlikely]] {
        const OldGetter getter = getter_of(type);
        raise_call<GraphError>(to_runtime(result), getter.name, {}, getter.api);
    }
    return params;
}

/// The graph inside a child node. Throws GraphError.
[[nodiscard]] inline cudaGraph_t child_graph_of(cudaGraphNode_t node) {
    return read_native_node(node, CU_GRAPH_NODE_TYPE_GRAPH).graph.graph;
}

} // namespace cudag::detail
