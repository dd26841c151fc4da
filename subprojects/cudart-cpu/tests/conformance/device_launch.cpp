// Graphs that kernels launch.
#include "conditional.hpp"

namespace {

/// A graph that adds 1 to an int, for launch from the device.
struct Launched {
    Launched() : addition(add, data.data(), 0, 1) { add_kernel(graph, addition); }

    DeviceInts data{1};
    DeviceInts codes{2};
    Graph graph;
    Call<int*, int, int> addition;
};

void upload(cudaGraphExec_t exec) {
    REQUIRE_CUDA(cudaGraphUpload(exec, nullptr));
    REQUIRE_CUDA(cudaDeviceSynchronize());
}

constexpr unsigned long long device_launch = cudaGraphInstantiateFlagDeviceLaunch;

} // namespace

TEST_CASE("a kernel launches a graph, from graphs of the host and of the device", "[exec][device]") {
    Stream stream;
    Launched launched;
    const Exec exec(launched.graph, device_launch);
    upload(exec);
    for (const Into into : {Into::tail, Into::forget, Into::sibling}) {
        for (const bool from_device : {false, true}) {
            Graph graph;
            Call launch(launch_graph, exec, into, launched.codes.data());
            add_kernel(graph, launch);
            const Exec launching(graph, from_device ? device_launch : 0);
            launched.data.write({0});
            launching.run(stream);
            REQUIRE(launched.data.read() == std::vector{1});
            REQUIRE(launched.codes.read() == std::vector<int>{cudaSuccess, from_device});
        }
    }
}

TEST_CASE("the tail of a graph runs after the graph", "[exec][device]") {
    Stream stream;
    Launched launched;
    const Exec exec(launched.graph, device_launch);
    upload(exec);
    Graph graph;
    Call launch(launch_graph, exec, Into::tail, launched.codes.data());
    Call set_ten(store, launched.data.data(), 0, 10);
    add_kernel(graph, set_ten, {add_kernel(graph, launch)});
    const Exec launching(graph);
    launched.data.write({0});
    launching.run(stream);
    REQUIRE(launched.data.read() == std::vector{11});
}

TEST_CASE("a graph launches itself again as its own tail", "[exec][device]") {
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    DeviceInts codes(1);
    Call repeat(repeat_graph, data.data(), codes.data());
    add_kernel(graph, repeat);
    const Exec exec(graph, device_launch);
    upload(exec);
    data.write({5});
    exec.run(stream);
    REQUIRE(data.read() == std::vector{0});
    REQUIRE(codes.read() == std::vector<int>{cudaSuccess});
}

TEST_CASE("a device graph is launched by the host too, without an upload", "[exec][device]") {
    Stream stream;
    Launched launched;
    const Exec exec(launched.graph, device_launch);
    launched.data.write({0});
    exec.run(stream);
    REQUIRE(launched.data.read() == std::vector{1});
}

TEST_CASE("a device graph has only kernel, copy and memset nodes, and at least one", "[exec][device]") {
    const auto refused = [](cudaGraph_t graph, cudaGraphNode_t node) {
        const auto result = node ? cudaGraphInstantiateNodeOperationNotSupported : cudaGraphInstantiateError;
        REQUIRE(try_instantiate(graph, device_launch) == Instantiated{cudaErrorInvalidValue, result, node});
        REQUIRE(try_instantiate(graph) == instantiated);
    };
    DeviceInts data(1);
    int pageable = 0;
    Graph none;
    refused(none, nullptr);
    Graph empty;
    refused(empty, add_empty(empty));
    Graph host;
    refused(host, add_host(host, {[](void*) {}, nullptr}));
    Graph copy;
    refused(copy, add_memcpy(copy, data.data(), &pageable, sizeof(int), cudaMemcpyHostToDevice));
    Graph child;
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddChildGraphNode(&node, child, nullptr, 0, none));
    refused(child, nullptr);
    Graph set;
    add_memset(set, set_ints(data.data(), 1, 0));
    REQUIRE(try_instantiate(set, device_launch) == instantiated);
}
