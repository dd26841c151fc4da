// SegmentedGraph: how long owners and functions live.
#include <cudag/segmented_graph.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "graphed.hpp"

using cudag::capture_segments;
using cudag::launch;
using cudag::SegmentedGraph;
using cudag::Stream;
using cudag::StreamCapture;

TEST_CASE("owners of one segment live until the work of the last part has ended", "[owners][segments]") {
    const Stream stream;
    const auto cell = device({0});
    Watched retained, kept, given;
    Gate gate;
    std::optional<SegmentedGraph> program;
    const bool ends_with_break = GENERATE(false, true), throws = GENERATE(false, true);
    CAPTURE(ends_with_break, throws);
    program.emplace(capture_segments(stream, [&](StreamCapture& c) {
        c.retain(retained.take());
        launch(c.stream(), {}, store, given.take(), 1);
        c.eager("keeps", [owner = kept.take(), &gate, ends_with_break, throws](cudaStream_t s) {
            launch(s, {}, store, owner.get(), 2);
            if (ends_with_break) hold_up(s, gate);
            if (throws) throw std::runtime_error("no");
        });
        if (!ends_with_break) {
            if (!throws) hold_up(c.stream(), gate);
            launch(c.stream(), {}, store, cell.data(), 3);
        }
    }));
    CHECK((retained.alive() && kept.alive() && given.alive()));
    if (throws)
        CHECK_THROWS_AS(program->launch(stream), std::runtime_error);
    else
        program->launch(stream);
    const bool is_held = ends_with_break || !throws;
    if (is_held) gate.wait_until_entered();
    program.reset();
    if (is_held) CHECK((retained.alive() && kept.alive() && given.alive()));
    gate.open();
    CHECK(released(retained, stream));
    CHECK(released(kept, stream));
    CHECK(released(given, stream));
    CHECK(kept.value() == 2);
}

TEST_CASE("owners of a program that was never launched go with it", "[owners][segments]") {
    const Stream stream;
    Watched retained, kept;
    {
        const SegmentedGraph program = capture_segments(stream, [&](StreamCapture& c) {
            c.retain(retained.take());
            c.eager("keeps", [owner = kept.take()] {});
        });
        CHECK((retained.alive() && kept.alive()));
    }
    CHECK_FALSE(retained.alive());
    CHECK_FALSE(kept.alive());
}

TEST_CASE("memory of a pool lives across breaks", "[owners][segments]") {
    const Stream stream;
    const auto out = device({0});
    std::optional<cudag::CapturePool> pool(std::in_place);
    SegmentedGraph program =
        capture_segments(stream,
                         [&](StreamCapture& c) {
                             const auto scratch = pool->allocate<int>(1);
                             launch(c.stream(), {}, store, scratch.data(), 4);
                             int* const borrowed = scratch.data();
                             c.eager("add", [borrowed](cudaStream_t s) { launch(s, {}, add, borrowed, borrowed, 5); });
                             launch(c.stream(), {}, add, out.data(), borrowed, 0);
                         },
                         {.pool = pool->id()});
    pool.reset();
    program.launch(stream);
    stream.synchronize();
    CHECK(read(out) == std::vector{9});
}

TEST_CASE("the graph of a segment may outlive its program", "[owners][segments]") {
    const Stream stream;
    Watched kept, retained;
    std::optional<cudag::Exec> exec;
    {
        const SegmentedGraph program = capture_segments(stream, [&](StreamCapture& c) {
            launch(c.stream(), {}, store, kept.take(), 6);
            c.eager("break", [] {});
            c.retain(retained.take());
        });
        exec = program.graph(0).instantiate();
    }
    CHECK((kept.alive() && retained.alive()));
    run(*exec, stream);
    CHECK(kept.value() == 6);
    exec.reset();
    CHECK(released(kept, stream));
}
