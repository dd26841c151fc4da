// Enabling and disabling nodes of an executable graph.
#include "nodes.hpp"

#include <vector>

namespace {

void CUDART_CB do_nothing(void*) {}

bool enabled(cudaGraphExec_t exec, cudaGraphNode_t node) {
    unsigned value = 9;
    REQUIRE_CUDA(cudaGraphNodeGetEnabled(exec, node, &value));
    REQUIRE(value <= 1);
    return value == 1;
}

/// memset of 1 > kernel that adds 10 > copy to the second int.
struct Line {
    Stream stream;
    DeviceInts data{2};
    Call<int*, int, int> plus{add, data.data(), 0, 10};
    Graph graph;
    cudaGraphNode_t set = add_memset(graph, set_ints(data.data(), 1, 1));
    cudaGraphNode_t kernel = add_kernel(graph, plus, {set});
    cudaGraphNode_t copy = add_memcpy(graph, data.data() + 1, data.data(), 4, cudaMemcpyDeviceToDevice, {kernel});
    Exec exec{graph};

    std::vector<int> run() {
        exec.run(stream);
        return data.read();
    }
    void set_enabled(cudaGraphNode_t node, bool on) { REQUIRE_CUDA(cudaGraphNodeSetEnabled(exec, node, on ? 1 : 0)); }
};

} // namespace

TEST_CASE("kernel, memcpy and memset nodes are enabled at first", "[enable]") {
    const Line line;
    REQUIRE(enabled(line.exec, line.set));
    REQUIRE(enabled(line.exec, line.kernel));
    REQUIRE(enabled(line.exec, line.copy));
}

TEST_CASE("a disabled node does nothing, and what comes after it still comes after what is before it", "[enable]") {
    Line line;
    REQUIRE(line.run() == std::vector{11, 11});
    line.set_enabled(line.kernel, false);
    REQUIRE_FALSE(enabled(line.exec, line.kernel));
    REQUIRE(line.run() == std::vector{1, 1});
    line.set_enabled(line.kernel, true);
    line.set_enabled(line.set, false);
    REQUIRE(line.run() == std::vector{11, 11});
    line.set_enabled(line.copy, false);
    REQUIRE(line.run() == std::vector{21, 11});
    line.set_enabled(line.copy, true);
    line.set_enabled(line.set, true);
    REQUIRE(line.run() == std::vector{11, 11});
}

TEST_CASE("any value but zero enables", "[enable]") {
    Line line;
    line.set_enabled(line.kernel, false);
    REQUIRE_CUDA(cudaGraphNodeSetEnabled(line.exec, line.kernel, 5));
    REQUIRE(enabled(line.exec, line.kernel));
}

TEST_CASE("executable graphs of one graph are enabled separately", "[enable]") {
    Line line;
    const Exec second(line.graph);
    line.set_enabled(line.kernel, false);
    REQUIRE(enabled(second, line.kernel));
}

TEST_CASE("a disabled node stays disabled when its parameters change", "[enable]") {
    Line line;
    line.set_enabled(line.kernel, false);
    line.plus.argument<2>() = 20;
    const cudaKernelNodeParams params = line.plus.params();
    REQUIRE_CUDA(cudaGraphExecKernelNodeSetParams(line.exec, line.kernel, &params));
    REQUIRE_FALSE(enabled(line.exec, line.kernel));
    REQUIRE(line.run() == std::vector{1, 1});
    line.set_enabled(line.kernel, true);
    REQUIRE(line.run() == std::vector{21, 21});
}

TEST_CASE("a disabled node stays disabled in a whole update", "[enable]") {
    Line line;
    line.set_enabled(line.kernel, false);
    Graph clone(nullptr);
    REQUIRE_CUDA(cudaGraphClone(clone.out(), line.graph));
    REQUIRE_CUDA(cudaGraphExecUpdate(line.exec, clone, nullptr));
    REQUIRE_FALSE(enabled(line.exec, line.kernel));
    REQUIRE(line.run() == std::vector{1, 1});
}

TEST_CASE("host and empty nodes can be neither disabled nor asked", "[enable]") {
    Graph graph;
    const cudaGraphNode_t host = add_host(graph, {do_nothing, nullptr});
    const cudaGraphNode_t empty = add_empty(graph);
    const Exec exec(graph);
    unsigned value = 9;
    for (const cudaGraphNode_t node : {host, empty}) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, node, 0));
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetEnabled(exec, node, &value));
    }
    REQUIRE(value == 9);
}

TEST_CASE("only nodes that the executable graph was made with can be enabled or disabled", "[enable]") {
    Line line;
    Line other;
    const cudaGraphNode_t late = add_kernel(line.graph, line.plus);
    unsigned value = 9;
    for (const cudaGraphNode_t node : {other.kernel, late, cudaGraphNode_t{nullptr}}) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(line.exec, node, 0));
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetEnabled(line.exec, node, &value));
    }
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(nullptr, line.kernel, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetEnabled(line.exec, line.kernel, nullptr));
}
