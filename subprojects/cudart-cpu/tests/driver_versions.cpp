// Older drivers: what they lack is not found, and what needs a newer one is refused as such.
#include "check.hpp"

#include <cuda.h>
#include <cudart_cpu/control.hpp>

#include <cstring>

namespace {

int driver_version() {
    int version = 0;
    CHECK_OK(cudaDriverGetVersion(&version));
    return version;
}

struct Found {
    cudaError_t code;
    cudaDriverEntryPointQueryResult result;
    void* address;
};

Found look_up(const char* name, [[maybe_unused]] unsigned version) {
    Found found{cudaSuccess, cudaDriverEntryPointSuccess, nullptr};
#if CUDART_VERSION >= 12050
    found.code = cudaGetDriverEntryPointByVersion(name, &found.address, version, cudaEnableDefault, &found.result);
#else
    found.code = cudaGetDriverEntryPoint(name, &found.address, cudaEnableDefault, &found.result);
#endif
    return found;
}

void the_driver_is_as_old_as_the_headers_unless_it_is_said() {
    CHECK(driver_version() == CUDART_VERSION);
    cudart_cpu::set_driver_version(12060);
    CHECK(driver_version() == 12060);
    int runtime = 0;
    CHECK_OK(cudaRuntimeGetVersion(&runtime));
    CHECK(runtime == CUDART_VERSION);
    cudart_cpu::set_driver_version(0);
    CHECK(driver_version() == CUDART_VERSION);
}

void functions_that_came_later_are_not_found() {
    cudart_cpu::set_driver_version(12020);
    CHECK(look_up("cuFuncGetName", 12020).result == cudaDriverEntryPointSymbolNotFound); // of 12.3
    CHECK(look_up("cuFuncGetName", 12020).address == nullptr);
    CHECK(look_up("cuGraphLaunch", 12020).address != nullptr);
#if CUDART_VERSION >= 12050
    CHECK_CODE(cudaErrorInvalidValue, look_up("cuGraphLaunch", 12030).code);
    CHECK_CODE(cudaErrorInvalidValue, cudaGetLastError());
#endif
    cudart_cpu::set_driver_version(12030);
    CHECK(look_up("cuFuncGetName", 12030).address != nullptr);
    cudart_cpu::set_driver_version(0);
}

#if CUDART_VERSION >= 13000
cudaError_t add_node(int driver, cudaGraphNodeParams params) {
    cudaGraph_t graph = nullptr;
    cudaGraph_t child = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    CHECK_OK(cudaGraphCreate(&child, 0));
    if (params.type == cudaGraphNodeTypeGraph)
        params.graph.graph = child;
    else
        CHECK_OK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 0, 0));
    cudart_cpu::set_driver_version(driver);
    cudaGraphNode_t node = nullptr;
    const cudaError_t code = cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params);
    cudart_cpu::set_driver_version(0);
    CHECK_CODE(code, cudaGetLastError());
    CHECK_OK(cudaGraphDestroy(graph));
    const bool moved = code == cudaSuccess && params.type == cudaGraphNodeTypeGraph;
    if (!moved) CHECK_OK(cudaGraphDestroy(child));
    return code;
}

cudaGraphNodeParams conditional(cudaGraphConditionalNodeType type, unsigned size) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.type = type;
    params.conditional.size = size;
    return params;
}

void values_that_came_later_are_refused() {
    CHECK_OK(add_node(12060, conditional(cudaGraphCondTypeIf, 1)));
    CHECK_OK(add_node(12060, conditional(cudaGraphCondTypeWhile, 1)));
    CHECK_CODE(cudaErrorInvalidValue, add_node(12060, conditional(cudaGraphCondTypeIf, 2)));
    CHECK_CODE(cudaErrorInvalidValue, add_node(12060, conditional(cudaGraphCondTypeSwitch, 1)));
    CHECK_OK(add_node(12080, conditional(cudaGraphCondTypeIf, 2)));
    CHECK_OK(add_node(12080, conditional(cudaGraphCondTypeSwitch, 1)));
    cudaGraphNodeParams moved{};
    moved.type = cudaGraphNodeTypeGraph;
    moved.graph.ownership = cudaGraphChildGraphOwnershipMove;
    CHECK_CODE(cudaErrorInvalidValue, add_node(12080, moved));
    CHECK_OK(add_node(12090, moved));
}

void calls_that_need_a_newer_driver_say_so() {
    int device = -1;
    cudaLogIterator position = 0;
    cudart_cpu::set_driver_version(12060);
    CHECK_CODE(cudaErrorCallRequiresNewerDriver, cudaStreamGetDevice(nullptr, &device));
    cudart_cpu::set_driver_version(12080);
    CHECK_OK(cudaStreamGetDevice(nullptr, &device));
    CHECK_CODE(cudaErrorCallRequiresNewerDriver, cudaLogsCurrent(&position, 0));
    CHECK_CODE(cudaErrorCallRequiresNewerDriver, cudaGetLastError());
    cudart_cpu::set_driver_version(12090);
    CHECK_OK(cudaLogsCurrent(&position, 0));
    cudart_cpu::set_driver_version(0);
}
#endif

void the_context_of_a_stream_tells_its_device() {
    cudart_cpu::set_devices(2);
    CHECK_OK(cudaSetDevice(1));
    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreate(&stream));
    CHECK_OK(cudaSetDevice(0));
    const auto context_of =
        reinterpret_cast<CUresult (*)(CUstream, CUcontext*)>(look_up("cuStreamGetCtx", 12040).address);
    const auto push = reinterpret_cast<CUresult (*)(CUcontext)>(look_up("cuCtxPushCurrent", 12040).address);
    const auto pop = reinterpret_cast<CUresult (*)(CUcontext*)>(look_up("cuCtxPopCurrent", 12040).address);
    const auto device_of = reinterpret_cast<CUresult (*)(CUdevice*)>(look_up("cuCtxGetDevice", 12040).address);
    CUcontext context = nullptr;
    CUcontext popped = nullptr;
    CUdevice device = -1;
    CHECK(context_of(stream, &context) == CUDA_SUCCESS);
    CHECK(push(context) == CUDA_SUCCESS);
    CHECK(device_of(&device) == CUDA_SUCCESS);
    CHECK(device == 1);
    CHECK(pop(&popped) == CUDA_SUCCESS);
    CHECK(popped == context);
    CHECK(device_of(&device) == CUDA_SUCCESS);
    CHECK(device == 0);
    CHECK_OK(cudaStreamDestroy(stream));
    cudart_cpu::set_devices(0);
}

} // namespace

int main() {
    the_driver_is_as_old_as_the_headers_unless_it_is_said();
    functions_that_came_later_are_not_found();
#if CUDART_VERSION >= 13000
    values_that_came_later_are_refused();
    calls_that_need_a_newer_driver_say_so();
#endif
    the_context_of_a_stream_tells_its_device();
}
