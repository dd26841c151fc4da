// Kernel nodes that kernels update.
#include "attributes.hpp"
#include "graph_kernels.hpp"

#include <cstddef>

namespace {

constexpr unsigned offset_of_value = 12; // of add's third parameter

cudaGraphDeviceNode_t make_updatable(cudaGraphNode_t node) {
    Value value{};
    value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    REQUIRE_CUDA(set(node, cudaLaunchAttributeDeviceUpdatableKernelNode, value));
    const Value kept = get(node, cudaLaunchAttributeDeviceUpdatableKernelNode);
    REQUIRE(kept.deviceUpdatableKernelNode.deviceUpdatable == 1);
    REQUIRE(kept.deviceUpdatableKernelNode.devNode != nullptr);
    return kept.deviceUpdatableKernelNode.devNode;
}

/// A graph that adds 1 to a number, in a node that kernels can update.
struct Updatable {
    Updatable() : addition(add, data.data(), 0, 1), node(add_kernel(graph, addition)), handle(make_updatable(node)) {}

    /// What a launch adds.
    int run(const Exec& exec) {
        Stream stream;
        data.write({0});
        exec.run(stream);
        return data.read()[0];
    }

    DeviceInts data{1};
    DeviceInts codes{1};
    Graph graph;
    Call<int*, int, int> addition;
    cudaGraphNode_t node;
    cudaGraphDeviceNode_t handle;
};

void upload(const Exec& exec) {
    REQUIRE_CUDA(cudaGraphUpload(exec, nullptr));
    REQUIRE_CUDA(cudaDeviceSynchronize());
}

template <class... P>
int code_of(const DeviceInts& codes, Call<P...>&& call) {
    call.launch(nullptr);
    REQUIRE_CUDA(cudaDeviceSynchronize());
    return codes.read()[0];
}

} // namespace

TEST_CASE("a kernel changes a parameter, the grid and whether a node is enabled", "[exec][device]") {
    Updatable updated;
    const Exec exec(updated.graph);
    upload(exec);
    int* const codes = updated.codes.data();
    REQUIRE(code_of(updated.codes, Call(set_parameter, updated.handle, offset_of_value, 5, codes)) == cudaSuccess);
    REQUIRE(updated.run(exec) == 5);
    REQUIRE(code_of(updated.codes, Call(set_grid, updated.handle, 3U, codes)) == cudaSuccess);
    REQUIRE(updated.run(exec) == 15);
    REQUIRE(code_of(updated.codes, Call(set_enabled, updated.handle, false, codes)) == cudaSuccess);
    REQUIRE(updated.run(exec) == 0);
    REQUIRE(code_of(updated.codes, Call(set_enabled, updated.handle, true, codes)) == cudaSuccess);
    REQUIRE(updated.run(exec) == 15);
}

TEST_CASE("a kernel applies several updates at once", "[exec][device]") {
    Updatable updated;
    const Exec exec(updated.graph);
    upload(exec);
    int* const codes = updated.codes.data();
    REQUIRE(code_of(updated.codes, Call(set_all, updated.handle, offset_of_value, 7, 2U, true, codes)) == cudaSuccess);
    REQUIRE(updated.run(exec) == 14);
}

TEST_CASE("a kernel updates a node of its own graph that comes after it", "[exec][device]") {
    Updatable updated;
    Call update(set_parameter, updated.handle, offset_of_value, 9, updated.codes.data());
    add_edge(updated.graph, add_kernel(updated.graph, update), updated.node);
    const Exec exec(updated.graph);
    REQUIRE_CUDA(cudaGraphUpload(exec, nullptr));
    REQUIRE(updated.run(exec) == 9);
    REQUIRE(updated.codes.read() == std::vector<int>{cudaSuccess});
}

TEST_CASE("the host updates a device-updatable node, and uploads", "[exec][device]") {
    Updatable updated;
    const Exec exec(updated.graph);
    Call more(add, updated.data.data(), 0, 20);
    const cudaKernelNodeParams params = more.params();
    REQUIRE_CUDA(cudaGraphExecKernelNodeSetParams(exec, updated.node, &params));
    upload(exec);
    REQUIRE(updated.run(exec) == 20);
}

TEST_CASE("a device-updatable node keeps its handle, and stays device-updatable", "[graph][device]") {
    Updatable updated;
    REQUIRE(get(updated.node, cudaLaunchAttributeDeviceUpdatableKernelNode).deviceUpdatableKernelNode.devNode ==
            updated.handle);
    Value value{};
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, set(updated.node, cudaLaunchAttributeDeviceUpdatableKernelNode, value));
    value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    value.deviceUpdatableKernelNode.devNode = updated.handle;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, set(updated.node, cudaLaunchAttributeDeviceUpdatableKernelNode, value));
    value = {};
    value.deviceUpdatableKernelNode.deviceUpdatable = 2;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, set(updated.node, cudaLaunchAttributeDeviceUpdatableKernelNode, value));
}

TEST_CASE("a device-updatable node cannot be destroyed", "[graph][device]") {
    Updatable updated;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphDestroyNode(updated.node));
    REQUIRE(nodes_of(updated.graph) == Nodes{updated.node});
}

TEST_CASE("attributes of device-updatable nodes are not copied", "[graph][device]") {
    Updatable updated;
    Graph graph;
    Call call(nothing);
    const cudaGraphNode_t node = add_kernel(graph, call);
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphKernelNodeCopyAttributes(node, updated.node));
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphKernelNodeCopyAttributes(updated.node, node));
}

TEST_CASE("a graph with a device-updatable node has one executable graph at a time", "[graph][device]") {
    Updatable updated;
    Exec exec(updated.graph);
    cudaGraphExec_t second = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphInstantiate(&second, updated.graph, 0));
    exec.destroy();
    REQUIRE_CUDA(cudaGraphInstantiate(&second, updated.graph, 0));
    REQUIRE_CUDA(cudaGraphExecDestroy(second));
}

TEST_CASE("device-updatable nodes exclude updates of whole graphs", "[exec][device]") {
    Updatable updated;
    Graph plain;
    add_kernel(plain, updated.addition);
    const Exec updatable_exec(updated.graph);
    const Exec plain_exec(plain);
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphExecUpdate(updatable_exec, plain, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphExecUpdate(plain_exec, updated.graph, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphExecUpdate(updatable_exec, updated.graph, nullptr));
}

TEST_CASE("a graph with a device-updatable node is not cloned", "[graph][device]") {
    Updatable updated;
    cudaGraph_t clone = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphClone(&clone, updated.graph));
}

TEST_CASE("a kernel cannot make what no launch could have", "[exec][device]") {
    Updatable updated;
    const Exec exec(updated.graph);
    upload(exec);
    int* const codes = updated.codes.data();
    REQUIRE(code_of(updated.codes, Call(set_parameter, updated.handle, 1000U, 5, codes)) == cudaErrorInvalidValue);
    REQUIRE(updated.run(exec) == 1);
}
