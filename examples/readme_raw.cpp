// The README's example written with the CUDA Runtime API alone, for comparison.
#include "readme_kernels.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <vector>

namespace {

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

bool run() {
    // README begins
    const int n = 1'000'000;
    const std::size_t bytes = n * sizeof(float);
    std::vector<float> host_x(n, 1.0f), host_y(n, 2.0f);
    float *x = nullptr, *y = nullptr;
    check(cudaMalloc(&x, bytes));
    check(cudaMalloc(&y, bytes));

    cudaGraph_t graph;
    cudaGraphNode_t up_x, up_y, axpy, down;
    check(cudaGraphCreate(&graph, 0));
    check(cudaGraphAddMemcpyNode1D(&up_x, graph, nullptr, 0, x, host_x.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaGraphAddMemcpyNode1D(&up_y, graph, nullptr, 0, y, host_y.data(), bytes, cudaMemcpyHostToDevice));
    int count = n;
    float a = 2.0f;
    void* arguments[] = {&count, &a, &x, &y}; // the compiler checks neither number nor types
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(saxpy);
    params.gridDim = dim3((n + 255) / 256);
    params.blockDim = dim3(256);
    params.kernelParams = arguments;
    const cudaGraphNode_t uploads[] = {up_x, up_y};
    check(cudaGraphAddKernelNode(&axpy, graph, uploads, 2, &params));
    check(cudaGraphAddMemcpyNode1D(&down, graph, &axpy, 1, host_y.data(), y, bytes, cudaMemcpyDeviceToHost));

    cudaGraphExec_t exec;
    cudaStream_t stream;
    check(cudaGraphInstantiate(&exec, graph, 0));
    check(cudaStreamCreate(&stream));
    check(cudaGraphLaunch(exec, stream));
    check(cudaStreamSynchronize(stream));
    a = 3.0f; // all arguments again
    check(cudaGraphExecKernelNodeSetParams(exec, axpy, &params));
    check(cudaGraphLaunch(exec, stream));
    check(cudaStreamSynchronize(stream)); // and destroy exec, graph and stream, free x and y, also after an error
    // README ends

    check(cudaGraphExecDestroy(exec));
    check(cudaGraphDestroy(graph));
    check(cudaStreamDestroy(stream));
    check(cudaFree(x));
    check(cudaFree(y));
    std::printf("y[0] = %g, y[n - 1] = %g\n", static_cast<double>(host_y.front()), static_cast<double>(host_y.back()));
    return std::count(host_y.begin(), host_y.end(), 7.0f) == n;
}

} // namespace

int main() {
    try {
        return run() && std::fflush(stdout) == 0 ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
