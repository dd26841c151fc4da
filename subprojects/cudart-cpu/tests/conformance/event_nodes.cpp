// Event record and event wait nodes.
#include "capture.hpp"
#include "child.hpp"
#include "gate.hpp"

#include <vector>

namespace {

cudaGraphNode_t add_record(cudaGraph_t graph, cudaEvent_t event, const Nodes& after = {}) {
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddEventRecordNode(&node, graph, after.data(), after.size(), event));
    return node;
}

cudaGraphNode_t add_wait(cudaGraph_t graph, cudaEvent_t event, const Nodes& after = {}) {
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddEventWaitNode(&node, graph, after.data(), after.size(), event));
    return node;
}

cudaGraphNodeParams record_params(cudaEvent_t event) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeEventRecord;
    params.eventRecord.event = event;
    return params;
}

cudaGraphNodeParams wait_params(cudaEvent_t event) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeWaitEvent;
    params.eventWait.event = event;
    return params;
}

cudaEvent_t recorded_by(cudaGraphNode_t node) {
    cudaEvent_t event = nullptr;
    REQUIRE_CUDA(cudaGraphEventRecordNodeGetEvent(node, &event));
    return event;
}

cudaEvent_t awaited_by(cudaGraphNode_t node) {
    cudaEvent_t event = nullptr;
    REQUIRE_CUDA(cudaGraphEventWaitNodeGetEvent(node, &event));
    return event;
}

} // namespace

TEST_CASE("a record node's event is complete once the node's dependencies are", "[event_nodes]") {
    Stream stream(cudaStreamNonBlocking);
    Event event;
    Graph graph;
    Gate before;
    const cudaGraphNode_t node = add_record(graph, event, {add_host(graph, before.node())});
    REQUIRE(type_of(node) == cudaGraphNodeTypeEventRecord);
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    REQUIRE_NOT_READY(cudaEventQuery(event));
    before.open();
    REQUIRE_CUDA(cudaEventSynchronize(event));
    REQUIRE(before.passed() == 1);
    stream.synchronize();
}

TEST_CASE("a record node's event does not wait for what comes after the node", "[event_nodes]") {
    Stream stream(cudaStreamNonBlocking);
    Event event;
    Graph graph;
    Gate after;
    add_host(graph, after.node(), {add_record(graph, event)});
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    REQUIRE_CUDA(cudaEventSynchronize(event));
    REQUIRE_NOT_READY(cudaStreamQuery(stream));
    after.open();
    stream.synchronize();
}

TEST_CASE("another stream waits for a record node", "[event_nodes]") {
    Stream first(cudaStreamNonBlocking);
    Stream second(cudaStreamNonBlocking);
    Event event;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    Graph graph;
    Gate gate;
    add_record(graph, event, {add_kernel(graph, set, {add_host(graph, gate.node())})});
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, first));
    REQUIRE_CUDA(cudaStreamWaitEvent(second, event, 0));
    plus.launch(second);
    REQUIRE_NOT_READY(cudaStreamQuery(second));
    gate.open();
    second.synchronize();
    REQUIRE(data.read() == std::vector{11});
    first.synchronize();
}

