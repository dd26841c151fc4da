// Memory with padding: its allocation, copies of several dimensions, sets in a stream.
#include "nodes.hpp"

#include <cstddef>
#include <vector>

namespace {

/// A box of ints, `width` wide, out of rows of `row` and slices of `rows`.
struct Layout {
    int* data;
    std::size_t row;
    std::size_t rows;

    cudaPitchedPtr pointer() const { return make_cudaPitchedPtr(data, row * sizeof(int), row, rows); }
};

cudaMemcpy3DParms box(const Layout& to, const Layout& from, cudaExtent ints, cudaMemcpyKind kind) {
    cudaMemcpy3DParms params{};
    params.dstPtr = to.pointer();
    params.srcPtr = from.pointer();
    params.extent = make_cudaExtent(ints.width * sizeof(int), ints.height, ints.depth);
    params.kind = kind;
    return params;
}

} // namespace

TEST_CASE("pitched memory has room for its rows", "[memory][pitched]") {
    char* data = nullptr;
    std::size_t pitch = 0;
    REQUIRE_CUDA(cudaMallocPitch(reinterpret_cast<void**>(&data), &pitch, 100, 10));
    REQUIRE(pitch == 512);
    const std::vector<char> rows(1000, 7);
    REQUIRE_CUDA(cudaMemcpy2D(data, pitch, rows.data(), 100, 100, 10, cudaMemcpyHostToDevice));
    std::vector<char> back(1000, 0);
    REQUIRE_CUDA(cudaMemcpy2D(back.data(), 100, data, pitch, 100, 10, cudaMemcpyDeviceToHost));
    REQUIRE_CUDA(cudaFree(data));
    REQUIRE(back == rows);
}

TEST_CASE("a three-dimensional copy takes a box out of both sides", "[copies][pitched]") {
    // 2 slices of 2 rows of 3; the copied box is 2 wide.
    std::vector<int> source{1, 2, 0, 3, 4, 0, 5, 6, 0, 7, 8, 0};
    DeviceInts device(8);
    const cudaMemcpy3DParms up =
        box({device.data(), 2, 2}, {source.data(), 3, 2}, make_cudaExtent(2, 2, 2), cudaMemcpyHostToDevice);
    REQUIRE_CUDA(cudaMemcpy3D(&up));
    REQUIRE(device.read() == std::vector{1, 2, 3, 4, 5, 6, 7, 8});

    Stream stream;
    PinnedInts back(12);
    const cudaMemcpy3DParms down =
        box({back.data(), 3, 2}, {device.data(), 2, 2}, make_cudaExtent(2, 2, 2), cudaMemcpyDeviceToHost);
    REQUIRE_CUDA(cudaMemcpy3DAsync(&down, stream));
    stream.synchronize();
    REQUIRE(back.read() == std::vector{1, 2, poison, 3, 4, poison, 5, 6, poison, 7, 8, poison});
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy3D(nullptr));
}

TEST_CASE("a memcpy node takes a box out of both sides, also when it is updated", "[graph][memcpy][pitched]") {
    Stream stream;
    Graph graph;
    std::vector<int> source{1, 2, 0, 3, 4, 0, 5, 6, 0, 7, 8, 0};
    std::vector<int> other{10, 20, 0, 30, 40, 0, 50, 60, 0, 70, 80, 0};
    DeviceInts device(8);
    cudaMemcpy3DParms params =
        box({device.data(), 2, 2}, {source.data(), 3, 2}, make_cudaExtent(2, 2, 2), cudaMemcpyHostToDevice);
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(device.read() == std::vector{1, 2, 3, 4, 5, 6, 7, 8});

    params.srcPtr.ptr = other.data();
    REQUIRE_CUDA(cudaGraphMemcpyNodeSetParams(node, &params));
    const Exec second(graph);
    second.run(stream);
    REQUIRE(device.read() == std::vector{10, 20, 30, 40, 50, 60, 70, 80});
}

TEST_CASE("a one-dimensional memcpy node is updated with the general call too", "[exec_update][memcpy][pitched]") {
    Stream stream;
    Graph graph;
    std::vector<int> host{1, 2, 3, 4};
    DeviceInts device(4);
    const cudaGraphNode_t node = add_memcpy(graph, device.data(), host.data(), 4, cudaMemcpyHostToDevice);
    const Exec exec(graph);
    const cudaMemcpy3DParms params =
        box({device.data() + 1, 3, 1}, {host.data(), 3, 1}, make_cudaExtent(3, 1, 1), cudaMemcpyHostToDevice);
    REQUIRE_CUDA(cudaGraphExecMemcpyNodeSetParams(exec, node, &params));
    exec.run(stream);
    REQUIRE(device.read() == std::vector{poison, 1, 2, 3});
}

TEST_CASE("two-dimensional copies and sets run in their stream", "[copies][memset][pitched]") {
    Stream stream;
    const std::vector<int> source{1, 2, 0, 3, 4, 0};
    DeviceInts device(6);
    REQUIRE_CUDA(cudaMemset2DAsync(device.data(), 12, 0, 12, 2, stream));
    REQUIRE_CUDA(cudaMemcpy2DAsync(device.data(), 12, source.data(), 12, 8, 1, cudaMemcpyHostToDevice, stream));
    stream.synchronize();
    REQUIRE(device.read() == std::vector{1, 2, 0, 0, 0, 0});
}
