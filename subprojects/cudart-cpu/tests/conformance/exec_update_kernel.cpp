// New parameters for a kernel node of an executable graph.
#include "gate.hpp"
#include "nodes.hpp"

#include <vector>

namespace {

/// One kernel node that stores 1, and its executable graph.
struct OneKernel {
    Stream stream;
    DeviceInts data{4};
    Call<int*, int, int> call{store, data.data(), 0, 1};
    Graph graph;
    cudaGraphNode_t node = add_kernel(graph, call);
    Exec exec{graph};

    cudaError_t set(const cudaKernelNodeParams& params) const {
        return cudaGraphExecKernelNodeSetParams(exec, node, &params);
    }
    void require_unchanged() {
        exec.run(stream);
        REQUIRE(data.read() == std::vector{1, poison, poison, poison});
    }
};

} // namespace

TEST_CASE("new arguments of a kernel count from the next launch on", "[exec_update][kernel]") {
    OneKernel g;
    g.call.argument<1>() = 2;
    g.call.argument<2>() = 7;
    REQUIRE_CUDA(g.set(g.call.params()));
    g.exec.run(g.stream);
    REQUIRE(g.data.read() == std::vector{poison, poison, 7, poison});

    cudaKernelNodeParams params{};
    REQUIRE_CUDA(cudaGraphKernelNodeGetParams(g.node, &params));
    REQUIRE(*static_cast<int*>(params.kernelParams[2]) == 1);
}

TEST_CASE("new arguments do not reach a launch in flight", "[exec_update][kernel]") {
    Stream stream;
    DeviceInts data(1);
    Call call(store, data.data(), 0, 1);
    Graph graph;
    Gate gate;
    const cudaGraphNode_t node = add_kernel(graph, call, {add_host(graph, gate.node())});
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    gate.wait_until_entered();
    call.argument<2>() = 2;
    const cudaKernelNodeParams params = call.params();
    REQUIRE_CUDA(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    gate.open();
    stream.synchronize();
    REQUIRE(data.read() == std::vector{1});
    exec.run(stream);
    REQUIRE(data.read() == std::vector{2});
}

TEST_CASE("a kernel node may get another grid and another kernel", "[exec_update][kernel]") {
    OneKernel g;
    Call plus(add, g.data.data(), 0, 10);
    plus.grid = dim3(3);
    g.exec.run(g.stream);
    REQUIRE_CUDA(g.set(plus.params()));
    g.exec.run(g.stream);
    REQUIRE(g.data.read() == std::vector{31, poison, poison, poison});
}

TEST_CASE("bad parameters for a kernel node leave the executable graph as it was", "[exec_update][kernel]") {
    OneKernel g;
    g.call.argument<2>() = 2;
    const cudaKernelNodeParams good = g.call.params();
    cudaKernelNodeParams params = good;
    params.blockDim = dim3(2048);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(params));
    params = good;
    params.gridDim = dim3(0);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(params));
    params = good;
    params.sharedMemBytes = 49153;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(params));
    params = good;
    params.kernelParams = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(params));
    params = good;
    params.func = reinterpret_cast<void*>(&not_a_kernel);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, g.set(params));
    params.func = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDeviceFunction, g.set(params));
    g.require_unchanged();
}

TEST_CASE("only a kernel node that the executable graph was made with can be updated", "[exec_update][kernel]") {
    OneKernel g;
    OneKernel other;
    const cudaGraphNode_t late = add_kernel(g.graph, g.call);
    const cudaKernelNodeParams params = g.call.params();
    const auto refuse = [&](cudaGraphExec_t exec, cudaGraphNode_t node) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(exec, node, &params));
    };
    refuse(g.exec, other.node);
    refuse(g.exec, late);
    refuse(g.exec, nullptr);
    refuse(nullptr, g.node);
}

TEST_CASE("a node of another kind is no kernel node", "[exec_update][kernel]") {
    Graph graph;
    DeviceInts data(1);
    Call call(store, data.data(), 0, 1);
    const cudaGraphNode_t empty = add_empty(graph);
    const cudaGraphNode_t set = add_memset(graph, set_ints(data.data(), 1, 0));
    const Exec exec(graph);
    const cudaKernelNodeParams params = call.params();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(exec, empty, &params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(exec, set, &params));
}

TEST_CASE("nodes of a clone do not address the original's executable graph", "[exec_update][kernel][clone]") {
    OneKernel g;
    Graph clone(nullptr);
    REQUIRE_CUDA(cudaGraphClone(clone.out(), g.graph));
    cudaGraphNode_t cloned = nullptr;
    REQUIRE_CUDA(cudaGraphNodeFindInClone(&cloned, g.node, clone));
    const Exec second(clone);
    const cudaKernelNodeParams params = g.call.params();
    REQUIRE_CUDA(cudaGraphExecKernelNodeSetParams(second, cloned, &params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(second, g.node, &params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(g.exec, cloned, &params));
}
