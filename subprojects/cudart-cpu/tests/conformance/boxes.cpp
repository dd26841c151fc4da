// Sets and allocations in three dimensions, and what an executable graph's two-dimensional memsets may become.
#include "nodes.hpp"

#include <vector>

namespace {

/// Two rows of two ints, 16 bytes apart.
cudaMemsetParams two_rows(int* to, int value) {
    cudaMemsetParams params = set_ints(to, 2, value);
    params.height = 2;
    params.pitch = 16;
    return params;
}

} // namespace

TEST_CASE("three-dimensional memory has room for its slices", "[memory][pitched]") {
    cudaPitchedPtr memory{};
    REQUIRE_CUDA(cudaMalloc3D(&memory, make_cudaExtent(100, 3, 2)));
    REQUIRE(memory.pitch == 512);
    REQUIRE((memory.xsize == 100 && memory.ysize == 3));
    std::vector<char> ones(600, 1);
    cudaMemcpy3DParms params{};
    params.srcPtr = make_cudaPitchedPtr(ones.data(), 100, 100, 3);
    params.dstPtr = memory;
    params.extent = make_cudaExtent(100, 3, 2);
    params.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&params) == cudaSuccess);
    std::vector<char> back(600, 0);
    params.srcPtr = memory;
    params.dstPtr = make_cudaPitchedPtr(back.data(), 100, 100, 3);
    params.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&params) == cudaSuccess);
    REQUIRE_CUDA(cudaFree(memory.ptr));
    REQUIRE(back == ones);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMalloc3D(nullptr, make_cudaExtent(100, 3, 2)));
}

TEST_CASE("a three-dimensional set fills a box", "[memset][pitched]") {
    // 2 slices of 3 rows of 3 ints.
    DeviceInts device(18);
    const cudaPitchedPtr memory = make_cudaPitchedPtr(device.data(), 12, 12, 3);
    REQUIRE_CUDA(cudaMemset3D(memory, 0, make_cudaExtent(8, 2, 2)));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    const int p = poison;
    REQUIRE(device.read() == std::vector{0, 0, p, 0, 0, p, p, p, p, 0, 0, p, 0, 0, p, p, p, p});

    Stream stream;
    REQUIRE_CUDA(cudaMemset3DAsync(memory, 0x11, make_cudaExtent(4, 1, 2), stream));
    stream.synchronize();
    const int q = 0x11111111;
    REQUIRE(device.read() == std::vector{q, 0, p, 0, 0, p, p, p, p, q, 0, p, 0, 0, p, p, p, p});
}

TEST_CASE("a three-dimensional set of nothing succeeds, one beyond its memory is refused", "[memset][pitched]") {
    DeviceInts device(18);
    const cudaPitchedPtr memory = make_cudaPitchedPtr(device.data(), 12, 12, 3);
    REQUIRE_CUDA(cudaMemset3D(memory, 0, make_cudaExtent(0, 2, 2)));
    REQUIRE_CUDA(cudaMemset3D(memory, 0, make_cudaExtent(8, 2, 0)));
    for (const cudaExtent& nothing : {make_cudaExtent(16, 2, 0), make_cudaExtent(16, 0, 2), make_cudaExtent(0, 4, 2)})
        REQUIRE_CUDA(cudaMemset3D(memory, 0, nothing)); // nobody looks where it lies
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemset3D(memory, 0, make_cudaExtent(8, 4, 1)));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemset3D(memory, 0, make_cudaExtent(16, 2, 2)));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemset3D(memory, 0, make_cudaExtent(8, 3, 3)));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(device.read() == std::vector<int>(18, poison));
}

TEST_CASE("a memset of several rows keeps its pitch and element", "[exec_update][memset][pitched]") {
    Stream stream;
    DeviceInts device(16);
    Graph graph;
    const cudaMemsetParams original = two_rows(device.data(), 1);
    const cudaGraphNode_t node = add_memset(graph, original);
    const Exec exec(graph);
    cudaMemsetParams params = original;
    params.pitch = 32;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec, node, &params));
    params = original;
    params.elementSize = 2;
    params.width = 4;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec, node, &params));
    params = original;
    params.height = 3;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec, node, &params));
    params = original;
    params.width = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec, node, &params));
    exec.run(stream);
    std::vector<int> expected(16, poison);
    expected[0] = expected[1] = expected[4] = expected[5] = 1;
    REQUIRE(device.read() == expected);
}

