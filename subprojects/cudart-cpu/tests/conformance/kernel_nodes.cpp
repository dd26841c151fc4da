// Kernel nodes: validated when they are added, their arguments copied.
#include "nodes.hpp"

#include <vector>

namespace {

cudaError_t add_with(cudaGraph_t graph, const cudaKernelNodeParams& params) {
    auto node = untouched<cudaGraphNode_t>();
    const cudaError_t code = cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params);
    REQUIRE((node == untouched<cudaGraphNode_t>()) == (code != cudaSuccess));
    return code;
}

} // namespace

TEST_CASE("a kernel node runs its kernel with its arguments", "[graph][kernel]") {
    Stream stream;
    Graph graph;
    DeviceInts from(64);
    DeviceInts to(64);
    from.write(std::vector<int>(64, 5));
    Call call(copy_plus, from.data(), to.data(), 60, 3);
    call.grid = dim3(2);
    call.block = dim3(32);
    add_kernel(graph, call);
    const Exec exec(graph);
    exec.run(stream);
    std::vector<int> expected(60, 8);
    expected.insert(expected.end(), 4, poison);
    REQUIRE(to.read() == expected);
}

TEST_CASE("arguments are copied when the node is added", "[graph][kernel]") {
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    Call call(store, data.data(), 0, 1);
    const cudaGraphNode_t node = add_kernel(graph, call);
    call.argument<2>() = 2;

    cudaKernelNodeParams params{};
    REQUIRE_CUDA(cudaGraphKernelNodeGetParams(node, &params));
    REQUIRE(params.kernelParams != call.arguments());
    REQUIRE(*static_cast<int**>(params.kernelParams[0]) == data.data());
    REQUIRE(*static_cast<int*>(params.kernelParams[2]) == 1);
    REQUIRE(params.func == call.function());
    REQUIRE(params.extra == nullptr);

    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{1});
}

TEST_CASE("a kernel node gives its shape back", "[graph][kernel]") {
    Graph graph;
    Call call(nothing);
    cudaKernelNodeParams params = call.params();
    params.gridDim = dim3(2, 3, 4);
    params.blockDim = dim3(5, 6, 7);
    params.sharedMemBytes = 128;
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    cudaKernelNodeParams read{};
    REQUIRE_CUDA(cudaGraphKernelNodeGetParams(node, &read));
    REQUIRE((read.gridDim.x == 2 && read.gridDim.y == 3 && read.gridDim.z == 4));
    REQUIRE((read.blockDim.x == 5 && read.blockDim.y == 6 && read.blockDim.z == 7));
    REQUIRE(read.sharedMemBytes == 128);
}

TEST_CASE("a grid or block that the device cannot run is refused by the node", "[graph][kernel]") {
    Graph graph;
    Call call(nothing);
    const auto refuse = [&](dim3 grid, dim3 block) {
        cudaKernelNodeParams params = call.params();
        params.gridDim = grid;
        params.blockDim = block;
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add_with(graph, params));
    };
    refuse(dim3(0), dim3(1));
    refuse(dim3(1, 0), dim3(1));
    refuse(dim3(1, 1, 0), dim3(1));
    refuse(dim3(0x80000000U), dim3(1));
    refuse(dim3(1, 65536), dim3(1));
    refuse(dim3(1, 1, 65536), dim3(1));
    refuse(dim3(1), dim3(0));
    refuse(dim3(1), dim3(1, 0));
    refuse(dim3(1), dim3(1025));
    refuse(dim3(1), dim3(1, 1, 65));
    refuse(dim3(1), dim3(32, 33));
    REQUIRE(nodes_of(graph).empty());

    call.grid = dim3(2147483647, 1, 1);
    call.block = dim3(32, 32);
    add_kernel(graph, call);
    REQUIRE(nodes_of(graph).size() == 1);
}

TEST_CASE("a kernel node may ask for 48 KiB of dynamic shared memory", "[graph][kernel]") {
    Graph graph;
    Call call(nothing);
    cudaKernelNodeParams params = call.params();
    params.sharedMemBytes = 49152;
    REQUIRE_CUDA(add_with(graph, params));
    params.sharedMemBytes = 49153;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add_with(graph, params));
}

TEST_CASE("a kernel node needs a kernel", "[graph][kernel]") {
    Graph graph;
    Call call(nothing);
    cudaKernelNodeParams params = call.params();
    params.func = reinterpret_cast<void*>(&not_a_kernel);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, add_with(graph, params));
    params.func = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDeviceFunction, add_with(graph, params));
    cudaFunction_t function = nullptr;
    REQUIRE_CUDA(cudaGetFuncBySymbol(&function, call.function()));
    params.func = reinterpret_cast<void*>(function);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, add_with(graph, params));
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddKernelNode(&node, graph, nullptr, 0, nullptr));
}

TEST_CASE("a kernel with parameters needs arguments, one without may have them", "[graph][kernel]") {
    Graph graph;
    Call with(store, nullptr, 0, 0);
    Call without(nothing);
    cudaKernelNodeParams params = with.params();
    params.kernelParams = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add_with(graph, params));
    params = without.params();
    params.kernelParams = with.arguments();
    REQUIRE_CUDA(add_with(graph, params));
    params.kernelParams = nullptr;
    REQUIRE_CUDA(add_with(graph, params));
}

TEST_CASE("new parameters of a kernel node count for later instantiations only", "[graph][kernel]") {
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    Call call(store, data.data(), 0, 1);
    const cudaGraphNode_t node = add_kernel(graph, call);
    const Exec before(graph);
    call.argument<2>() = 2;
    const cudaKernelNodeParams params = call.params();
    REQUIRE_CUDA(cudaGraphKernelNodeSetParams(node, &params));
    const Exec after(graph);
    before.run(stream);
    REQUIRE(data.read() == std::vector{1});
    after.run(stream);
    REQUIRE(data.read() == std::vector{2});
}

TEST_CASE("bad new parameters leave a kernel node as it was", "[graph][kernel]") {
    Graph graph;
    DeviceInts data(1);
    Call call(store, data.data(), 0, 1);
    const cudaGraphNode_t node = add_kernel(graph, call);
    const cudaGraphNode_t empty = add_empty(graph);
    call.argument<2>() = 2;
    cudaKernelNodeParams params = call.params();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphKernelNodeSetParams(empty, &params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphKernelNodeSetParams(nullptr, &params));
    params.blockDim = dim3(2048);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphKernelNodeSetParams(node, &params));
    cudaKernelNodeParams read{};
    REQUIRE_CUDA(cudaGraphKernelNodeGetParams(node, &read));
    REQUIRE(*static_cast<int*>(read.kernelParams[2]) == 1);
    REQUIRE(read.blockDim.x == 1);
}
