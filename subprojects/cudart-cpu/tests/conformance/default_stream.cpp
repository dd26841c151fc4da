// The legacy default stream waits for the blocking streams, and they for it.
#include "gate.hpp"
#include "nodes.hpp"

#include <vector>

TEST_CASE("the default stream waits for work in blocking streams", "[default_stream]") {
    Stream blocking;
    DeviceInts data(1);
    Call first(store, data.data(), 0, 1);
    Call second(add, data.data(), 0, 10);
    Gate gate;
    gate.block(blocking);
    first.launch(blocking);
    second.launch(nullptr);
    REQUIRE_NOT_READY(cudaStreamQuery(nullptr));
    gate.open();
    REQUIRE_CUDA(cudaStreamSynchronize(nullptr));
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("a blocking stream waits for work in the default stream", "[default_stream]") {
    Stream blocking;
    DeviceInts data(1);
    Call first(store, data.data(), 0, 1);
    Call second(add, data.data(), 0, 10);
    Gate gate;
    gate.block(nullptr);
    first.launch(nullptr);
    second.launch(blocking);
    REQUIRE_NOT_READY(cudaStreamQuery(blocking));
    gate.open();
    blocking.synchronize();
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("work in the default stream orders two blocking streams", "[default_stream]") {
    Stream one;
    Stream two;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call through(nothing);
    Call plus(add, data.data(), 0, 10);
    Gate gate;
    gate.block(one);
    set.launch(one);
    through.launch(nullptr);
    plus.launch(two);
    REQUIRE_NOT_READY(cudaStreamQuery(two));
    gate.open();
    two.synchronize();
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("a query of the default stream looks at the blocking streams too", "[default_stream]") {
    Stream blocking;
    Gate gate;
    gate.block(blocking);
    REQUIRE_NOT_READY(cudaStreamQuery(nullptr));
    REQUIRE_NOT_READY(cudaStreamQuery(cudaStreamLegacy));
    gate.open();
    REQUIRE_CUDA(cudaStreamSynchronize(nullptr));
    REQUIRE(gate.passed() == 1);
    REQUIRE_CUDA(cudaStreamQuery(nullptr));
}

TEST_CASE("non-blocking streams and the default stream ignore each other", "[default_stream][concurrent]") {
    Stream independent(cudaStreamNonBlocking);
    DeviceInts data(2);
    Call one(store, data.data(), 0, 1);
    Call two(store, data.data(), 1, 2);
    Gate gate;
    gate.block(independent);
    one.launch(nullptr);
    REQUIRE_CUDA(cudaStreamSynchronize(nullptr));
    REQUIRE_NOT_READY(cudaStreamQuery(independent));
    gate.open();
    independent.synchronize();

    gate.close();
    gate.block(nullptr);
    two.launch(independent);
    independent.synchronize();
    REQUIRE_NOT_READY(cudaStreamQuery(nullptr));
    gate.open();
    REQUIRE_CUDA(cudaStreamSynchronize(nullptr));
    REQUIRE(data.read() == std::vector{1, 2});
}

TEST_CASE("the per-thread stream is a blocking stream", "[default_stream]") {
    DeviceInts data(1);
    Call first(store, data.data(), 0, 1);
    Call second(add, data.data(), 0, 10);
    Gate gate;
    gate.block(nullptr);
    first.launch(nullptr);
    second.launch(cudaStreamPerThread);
    REQUIRE_NOT_READY(cudaStreamQuery(cudaStreamPerThread));
    gate.open();
    REQUIRE_CUDA(cudaStreamSynchronize(cudaStreamPerThread));
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("an event recorded in the default stream waits for blocking streams", "[default_stream][events]") {
    Stream blocking;
    Stream independent(cudaStreamNonBlocking);
    Event event;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    Gate gate;
    gate.block(blocking);
    set.launch(blocking);
    REQUIRE_CUDA(cudaEventRecord(event, nullptr));
    REQUIRE_NOT_READY(cudaEventQuery(event));
    REQUIRE_CUDA(cudaStreamWaitEvent(independent, event, 0));
    plus.launch(independent);
    gate.open();
    independent.synchronize();
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("a blocking stream waits for an event that the default stream waits for", "[default_stream][events]") {
    Stream blocking;
    Stream independent(cudaStreamNonBlocking);
    Event event;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    Gate gate;
    gate.block(independent);
    set.launch(independent);
    REQUIRE_CUDA(cudaEventRecord(event, independent));
    REQUIRE_CUDA(cudaStreamWaitEvent(nullptr, event, 0));
    plus.launch(blocking);
    REQUIRE_NOT_READY(cudaStreamQuery(blocking));
    gate.open();
    blocking.synchronize();
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("a synchronous copy waits for blocking streams and not for others", "[default_stream][concurrent]") {
    Stream blocking;
    Stream independent(cudaStreamNonBlocking);
    DeviceInts data(1);
    Call set(store, data.data(), 0, 5);
    Gate gate;
    gate.block(independent);
    set.launch(blocking);
    int value = poison;
    REQUIRE_CUDA(cudaMemcpy(&value, data.data(), sizeof value, cudaMemcpyDeviceToHost));
    REQUIRE(value == 5);
    REQUIRE_NOT_READY(cudaStreamQuery(independent));
}

TEST_CASE("a graph counts as work of the stream that it is launched into", "[default_stream][concurrent]") {
    Stream blocking;
    Stream independent(cudaStreamNonBlocking);
    DeviceInts data(1);
    Graph graph;
    Gate gate;
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    add_kernel(graph, set, {add_host(graph, gate.node())});
    const Exec exec(graph);

    REQUIRE_CUDA(cudaGraphLaunch(exec, blocking));
    plus.launch(nullptr);
    REQUIRE_NOT_READY(cudaStreamQuery(nullptr));
    gate.open();
    REQUIRE_CUDA(cudaStreamSynchronize(nullptr));
    REQUIRE(data.read() == std::vector{11});

    gate.close();
    REQUIRE_CUDA(cudaGraphLaunch(exec, independent));
    plus.launch(nullptr);
    REQUIRE_CUDA(cudaStreamSynchronize(nullptr));
    REQUIRE(data.read() == std::vector{21});
    gate.open();
    independent.synchronize();
    REQUIRE(data.read() == std::vector{1});
}

TEST_CASE("a graph launched into the default stream waits for blocking streams", "[default_stream]") {
    Stream blocking;
    DeviceInts data(1);
    Graph graph;
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    add_kernel(graph, plus);
    const Exec exec(graph);
    Gate gate;
    gate.block(blocking);
    set.launch(blocking);
    REQUIRE_CUDA(cudaGraphLaunch(exec, nullptr));
    REQUIRE_NOT_READY(cudaStreamQuery(nullptr));
    gate.open();
    REQUIRE_CUDA(cudaStreamSynchronize(nullptr));
    REQUIRE(data.read() == std::vector{11});
}
