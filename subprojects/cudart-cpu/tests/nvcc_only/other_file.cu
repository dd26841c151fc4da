// Launches kernels of another file in all ways: each runs as often as it has threads.
#include "other_file.hpp"

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (false)
#define CHECK_OK(call) CHECK((call) == cudaSuccess)

int main() {
    constexpr int n = 100;
    int* values = nullptr;
    int* counter = nullptr;
    CHECK_OK(cudaMallocManaged(&values, 128 * sizeof(int)));
    CHECK_OK(cudaMallocManaged(&counter, sizeof(int)));
    values[n] = -1;
    *counter = 0;
    fill<<<1, 128>>>(values, n);
    CHECK_OK(cudaGetLastError());
    CHECK_OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i)
        CHECK(values[i] == i + 1);
    CHECK(values[n] == -1);

    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreate(&stream));
    lines::apply<<<2, 64, 0, stream>>>(values, Line{3, 4, {}}, n);
    lines::apply<<<dim3(4), dim3(25), 0, stream>>>(values, nullptr, 0, short{-4});
    CHECK_OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; ++i)
        CHECK(values[i] == 3 * (i + 1));

    CHECK_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    count<<<3, 5, 0, stream>>>(counter);
    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaStreamEndCapture(stream, &graph));
    void* arguments[] = {&counter};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(count);
    params.gridDim = params.blockDim = 10;
    params.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    CHECK_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    cudaGraphExec_t exec = nullptr;
    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_OK(cudaGraphLaunch(exec, stream));
    CHECK_OK(cudaLaunchKernel(reinterpret_cast<const void*>(count), 2, 2, arguments, 0, stream));
    CHECK_OK(cudaStreamSynchronize(stream));
    CHECK(*counter == 15 + 100 + 4);

    void (*pointer)(int*) = count;
    pointer(counter); // no launch
    CHECK(cudaGetLastError() == cudaErrorMissingConfiguration);
    pointer<<<1, 7>>>(counter);
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(*counter == 119 + 7);
    std::printf("right\n");
}
