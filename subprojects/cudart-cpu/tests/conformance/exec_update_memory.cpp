// New parameters for memcpy, memset and host nodes of an executable graph.
#include "nodes.hpp"

#include <cstddef>
#include <vector>

namespace {

void CUDART_CB increment(void* data) {
    ++*static_cast<int*>(data);
}
void CUDART_CB add_ten(void* data) {
    *static_cast<int*>(data) += 10;
}

/// A host-to-device copy of 2 ints.
struct OneMemcpy {
    Stream stream;
    DeviceInts device{4};
    DeviceInts other{4};
    std::vector<int> host{1, 2, 3, 4};
    Graph graph;
    cudaGraphNode_t node = add_memcpy(graph, device.data(), host.data(), 8, cudaMemcpyHostToDevice);
    cudaGraphNode_t across = add_memcpy(graph, other.data() + 3, other.data() + 2, 4, cudaMemcpyDeviceToDevice);
    Exec exec{graph};

    cudaError_t set(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) const {
        return cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, kind);
    }
};

/// A memset of 2 ints in one row, and one of 2 rows of 2 ints.
struct TwoMemsets {
    Stream stream;
    DeviceInts data{4};
    DeviceInts rows{8};
    DeviceInts other{8};
    Graph graph;
    cudaMemsetParams row_params = set_ints(data.data(), 2, 1);
    cudaMemsetParams rows_params = two_rows();
    cudaGraphNode_t row = add_memset(graph, row_params);
    cudaGraphNode_t two = add_memset(graph, rows_params);
    Exec exec{graph};

    cudaMemsetParams two_rows() const {
        cudaMemsetParams params = set_ints(rows.data(), 2, 1);
        params.height = 2;
        params.pitch = 16;
        return params;
    }
    cudaError_t set(cudaGraphNode_t node, const cudaMemsetParams& params) const {
        return cudaGraphExecMemsetNodeSetParams(exec, node, &params);
    }
};

} // namespace

TEST_CASE("a memcpy node gets another source, destination and size", "[exec_update][memcpy]") {
    OneMemcpy g;
    REQUIRE_CUDA(g.set(g.device.data() + 1, g.host.data() + 1, 12, cudaMemcpyHostToDevice));
    g.exec.run(g.stream);
    REQUIRE(g.device.read() == std::vector{poison, 2, 3, 4});
    REQUIRE_CUDA(g.set(g.other.data(), g.host.data(), 4, cudaMemcpyHostToDevice));
    g.exec.run(g.stream);
    REQUIRE(g.other.read()[0] == 1);
    REQUIRE(g.device.read() == std::vector{poison, 2, 3, 4});
}

TEST_CASE("a memcpy node may move from pageable to pinned memory", "[exec_update][memcpy]") {
    OneMemcpy g;
    PinnedInts pinned(2);
    pinned[0] = 8;
    pinned[1] = 9;
    REQUIRE_CUDA(g.set(g.device.data(), pinned.data(), 8, cudaMemcpyHostToDevice));
    g.exec.run(g.stream);
    REQUIRE(g.device.read() == std::vector{8, 9, poison, poison});
}

TEST_CASE("a memcpy node keeps its direction, and copies something", "[exec_update][memcpy]") {
    OneMemcpy g;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(g.host.data(), g.device.data(), 8, cudaMemcpyDeviceToHost));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(g.device.data(), g.other.data(), 8, cudaMemcpyDeviceToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(g.device.data(), g.host.data(), 8, cudaMemcpyDeviceToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(g.device.data(), g.host.data(), 0, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(nullptr, g.host.data(), 8, cudaMemcpyHostToDevice));
    g.exec.run(g.stream);
    REQUIRE(g.device.read() == std::vector{1, 2, poison, poison});
    REQUIRE(g.host == std::vector{1, 2, 3, 4});
}

TEST_CASE("the memory of a copy is exchanged only for memory from where it came", "[exec_update][memcpy]") {
    // Of a context (cudaMalloc, the host), of pools, of a graph.
    Stream stream;
    DeviceInts device(4);
    DeviceInts other_device(4);
    PinnedInts pinned(4);
    std::vector<int> pageable(4);
    int* managed = nullptr;
    REQUIRE_CUDA(cudaMallocManaged(reinterpret_cast<void**>(&managed), 16));
    int* pooled = nullptr;
    int* other_pooled = nullptr;
    REQUIRE_CUDA(cudaMallocAsync(reinterpret_cast<void**>(&pooled), 16, stream));
    REQUIRE_CUDA(cudaMallocAsync(reinterpret_cast<void**>(&other_pooled), 16, stream));
    const Graph memory;
    cudaMemAllocNodeParams alloc{};
    alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
    alloc.bytesize = 16;
    cudaGraphNode_t alloc_node = nullptr;
    REQUIRE_CUDA(cudaGraphAddMemAllocNode(&alloc_node, memory, nullptr, 0, &alloc));
    const Exec memory_exec(memory);
    memory_exec.run(stream);
    auto* const of_graph = static_cast<int*>(alloc.dptr);

    const std::vector<std::vector<int*>> origins{
        {device.data(), other_device.data(), managed, pinned.data(), pageable.data()},
        {pooled, other_pooled},
        {of_graph, of_graph + 1}};
    const bool is_source = GENERATE(false, true);
    const auto copy = [&](int* operand, auto&& call) {
        int* const fixed = other_device.data();
        return is_source ? call(fixed, operand) : call(operand, fixed);
    };
    for (std::size_t i = 0; i < origins.size(); ++i) {
        for (int* const made_with : origins[i]) {
            const Graph graph;
            cudaGraphNode_t node = nullptr;
            copy(made_with,
                 [&](int* to, int* from) { return node = add_memcpy(graph, to, from, 4, cudaMemcpyDefault); });
            const Exec exec(graph);
            for (std::size_t k = 0; k < origins.size(); ++k) {
                for (int* const next : origins[k]) {
                    const cudaError_t node_update = copy(next, [&](int* to, int* from) {
                        return cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, from, 4, cudaMemcpyDefault);
                    });
                    const Graph changed;
                    copy(next, [&](int* to, int* from) { return add_memcpy(changed, to, from, 4, cudaMemcpyDefault); });
                    cudaGraphExecUpdateResultInfo result{};
                    const cudaError_t whole_update = cudaGraphExecUpdate(exec, changed, &result);
                    static_cast<void>(cudaGetLastError());
                    CAPTURE(i, k, is_source);
                    CHECK(node_update == (i == k ? cudaSuccess : cudaErrorInvalidValue));
                    CHECK(whole_update == (i == k ? cudaSuccess : cudaErrorGraphExecUpdateFailure));
                    if (i != k) CHECK(result.result == cudaGraphExecUpdateErrorParametersChanged);
                }
            }
        }
    }
    REQUIRE_CUDA(cudaFreeAsync(of_graph, stream));
    REQUIRE_CUDA(cudaFreeAsync(pooled, stream));
    REQUIRE_CUDA(cudaFreeAsync(other_pooled, stream));
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    REQUIRE_CUDA(cudaFree(managed));
}

