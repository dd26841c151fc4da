// Several devices: what belongs to one of them.
#include "check.hpp"
#include "gate.hpp"
#include "kernels.cuh"

#include <cudart_cpu/control.hpp>
#include <cudart_cpu/kernel.hpp>

#include <cstring>
#include <thread>

namespace {

int current() {
    int device = -1;
    CHECK_OK(cudaGetDevice(&device));
    return device;
}

void* symbol(void (*kernel)()) {
    cudart_cpu::register_kernel(kernel);
    return reinterpret_cast<void*>(kernel);
}

cudaKernelNodeParams kernel_params() {
    cudaKernelNodeParams params{};
    params.func = symbol(nothing);
    params.gridDim = dim3(1);
    params.blockDim = dim3(1);
    return params;
}

cudaGraphNode_t add_kernel(cudaGraph_t graph, int device) {
    const cudaKernelNodeParams params = kernel_params();
    CHECK_OK(cudaSetDevice(device));
    cudaGraphNode_t node = nullptr;
    CHECK_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    CHECK_OK(cudaSetDevice(0));
    return node;
}

cudaGraph_t new_graph() {
    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    return graph;
}

void there_are_as_many_devices_as_were_asked_for() {
    int count = 0;
    CHECK_OK(cudaGetDeviceCount(&count));
    CHECK(count == 1);
    cudart_cpu::set_devices(100);
    CHECK_OK(cudaGetDeviceCount(&count));
    CHECK(count == 8);
    cudart_cpu::set_devices(3);
    CHECK_OK(cudaSetDevice(2));
    CHECK_CODE(cudaErrorInvalidDevice, cudaSetDevice(3));
    CHECK_CODE(cudaErrorInvalidDevice, cudaGetLastError());
    CHECK(current() == 2);
    cudaDeviceProp properties{};
    CHECK_OK(cudaGetDeviceProperties(&properties, 2));
    CHECK_CODE(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, 3));
    CHECK_OK(cudaSetDevice(0));
}

void each_thread_has_its_device() {
    CHECK_OK(cudaSetDevice(1));
    std::thread([] { CHECK(current() == 0); }).join();
    CHECK(current() == 1);
    CHECK_OK(cudaSetDevice(0));
}

void streams_and_events_belong_to_the_device_that_was_current() {
    CHECK_OK(cudaSetDevice(1));
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    CHECK_OK(cudaStreamCreate(&stream));
    CHECK_OK(cudaEventCreate(&event));
    CHECK_OK(cudaSetDevice(0));
#if CUDART_VERSION >= 12080
    int device = -1;
    CHECK_OK(cudaStreamGetDevice(stream, &device));
    CHECK(device == 1);
    CHECK_OK(cudaStreamGetDevice(nullptr, &device));
    CHECK(device == 0);
#endif
    CHECK_OK(cudaEventRecord(event, stream));
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaEventRecord(event, nullptr));
    CHECK_OK(cudaStreamWaitEvent(nullptr, event, 0));
    CHECK_OK(cudaLaunchKernel(symbol(nothing), 1, 1, nullptr, 0, stream));
    CHECK_OK(cudaSetDevice(1));
    CHECK_OK(cudaLaunchKernel(symbol(nothing), 1, 1, nullptr, 0, stream));
    CHECK_OK(cudaStreamDestroy(stream));
    CHECK_OK(cudaEventDestroy(event));
    CHECK_OK(cudaSetDevice(0));
}

void each_device_has_a_legacy_default_stream_and_is_waited_for_alone() {
    Gate gate;
    CHECK_OK(cudaSetDevice(1));
    gate.close(nullptr);
    CHECK_OK(cudaSetDevice(0));
    CHECK_OK(cudaDeviceSynchronize());
    CHECK_OK(cudaStreamQuery(nullptr));
    CHECK_OK(cudaSetDevice(1));
    CHECK_CODE(cudaErrorNotReady, cudaStreamQuery(nullptr));
    gate.open();
    CHECK_OK(cudaDeviceSynchronize());
    CHECK_OK(cudaStreamQuery(nullptr));
    CHECK_OK(cudaSetDevice(0));
}

