// Where the upload goes that instantiate is asked for.
#include "gate.hpp"

#include <catch.hpp>
#include <cudag/cudag.hpp>

#include <chrono>
#include <thread>
#include <utility>

TEST_CASE("the upload at instantiation is ordered in its stream, and launches come after it", "[unit][exec]") {
    int runs = 0;
    cudag::GraphBuilder counts;
    counts.host([&] { ++runs; });
    const cudag::Graph graph = std::move(counts).build();
    const cudag::Stream held;
    const cudag::Stream other;
    Gate gate;
    cudag::GraphBuilder b;
    b.host(gate.waiter());
    cudag::Exec blocker = std::move(b).build().instantiate();
    blocker.launch(held);
    cudag::Exec exec = graph.instantiate({.upload_stream = held});
    exec.launch(other);
    for (int i = 0; i < 20; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        REQUIRE_FALSE(other.query());
    }
    gate.open();
    other.synchronize();
    CHECK(runs == 1);
}
