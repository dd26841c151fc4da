// Memcpy nodes with CUDA arrays.
#include "arrays.hpp"

#include "nodes.hpp"

#include <numeric>
#include <vector>

namespace {

/// Four by two ints of memory to or from an array of the same size.
struct Copies {
    std::vector<int> source{1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<int> back = std::vector<int>(8, poison);
    IntArray array{4, 2};

    cudaMemcpy3DParms up() {
        cudaMemcpy3DParms params = box();
        params.srcPtr = make_cudaPitchedPtr(source.data(), 16, 4, 2);
        params.dstArray = array;
        params.kind = cudaMemcpyHostToDevice;
        return params;
    }
    cudaMemcpy3DParms down() {
        cudaMemcpy3DParms params = box();
        params.srcArray = array;
        params.dstPtr = make_cudaPitchedPtr(back.data(), 16, 4, 2);
        params.kind = cudaMemcpyDeviceToHost;
        return params;
    }

  private:
    static cudaMemcpy3DParms box() {
        cudaMemcpy3DParms params{};
        params.extent = make_cudaExtent(4, 2, 1);
        return params;
    }
};

cudaGraphNode_t add_copy(cudaGraph_t graph, const cudaMemcpy3DParms& params, const Nodes& after = {}) {
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddMemcpyNode(&node, graph, after.data(), after.size(), &params));
    return node;
}

} // namespace

TEST_CASE("memcpy nodes move data to an array, to another and back", "[graph][memcpy][arrays]") {
    Stream stream;
    Graph graph;
    Copies copies;
    const IntArray other(4, 2);
    cudaMemcpy3DParms across{};
    across.srcArray = copies.array;
    across.dstArray = other;
    across.extent = make_cudaExtent(4, 2, 1);
    across.kind = cudaMemcpyDeviceToDevice;
    cudaMemcpy3DParms down = copies.down();
    down.srcArray = other;
    const cudaGraphNode_t first = add_copy(graph, copies.up());
    const cudaGraphNode_t second = add_copy(graph, across, {first});
    add_copy(graph, down, {second});
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(copies.back == copies.source);
    copies.source[0] = 10;
    exec.run(stream);
    REQUIRE(copies.back == copies.source);
}

TEST_CASE("a memcpy node gives its array, positions and extent back", "[graph][memcpy][arrays]") {
    Graph graph;
    Copies copies;
    cudaMemcpy3DParms params = copies.up();
    params.extent = make_cudaExtent(2, 1, 1);
    params.srcPos = make_cudaPos(2, 1, 0);
    params.dstPos = make_cudaPos(1, 1, 0);
    const cudaGraphNode_t node = add_copy(graph, params);
    cudaMemcpy3DParms back{};
    REQUIRE_CUDA(cudaGraphMemcpyNodeGetParams(node, &back));
    REQUIRE(back.dstArray == params.dstArray);
    REQUIRE(back.dstPtr.ptr == nullptr);
    REQUIRE((back.dstPos.x == 1 && back.dstPos.y == 1 && back.dstPos.z == 0));
    REQUIRE(back.srcArray == nullptr);
    REQUIRE(back.srcPtr.ptr == copies.source.data());
    REQUIRE(back.srcPtr.pitch == 16);
    REQUIRE((back.srcPos.x == 2 && back.srcPos.y == 1 && back.srcPos.z == 0));
    REQUIRE((back.extent.width == 2 && back.extent.height == 1 && back.extent.depth == 1));
    REQUIRE(back.kind == cudaMemcpyHostToDevice);
}

TEST_CASE("a memcpy node beyond its array is refused", "[graph][memcpy][arrays]") {
    Graph graph;
    Copies copies;
    auto node = untouched<cudaGraphNode_t>();
    const auto refuse = [&](const cudaMemcpy3DParms& params) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
    };
    cudaMemcpy3DParms params = copies.up();
    params.dstPos.x = 1;
    refuse(params);
    params = copies.down();
    params.srcPos.y = 1;
    refuse(params);
    params = copies.up();
    params.extent.depth = 2;
    refuse(params);
    params = copies.up();
    params.extent.width = 0;
    refuse(params);
    params = copies.up();
    params.dstPtr = params.srcPtr;
    refuse(params);
    REQUIRE(node == untouched<cudaGraphNode_t>());
    REQUIRE(nodes_of(graph).empty());
}

