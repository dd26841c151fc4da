// Events that each launch of a captured graph marks, or waits for.
#include "conditional_kernels.hpp"
#include "gate.hpp"
#include "test.hpp"

#include <memory>
#include <optional>
#include <utility>

using cudag::capture;
using cudag::CaptureError;
using cudag::Event;
using cudag::Exec;
using cudag::Graph;
using cudag::launch;
using cudag::NodeKind;
using cudag::Stream;
using cudag::StreamCapture;

TEST_CASE("a captured record marks its event in every launch", "[capture][event]") {
    const Stream stream;
    Event before, marked;
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        launch(c.stream(), {}, nothing);
        c.step("mark", [&] { c.record(marked); });
    });
    REQUIRE(graph.node_count() == 2);
    const cudag::Node mark = graph.find_one("mark");
    CHECK(mark.kind() == NodeKind::record_event);
    CHECK(graph.edges() == std::vector<cudag::Edge>{{graph.nodes()[0], mark}});
    CHECK_THROWS_AS(marked.milliseconds_since(before), cudag::Error); // it marks nothing yet
    Exec exec = graph.instantiate();
    for (int i = 0; i < 2; ++i) {
        before.record(stream);
        run(exec, stream);
        CHECK(marked.milliseconds_since(before) >= 0);
    }
}

TEST_CASE("a captured wait waits in every launch for what its event marks by then", "[capture][event]") {
    const Stream stream, other;
    const auto cells = device({0, 0});
    int* const x = cells.data();
    Event ready({.timing = false});
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        c.wait(std::as_const(ready));
        launch(c.stream(), {}, add, x + 1, x, 0);
    });
    REQUIRE(graph.node_count() == 2);
    CHECK(graph.nodes()[0].kind() == NodeKind::wait_event);
    Exec exec = graph.instantiate();
    Gate gate;
    cudag::GraphBuilder b;
    b.kernel({}, add, x, x, 5).after(b.host(gate.node()));
    Exec held_up = std::move(b).build().instantiate();
    for (const int value : {5, 10}) {
        gate.close();
        held_up.launch(other);
        ready.record(other);
        exec.launch(stream);
        gate.wait_until_entered();
        gate.open();
        stream.synchronize();
        CHECK(read(cells) == std::vector{value, value});
    }
}

TEST_CASE("a captured graph keeps the events that it is given to keep", "[capture][event]") {
    const Stream stream;
    std::weak_ptr<Event> marked, awaited;
    std::optional<Graph> graph;
    {
        const auto mark = std::make_shared<Event>();
        const auto wait = std::make_shared<const Event>();
        marked = mark;
        const std::weak_ptr<const Event> kept_wait = wait;
        graph = capture(stream, [&](StreamCapture& c) {
            c.wait(wait);
            c.record(mark);
        });
        CHECK(kept_wait.use_count() == 2);
    }
    CHECK_FALSE(marked.expired());
    Exec exec = graph->instantiate();
    run(exec, stream);
    CHECK(marked.lock()->query());
}

TEST_CASE("an event that is null or was moved from is refused, and the capture goes on", "[capture][event]") {
    const Stream stream;
    Event event;
    const Event moved = std::move(event);
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        const auto error = refused<CaptureError>([&] { c.record(event); }); // NOLINT: moved from
        CHECK_THAT(error.what(), ContainsSubstring("record at ") && ContainsSubstring("capture_events.cpp:") &&
                                     ContainsSubstring("the event is null or was moved from"));
        CHECK_THAT(refused<CaptureError>([&] { c.wait(cudaEvent_t()); }).what(),
                   ContainsSubstring("wait at ") && ContainsSubstring("the event is null or was moved from"));
        c.record(moved.get());
    });
    CHECK(graph.node_count() == 1);
}

TEST_CASE("no event is recorded in a capture that is broken or has ended", "[capture][event]") {
    const Stream stream;
    Event event;
    StreamCapture broken(stream);
    CHECK(cudaStreamSynchronize(stream.get()) == cudaErrorStreamCaptureUnsupported);
    static_cast<void>(cudaGetLastError());
    CHECK_THAT(refused<CaptureError>([&] { broken.record(event); }).what(),
               ContainsSubstring("the capture was broken"));
    const Stream other;
    StreamCapture ended(other, {.allow_empty = true});
    static_cast<void>(std::move(ended).finish());
    CHECK_THAT(refused<CaptureError>([&] { ended.wait(event); }).what(), // NOLINT: moved from
               ContainsSubstring("has ended"));
}

TEST_CASE("an event in the captured body of a conditional is refused by name", "[capture][event]") {
    const Stream stream;
    Event event;
    cudag::GraphBuilder b;
    const cudag::Condition condition = b.condition(1);
    CHECK_THAT(refused<cudag::GraphError>([&] {
                   b.if_(condition, [&](cudag::GraphBuilder& body) {
                       body.capture(stream, [&](StreamCapture& c) { c.record(event); });
                   });
               }).what(),
               ContainsSubstring("CUDA allows no record_event node in the body of if node 0"));
}
