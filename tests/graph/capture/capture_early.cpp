// Launches that may start early, or that tell others to, by cudag's own launch.
#include "attributes.hpp"
#include "waiting_kernels.hpp"

using cudag::capture;
using cudag::check;
using cudag::Edge;
using cudag::EdgeKind;
using cudag::Event;
using cudag::Graph;
using cudag::launch;
using cudag::LaunchConfig;
using cudag::Stream;

namespace {

/// `first`, then a kernel in another stream that waits for `event`, which `first` records.
Graph captured_with_event(const Event& event, const LaunchConfig& first) {
    const Stream stream;
    const Stream side;
    return capture(stream, [&](cudag::StreamCapture& c) {
        launch(c.stream(), first, nothing);
        check(cudaStreamWaitEvent(side.get(), event.get()));
        launch(side, {}, nothing);
        launch(c.stream(), {}, nothing);
        c.join(side);
    });
}

std::vector<Edge> edges_by_event(const Graph& graph, EdgeKind kind) {
    const auto nodes = graph.nodes();
    return {{nodes.at(0), nodes.at(1), kind}, {nodes.at(0), nodes.at(2)}};
}

} // namespace

TEST_CASE("a captured launch with programmatic stream serialization has an early edge", "[capture][edges]") {
    const auto cells = device({0, 0});
    int* const p = cells.data();
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        launch(s, {}, store, p, 1);
        launch(s, {.programmatic_stream_serialization = true}, wait_and_add, p + 1, p, 10);
        launch(s, {}, add, p + 1, p + 1, 100);
    });
    const auto nodes = graph.nodes();
    CHECK(graph.edges() == std::vector<Edge>{{nodes.at(0), nodes.at(1), EdgeKind::programmatic},
                                             {nodes.at(1), nodes.at(2), EdgeKind::full}});
    cudag::Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cells) == std::vector{1, 111});
}

TEST_CASE("a wait for a captured launch's programmatic event is an early edge", "[capture][edges]") {
    const Event event({.timing = false});
    const Graph by_trigger = captured_with_event(event, {.programmatic_event = {event.get()}});
    CHECK(by_trigger.edges() == edges_by_event(by_trigger, EdgeKind::programmatic));
    const Graph by_start =
        captured_with_event(event, {.programmatic_event = {.event = event.get(), .trigger_at_block_start = true}});
    CHECK(by_start.edges() == edges_by_event(by_start, EdgeKind::launch_completion));
    cudag::Exec exec = by_start.instantiate();
    run(exec, Stream());
}

TEST_CASE("a wait for a captured launch's completion event is an edge of launch completion", "[capture][edges]") {
    const Event event({.timing = false});
    const Graph graph = captured_with_event(event, {.launch_completion_event = event.get()});
    CHECK(graph.edges() == edges_by_event(graph, EdgeKind::launch_completion));
    cudag::Exec exec = graph.instantiate();
    run(exec, Stream());
}

TEST_CASE("events of launches are reached in streams that nothing captures", "[stream][attributes]") {
    const auto cell = device({0});
    const Stream stream;
    const Event trigger({.timing = false});
    const Event start({.timing = false});
    launch(stream, {.programmatic_event = {trigger.get()}}, store, cell, 5);
    trigger.synchronize();
    launch(stream, {.programmatic_stream_serialization = true}, wait_and_add, cell, cell.data(), 1);
    launch(stream, {.launch_completion_event = start.get()}, nothing);
    start.synchronize();
    stream.synchronize();
    CHECK(read(cell) == std::vector{6});
}

TEST_CASE("an event with timing, or none, cannot be a launch's", "[stream][attributes]") {
    const Stream stream;
    const Event timed;
    for (const LaunchConfig& config :
         {LaunchConfig{.programmatic_event = {timed.get()}}, LaunchConfig{.launch_completion_event = timed.get()}}) {
        const auto error = refused<cudag::Error>([&] { launch(stream, config, nothing); });
        CHECK(error.code() == cuda_code(cudaErrorNotSupported));
        CHECK_THAT(error.what(), ContainsSubstring("launch of nothing") && ContainsSubstring("{.timing = false}"));
    }
    const auto error = refused<cudag::Error>(
        [&] { launch(stream, {.programmatic_event = {.trigger_at_block_start = true}}, nothing); });
    CHECK_THAT(error.what(), ContainsSubstring("programmatic_event: the event is null"));
    stream.synchronize();
}

TEST_CASE("nodes refuse what only launches in streams have, and say what they have instead", "[builder][attributes]") {
    const Event event({.timing = false});
    const auto refusal = [](const LaunchConfig& config) {
        cudag::GraphBuilder b;
        const auto error = refused<cudag::GraphError>([&] { b.kernel(config, nothing); });
        CHECK(std::move(b).build().node_count() == 0);
        return std::string(error.what());
    };
    CHECK_THAT(refusal({.programmatic_stream_serialization = true}),
               ContainsSubstring("programmatic_stream_serialization: only launches in streams") &&
                   ContainsSubstring(".after(programmatic(node))"));
    CHECK_THAT(refusal({.programmatic_event = {event.get()}}),
               ContainsSubstring("programmatic_event: only launches in streams"));
    CHECK_THAT(refusal({.launch_completion_event = event.get()}),
               ContainsSubstring("launch_completion_event: only launches in streams") &&
                   ContainsSubstring(".after(launch_completion(node))"));
}
