// Arguments that this runtime refuses, where no header says what CUDA does and no GPU was asked, or where NVIDIA's
// runtime ends the program: null pointers to what is asked about occupancy or of a stream.
#include "check.hpp"
#include "kernels.cuh"

#include <cudart_cpu/kernel.hpp>

#include <cstring>

namespace {

constexpr auto wrong = cudaErrorInvalidValue;
constexpr std::size_t page = 64 * 1024;

void occupancy() {
    cudart_cpu::register_kernel(nothing);
    const auto kernel = reinterpret_cast<const void*>(nothing);
    std::size_t bytes = 0;
    int count = 0;
    CHECK_CODE(wrong, cudaOccupancyAvailableDynamicSMemPerBlock(nullptr, kernel, 1, 256));
    CHECK_CODE(wrong, cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, 0, 256));
    CHECK_CODE(wrong, cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, 9, 256));
    CHECK_CODE(wrong, cudaOccupancyMaxPotentialClusterSize(&count, kernel, nullptr));
}

/// A kernel that opts in has all of a multiprocessor's shared memory.
void shared_memory_that_was_asked_for() {
    const auto kernel = reinterpret_cast<const void*>(nothing);
    std::size_t bytes = 0;
    CHECK_OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
    CHECK_OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, 1, 256));
    CHECK(bytes == 227 * 1024);
    CHECK_OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, 2, 256));
    CHECK(bytes == 113 * 1024);
}

void streams_and_limits() {
    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreate(&stream));
    CHECK_CODE(wrong, cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, nullptr));
    CHECK_CODE(wrong, cudaStreamSetAttribute(stream, cudaLaunchAttributePriority, nullptr));
    CHECK_OK(cudaStreamDestroy(stream));
    const auto limit = static_cast<cudaLimit>(7); // the driver has a limit of this number, the runtime has none
    std::size_t value = 77;
    CHECK_CODE(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&value, limit));
    CHECK_CODE(cudaErrorUnsupportedLimit, cudaDeviceSetLimit(limit, 1));
    CHECK(value == 77);
}

void memory_that_is_not_registered() {
    void* device = nullptr;
    void* pinned = nullptr;
    CHECK_OK(cudaMalloc(&device, page));
    CHECK_OK(cudaMallocHost(&pinned, page));
    CHECK_CODE(wrong, cudaHostRegister(device, page, 0));
    CHECK_CODE(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(pinned));
    CHECK_OK(cudaFree(device));
    CHECK_OK(cudaFreeHost(pinned));
}

void managed_memory() {
    void* memory = nullptr;
    int value = 77;
    CHECK_OK(cudaMallocManaged(&memory, page, cudaMemAttachGlobal));
    const auto ask = [&](void* data, std::size_t size, cudaMemRangeAttribute attribute, std::size_t bytes) {
        return cudaMemRangeGetAttribute(data, size, attribute, memory, bytes);
    };
    CHECK_CODE(wrong, ask(&value, sizeof value, cudaMemRangeAttributeReadMostly, 0));
    CHECK_CODE(wrong, ask(nullptr, sizeof value, cudaMemRangeAttributeReadMostly, page));
    CHECK_CODE(wrong, ask(&value, 2, cudaMemRangeAttributeReadMostly, page));
    CHECK_CODE(wrong, ask(&value, 3, cudaMemRangeAttributeAccessedBy, page));
    CHECK(value == 77);
#if CUDART_VERSION >= 13000
    cudaMemLocation place{cudaMemLocationTypeDevice, 0};
    CHECK_CODE(wrong, cudaMemAdvise(memory, page, static_cast<cudaMemoryAdvise>(7), place));
    std::size_t bytes = page;
    std::size_t first = 0;
    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreate(&stream));
    const auto prefetch = [&](std::size_t place_count, unsigned long long flags, cudaStream_t in) {
        return cudaMemPrefetchBatchAsync(&memory, &bytes, 1, &place, &first, place_count, flags, in);
    };
    CHECK_CODE(wrong, prefetch(0, 0, stream));
    CHECK_CODE(wrong, prefetch(1, 1, stream));
    CHECK_CODE(wrong, prefetch(1, 0, nullptr));
    CHECK_OK(prefetch(1, 0, stream));
    CHECK_OK(cudaStreamDestroy(stream));
#endif
    CHECK_OK(cudaFree(memory));
}

cudaResourceDesc rows(char* data, std::size_t pitch, std::size_t width, std::size_t height) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = data;
    resource.res.pitch2D.desc = cudaChannelFormatDesc{32, 0, 0, 0, cudaChannelFormatKindFloat};
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    return resource;
}

void textures_and_surfaces() {
    void* memory = nullptr;
    CHECK_OK(cudaMalloc(&memory, page));
    const auto data = static_cast<char*>(memory);
    cudaTextureObject_t texture = 77;
    const auto make = [&](const cudaResourceDesc& resource) {
        const cudaTextureDesc sampling{};
        return cudaCreateTextureObject(&texture, &resource, &sampling, nullptr);
    };
    CHECK_CODE(wrong, make(rows(data + 4, 512, 100, 4)));
    CHECK_CODE(wrong, make(rows(data, 510, 100, 4)));
    CHECK_CODE(wrong, make(rows(data, 512, 0, 4)));
    CHECK_CODE(wrong, make(rows(data, 512, 100, 70000)));
    CHECK_CODE(wrong, make(rows(data, 32, 100, 4)));
    CHECK_CODE(wrong, make(rows(nullptr, 512, 100, 4)));
    cudaResourceDesc unknown{};
    std::memset(&unknown.resType, 9, 1); // little-endian
    CHECK_CODE(wrong, make(unknown));
    CHECK(texture == 77);
    CHECK_OK(cudaFree(memory));

    cudaSurfaceObject_t surface = 77;
    CHECK_CODE(wrong, cudaCreateSurfaceObject(&surface, nullptr));
    CHECK_CODE(wrong, cudaCreateSurfaceObject(nullptr, &unknown));
    CHECK(surface == 77);
}

} // namespace

int main() {
    occupancy();
    shared_memory_that_was_asked_for();
    streams_and_limits();
    memory_that_is_not_registered();
    managed_memory();
    textures_and_surfaces();
}
