// The driver's entry points, fetched from the runtime: nothing links to libcuda.
#pragma once

#include "compat.hpp"
#include "failure.hpp"
#include "old_node_calls.hpp"
#include "thread_state.hpp"

#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

namespace cudag::detail {

/// The driver's functions for frequent calls, because the runtime's counterparts cost more. On an H200 (driver 580),
/// adding a kernel node costs 1.8 times and capturing a launch 1.4 times as much, since they look the function up each
/// time; launching a graph 8 % more, instantiating 4 % more, updating all of a small one 12 % more (H100); reading a
/// node's kind 4 times, its dependencies 4 times, a kernel's parameters 3 times as much.
struct Driver {
    decltype(&::cuCtxGetCurrent) ctx_get_current;
    decltype(&::cuCtxGetId) ctx_get_id;
    decltype(&::cuLaunchKernel) launch_kernel;
    // Nodes of any kind. If the driver has only functions for one kind, these call them: see old_node_calls.hpp.
    CUresult(CUDAAPI* graph_add_node)(CUgraphNode*, CUgraph, const CUgraphNode*, const CUgraphEdgeData*, std::size_t,
                                      CUgraphNodeParams*);
    CUresult(CUDAAPI* graph_node_set_params)(CUgraphNode, CUgraphNodeParams*);
    CUresult(CUDAAPI* graph_exec_node_set_params)(CUgraphExec, CUgraphNode, CUgraphNodeParams*);
    /// `type` must be set already.
    CUresult(CUDAAPI* graph_node_get_params)(CUgraphNode, CUgraphNodeParams*);
    // Copies of several dimensions, by the runtime: its parameters count elements where the driver's count bytes.
    cudaError_t(CUDARTAPI* graph_add_copy)(cudaGraphNode_t*, cudaGraph_t, const cudaMemcpy3DParms*);
    cudaError_t(CUDARTAPI* graph_copy_set_params)(cudaGraphNode_t, const cudaMemcpy3DParms*);
    cudaError_t(CUDARTAPI* graph_exec_copy_set_params)(cudaGraphExec_t, cudaGraphNode_t, const cudaMemcpy3DParms*);
    cudaError_t(CUDARTAPI* graph_copy_get_params)(cudaGraphNode_t, cudaMemcpy3DParms*);
    KernelNodeCalls kernels;
    FillNodeCalls fills;
    decltype(&::cuGraphGetNodes) graph_get_nodes;
    decltype(&::cuGraphNodeGetType) graph_node_get_type;
    /// CUDA 13.0 folded this variant into the original name.
    CUresult(CUDAAPI* graph_node_get_dependencies)(CUgraphNode, CUgraphNode*, CUgraphEdgeData*, std::size_t*);
    CUresult(CUDAAPI* graph_node_get_tools_id)(CUgraphNode, unsigned long long*); ///< null before 13.1
    decltype(&::cuGraphKernelNodeGetAttribute) graph_kernel_node_get_attribute;
    decltype(&::cuGraphInstantiateWithParams) graph_instantiate_with_params;
    decltype(&::cuGraphExecUpdate) graph_exec_update;
    decltype(&::cuGraphLaunch) graph_launch;
    decltype(&::cuKernelGetFunction) kernel_get_function;
    decltype(&::cuFuncGetName) func_get_name;
    decltype(&::cuFuncGetParamInfo) func_get_param_info;
    CUresult(CUDAAPI* func_get_param_count)(CUfunction, std::size_t*); ///< null before 13.2
    decltype(&::cuFuncGetAttribute) func_get_attribute;
    decltype(&::cuCtxPushCurrent) ctx_push_current;
    decltype(&::cuCtxPopCurrent) ctx_pop_current;
    CUresult(CUDAAPI* ctx_get_device)(CUdevice*);
    CUresult(CUDAAPI* ctx_from_green_ctx)(CUcontext*, CUgreenCtx); ///< null if the driver has none
    // Null for a runtime with primary contexts only.
    decltype(&::cuDevicePrimaryCtxGetState) primary_ctx_get_state;
    decltype(&::cuDevicePrimaryCtxRetain) primary_ctx_retain;
    decltype(&::cuDevicePrimaryCtxRelease) primary_ctx_release;
    CUresult(CUDAAPI* stream_get_ctx)(CUstream, CUcontext*);
    decltype(&::cuMemGetAddressRange) mem_get_address_range;
    decltype(&::cuPointerGetAttribute) pointer_get_attribute;
    decltype(&::cuMemsetD8Async) memset_d8_async;
    decltype(&::cuMemsetD16Async) memset_d16_async;
    decltype(&::cuMemsetD32Async) memset_d32_async;
    decltype(&::cuMemsetD2D8Async) memset_2d_d8_async;
    decltype(&::cuMemsetD2D16Async) memset_2d_d16_async;
    decltype(&::cuMemsetD2D32Async) memset_2d_d32_async;
};

/// Null until `load_driver` has succeeded. Checked for each node, so the check is a single load.
inline std::atomic<const Driver*> loaded_driver = nullptr;
const Driver& load_driver();

/// The driver's functions. Throws Error if the driver is older than CUDA 12.4, or missing.
[[nodiscard]] inline const Driver& driver() {
    if (const Driver* loaded = loaded_driver.load(std::memory_order_acquire); loaded != nullptr) [[likely]]
        return *loaded;
    return load_driver();
}

/// The slow path of `current_context`, for a thread without a context. `told` is CUDA's result; throws Error if it is
/// an error.
CUcontext make_context_current(CUresult told);

/// This thread's CUDA context. If there is none, makes the current device's context current: without one, the driver's
/// graph functions crash (seen on driver 580). Throws Error if there is no device.
inline CUcontext current_context() {
    CUcontext context = nullptr;
    const CUresult told = driver().ctx_get_current(&context);
    if (told == CUDA_SUCCESS && context != nullptr) [[likely]]
        return context;
    return make_context_current(told);
}

/// Ensures that this thread has a context; queries CUDA once per thread.
inline void bind_context() {
    if (thread_state.has_context) [[likely]]
        return;
    static_cast<void>(current_context());
    thread_state.has_context = true;
}

/// Whether `context` is not the primary context of a device: a green context, or one created by the program. Throws
/// GraphError.
[[nodiscard]] bool is_separate_context(CUcontext context);
/// The ordinary context of a green context; null if `context` is not green. Calls with the green context itself fail
/// until the first call of this function for it.
[[nodiscard]] CUcontext converted_green_context(CUcontext context);

template <class Call>
[[gnu::noinline, gnu::cold]] CUresult call_in_converted_context(CUDA_KERNEL_NODE_PARAMS params, Call call) {
    params.ctx = converted_green_context(params.ctx);
    return params.ctx == nullptr ? CUDA_ERROR_INVALID_CONTEXT : call(params);
}
/// Calls `call(params)`, and again if the driver rejects a green context not converted yet. The second call uses a copy
/// of `call`, so that the first keeps its captures in registers.
template <class Call>
CUresult call_in_context(const CUDA_KERNEL_NODE_PARAMS& params, const Call& call) {
    const CUresult result = call(params);
    if (result != CUDA_ERROR_INVALID_CONTEXT || params.ctx == nullptr) [[likely]]
        return result;
    return call_in_converted_context(params, call);
}

/// The device of a context; the current device for a null context, and for one that does not reveal its device. Throws
/// Error.
[[nodiscard]] int device_of_context(CUcontext context);
/// The device of a stream, captured or not; nothing if its context does not reveal it, such as a green one.
[[nodiscard]] std::optional<int> device_by_context(cudaStream_t stream);
/// The device of a stream, which must not be captured. Throws Error if CUDA does not know the stream.
[[nodiscard]] int device_of(cudaStream_t stream);

/// Converts a code: the driver's codes equal the runtime's since CUDA 10.1.
[[nodiscard]] constexpr cudaError_t to_runtime(CUresult result) noexcept {
    return static_cast<cudaError_t>(result);
}

/// Throws E if `result`, returned by the driver's `operation`, is not success.
template <class E>
void checked_driver(CUresult result, const char* operation) {
    if (result != CUDA_SUCCESS) [[unlikely]]
        raise_call<E>(to_runtime(result), operation, {}, Api::driver);
}

/// All nodes of CUDA's graph, in CUDA's order. Throws GraphError.
[[nodiscard]] std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph);
/// The nodes from number `first` on.
[[nodiscard]] std::vector<cudaGraphNode_t> nodes_from(cudaGraph_t graph, std::uint32_t first);

} // namespace cudag::detail