void memory_belongs_to_the_device_that_was_current() {
    void* first = nullptr;
    void* second = nullptr;
    CHECK_OK(cudaMalloc(&first, 4));
    CHECK_OK(cudaSetDevice(1));
    CHECK_OK(cudaMallocAsync(&second, 4, nullptr));
    cudaPointerAttributes attributes{};
    CHECK_OK(cudaPointerGetAttributes(&attributes, first));
    CHECK(attributes.device == 0);
    CHECK_OK(cudaPointerGetAttributes(&attributes, second));
    CHECK(attributes.device == 1);
    const int value = 5;
    int back = 0;
    CHECK_OK(cudaMemcpy(first, &value, 4, cudaMemcpyHostToDevice));
    CHECK_OK(cudaMemcpyPeer(second, 1, first, 0, 4));
    CHECK_OK(cudaMemcpyPeerAsync(first, 0, second, 1, 4, nullptr));
    CHECK_OK(cudaMemcpy(&back, second, 4, cudaMemcpyDeviceToHost));
    CHECK(back == 5);
    CHECK_CODE(cudaErrorInvalidDevice, cudaMemcpyPeer(second, 3, first, 0, 4));
    CHECK_OK(cudaFree(first));
    CHECK_OK(cudaFree(second));
    CHECK_OK(cudaSetDevice(0));
}

void access_to_a_peer_is_enabled_once_and_one_way() {
    int can = -1;
    CHECK_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1);
    CHECK_OK(cudaDeviceCanAccessPeer(&can, 1, 1));
    CHECK(can == 0);
    CHECK_CODE(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&can, 0, 3));
    CHECK_CODE(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
    CHECK_CODE(cudaErrorInvalidValue, cudaDeviceEnablePeerAccess(1, 1));
    CHECK_CODE(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(0, 0));
    CHECK_OK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK_CODE(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
    CHECK_OK(cudaSetDevice(1));
    CHECK_CODE(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(0));
    CHECK_OK(cudaSetDevice(0));
    CHECK_OK(cudaDeviceDisablePeerAccess(1));
}

void a_graph_may_have_nodes_on_several_devices_unless_it_is_for_launch_from_one() {
    cudaGraph_t graph = new_graph();
    add_kernel(graph, 0);
    const cudaGraphNode_t second = add_kernel(graph, 1);
    cudaGraphExec_t exec = nullptr;
    cudaGraphInstantiateParams params{};
    CHECK_OK(cudaGraphInstantiateWithParams(&exec, graph, &params));
    CHECK_OK(cudaGraphLaunch(exec, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
    // An update leaves a node on its device.
    const cudaKernelNodeParams kernel = kernel_params();
    CHECK_CODE(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(exec, second, &kernel));
    CHECK_OK(cudaSetDevice(1));
    CHECK_OK(cudaGraphExecKernelNodeSetParams(exec, second, &kernel));
    CHECK_OK(cudaSetDevice(0));
    CHECK_OK(cudaGraphExecDestroy(exec));
    params.flags = cudaGraphInstantiateFlagDeviceLaunch;
    CHECK_CODE(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, &params));
    CHECK(params.result_out == cudaGraphInstantiateMultipleDevicesNotSupported);
    CHECK_OK(cudaGraphDestroy(graph));

    graph = new_graph();
    add_kernel(graph, 1);
    add_kernel(graph, 1);
    CHECK_OK(cudaGraphInstantiateWithParams(&exec, graph, &params));
    CHECK_OK(cudaGraphExecDestroy(exec));
    CHECK_OK(cudaGraphDestroy(graph));
}

void a_whole_update_leaves_nodes_on_their_devices() {
    cudaGraph_t graph = new_graph();
    cudaGraph_t changed = new_graph();
    add_kernel(graph, 0);
    const cudaGraphNode_t moved = add_kernel(changed, 1);
    cudaGraphExec_t exec = nullptr;
    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    cudaGraphExecUpdateResultInfo info{};
    CHECK_CODE(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, changed, &info));
    CHECK(info.result == cudaGraphExecUpdateErrorUnsupportedFunctionChange && info.errorNode == moved);
    CHECK_OK(cudaGraphExecDestroy(exec));
    CHECK_OK(cudaGraphDestroy(graph));
    CHECK_OK(cudaGraphDestroy(changed));
}

void devices_are_at_places_of_their_own() {
    char first[16] = {};
    char second[16] = {};
    CHECK_OK(cudaDeviceGetPCIBusId(first, sizeof first, 0));
    CHECK_OK(cudaDeviceGetPCIBusId(second, sizeof second, 1));
    CHECK(std::strcmp(first, second) != 0);
    int device = -1;
    CHECK_OK(cudaDeviceGetByPCIBusId(&device, second));
    CHECK(device == 1);
    CHECK_OK(cudaDeviceGetByPCIBusId(&device, second + 5)); // bus:device.function
    CHECK(device == 1);
    for (const char* const wrong :
         {"0000:02", "02:00", "0000:02:00.0.0", "0000:02:00.", ":02:00.0", "x:02:00.0", "0000-02:00.0"})
        CHECK_CODE(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&device, wrong));
    cudaDeviceProp of_first{};
    cudaDeviceProp of_second{};
    CHECK_OK(cudaGetDeviceProperties(&of_first, 0));
    CHECK_OK(cudaGetDeviceProperties(&of_second, 1));
    CHECK(std::memcmp(&of_first.uuid, &of_second.uuid, sizeof of_first.uuid) != 0);
}

