// Names of the driver functions behind the runtime's.
#include "driver_names.hpp"

#include <algorithm>
#include <iterator>

namespace cudart_cpu::detail {

namespace {

struct Name {
    std::string_view api;
    std::string_view driver;
};

// Driver names that differ in more than the prefix, as far as seen in a driver's log.
constexpr Name renamed[] = {
    {"cudaDeviceSynchronize", "cuCtxSynchronize_v2"},
    {"cudaEventCreateWithFlags", "cuEventCreate"},
    {"cudaEventDestroy", "cuEventDestroy_v2"},
    {"cudaEventElapsedTime", "cuEventElapsedTime_v2"},
    {"cudaFree", "cuMemFree_v2"},
    {"cudaFreeAsync", "cuMemFreeAsync"},
    {"cudaFreeHost", "cuMemFreeHost"},
    {"cudaFuncGetAttributes", "cuKernelGetFunction"},
    {"cudaFuncGetName", "cuKernelGetName"},
    {"cudaFuncSetAttribute", "cuKernelSetAttribute"},
    {"cudaGetDriverEntryPointByVersion", "cuGetProcAddress_v2"},
    {"cudaGraphAddDependencies", "cuGraphAddDependencies_v2"},
    {"cudaGraphAddKernelNode", "cuGraphAddKernelNode_v2"},
    {"cudaGraphExecKernelNodeSetParams", "cuGraphExecKernelNodeSetParams_v2"},
    {"cudaGraphExecMemcpyNodeSetParams1D", "cuGraphExecMemcpyNodeSetParams"},
    {"cudaGraphExecUpdate", "cuGraphExecUpdate_v2"},
    {"cudaGraphGetEdges", "cuGraphGetEdges_v2"},
    {"cudaGraphInstantiate", "cuGraphInstantiateWithFlags"},
    {"cudaGraphKernelNodeGetParams", "cuGraphKernelNodeGetParams_v2"},
    {"cudaGraphKernelNodeSetParams", "cuGraphKernelNodeSetParams_v2"},
    {"cudaGraphMemcpyNodeSetParams1D", "cuGraphMemcpyNodeSetParams"},
    {"cudaGraphRemoveDependencies", "cuGraphRemoveDependencies_v2"},
    {"cudaHostAlloc", "cuMemHostAlloc"},
    {"cudaHostGetDevicePointer", "cuMemHostGetDevicePointer_v2"},
    {"cudaLaunchKernelExC", "cuLaunchKernelEx"},
    {"cudaMalloc", "cuMemAlloc_v2"},
    {"cudaMallocArray", "cuArray3DCreate_v2"},
    {"cudaMallocAsync", "cuMemAllocAsync"},
    {"cudaMallocFromPoolAsync", "cuMemAllocFromPoolAsync"},
    {"cudaMallocHost", "cuMemHostAlloc"},
    {"cudaMallocManaged", "cuMemAllocManaged"},
    {"cudaMallocPitch", "cuMemAllocPitch_v2"},
    {"cudaMemset", "cuMemsetD8_v2"},
    {"cudaMemset2D", "cuMemsetD2D8_v2"},
    {"cudaMemset2DAsync", "cuMemsetD2D8Async"},
    {"cudaMemsetAsync", "cuMemsetD8Async"},
    {"cudaStreamBeginCapture", "cuStreamBeginCapture_v2"},
    {"cudaStreamCreateWithFlags", "cuStreamCreate"},
    {"cudaStreamDestroy", "cuStreamDestroy_v2"},
    {"cudaStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v3"},
    {"cudaStreamUpdateCaptureDependencies", "cuStreamUpdateCaptureDependencies_v2"},
    {"cuGraphAddKernelNode", "cuGraphAddKernelNode_v2"},
    {"cuGraphExecKernelNodeSetParams", "cuGraphExecKernelNodeSetParams_v2"},
    {"cuGraphExecUpdate", "cuGraphExecUpdate_v2"},
    {"cuGraphKernelNodeGetParams", "cuGraphKernelNodeGetParams_v2"},
    {"cuGraphNodeGetDependencies", "cuGraphNodeGetDependencies_v2"},
    {"cuGraphKernelNodeSetParams", "cuGraphKernelNodeSetParams_v2"},
};

} // namespace

std::string driver_function_name(std::string_view api_name) {
    const auto* known = std::ranges::find(renamed, api_name, &Name::api);
    if (known != std::end(renamed)) {
        return std::string(known->driver);
    }
    constexpr std::string_view runtime_prefix = "cuda";
    if (api_name.starts_with(runtime_prefix)) {
        return "cu" + std::string(api_name.substr(runtime_prefix.size()));
    }
    return std::string(api_name);
}

} // namespace cudart_cpu::detail