TEST_CASE("only a memcpy node that the executable graph was made with can be updated", "[exec_update][memcpy]") {
    OneMemcpy g;
    OneMemcpy other;
    TwoMemsets sets;
    const auto refuse = [&](cudaGraphExec_t exec, cudaGraphNode_t node) {
        REQUIRE_CUDA_ERROR(
            cudaErrorInvalidValue,
            cudaGraphExecMemcpyNodeSetParams1D(exec, node, g.device.data(), g.host.data(), 8, cudaMemcpyHostToDevice));
    };
    refuse(g.exec, other.node);
    refuse(sets.exec, sets.row);
    refuse(g.exec, nullptr);
    refuse(nullptr, g.node);
}

TEST_CASE("a memset node of one row gets another value, width and place", "[exec_update][memset]") {
    TwoMemsets g;
    g.row_params.value = 5;
    g.row_params.width = 3;
    REQUIRE_CUDA(g.set(g.row, g.row_params));
    g.exec.run(g.stream);
    REQUIRE(g.data.read() == std::vector{5, 5, 5, poison});
    g.row_params.dst = g.other.data();
    REQUIRE_CUDA(g.set(g.row, g.row_params));
    g.exec.run(g.stream);
    REQUIRE(g.other.read()[2] == 5);
    REQUIRE(g.other.read()[3] == poison);
}

TEST_CASE("a memset node of several rows gets another value and place", "[exec_update][memset]") {
    TwoMemsets g;
    g.rows_params.value = 5;
    g.rows_params.dst = g.other.data();
    REQUIRE_CUDA(g.set(g.two, g.rows_params));
    g.exec.run(g.stream);
    REQUIRE(g.other.read() == std::vector{5, 5, poison, poison, 5, 5, poison, poison});
    REQUIRE(g.rows.read() == std::vector<int>(8, poison));
}

TEST_CASE("a memset node keeps its number of rows, and several rows their width", "[exec_update][memset]") {
    TwoMemsets g;
    cudaMemsetParams params = g.row_params;
    params.height = 2;
    params.pitch = 8;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(g.row, params));
    params = g.rows_params;
    params.height = 1;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(g.two, params));
    params = g.rows_params;
    params.width = 1;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(g.two, params));
    g.exec.run(g.stream);
    REQUIRE(g.data.read() == std::vector{1, 1, poison, poison});
    REQUIRE(g.rows.read() == std::vector{1, 1, poison, poison, 1, 1, poison, poison});
}

TEST_CASE("bad parameters for a memset node are refused", "[exec_update][memset]") {
    TwoMemsets g;
    std::vector<int> host(4, poison);
    cudaMemsetParams params = g.row_params;
    params.width = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(g.row, params));
    params = g.row_params;
    params.elementSize = 3;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(g.row, params));
    params = g.row_params;
    params.dst = host.data();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(g.row, params));
    params.dst = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, g.set(g.row, params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(nullptr, g.row, &g.row_params));
    OneMemcpy copies;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaGraphExecMemsetNodeSetParams(copies.exec, copies.node, &g.row_params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(copies.exec, g.row, &g.row_params));
}

TEST_CASE("a host node gets another function and other data", "[exec_update][host]") {
    Stream stream;
    Graph graph;
    int first = 0;
    int second = 0;
    const cudaGraphNode_t node = add_host(graph, {increment, &first});
    const Exec exec(graph);
    exec.run(stream);
    const cudaHostNodeParams params{add_ten, &second};
    REQUIRE_CUDA(cudaGraphExecHostNodeSetParams(exec, node, &params));
    exec.run(stream);
    REQUIRE(first == 1);
    REQUIRE(second == 10);

    const cudaHostNodeParams none{nullptr, &second};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecHostNodeSetParams(exec, node, &none));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecHostNodeSetParams(nullptr, node, &params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecHostNodeSetParams(exec, nullptr, &params));
    exec.run(stream);
    REQUIRE(second == 20);
}