void attributes_of_two_devices_follow_their_access() {
    int value = -1;
    CHECK_OK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
    CHECK(value == 1);
    cudart_cpu::set_peer_access(0, 1, false);
    for (const cudaDeviceP2PAttr attribute :
         {cudaDevP2PAttrAccessSupported, cudaDevP2PAttrNativeAtomicSupported, cudaDevP2PAttrCudaArrayAccessSupported}) {
        CHECK_OK(cudaDeviceGetP2PAttribute(&value, attribute, 0, 1));
        CHECK(value == 0);
        CHECK_OK(cudaDeviceGetP2PAttribute(&value, attribute, 1, 0));
        CHECK(value == 1);
    }
    cudart_cpu::set_peer_access(0, 1, true);
    CHECK_CODE(cudaErrorInvalidValue, cudaDeviceGetP2PAttribute(nullptr, cudaDevP2PAttrAccessSupported, 0, 1));
    CHECK_CODE(cudaErrorInvalidValue, cudaDeviceGetP2PAttribute(&value, static_cast<cudaDeviceP2PAttr>(7), 0, 1));
}

void threads_that_have_chosen_none_take_the_first_valid_device() {
    int devices[] = {1, 0};
    CHECK_OK(cudaSetValidDevices(devices, 2));
    CHECK(current() == 0); // this thread has used its device
    std::thread([] {
        CHECK(current() == 1);
        void* memory = nullptr;
        CHECK_OK(cudaMalloc(&memory, 16));
        CHECK_OK(cudaSetValidDevices(nullptr, 0));
        CHECK(current() == 1);
        CHECK_OK(cudaFree(memory));
    }).join();
    std::thread([] { CHECK(current() == 0); }).join();
    CHECK_CODE(cudaErrorInvalidValue, cudaSetValidDevices(nullptr, 1));
    CHECK_CODE(cudaErrorInvalidValue, cudaSetValidDevices(devices, -1));
    int many[99] = {};
    CHECK_CODE(cudaErrorInvalidValue, cudaSetValidDevices(many, 99));
    devices[1] = 99;
    CHECK_CODE(cudaErrorInvalidDevice, cudaSetValidDevices(devices, 2));
}

} // namespace

int main() {
    there_are_as_many_devices_as_were_asked_for();
    each_thread_has_its_device();
    streams_and_events_belong_to_the_device_that_was_current();
    each_device_has_a_legacy_default_stream_and_is_waited_for_alone();
    memory_belongs_to_the_device_that_was_current();
    access_to_a_peer_is_enabled_once_and_one_way();
    a_graph_may_have_nodes_on_several_devices_unless_it_is_for_launch_from_one();
    a_whole_update_leaves_nodes_on_their_devices();
    devices_are_at_places_of_their_own();
    attributes_of_two_devices_follow_their_access();
    threads_that_have_chosen_none_take_the_first_valid_device();
}
