// The library of CUDA 12's name, as programs that were compiled for CUDA 12 call it: what has other parameters there.
#include "check.hpp"

#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <vector>

namespace {

void* library = nullptr;

template <class... P>
cudaError_t call(const char* name, P... arguments) {
    const auto function = reinterpret_cast<cudaError_t (*)(P...)>(dlsym(library, name));
    if (function == nullptr) std::fprintf(stderr, "%s is not there\n", name);
    CHECK(function != nullptr);
    return function(arguments...);
}

void versions() {
    int version = 0;
    CHECK_OK(call("cudaRuntimeGetVersion", &version));
    CHECK(version == 12090);
    CHECK_CODE(cudaErrorInvalidValue, call("cudaRuntimeGetVersion", static_cast<int*>(nullptr)));
}

/// Offsets of CUDA 12's cudaDeviceProp.
void properties() {
    constexpr std::size_t bytes = 1032;
    constexpr std::size_t clock_at = 348;
    constexpr std::size_t major_at = 360;
    constexpr std::size_t multiprocessors_at = 388;
    std::vector<unsigned char> memory(bytes + 64, 0xAB);
    CHECK_OK(call("cudaGetDeviceProperties_v2", static_cast<void*>(memory.data()), 0));
    const auto number_at = [&](std::size_t offset) {
        int number = 0;
        std::memcpy(&number, memory.data() + offset, sizeof number);
        return number;
    };
    CHECK(std::strcmp(reinterpret_cast<const char*>(memory.data()), "cudart-cpu") == 0);
    CHECK(number_at(clock_at) == 1980000);
    CHECK(number_at(major_at) == 9);
    int multiprocessors = 0;
    CHECK_OK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(number_at(multiprocessors_at) == multiprocessors);
    for (std::size_t i = bytes; i < memory.size(); ++i)
        CHECK(memory[i] == 0xAB);
    CHECK_CODE(cudaErrorInvalidDevice, call("cudaGetDeviceProperties_v2", static_cast<void*>(memory.data()), 99));
    CHECK_CODE(cudaErrorInvalidValue, call("cudaGetDeviceProperties_v2", static_cast<void*>(nullptr), 0));
}

void edges() {
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t first = nullptr;
    cudaGraphNode_t second = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    CHECK_OK(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
    cudaGraphNodeParams empty{};
    empty.type = cudaGraphNodeTypeEmpty;
    CHECK_OK(
        call("cudaGraphAddNode", &second, graph, static_cast<const cudaGraphNode_t*>(nullptr), std::size_t{0}, &empty));
    const cudaGraphNode_t* const from = &first;
    const cudaGraphNode_t* const to = &second;
    CHECK_OK(call("cudaGraphAddDependencies", graph, from, to, std::size_t{1}));
    std::size_t count = 0;
    cudaGraphNode_t* const none = nullptr;
    CHECK_OK(call("cudaGraphGetEdges", graph, none, none, &count));
    CHECK(count == 1);
    cudaGraphNode_t found = nullptr;
    CHECK_OK(call("cudaGraphNodeGetDependencies", second, &found, &count));
    CHECK(count == 1 && found == first);
    CHECK_OK(call("cudaGraphNodeGetDependentNodes", first, &found, &count));
    CHECK(count == 1 && found == second);
    CHECK_OK(call("cudaGraphRemoveDependencies", graph, from, to, std::size_t{1}));
    CHECK_CODE(cudaErrorInvalidValue, call("cudaGraphRemoveDependencies", graph, from, to, std::size_t{1}));
    CHECK_OK(cudaGraphDestroy(graph));
}

void managed() {
    void* memory = nullptr;
    constexpr std::size_t bytes = 8192;
    CHECK_OK(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal));
    const void* const pointer = memory;
    cudaStream_t const stream = nullptr;
    CHECK_OK(call("cudaMemPrefetchAsync", pointer, bytes, cudaCpuDeviceId, stream));
    CHECK_CODE(cudaErrorInvalidDevice, call("cudaMemPrefetchAsync", pointer, bytes, 99, stream));
    CHECK_OK(call("cudaMemAdvise", pointer, bytes, cudaMemAdviseSetPreferredLocation, 0));
    int place = 99;
    CHECK_OK(cudaMemRangeGetAttribute(&place, sizeof place, cudaMemRangeAttributeLastPrefetchLocation, memory, bytes));
    CHECK(place == cudaCpuDeviceId);
    CHECK_OK(cudaMemRangeGetAttribute(&place, sizeof place, cudaMemRangeAttributePreferredLocation, memory, bytes));
    CHECK(place == 0);
    CHECK_OK(cudaFree(memory));
}

/// CUDA 12's cudaResourceDesc has 64 bytes.
void textures() {
    constexpr std::size_t bytes = 64;
    void* memory = nullptr;
    CHECK_OK(cudaMalloc(&memory, 1024));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    resource.res.linear.sizeInBytes = 1024;
    std::vector<unsigned char> given(bytes);
    std::memcpy(given.data(), &resource, bytes);
    given.resize(256, 0xFF); // what stands behind it is no part of it
    const cudaTextureDesc sampling{};
    const cudaResourceViewDesc* const view = nullptr;
    cudaTextureObject_t texture = 0;
    CHECK_OK(call("cudaCreateTextureObject", &texture, static_cast<const void*>(given.data()), &sampling, view));
    std::vector<unsigned char> told(256, 0xAB);
    CHECK_OK(call("cudaGetTextureObjectResourceDesc", static_cast<void*>(told.data()), texture));
    CHECK(std::memcmp(told.data(), given.data(), bytes) == 0);
    CHECK(told[bytes] == 0xAB);
    CHECK_CODE(cudaErrorInvalidValue,
               call("cudaCreateTextureObject", &texture, static_cast<const void*>(nullptr), &sampling, view));
    CHECK_OK(cudaDestroyTextureObject(texture));
    CHECK_OK(cudaFree(memory));
}

/// Of code that was compiled for per-thread default streams: nullptr is the thread's own, which can be captured.
void per_thread() {
    cudaStream_t const stream = nullptr;
    cudaStreamCaptureStatus status{};
    cudaGraph_t graph = nullptr;
    std::size_t count = 77;
    unsigned long long id = 0;
    const cudaGraphNode_t* dependencies = nullptr;
    CHECK_OK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal));
    CHECK_OK(call("cudaStreamGetCaptureInfo_v2_ptsz", stream, &status, &id, &graph, &dependencies, &count));
    CHECK(status == cudaStreamCaptureStatusActive && graph != nullptr && count == 0);
    cudaGraphNode_t node = nullptr;
    CHECK_OK(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
    CHECK_OK(call("cudaStreamUpdateCaptureDependencies_ptsz", stream, &node, std::size_t{1},
                  unsigned{cudaStreamSetCaptureDependencies}));
    CHECK_OK(call("cudaStreamGetCaptureInfo_v2_ptsz", stream, &status, &id, &graph, &dependencies, &count));
    CHECK(count == 1 && dependencies[0] == node);
    CHECK_OK(cudaStreamEndCapture(cudaStreamPerThread, &graph));
    CHECK_OK(cudaGraphDestroy(graph));

    void* memory = nullptr;
    CHECK_OK(cudaMallocManaged(&memory, 4096, cudaMemAttachGlobal));
    const void* const pointer = memory;
    CHECK_OK(call("cudaMemPrefetchAsync_ptsz", pointer, std::size_t{4096}, 0, stream));
    int value = 5;
    void* destination = memory;
    void* source = &value;
    std::size_t size = sizeof value;
    std::size_t first = 0;
    std::size_t failed = 0;
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    CHECK_OK(call("cudaMemcpyBatchAsync_ptsz", &destination, &source, &size, std::size_t{1}, &attributes, &first,
                  std::size_t{1}, &failed, stream));
    CHECK_CODE(cudaErrorInvalidValue, call("cudaMemcpyBatchAsync", &destination, &source, &size, std::size_t{1},
                                           &attributes, &first, std::size_t{1}, &failed, stream)); // the legacy one
    CHECK_OK(cudaStreamSynchronize(cudaStreamPerThread));
    CHECK(*static_cast<int*>(memory) == 5);
    CHECK_OK(cudaFree(memory));
}

} // namespace

int main(int count, char** arguments) {
    CHECK(count == 2);
    library = dlopen(arguments[1], RTLD_NOW);
    if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
    CHECK(library != nullptr);
    versions();
    properties();
    edges();
    managed();
    textures();
    per_thread();
}
