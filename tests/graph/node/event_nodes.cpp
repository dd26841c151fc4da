// Nodes that record events and wait for them.
#include <memory>
#include <utility>

#include "gate.hpp"
#include "native.hpp"
#include "native_nodes.hpp"
#include "watched.hpp"

using cudag::Event;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::NodeKind;
using cudag::RecordNode;
using cudag::Stream;
using cudag::WaitNode;

namespace {

cudaEvent_t recorded_event(const cudag::Node& node) {
    return native_event(node.native(), true);
}

cudaEvent_t awaited_event(const cudag::Node& node) {
    return native_event(node.native(), false);
}

/// What a builder refuses; it then holds the same nodes as before.
GraphError refused_node(CallRef<GraphBuilder&> add) {
    GraphBuilder b;
    b.host([] {});
    const auto error = refused<GraphError>([&] { add(b); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("event_nodes.cpp:"));
    CHECK(std::move(b).build().node_count() == 1);
    return error;
}

} // namespace

TEST_CASE("record and wait make CUDA's event nodes", "[event][nodes]") {
    Event mark;
    const Event signal;
    GraphBuilder b;
    const auto wait = b.wait(signal).label("go");
    const auto record = b.record(mark).label("done").after(wait);
    const Graph graph = std::move(b).build();
    CHECK(wait.kind() == NodeKind::wait_event);
    CHECK(record.kind() == NodeKind::record_event);
    CHECK(native_type(wait) == cudaGraphNodeTypeWaitEvent);
    CHECK(native_type(record) == cudaGraphNodeTypeEventRecord);
    CHECK(awaited_event(wait) == signal.get());
    CHECK(recorded_event(record) == mark.get());
    CHECK(native_edges(graph.native()) == NativeEdges{{wait.native(), record.native()}});
    CHECK(graph.find("done").at(0).as<RecordNode>() == record);
    CHECK(graph.find("go").at(0).as<WaitNode>() == wait);
}

TEST_CASE("a record node marks its event in each launch", "[event][nodes]") {
    Event start;
    Event stop;
    const auto cell = device({0});
    GraphBuilder b;
    const auto first = b.record(start);
    const auto work = b.kernel({}, store, cell, 5).after(first);
    b.record(stop).after(work);
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    for (int round = 0; round < 2; ++round) {
        exec.launch(stream);
        stop.synchronize();
        CHECK(read(cell) == std::vector{5});
        CHECK(stop.query());
        CHECK(stop.milliseconds_since(start) >= 0);
        write(cell.span(), {0});
    }
}

TEST_CASE("another stream can wait for a node in the middle of a graph", "[event][nodes]") {
    const auto cells = device({0, 0});
    Event half;
    const Stream stream;
    const Stream other;
    Gate gate;
    GraphBuilder b;
    const auto first = b.kernel({}, store, cells.data(), 5);
    const auto record = b.record(half).after(first);
    b.host(gate.node()).after(record);
    Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    gate.wait_until_entered();
    cudag::check(cudaStreamWaitEvent(other.get(), half.get()));
    cudag::launch(other, {}, add, cells.data() + 1, cells.data(), 1);
    cudag::check(cudaStreamSynchronize(other.get())); // Stream's own may free memory of earlier tests
    CHECK_FALSE(stream.query());
    gate.open();
    stream.synchronize();
    CHECK(read(cells) == std::vector{5, 6});
}

TEST_CASE("a wait node waits for work in another stream", "[event][nodes]") {
    const auto cells = device({0, 0});
    Event ready;
    const Stream producer;
    const Stream consumer;
    GraphBuilder before;
    Gate gate;
    const auto held_up = before.host(gate.node());
    before.kernel({}, store, cells.data(), 5).after(held_up);
    Exec produce = std::move(before).build().instantiate();
    GraphBuilder b;
    const auto wait = b.wait(ready);
    b.kernel({}, add, cells.data() + 1, cells.data(), 1).after(wait);
    Exec consume = std::move(b).build().instantiate();
    produce.launch(producer);
    ready.record(producer);
    consume.launch(consumer);
    gate.wait_until_entered();
    CHECK_FALSE(consumer.query());
    gate.open();
    consumer.synchronize();
    CHECK(read(cells) == std::vector{5, 6});
}

TEST_CASE("an event that marks nothing is not waited for", "[event][nodes]") {
    const Event never;
    const auto cell = device({0});
    GraphBuilder b;
    const auto wait = b.wait(never);
    b.kernel({}, store, cell, 3).after(wait);
    run(std::move(b));
    CHECK(read(cell) == std::vector{3});
}

TEST_CASE("an event may be given as CUDA's handle", "[event][nodes]") {
    Event mark;
    GraphBuilder b;
    const auto record = b.record(mark.get());
    const auto wait = b.wait(mark.get());
    CHECK(recorded_event(record) == mark.get());
    CHECK(awaited_event(wait) == mark.get());
}

TEST_CASE("a shared event lives as long as the graph and its launches", "[event][owners]") {
    auto mark = std::make_shared<Event>();
    const std::weak_ptr<Event> watch = mark;
    const Stream stream;
    {
        GraphBuilder b;
        const auto record = b.record(mark);
        b.wait(std::shared_ptr<const Event>(mark));
        mark.reset();
        REQUIRE_FALSE(watch.expired());
        CHECK(recorded_event(record) == watch.lock()->get());
        Exec exec = std::move(b).build().instantiate();
        run(exec, stream);
        CHECK(watch.lock()->query());
    }
    CHECK(released(watch, stream));
}

TEST_CASE("a clone marks and waits for the same events", "[event][clone]") {
    Event mark;
    const Event signal;
    GraphBuilder b;
    const auto wait = b.wait(signal);
    const auto record = b.record(mark).after(wait);
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone();
    CHECK(recorded_event(clone.counterpart(record)) == mark.get());
    CHECK(awaited_event(clone.counterpart(wait)) == signal.get());
}

TEST_CASE("event nodes of an adopted graph get handles", "[event][adopt]") {
    Event mark;
    cudaGraph_t native = nullptr;
    cudag::check(cudaGraphCreate(&native, 0));
    const cudaGraphNode_t wait = add_native_event(native, {}, mark.get(), false);
    const cudaGraphNode_t record = add_native_event(native, {wait}, mark.get(), true);
    const Graph graph = Graph::adopt(native);
    REQUIRE(graph.node_count() == 2);
    CHECK(graph.nodes()[0].as<WaitNode>().native() == wait);
    CHECK(graph.nodes()[1].as<RecordNode>().native() == record);
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(mark.query());
}

TEST_CASE("a node with an event that was moved from is refused", "[event][nodes]") {
    Event mark;
    const Event taken = std::move(mark);
    const auto record = refused_node([&](GraphBuilder& b) { b.record(mark); });
    CHECK_THAT(record.what(), ContainsSubstring("record_event at ") && ContainsSubstring("null or was moved from"));
    const auto wait = refused_node([&](GraphBuilder& b) { b.wait(mark); });
    CHECK_THAT(wait.what(), ContainsSubstring("wait_event at ") && ContainsSubstring("null or was moved from"));
}

TEST_CASE("a null event is refused", "[event][nodes]") {
    const cudaEvent_t none = nullptr;
    CHECK_THAT(refused_node([&](GraphBuilder& b) { b.record(none); }).what(), ContainsSubstring("null"));
    CHECK_THAT(refused_node([&](GraphBuilder& b) { b.wait(none); }).what(), ContainsSubstring("null"));
    const std::shared_ptr<Event> empty;
    CHECK_THAT(refused_node([&](GraphBuilder& b) { b.record(empty); }).what(), ContainsSubstring("null"));
    CHECK_THAT(refused_node([&](GraphBuilder& b) { b.wait(empty); }).what(), ContainsSubstring("null"));
}

TEST_CASE("event nodes cannot be disabled", "[event][nodes]") {
    Event mark;
    GraphBuilder b;
    const auto record = b.record(mark).label("done");
    Exec exec = std::move(b).build().instantiate();
    const auto error = refused<cudag::UpdateError>([&] { exec.disable(record); });
    CHECK_THAT(error.what(), ContainsSubstring("\"done\""));
    CHECK(exec.is_enabled(record));
}

namespace {

/// wait(first) -> record(second), and a second pair of events.
struct Pair {
    Event awaited;
    Event marked;
    Event other_awaited;
    Event other_marked;
    WaitNode wait;
    RecordNode record;
    Graph graph = build();
    Stream stream;