TEST_CASE("a memcpy node of the graph changes between arrays and memory", "[graph][memcpy][arrays]") {
    Stream stream;
    Graph graph;
    Copies copies;
    DeviceInts device(8);
    const cudaGraphNode_t node = add_memcpy(graph, device.data(), copies.source.data(), 32, cudaMemcpyHostToDevice);
    const cudaMemcpy3DParms up = copies.up();
    REQUIRE_CUDA(cudaGraphMemcpyNodeSetParams(node, &up));
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(copies.array.read() == copies.source);
    REQUIRE(device.read() == std::vector<int>(8, poison));
}

TEST_CASE("a memcpy node does not change between arrays and memory in an executable graph",
          "[exec_update][memcpy][arrays]") {
    Stream stream;
    Graph graph;
    Copies copies;
    DeviceInts device(8);
    const cudaGraphNode_t node = add_copy(graph, copies.up());
    const cudaGraphNode_t linear = add_memcpy(graph, device.data(), copies.source.data(), 4, cudaMemcpyHostToDevice);
    const Exec exec(graph);
    const cudaMemcpy3DParms up = copies.up();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecMemcpyNodeSetParams(exec, linear, &up));
    REQUIRE_CUDA_ERROR(
        cudaErrorInvalidValue,
        cudaGraphExecMemcpyNodeSetParams1D(exec, node, device.data(), copies.source.data(), 4, cudaMemcpyHostToDevice));
    exec.run(stream);
    REQUIRE(copies.array.read() == copies.source);
    REQUIRE(device.read()[0] == 1);
}

TEST_CASE("a copy of one row to an array gets another source", "[exec_update][memcpy][arrays]") {
    Stream stream;
    Graph graph;
    const IntArray line(4);
    std::vector<int> source{1, 2, 3, 4};
    std::vector<int> other{5, 6, 7, 8};
    cudaMemcpy3DParms params{};
    params.srcPtr = make_cudaPitchedPtr(source.data(), 16, 4, 1);
    params.dstArray = line;
    params.extent = make_cudaExtent(4, 1, 1);
    params.kind = cudaMemcpyHostToDevice;
    const cudaGraphNode_t node = add_copy(graph, params);
    const Exec exec(graph);
    params.srcPtr.ptr = other.data();
    REQUIRE_CUDA(cudaGraphExecMemcpyNodeSetParams(exec, node, &params));
    exec.run(stream);
    REQUIRE(line.read() == other);
}

TEST_CASE("a copy of several rows with an array stays as it is in an executable graph",
          "[exec_update][memcpy][arrays]") {
    Stream stream;
    Graph graph;
    Copies copies;
    const cudaGraphNode_t node = add_copy(graph, copies.up());
    const Exec exec(graph);
    std::vector<int> other(8, 9);
    cudaMemcpy3DParms params = copies.up();
    REQUIRE_CUDA(cudaGraphExecMemcpyNodeSetParams(exec, node, &params));
    params.srcPtr.ptr = other.data();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecMemcpyNodeSetParams(exec, node, &params));
    exec.run(stream);
    REQUIRE(copies.array.read() == copies.source);
}

TEST_CASE("a position that leaves its row of memory is refused", "[graph][memcpy][arrays]") {
    Graph graph;
    Copies copies;
    cudaMemcpy3DParms params = copies.up();
    params.extent = make_cudaExtent(2, 1, 1);
    params.srcPos.x = 4;
    auto node = untouched<cudaGraphNode_t>();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy3D(&params));
}

TEST_CASE("a graph for device launch has no copies of arrays", "[instantiate][arrays]") {
    Graph graph;
    Copies copies;
    const cudaGraphNode_t node = add_copy(graph, copies.up());
    cudaGraphExec_t exec = nullptr;
    cudaGraphInstantiateParams params{};
    params.flags = cudaGraphInstantiateFlagDeviceLaunch;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, &params));
    REQUIRE(params.result_out == cudaGraphInstantiateNodeOperationNotSupported);
    REQUIRE(params.errNode_out == node);
}
