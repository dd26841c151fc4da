// cudaDeviceReset ends what was made on its device, and nothing of another.
#include "check.hpp"

#include <cudart_cpu/control.hpp>

#include <cstdlib>

namespace {

struct Made {
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    void* memory = nullptr;
    void* pooled = nullptr;
    void* pinned = nullptr;
    void* managed = nullptr;
    cudaArray_t array = nullptr;
    cudaMipmappedArray_t mipmapped = nullptr;
    cudaTextureObject_t texture = 0;
};

Made make() {
    const cudaChannelFormatDesc floats{32, 0, 0, 0, cudaChannelFormatKindFloat};
    Made made;
    CHECK_OK(cudaStreamCreate(&made.stream));
    CHECK_OK(cudaEventCreate(&made.event));
    CHECK_OK(cudaMalloc(&made.memory, 4096));
    CHECK_OK(cudaMallocAsync(&made.pooled, 4096, made.stream));
    CHECK_OK(cudaMallocHost(&made.pinned, 4096));
    CHECK_OK(cudaMallocManaged(&made.managed, 4096, cudaMemAttachGlobal));
    CHECK_OK(cudaMallocArray(&made.array, &floats, 8, 8, 0));
    CHECK_OK(cudaMallocMipmappedArray(&made.mipmapped, &floats, {8, 8, 0}, 2, 0));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = made.array;
    const cudaTextureDesc sampling{};
    CHECK_OK(cudaCreateTextureObject(&made.texture, &resource, &sampling, nullptr));
    CHECK_OK(cudaMemsetAsync(made.memory, 0, 4096, made.stream));
    CHECK_OK(cudaEventRecord(made.event, made.stream));
    return made;
}

void check_dead(const Made& made) {
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaStreamDestroy(made.stream));
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaEventDestroy(made.event));
    CHECK_CODE(cudaErrorInvalidValue, cudaFree(made.memory));
    CHECK_CODE(cudaErrorInvalidValue, cudaFree(made.pooled));
    CHECK_CODE(cudaErrorInvalidValue, cudaFree(made.managed));
    CHECK_CODE(cudaErrorInvalidValue, cudaFreeHost(made.pinned));
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaFreeArray(made.array));
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaFreeMipmappedArray(made.mipmapped));
    CHECK_CODE(cudaErrorInvalidValue, cudaDestroyTextureObject(made.texture));
}

void check_alive(const Made& made) {
    CHECK_OK(cudaStreamSynchronize(made.stream));
    CHECK_OK(cudaEventSynchronize(made.event));
    CHECK_OK(cudaDestroyTextureObject(made.texture));
    CHECK_OK(cudaFreeMipmappedArray(made.mipmapped));
    CHECK_OK(cudaFreeArray(made.array));
    CHECK_OK(cudaFreeHost(made.pinned));
    CHECK_OK(cudaFree(made.managed));
    CHECK_OK(cudaFree(made.pooled));
    CHECK_OK(cudaFree(made.memory));
    CHECK_OK(cudaEventDestroy(made.event));
    CHECK_OK(cudaStreamDestroy(made.stream));
}

void ends_what_its_device_has() {
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    const Made first = make();
    CHECK_OK(cudaSetDevice(1));
    const Made second = make();
    CHECK_OK(cudaSetDevice(0));
    CHECK_OK(cudaDeviceReset());
    check_dead(first);
    CHECK_OK(cudaSetDevice(1));
    check_alive(second);
    CHECK_OK(cudaSetDevice(0));
    CHECK(cudart_cpu::live() == before);
}

void gives_settings_back() {
    CHECK_OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    CHECK_OK(cudaSetDeviceFlags(cudaDeviceScheduleYield));
    CHECK_OK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK_OK(cudaDeviceReset());
    std::size_t stack = 0;
    unsigned flags = 0;
    CHECK_OK(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
    CHECK(stack == 1024);
    CHECK_OK(cudaGetDeviceFlags(&flags));
    CHECK(flags == cudaDeviceMapHost);
    CHECK_CODE(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
}

/// The program's own memory stays, and is pageable again.
void leaves_registered_memory() {
    void* const memory = std::malloc(4096);
    CHECK_OK(cudaHostRegister(memory, 4096, 0));
    CHECK_OK(cudaDeviceReset());
    *static_cast<char*>(memory) = 1;
    CHECK_CODE(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(memory));
    CHECK_OK(cudaHostRegister(memory, 4096, 0));
    CHECK_OK(cudaHostUnregister(memory));
    std::free(memory);
}

/// A capture that another thread must not disturb.
void is_refused_in_a_capture() {
    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreate(&stream));
    CHECK_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK_CODE(cudaErrorStreamCaptureUnsupported, cudaDeviceReset());
    cudaGraph_t graph = nullptr;
    CHECK_CODE(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
    CHECK_OK(cudaStreamDestroy(stream));
}

void works_afterwards() {
    CHECK_OK(cudaDeviceReset());
    CHECK_OK(cudaDeviceReset());
    check_alive(make());
}

} // namespace

int main() {
    cudart_cpu::set_devices(2);
    ends_what_its_device_has();
    gives_settings_back();
    leaves_registered_memory();
    is_refused_in_a_capture();
    works_afterwards();
}
