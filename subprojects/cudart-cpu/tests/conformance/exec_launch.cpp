// Launching executable graphs: order, repetition, several streams.
#include "gate.hpp"
#include "nodes.hpp"

#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

TEST_CASE("nodes run after the nodes that they depend on", "[exec]") {
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    Call one(store, data.data(), 0, 1);
    Call two(add, data.data(), 0, 10);
    Call three(add, data.data(), 0, 100);
    // Added last to first.
    const cudaGraphNode_t third = add_kernel(graph, three);
    const cudaGraphNode_t second = add_kernel(graph, two);
    const cudaGraphNode_t first = add_kernel(graph, one);
    add_edge(graph, first, second);
    add_edge(graph, second, third);
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{111});
}

TEST_CASE("a join runs after every branch", "[exec]") {
    Stream stream;
    Graph graph;
    DeviceInts data(5);
    Call set(store, data.data(), 0, 1);
    const cudaGraphNode_t fork = add_kernel(graph, set);
    Nodes branches;
    for (int i = 1; i < 4; ++i) {
        Call branch(copy_plus, data.data(), data.data() + i, 1, i);
        branches.push_back(add_kernel(graph, branch, {fork}));
    }
    const cudaGraphNode_t join = add_empty(graph, branches);
    Call last(copy_plus, data.data() + 3, data.data() + 4, 1, 100);
    add_kernel(graph, last, {join});
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{1, 2, 3, 4, 104});
}

TEST_CASE("kernel, memcpy, memset and host nodes work on the same data", "[exec]") {
    Stream stream;
    Graph graph;
    DeviceInts device(4);
    PinnedInts pinned(4);
    for (std::size_t i = 0; i < 4; ++i) {
        pinned[i] = static_cast<int>(i);
    }
    const cudaGraphNode_t up = add_memcpy(graph, device.data(), pinned.data(), 16, cudaMemcpyHostToDevice);
    const cudaGraphNode_t set = add_memset(graph, set_ints(device.data(), 1, 50), {up});
    Call plus(copy_plus, device.data(), device.data(), 4, 1);
    plus.block = dim3(4);
    const cudaGraphNode_t kernel = add_kernel(graph, plus, {set});
    const cudaGraphNode_t down = add_memcpy(graph, pinned.data(), device.data(), 16, cudaMemcpyDeviceToHost, {kernel});
    add_host(graph,
             {[](void* data) {
                  for (int i = 0; i < 4; ++i) {
                      static_cast<int*>(data)[i] *= 2;
                  }
              },
              pinned.data()},
             {down});
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(pinned.read() == std::vector{102, 4, 6, 8});
    REQUIRE(device.read() == std::vector{51, 2, 3, 4});
}

TEST_CASE("launches of one stream run one after the other, between its other work", "[exec]") {
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    data.write({0});
    Call plus(add, data.data(), 0, 1);
    Call double_it(copy_plus, data.data(), data.data(), 1, 100);
    add_kernel(graph, plus);
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    double_it.launch(stream);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    stream.synchronize();
    REQUIRE(data.read() == std::vector{103});
}

TEST_CASE("a launch returns before the graph has run", "[exec]") {
    Stream stream;
    Graph graph;
    Gate gate;
    add_host(graph, gate.node());
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    gate.wait_until_entered();
    REQUIRE_NOT_READY(cudaStreamQuery(stream));
    gate.open();
    stream.synchronize();
    REQUIRE(gate.passed() == 1);
}

TEST_CASE("an executable graph never runs twice at once", "[exec]") {
    Stream first(cudaStreamNonBlocking);
    Stream second(cudaStreamNonBlocking);
    Graph graph;
    Gate gate;
    add_host(graph, gate.node());
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, first));
    REQUIRE_CUDA(cudaGraphLaunch(exec, second));
    gate.wait_until_entered();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    REQUIRE(gate.entered() == 1);
    REQUIRE_NOT_READY(cudaStreamQuery(second));
    gate.open();
    first.synchronize();
    second.synchronize();
    REQUIRE(gate.passed() == 2);
}

TEST_CASE("an update between launches into two streams reaches only the second", "[exec][exec_update]") {
    Stream first(cudaStreamNonBlocking);
    Stream second(cudaStreamNonBlocking);
    Graph graph;
    int before = 0;
    int after = 0;
    const auto count_slowly = [](void* data) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++*static_cast<int*>(data);
    };
    const cudaGraphNode_t node = add_host(graph, {count_slowly, &before});
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, first));
    const cudaHostNodeParams params{count_slowly, &after};
    REQUIRE_CUDA(cudaGraphExecHostNodeSetParams(exec, node, &params));
    REQUIRE_CUDA(cudaGraphLaunch(exec, second));
    first.synchronize();
    second.synchronize();
    REQUIRE(before == 1);
    REQUIRE(after == 1);
}

TEST_CASE("an event recorded after a launch waits for the graph", "[exec]") {
    Stream stream(cudaStreamNonBlocking);
    Stream other(cudaStreamNonBlocking);
    Event event;
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    Gate gate;
    add_kernel(graph, set, {add_host(graph, gate.node())});
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    REQUIRE_CUDA(cudaEventRecord(event, stream));
    REQUIRE_CUDA(cudaStreamWaitEvent(other, event, 0));
    plus.launch(other);
    REQUIRE_NOT_READY(cudaEventQuery(event));
    gate.open();
    other.synchronize();
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("an empty graph can be launched", "[exec]") {
    Stream stream;
    Graph graph;
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE_CUDA(cudaGraphLaunch(exec, nullptr));
    REQUIRE_CUDA(cudaDeviceSynchronize());
}

TEST_CASE("a graph runs in every kind of stream", "[exec]") {
    Graph graph;
    DeviceInts data(1);
    data.write({0});
    Call plus(add, data.data(), 0, 1);
    add_kernel(graph, plus);
    const Exec exec(graph);
    Stream blocking;
    Stream independent(cudaStreamNonBlocking);
    for (const cudaStream_t stream : {cudaStream_t{blocking}, cudaStream_t{independent}, cudaStream_t{nullptr},
                                      cudaStreamLegacy, cudaStreamPerThread}) {
        exec.run(stream);
    }
    REQUIRE(data.read() == std::vector{5});
}

TEST_CASE("an uploaded graph runs as any other", "[exec]") {
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    add_kernel(graph, set);
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphUpload(exec, stream));
    REQUIRE_CUDA(cudaGraphUpload(exec, nullptr));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(data.read() == std::vector{poison});
    exec.run(stream);
    REQUIRE(data.read() == std::vector{1});
}

TEST_CASE("bad launch arguments are refused", "[exec]") {
    Stream stream;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(nullptr, stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphUpload(nullptr, stream));
}
