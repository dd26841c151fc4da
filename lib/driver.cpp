// Fetches the driver's entry points once.
#include "driver.hpp"

#include "failure.hpp"

#include <fmt/format.h>

namespace cudag::detail {

namespace {

template <class F>
void fetch(F& function, const char* name) {
    constexpr unsigned version = 12040; // the oldest CUDA that cudag builds with
    void* address = nullptr;
    checked(compat::driver_entry_point(name, version, &address), "cudaGetDriverEntryPointByVersion");
    if (address == nullptr)
        refuse<Error>(fmt::format("the CUDA driver has no {}: cudag needs a driver of CUDA 12.4 or later", name), {},
                      cudaErrorInsufficientDriver);
    function = reinterpret_cast<F>(address);
}

Driver load() {
    Driver result{};
    fetch(result.ctx_get_current, "cuCtxGetCurrent");
    fetch(result.ctx_get_id, "cuCtxGetId");
    fetch(result.launch_kernel, "cuLaunchKernel");
    fetch(result.graph_add_kernel_node, "cuGraphAddKernelNode");
    fetch(result.graph_get_nodes, "cuGraphGetNodes");
    fetch(result.graph_node_get_type, "cuGraphNodeGetType");
    fetch(result.graph_node_get_dependencies, "cuGraphNodeGetDependencies");
    fetch(result.graph_kernel_node_get_params, "cuGraphKernelNodeGetParams");
    fetch(result.graph_kernel_node_get_attribute, "cuGraphKernelNodeGetAttribute");
    fetch(result.graph_kernel_node_set_params, "cuGraphKernelNodeSetParams");
    fetch(result.graph_instantiate_with_params, "cuGraphInstantiateWithParams");
    fetch(result.graph_launch, "cuGraphLaunch");
    fetch(result.graph_exec_kernel_node_set_params, "cuGraphExecKernelNodeSetParams");
    fetch(result.func_get_name, "cuFuncGetName");
    fetch(result.func_get_param_info, "cuFuncGetParamInfo");
    fetch(result.memset_d8_async, "cuMemsetD8Async");
    fetch(result.memset_d16_async, "cuMemsetD16Async");
    fetch(result.memset_d32_async, "cuMemsetD32Async");
    fetch(result.memset_2d_d8_async, "cuMemsetD2D8Async");
    fetch(result.memset_2d_d16_async, "cuMemsetD2D16Async");
    fetch(result.memset_2d_d32_async, "cuMemsetD2D32Async");
    return result;
}

} // namespace

const Driver& driver() {
    static const Driver loaded = load();
    return loaded;
}

CUcontext current_context() {
    const auto ask = [] {
        CUcontext context = nullptr;
        const CUresult result = driver().ctx_get_current(&context);
        if (result != CUDA_SUCCESS) [[unlikely]]
            raise_call<Error>(to_runtime(result), "cuCtxGetCurrent", {}, Api::driver);
        return context;
    };
    if (const CUcontext context = ask(); context != nullptr) [[likely]]
        return context;
    int device = 0;
    checked(cudaGetDevice(&device), "cudaGetDevice");
    checked(cudaSetDevice(device), "cudaSetDevice"); // since CUDA 12 this makes the device's context current
    return ask();
}

} // namespace cudag::detail