TEST_CASE("a memset may move from device to pinned memory", "[exec_update][memset]") {
    Stream stream;
    DeviceInts device(8);
    PinnedInts pinned(8);
    Graph graph;
    const cudaGraphNode_t row = add_memset(graph, set_ints(device.data(), 2, 1));
    const cudaGraphNode_t rows = add_memset(graph, two_rows(device.data(), 1));
    const Exec exec(graph);
    const cudaMemsetParams to_pinned = set_ints(pinned.data() + 2, 1, 2);
    const cudaMemsetParams rows_to_pinned = two_rows(pinned.data(), 3);
    REQUIRE_CUDA(cudaGraphExecMemsetNodeSetParams(exec, row, &to_pinned));
    REQUIRE_CUDA(cudaGraphExecMemsetNodeSetParams(exec, rows, &rows_to_pinned));
    exec.run(stream);
    REQUIRE(pinned.read() == std::vector{3, 3, 2, poison, 3, 3, poison, poison});
    REQUIRE(device.read() == std::vector<int>(8, poison));
}

TEST_CASE("a whole update gives a memset of several rows another value and place only",
          "[exec_update][whole][memset][pitched]") {
    Stream stream;
    DeviceInts device(16);
    DeviceInts other(16);
    Graph graph;
    add_memset(graph, two_rows(device.data(), 1));
    const Exec exec(graph);
    Graph moved;
    add_memset(moved, two_rows(other.data(), 2));
    REQUIRE_CUDA(cudaGraphExecUpdate(exec, moved, nullptr));
    exec.run(stream);
    REQUIRE(other.read()[5] == 2);
    REQUIRE(device.read() == std::vector<int>(16, poison));

    Graph wider;
    cudaMemsetParams params = two_rows(device.data(), 3);
    params.pitch = 32;
    const cudaGraphNode_t node = add_memset(wider, params);
    cudaGraphExecUpdateResultInfo info{};
    REQUIRE_CUDA_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, wider, &info));
    REQUIRE(info.result == cudaGraphExecUpdateErrorParametersChanged);
    REQUIRE(info.errorNode == node);
}

TEST_CASE("a copy of several rows does not get another source in an executable graph",
          "[exec_update][whole][memcpy][pitched]") {
    Stream stream;
    DeviceInts device(8);
    std::vector<int> source{1, 2, 0, 3, 4, 0};
    std::vector<int> other{5, 6, 0, 7, 8, 0};
    const auto copy = [&](std::vector<int>& from) {
        cudaMemcpy3DParms params{};
        params.srcPtr = make_cudaPitchedPtr(from.data(), 12, 12, 2);
        params.dstPtr = make_cudaPitchedPtr(device.data(), 16, 16, 2);
        params.extent = make_cudaExtent(8, 2, 1);
        params.kind = cudaMemcpyHostToDevice;
        return params;
    };
    Graph graph;
    cudaGraphNode_t node = nullptr;
    cudaMemcpy3DParms params = copy(source);
    REQUIRE_CUDA(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
    const Exec exec(graph);
    params = copy(other);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecMemcpyNodeSetParams(exec, node, &params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecMemcpyNodeSetParams1D(
                                                  exec, node, device.data(), other.data(), 8, cudaMemcpyHostToDevice));
    exec.run(stream);
    REQUIRE(device.read() == std::vector{1, 2, poison, poison, 3, 4, poison, poison});

    Graph whole;
    REQUIRE_CUDA(cudaGraphAddMemcpyNode(&node, whole, nullptr, 0, &params));
    cudaGraphExecUpdateResultInfo info{};
    REQUIRE_CUDA_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, whole, &info));
    REQUIRE(info.result == cudaGraphExecUpdateErrorParametersChanged);
    REQUIRE(info.errorNode == node);
    exec.run(stream);
    REQUIRE(device.read() == std::vector{1, 2, poison, poison, 3, 4, poison, poison});
}