  private:
    Graph build() {
        GraphBuilder b;
        wait = b.wait(awaited).label("go");
        record = b.record(marked).label("done").after(wait);
        return std::move(b).build();
    }
};

} // namespace

TEST_CASE("an update gives an exec other events", "[event][update]") {
    Pair p;
    const auto cell = device({0});
    Stream producer;
    Gate gate;
    GraphBuilder before;
    const auto held_up = before.host(gate.node());
    before.kernel({}, store, cell, 5).after(held_up);
    Exec produce = std::move(before).build().instantiate();
    Exec exec = p.graph.instantiate();
    exec.update(p.wait, p.other_awaited);
    exec.update(p.record, p.other_marked);
    CHECK(awaited_event(p.wait) == p.awaited.get());
    CHECK(recorded_event(p.record) == p.marked.get());

    produce.launch(producer);
    p.other_awaited.record(producer);
    exec.launch(p.stream);
    gate.wait_until_entered();
    CHECK_FALSE(p.stream.query());
    gate.open();
    p.stream.synchronize();
    CHECK(read(cell) == std::vector{5});
    CHECK(p.other_marked.milliseconds_since(p.other_marked) == 0); // refused for an event that marks nothing
}

TEST_CASE("an update of the graph reaches execs that apply it", "[event][update]") {
    Pair p;
    Exec exec = p.graph.instantiate();
    p.graph.update(p.record, p.other_marked);
    p.graph.update(p.wait, p.other_awaited);
    CHECK(recorded_event(p.record) == p.other_marked.get());
    CHECK(awaited_event(p.wait) == p.other_awaited.get());
    CHECK(exec.apply(p.graph) == 2);
    run(exec, p.stream);
    CHECK(p.other_marked.milliseconds_since(p.other_marked) == 0);
}

TEST_CASE("an update keeps a shared event until the next", "[event][update][owners]") {
    Pair p;
    Exec exec = p.graph.instantiate();
    auto shared = std::make_shared<Event>();
    const std::weak_ptr<Event> watch = shared;
    exec.update(p.record, shared);
    shared.reset();
    run(exec, p.stream);
    REQUIRE_FALSE(watch.expired());
    exec.update(p.record, p.marked);
    CHECK(released(watch, p.stream));
}

TEST_CASE("an update with a null event is refused, and changes nothing", "[event][update]") {
    Pair p;
    Exec exec = p.graph.instantiate();
    Event gone;
    const Event taken = std::move(gone);
    const auto check = [&](const cudag::Node& node, auto&& update) {
        const auto error = refused<cudag::UpdateError>(update);
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK(error.labels() == Labels{std::string(node.label())});
        CHECK_THAT(error.what(), ContainsSubstring("\"" + std::string(node.label()) + "\"") &&
                                     ContainsSubstring("null or was moved from"));
    };
    check(p.record, [&] { exec.update(p.record, gone); });
    check(p.wait, [&] { exec.update(p.wait, gone); });
    check(p.record, [&] { p.graph.update(p.record, std::shared_ptr<Event>()); });
    check(p.wait, [&] { p.graph.update(p.wait, cudaEvent_t()); });
    CHECK(exec.apply(p.graph) == 0);
    CHECK(recorded_event(p.record) == p.marked.get());
    run(exec, p.stream);
    CHECK(p.marked.milliseconds_since(p.marked) == 0);
}