TEST_CASE("a wait node waits for an event of a stream", "[event_nodes]") {
    Stream first(cudaStreamNonBlocking);
    Stream second(cudaStreamNonBlocking);
    Event event;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    Graph graph;
    const cudaGraphNode_t node = add_wait(graph, event);
    REQUIRE(type_of(node) == cudaGraphNodeTypeWaitEvent);
    add_kernel(graph, plus, {node});
    const Exec exec(graph);
    Gate gate;
    gate.block(first);
    set.launch(first);
    REQUIRE_CUDA(cudaEventRecord(event, first));
    REQUIRE_CUDA(cudaGraphLaunch(exec, second));
    REQUIRE_NOT_READY(cudaStreamQuery(second));
    gate.open();
    second.synchronize();
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("a wait node does not wait for an event that was never recorded", "[event_nodes]") {
    Stream stream;
    Event event;
    Graph graph;
    add_wait(graph, event);
    Exec(graph).run(stream);
}

TEST_CASE("one graph waits for the record node of another", "[event_nodes]") {
    Stream first(cudaStreamNonBlocking);
    Stream second(cudaStreamNonBlocking);
    Event event;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    Graph recording;
    Graph waiting;
    Gate gate;
    add_record(recording, event, {add_kernel(recording, set, {add_host(recording, gate.node())})});
    add_kernel(waiting, plus, {add_wait(waiting, event)});
    const Exec recorder(recording);
    const Exec waiter(waiting);
    REQUIRE_CUDA(cudaGraphLaunch(recorder, first));
    REQUIRE_CUDA(cudaGraphLaunch(waiter, second));
    REQUIRE_NOT_READY(cudaStreamQuery(second));
    gate.open();
    second.synchronize();
    REQUIRE(data.read() == std::vector{11});
    first.synchronize();
}

TEST_CASE("a wait node waits for the record before the launch, not for one that comes before the node runs",
          "[event_nodes]") {
    Stream stream(cudaStreamNonBlocking);
    Stream busy(cudaStreamNonBlocking);
    Event event;
    Graph graph;
    Gate before;
    add_wait(graph, event, {add_host(graph, before.node())});
    const Exec exec(graph);
    Gate later;
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    later.block(busy);
    REQUIRE_CUDA(cudaEventRecord(event, busy));
    before.open();
    stream.synchronize();
    REQUIRE_NOT_READY(cudaEventQuery(event));
}

TEST_CASE("a graph may wait for an event that it records further on", "[event_nodes]") {
    Stream stream;
    Event event;
    Graph graph;
    add_record(graph, event, {add_wait(graph, event)});
    const Exec exec(graph);
    exec.run(stream);
    exec.run(stream);
    REQUIRE_CUDA(cudaEventQuery(event));
}

TEST_CASE("two record nodes measure the time between them", "[event_nodes]") {
    Stream stream;
    Event start;
    Event end;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Graph graph;
    add_record(graph, end, {add_kernel(graph, set, {add_record(graph, start)})});
    Exec(graph).run(stream);
    float milliseconds = -1;
    REQUIRE_CUDA(cudaEventElapsedTime(&milliseconds, start, end));
    REQUIRE(milliseconds >= 0);
}

TEST_CASE("event nodes work inside a child graph", "[event_nodes][child]") {
    Stream stream(cudaStreamNonBlocking);
    Event event;
    Graph child;
    Gate gate;
    add_record(child, event, {add_host(child, gate.node())});
    Graph graph;
    add_child(graph, child);
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    REQUIRE_NOT_READY(cudaEventQuery(event));
    gate.open();
    REQUIRE_CUDA(cudaEventSynchronize(event));
    stream.synchronize();
}

TEST_CASE("an event node tells and takes its event", "[event_nodes]") {
    Event first;
    Event second;
    Graph graph;
    const cudaGraphNode_t record = add_record(graph, first);
    const cudaGraphNode_t wait = add_wait(graph, first);
    REQUIRE(recorded_by(record) == first);
    REQUIRE(awaited_by(wait) == first);
    SECTION("through the typed calls") {
        REQUIRE_CUDA(cudaGraphEventRecordNodeSetEvent(record, second));
        REQUIRE_CUDA(cudaGraphEventWaitNodeSetEvent(wait, second));
    }
    SECTION("through the call for all kinds") {
        cudaGraphNodeParams params = record_params(second);
        REQUIRE_CUDA(cudaGraphNodeSetParams(record, &params));
        params = wait_params(second);
        REQUIRE_CUDA(cudaGraphNodeSetParams(wait, &params));
    }
    REQUIRE(recorded_by(record) == second);
    REQUIRE(awaited_by(wait) == second);
}

TEST_CASE("event nodes are added by the call for all kinds", "[event_nodes][generic]") {
    Stream stream;
    Event event;
    Graph graph;
    cudaGraphNode_t wait = nullptr;
    cudaGraphNode_t record = nullptr;
    cudaGraphNodeParams params = wait_params(event);
    REQUIRE_CUDA(cudaGraphAddNode(&wait, graph, nullptr, nullptr, 0, &params));
    params = record_params(event);
    REQUIRE_CUDA(cudaGraphAddNode(&record, graph, &wait, nullptr, 1, &params));
    REQUIRE(awaited_by(wait) == event);
    REQUIRE(recorded_by(record) == event);
    Exec(graph).run(stream);
}

TEST_CASE("an executable graph's record node takes another event", "[event_nodes][exec_update]") {
    Stream stream(cudaStreamNonBlocking);
    Event first;
    Event second;
    Graph graph;
    Gate gate;
    const cudaGraphNode_t record = add_record(graph, first, {add_host(graph, gate.node())});
    const Exec exec(graph);
    SECTION("through the typed call") {
        REQUIRE_CUDA(cudaGraphExecEventRecordNodeSetEvent(exec, record, second));
    }
    SECTION("through the call for all kinds") {
        cudaGraphNodeParams params = record_params(second);
        REQUIRE_CUDA(cudaGraphExecNodeSetParams(exec, record, &params));
    }
    SECTION("in a whole update") {
        Graph changed;
        add_record(changed, second, {add_host(changed, gate.node())});
        cudaGraphExecUpdateResultInfo info{};
        REQUIRE_CUDA(cudaGraphExecUpdate(exec, changed, &info));
    }
    REQUIRE(recorded_by(record) == first);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    REQUIRE_CUDA(cudaEventQuery(first));
    REQUIRE_NOT_READY(cudaEventQuery(second));
    gate.open();
    stream.synchronize();
    REQUIRE_CUDA(cudaEventQuery(second));
}

TEST_CASE("an executable graph's wait node takes another event", "[event_nodes][exec_update]") {
    Stream busy(cudaStreamNonBlocking);
    Stream stream(cudaStreamNonBlocking);
    Event pending;
    Event free;
    Graph graph;
    const cudaGraphNode_t wait = add_wait(graph, pending);
    const Exec exec(graph);
    Gate gate;
    gate.block(busy);
    REQUIRE_CUDA(cudaEventRecord(pending, busy));
    SECTION("through the typed call") {
        REQUIRE_CUDA(cudaGraphExecEventWaitNodeSetEvent(exec, wait, free));
    }
    SECTION("through the call for all kinds") {
        cudaGraphNodeParams params = wait_params(free);
        REQUIRE_CUDA(cudaGraphExecNodeSetParams(exec, wait, &params));
    }
    REQUIRE(awaited_by(wait) == pending);
    exec.run(stream);
    REQUIRE_NOT_READY(cudaEventQuery(pending));
}

TEST_CASE("bad arguments of event nodes are refused", "[event_nodes]") {
    Event event;
    Graph graph;
    const cudaGraphNode_t empty = add_empty(graph);
    const cudaGraphNode_t record = add_record(graph, event);
    const cudaGraphNode_t wait = add_wait(graph, event);
    auto node = untouched<cudaGraphNode_t>();
    auto out = untouched<cudaEvent_t>();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddEventRecordNode(&node, graph, nullptr, 0, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddEventWaitNode(&node, graph, nullptr, 0, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddEventRecordNode(nullptr, graph, nullptr, 0, event));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddEventWaitNode(&node, nullptr, nullptr, 0, event));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphEventRecordNodeGetEvent(wait, &out));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphEventWaitNodeGetEvent(record, &out));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphEventRecordNodeGetEvent(empty, &out));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphEventWaitNodeGetEvent(wait, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphEventRecordNodeSetEvent(record, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphEventRecordNodeSetEvent(wait, event));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphEventWaitNodeSetEvent(record, event));
    REQUIRE(nodes_of(graph) == Nodes{empty, record, wait});
    REQUIRE(recorded_by(record) == event);
}

TEST_CASE("bad arguments of an executable graph's event nodes are refused", "[event_nodes][exec_update]") {
    Event event;
    Graph graph;
    const cudaGraphNode_t record = add_record(graph, event);
    const cudaGraphNode_t wait = add_wait(graph, event);
    const Exec exec(graph);
    Graph other;
    const cudaGraphNode_t foreign = add_record(other, event);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecEventRecordNodeSetEvent(exec, record, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecEventRecordNodeSetEvent(exec, wait, event));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecEventWaitNodeSetEvent(exec, record, event));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecEventRecordNodeSetEvent(exec, foreign, event));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecEventRecordNodeSetEvent(nullptr, record, event));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, record, 0));
}

TEST_CASE("a graph with event nodes cannot be launched from the device", "[event_nodes][instantiate]") {
    Event event;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Graph graph;
    add_kernel(graph, set);
    const cudaGraphNode_t record = add_record(graph, event);
    cudaGraphExec_t exec = nullptr;
    cudaGraphInstantiateParams params{};
    params.flags = cudaGraphInstantiateFlagDeviceLaunch;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, &params));
    REQUIRE(params.result_out == cudaGraphInstantiateNodeOperationNotSupported);
    REQUIRE(params.errNode_out == record);
}
