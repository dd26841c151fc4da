// Targets and results of CUDA calls that add nodes and set their parameters.
#pragma once

#include "cuda/failure.hpp"
#include "cuda/node_calls.hpp"

#include <cuda_runtime_api.h>

namespace cudag::detail {

struct NativeResult {
    cudaError_t status;
    const char* operation;
    Api api = Api::runtime;
};

/// The result for a node with parameters that CUDA cannot set.
inline constexpr NativeResult cannot_be_set{cudaErrorNotSupported, "update"};

/// A node of a graph, or its counterpart in an exec if `exec` is set.
struct NodeTarget {
    cudaGraphNode_t node;
    cudaGraphExec_t exec = nullptr;
};

/// Throws E if `result` is not success.
template <class E>
void checked(const NativeResult& result) {
    if (result.status != cudaSuccess) [[unlikely]]
        raise_call<E>(result.status, result.operation, {}, result.api);
}
/// Ignores a failure without new information.
inline void ignore(const NativeResult& result) noexcept {
    if (result.api == Api::runtime) ignore(result.status);
}

/// Adds a node of any kind, without edges. CUDA writes addresses that it makes to `params`.
[[nodiscard]] inline NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, CUgraphNodeParams& params,
                                             std::span<const cudaGraphNode_t> after = {}) {
    return {to_runtime(add_native_node(node, graph, params, after)), add_node_call, Api::driver};
}
/// Sets the parameters of a node of any kind.
[[nodiscard]] inline NativeResult set_native(const NodeTarget& target, const CUgraphNodeParams& params) {
    bind_context();
    if (target.exec != nullptr)
        return {to_runtime(driver().graph_exec_node_set_params(target.exec, target.node, to_set(params))),
                exec_set_node_call, Api::driver};
    return {to_runtime(driver().graph_node_set_params(target.node, to_set(params))), set_node_call, Api::driver};
}

} // namespace cudag::detail
