// Every runtime call that fails while a recorded Exec is made, updated as a whole, or awaited with a deadline.
#include "faults.hpp"
#include "live_counts.hpp"
#include "pipeline.hpp"

#include <catch.hpp>

#include <chrono>
#include <optional>

namespace {

std::size_t native_nodes(const cudag::Graph& graph) {
    std::size_t count = 0;
    cudag::check(cudaGraphGetNodes(graph.native(), nullptr, &count));
    return count;
}

std::size_t native_roots(const cudag::Graph& graph) {
    std::size_t count = 0;
    cudag::check(cudaGraphGetRootNodes(graph.native(), nullptr, &count));
    return count;
}

} // namespace

TEST_CASE("a recorded instantiation that fails leaves no mark in the graph", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    const std::size_t nodes = native_nodes(graph), roots = native_roots(graph);
    const auto verify = [&] {
        CHECK(native_nodes(graph) == nodes);
        CHECK(native_roots(graph) == roots);
        CHECK(cudag::unfinished_nodes().empty());
    };
    const Faults faults = for_every_call_failing([&] { return graph.instantiate({.recorder = true}); }, verify);
    CHECK(faults.thrown > graph.node_count());
    verify();
    cudag::Exec exec = graph.instantiate({.recorder = true});
    CHECK(pipeline.run(exec) == pipeline.expected());
}

TEST_CASE("a recorded Exec whose whole update fails runs as before", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build(), next = pipeline.build();
    const std::size_t nodes = native_nodes(next);
    cudag::Exec exec = graph.instantiate({.recorder = true});
    for_every_call_failing([&] { static_cast<void>(exec.update(next)); },
                           [&] {
                               CHECK(native_nodes(next) == nodes);
                               CHECK(pipeline.run(exec) == pipeline.expected());
                           });
    CHECK(pipeline.run(exec) == pipeline.expected());
}

TEST_CASE("a wait with a deadline that fails can be repeated", "[unit][faults]") {
    Pipeline pipeline;
    cudag::Exec exec = pipeline.build().instantiate({.recorder = true});
    exec.launch(pipeline.stream);
    const Faults faults = for_every_call_failing([&] { pipeline.stream.synchronize(std::chrono::minutes(1)); });
    CHECK(faults.thrown >= 2);
    CHECK(faults.ignored == 0);
}
