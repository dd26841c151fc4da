// The driver's entry points, fetched once.
#include "driver.hpp"

#include "driver_function.hpp"
#include "failure.hpp"
#include "version.hpp"

#include <fmt/format.h>

namespace cudag::detail {

namespace {

/// Throws Error for an old driver, since it answers a query for newer functions with a bare "invalid argument". If
/// there is no driver, the first call reports that.
void require_driver() {
    int version = 0;
    checked(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
    if (version == 0 || version >= oldest_version) return;
    refuse<Error>(fmt::format("the driver is of CUDA {}; cudag needs a driver of CUDA {} or later",
                              version_text(version), version_text(oldest_version)),
                  {}, cudaErrorInsufficientDriver);
}

Driver load() {
    require_driver();
    Driver result{};
    fetch_needed(result.ctx_get_current, "cuCtxGetCurrent");
    fetch_needed(result.ctx_get_id, "cuCtxGetId");
    fetch_needed(result.launch_kernel, "cuLaunchKernel");
    fetch_optional(result.graph_add_node, "cuGraphAddNode");
    fetch_optional(result.graph_node_set_params, "cuGraphNodeSetParams");
    fetch_optional(result.graph_exec_node_set_params, "cuGraphExecNodeSetParams");
    fetch_optional(result.graph_node_get_params, "cuGraphNodeGetParams", since::readable_nodes);
    result.graph_add_copy = compat::graph_add_copy;
    result.graph_copy_set_params = compat::graph_copy_set_params;
    result.graph_exec_copy_set_params = compat::graph_exec_copy_set_params;
    if (result.graph_node_get_params != nullptr) result.graph_copy_get_params = compat::graph_copy_get_params;
    complete_node_calls(result);
    fetch_needed(result.graph_get_nodes, "cuGraphGetNodes");
    fetch_needed(result.graph_node_get_type, "cuGraphNodeGetType");
    fetch_needed(result.graph_node_get_dependencies, "cuGraphNodeGetDependencies");
    fetch_optional(result.graph_node_get_tools_id, "cuGraphNodeGetToolsId", 13010);
    fetch_needed(result.graph_kernel_node_get_attribute, "cuGraphKernelNodeGetAttribute");
    fetch_needed(result.graph_instantiate_with_params, "cuGraphInstantiateWithParams");
    fetch_needed(result.graph_exec_update, "cuGraphExecUpdate");
    fetch_needed(result.graph_launch, "cuGraphLaunch");
    fetch_needed(result.kernel_get_function, "cuKernelGetFunction");
    fetch_needed(result.func_get_name, "cuFuncGetName");
    fetch_needed(result.func_get_param_info, "cuFuncGetParamInfo");
    fetch_optional(result.func_get_param_count, "cuFuncGetParamCount", 13020);
    fetch_needed(result.func_get_attribute, "cuFuncGetAttribute");
    fetch_needed(result.ctx_push_current, "cuCtxPushCurrent");
    fetch_needed(result.ctx_pop_current, "cuCtxPopCurrent");
    fetch_needed(result.ctx_get_device, "cuCtxGetDevice");
    fetch_optional(result.ctx_from_green_ctx, "cuCtxFromGreenCtx");
    fetch_optional(result.primary_ctx_get_state, "cuDevicePrimaryCtxGetState");
    fetch_optional(result.primary_ctx_retain, "cuDevicePrimaryCtxRetain");
    fetch_optional(result.primary_ctx_release, "cuDevicePrimaryCtxRelease");
    fetch_needed(result.stream_get_ctx, "cuStreamGetCtx");
    fetch_needed(result.mem_get_address_range, "cuMemGetAddressRange");
    fetch_needed(result.pointer_get_attribute, "cuPointerGetAttribute");
    fetch_needed(result.memset_d8_async, "cuMemsetD8Async");
    fetch_needed(result.memset_d16_async, "cuMemsetD16Async");
    fetch_needed(result.memset_d32_async, "cuMemsetD32Async");
    fetch_needed(result.memset_2d_d8_async, "cuMemsetD2D8Async");
    fetch_needed(result.memset_2d_d16_async, "cuMemsetD2D16Async");
    fetch_needed(result.memset_2d_d32_async, "cuMemsetD2D32Async");
    return result;
}

} // namespace

const Driver& load_driver() {
    static const Driver loaded = load();
    loaded_driver.store(&loaded, std::memory_order_release);
    return loaded;
}

CUcontext make_context_current(CUresult told) {
    checked_driver<Error>(told, "cuCtxGetCurrent");
    int device = 0;
    checked(cudaGetDevice(&device), "cudaGetDevice");
    checked(cudaSetDevice(device), "cudaSetDevice"); // since CUDA 12 this makes the device's context current
    CUcontext context = nullptr;
    checked_driver<Error>(driver().ctx_get_current(&context), "cuCtxGetCurrent");
    return context;
}

bool is_separate_context(CUcontext context) {
    const Driver& calls = driver();
    if (calls.primary_ctx_get_state == nullptr || calls.primary_ctx_retain == nullptr ||
        calls.primary_ctx_release == nullptr)
        return false;
    int devices = 0;
    checked(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    for (CUdevice device = 0; device < devices; ++device) {
        unsigned flags = 0;
        int is_active = 0; // retaining an inactive one would create it
        checked_driver<GraphError>(calls.primary_ctx_get_state(device, &flags, &is_active),
                                   "cuDevicePrimaryCtxGetState");
        if (is_active == 0) continue;
        CUcontext primary = nullptr;
        checked_driver<GraphError>(calls.primary_ctx_retain(&primary, device), "cuDevicePrimaryCtxRetain");
        checked_driver<GraphError>(calls.primary_ctx_release(device), "cuDevicePrimaryCtxRelease");
        if (primary == context) return false;
    }
    return true;
}

CUcontext converted_green_context(CUcontext context) {
    CUcontext converted = nullptr;
    const auto convert = driver().ctx_from_green_ctx;
    const bool is_green =
        convert != nullptr && convert(&converted, reinterpret_cast<CUgreenCtx>(context)) == CUDA_SUCCESS;
    return is_green ? converted : nullptr;
}

namespace {

/// Returns the device of a context that is not a green one.
std::optional<int> find_device_of(CUcontext context) {
    if (driver().ctx_push_current(context) != CUDA_SUCCESS) return std::nullopt;
    CUdevice device = 0;
    const CUresult result = driver().ctx_get_device(&device);
    static_cast<void>(driver().ctx_pop_current(&context));
    return result == CUDA_SUCCESS ? std::optional<int>(device) : std::nullopt;
}

} // namespace

int device_of_context(CUcontext context) {
    if (context != nullptr) {
        if (const std::optional<int> device = find_device_of(context)) return *device;
        if (const CUcontext converted = converted_green_context(context); converted != nullptr)
            if (const std::optional<int> device = find_device_of(converted)) return *device;
    }
    int device = 0;
    checked(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

std::optional<int> device_by_context(cudaStream_t stream) {
    bind_context();
    CUcontext context = nullptr;
    if (driver().stream_get_ctx(stream, &context) != CUDA_SUCCESS) return std::nullopt;
    return find_device_of(context);
}

int device_of(cudaStream_t stream) {
    int device = 0;
    const cudaError_t status = compat::stream_get_device(stream, &device);
    if (status == cudaErrorCallRequiresNewerDriver) [[unlikely]] { // before CUDA 12.8
        ignore(status);
        if (const std::optional<int> found = device_by_context(stream)) return *found;
    }
    checked(status, "cudaStreamGetDevice");
    return device;
}

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
    std::vector<cudaGraphNode_t> nodes(64); // usually enough, so that one call suffices
    std::size_t count = nodes.size();
    checked_driver<GraphError>(driver().graph_get_nodes(graph, nodes.data(), &count), "cuGraphGetNodes");
    if (count == nodes.size()) {
        checked_driver<GraphError>(driver().graph_get_nodes(graph, nullptr, &count), "cuGraphGetNodes");
        nodes.resize(count);
        checked_driver<GraphError>(driver().graph_get_nodes(graph, nodes.data(), &count), "cuGraphGetNodes");
    }
    nodes.resize(count);
    return nodes;
}

std::vector<cudaGraphNode_t> nodes_from(cudaGraph_t graph, std::uint32_t first) {
    std::vector<cudaGraphNode_t> nodes = nodes_of(graph);
    nodes.erase(nodes.begin(), nodes.begin() + first);
    return nodes;
}

} // namespace cudag::detail
