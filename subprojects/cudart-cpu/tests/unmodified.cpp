// A program that knows nothing of the CPU runtime: compiled and linked as its author did, against the toolkit's
// libcudart.so. It copies memory, records events, and launches a graph of copies, fills and host functions.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define REQUIRE(call)                                                                                                  \
    do {                                                                                                               \
        if (const cudaError_t code = (call); code != cudaSuccess) {                                                    \
            std::printf("%s: %s\n", #call, cudaGetErrorString(code));                                                  \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (false)

namespace {

void CUDART_CB add_one(void* data) {
    ++*static_cast<int*>(data);
}

} // namespace

int main() {
    constexpr std::size_t count = 1000;
    constexpr std::size_t bytes = count * sizeof(int);
    cudaDeviceProp properties{};
    REQUIRE(cudaGetDeviceProperties(&properties, 0));
    std::printf("device: %s\n", properties.name);

    std::vector<int> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<int>(i);
    int* from = nullptr;
    int* to = nullptr;
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&from), bytes));
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&to), bytes));
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    REQUIRE(cudaEventCreate(&begin));
    REQUIRE(cudaEventCreate(&end));
    REQUIRE(cudaEventRecord(begin, stream));
    REQUIRE(cudaMemcpyAsync(from, values.data(), bytes, cudaMemcpyHostToDevice, stream));
    REQUIRE(cudaEventRecord(end, stream));
    REQUIRE(cudaEventSynchronize(end));
    float ms = -1;
    REQUIRE(cudaEventElapsedTime(&ms, begin, end));

    int launches = 0;
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t fill = nullptr;
    cudaGraphNode_t copy = nullptr;
    cudaGraphNode_t note = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0));
    cudaMemsetParams zeros{};
    zeros.dst = to;
    zeros.elementSize = sizeof(int);
    zeros.width = count;
    zeros.height = 1;
    REQUIRE(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zeros));
    REQUIRE(cudaGraphAddMemcpyNode1D(&copy, graph, &fill, 1, to, from, bytes / 2, cudaMemcpyDeviceToDevice));
    const cudaHostNodeParams host{add_one, &launches};
    REQUIRE(cudaGraphAddHostNode(&note, graph, &copy, 1, &host));
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; ++i)
        REQUIRE(cudaGraphLaunch(exec, stream));
    std::vector<int> result(count, -1);
    REQUIRE(cudaMemcpyAsync(result.data(), to, bytes, cudaMemcpyDeviceToHost, stream));
    REQUIRE(cudaStreamSynchronize(stream));

    long sum = 0;
    for (const int value : result)
        sum += value;
    std::printf("sum: %ld\nlaunches: %d\ntimed: %s\n", sum, launches, ms >= 0 ? "yes" : "no");
    REQUIRE(cudaGraphExecDestroy(exec));
    REQUIRE(cudaGraphDestroy(graph));
    REQUIRE(cudaEventDestroy(begin));
    REQUIRE(cudaEventDestroy(end));
    REQUIRE(cudaStreamDestroy(stream));
    REQUIRE(cudaFree(from));
    REQUIRE(cudaFree(to));
    REQUIRE(cudaDeviceReset());
}
