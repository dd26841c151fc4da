// A graph with a missing edge: some orders drawn by the CPU runtime give a wrong result.
// This file is compiled as C++ by the host compiler; no nvcc is needed.
#include <cudart_cpu/control.hpp>

#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void number(int* data, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) data[i] = i;
}

__global__ void twice(int* data, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) data[i] *= 2;
}

namespace {

constexpr int n = 1000;
constexpr int orders = 20;

void check(cudaError_t code) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", cudaGetErrorName(code), cudaGetErrorString(code));
    std::exit(1);
}

cudaGraphNode_t add(cudaGraph_t graph, const void* kernel, int* data, const std::vector<cudaGraphNode_t>& after) {
    int count = n;
    void* arguments[] = {&data, &count};
    cudaKernelNodeParams params{};
    params.func = const_cast<void*>(kernel);
    params.gridDim = dim3((n + 255) / 256);
    params.blockDim = dim3(256);
    params.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
    return node;
}

/// Counts the drawn orders with the right result.
int count_right(bool has_edge) {
    int* data = nullptr;
    check(cudaMalloc(reinterpret_cast<void**>(&data), n * sizeof(int)));
    cudaGraph_t graph = nullptr;
    check(cudaGraphCreate(&graph, 0));
    const cudaGraphNode_t first = add(graph, reinterpret_cast<const void*>(&number), data, {});
    add(graph, reinterpret_cast<const void*>(&twice), data,
        has_edge ? std::vector{first} : std::vector<cudaGraphNode_t>());
    cudaGraphExec_t exec = nullptr;
    check(cudaGraphInstantiate(&exec, graph, 0));
    int right = 0;
    for (int seed = 1; seed <= orders; ++seed) {
        cudart_cpu::set_seed(static_cast<unsigned>(seed)); // the same seed draws the same order again
        cudart_cpu::set_workers(1);                        // one node at a time
        check(cudaGraphLaunch(exec, nullptr));
        int last = 0;
        check(cudaMemcpy(&last, data + n - 1, sizeof last, cudaMemcpyDeviceToHost));
        right += last == 2 * (n - 1) ? 1 : 0;
    }
    check(cudaGraphExecDestroy(exec));
    check(cudaGraphDestroy(graph));
    check(cudaFree(data));
    return right;
}

} // namespace

int main() {
    const int with_edge = count_right(true);
    const int without_edge = count_right(false);
    std::printf("%d of %d orders are right with the edge, %d without it\n", with_edge, orders, without_edge);
    return with_edge == orders && without_edge < orders ? 0 : 1;
}
