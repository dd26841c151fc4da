// SegmentedGraph: what a capture with breaks runs, in which order, and what it reports.
#include <cudag/segmented_graph.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cuda_version.hpp"
#include "graphed.hpp"

using cudag::capture_segments;
using cudag::CaptureError;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::GraphError;
using cudag::launch;
using cudag::SegmentedGraph;
using cudag::SegmentedReport;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

void add_one(cudaStream_t stream, const DeviceBuffer<int>& cell) {
    launch(stream, {}, add, cell.data(), cell.data(), 1);
}

/// A break that waits, and notes the content of a cell.
auto look(const DeviceBuffer<int>& cell, std::vector<int>& seen) {
    return [&](cudaStream_t s) {
        check(cudaStreamSynchronize(s));
        seen.push_back(read(cell).front());
    };
}

int read_after(const Stream& stream, const DeviceBuffer<int>& cell) {
    stream.synchronize();
    return read(cell).front();
}

} // namespace

TEST_CASE("a break runs between two graphs, in each launch, and not in the capture", "[capture][segments]") {
    const Stream stream;
    const auto cell = device({0});
    std::vector<int> seen;
    SegmentedGraph program = capture_segments(stream, [&](StreamCapture& c) {
        c.step("before", [&](cudaStream_t s) { add_one(s, cell); });
        c.eager("look", look(cell, seen));
        add_one(c.stream(), cell);
        add_one(stream.get(), cell);
    });
    CHECK(seen.empty());
    CHECK(read_after(stream, cell) == 0);
    CHECK(program.segment_count() == 2);
    CHECK(program.break_count() == 1);
    CHECK(program.graph(1).node_count() == 2);
    program.launch(stream);
    program.launch(stream);
    CHECK(read_after(stream, cell) == 6);
    CHECK(seen == std::vector{1, 4});
    CHECK(program.replays() == 2);
    CHECK(is_usable(stream));
}

TEST_CASE("a break runs in the stream of the launch, also the legacy one", "[capture][segments]") {
    const Stream captured, launched;
    const auto cell = device({0});
    std::vector<cudaStream_t> streams;
    SegmentedGraph program = capture_segments(captured, [&](StreamCapture& c) {
        add_one(c.stream(), cell);
        c.eager("note", [&](cudaStream_t s) {
            streams.push_back(s);
            add_one(s, cell);
        });
    });
    program.launch(launched);
    launched.synchronize();
    program.launch(cudaStreamLegacy);
    check(cudaStreamSynchronize(cudaStreamLegacy));
    CHECK(streams == std::vector{launched.get(), cudaStreamLegacy});
    CHECK(read(cell) == std::vector{4});
}

TEST_CASE("parts without nodes cost no launch", "[capture][segments]") {
    const Stream stream;
    const auto cell = device({0});
    std::string order;
    const auto note = [&](char name) { return [&order, name] { order += name; }; };
    SECTION("at the begin, between breaks, at the end") {
        SegmentedGraph program = capture_segments(stream, [&](StreamCapture& c) {
            c.eager("a", note('a'));
            c.eager("b", note('b'));
            add_one(c.stream(), cell);
            c.eager("c", note('c'));
            c.add([](cudag::GraphBuilder&) {});
            c.eager("d", note('d'));
        });
        CHECK(program.segment_count() == 1);
        program.launch(stream);
        CHECK(order == "abcd");
        CHECK(read_after(stream, cell) == 1);
        const SegmentedReport report = program.report();
        CHECK(report.nodes == std::vector<std::size_t>{1});
        CHECK(report.execs == 1);
        CHECK(report.breaks.at(1).segments == 0);
        CHECK(report.breaks.at(3).segments == 1);
    }
    SECTION("breaks alone") {
        SegmentedGraph program = capture_segments(stream, [&](StreamCapture& c) { c.eager("a", note('a')); });
        CHECK(program.segment_count() == 0);
        program.launch(stream);
        CHECK(order == "a");
    }
    SECTION("no break is one segment") {
        SegmentedGraph program = capture_segments(stream, [&](StreamCapture& c) { add_one(c.stream(), cell); });
        CHECK(program.break_count() == 0);
        program.launch(stream);
        CHECK(read_after(stream, cell) == 1);
    }
    SECTION("nothing at all must be asked for") {
        const auto error = refused<CaptureError>(
            [&] { const SegmentedGraph program = capture_segments(stream, [](StreamCapture&) {}); });
        CHECK_THAT(error.what(), ContainsSubstring("nothing was recorded"));
        SegmentedGraph program = capture_segments(stream, [](StreamCapture&) {}, {.allow_empty = true});
        CHECK(program.segment_count() == 0);
        program.launch(stream);
        CHECK(program.replays() == 1);
    }
}

TEST_CASE("a break stands between nodes of one stream; other places are refused by name", "[capture][segments]") {
    const Stream stream, side;
    const auto cell = device({0});
    const auto nothing_more = [] {};
    SECTION("inside a step: the capture goes on") {
        SegmentedGraph program = capture_segments(stream, [&](StreamCapture& c) {
            const auto error = refused<CaptureError>([&] {
                c.step("half", [&](cudaStream_t s) {
                    add_one(s, cell);
                    c.eager("look", nothing_more);
                });
            });
            CHECK_THAT(error.what(), ContainsSubstring("eager \"look\" at ") &&
                                         ContainsSubstring("a break cannot stand in step \"half\" at ") &&
                                         ContainsSubstring("end the step before it"));
            CHECK(error.labels() == Labels{"look"});
            add_one(c.stream(), cell);
        });
        program.launch(stream);
        CHECK(read_after(stream, cell) == 2);
    }
    SECTION("inside an addition of nodes") {
        StreamCapture c(stream);
        const auto error =
            refused<CaptureError>([&] { c.add([&](cudag::GraphBuilder&) { c.eager("look", nothing_more); }); });
        CHECK_THAT(error.what(), ContainsSubstring("a break stands before or after add()"));
        add_one(stream.get(), cell);
        SegmentedGraph program = std::move(c).finish_segments();
        program.launch(stream);
        CHECK(read_after(stream, cell) == 1);
    }
    SECTION("in a region of a builder") {
        cudag::GraphBuilder b;
        b.capture(stream, [&](StreamCapture& c) {
            add_one(c.stream(), cell);
            CHECK_THAT(refused<CaptureError>([&] { c.eager("look", nothing_more); }).what(),
                       ContainsSubstring("has no breaks: capture the function by capture_segments()"));
            CHECK_THAT(refused<CaptureError>([&] { static_cast<void>(std::move(c).finish_segments()); }).what(),
                       ContainsSubstring("the GraphBuilder ends this capture"));
        });
        run(std::move(b));
        CHECK(read(cell) == std::vector{1});
    }
    SECTION("with an open fork: the capture ends") {
        StreamCapture c(stream);
        c.fork(side);
        c.step("aside", [&] { add_one(side.get(), cell); });
        const auto error = refused<CaptureError>([&] { c.eager("look", nothing_more); });
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnjoined));
        CHECK_THAT(error.what(), ContainsSubstring("eager \"look\" at ") && ContainsSubstring("work forked at ") &&
                                     ContainsSubstring("step \"aside\"") && ContainsSubstring("is not joined"));
        CHECK(c.status() == cudag::CaptureStatus::none);
        CHECK_THAT(refused<CaptureError>([&] { static_cast<void>(std::move(c).finish_segments()); }).what(),
                   ContainsSubstring("finish_segments") && ContainsSubstring("has ended"));
        CHECK(is_usable(stream));
        CHECK(is_usable(side));
    }
    SECTION("with an open fork without work") {
        StreamCapture c(stream);
        c.fork(side);
        const auto error = refused<CaptureError>([&] { c.eager("look", nothing_more); });
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnjoined));
        CHECK_THAT(error.what(), ContainsSubstring("work forked at ") && ContainsSubstring("is not joined: stream "));
    }
    SECTION("on another thread: the capture goes on") {
        StreamCapture c(stream);
        add_one(stream.get(), cell);
        std::thread([&] {
            CHECK_THAT(refused<CaptureError>([&] { c.eager("look", nothing_more); }).what(),
                       ContainsSubstring("only the thread that began a capture can end it"));
        }).join();
        SegmentedGraph program = std::move(c).finish_segments();
        program.launch(stream);
        CHECK(read_after(stream, cell) == 1);
    }
    SECTION("in a broken capture") {
        StreamCapture c(stream);
        static_cast<void>(cudaStreamSynchronize(stream.get()));
        static_cast<void>(cudaGetLastError());
        CHECK_THAT(refused<CaptureError>([&] { c.eager("look", nothing_more); }).what(),
                   ContainsSubstring("the capture was broken"));
    }
    CHECK(is_usable(stream));
}

TEST_CASE("side streams are forked anew in each segment", "[capture][segments]") {
    const Stream stream, side;
    const auto cell = device({0}), other = device({0});
    const auto aside = [&](StreamCapture& c) {
        c.fork(side);
        add_one(side.get(), other);
        add_one(c.stream(), cell);
        c.join(side);
    };
    SegmentedGraph program = capture_segments(stream, [&](StreamCapture& c) {
        aside(c);
        c.eager("break", [] {});
        aside(c);
    });
    CHECK(program.graph(1).node_count() == 2);
    program.launch(stream);
    CHECK(read_after(stream, cell) == 2);
    CHECK(read(other) == std::vector{2});
}

TEST_CASE("a Graph has no breaks", "[capture][segments]") {
    const Stream stream;
    const auto cell = device({0});
    const auto error = refused<CaptureError>([&] {
        const cudag::Graph graph = cudag::capture(stream, [&](StreamCapture& c) {
            add_one(c.stream(), cell);
            c.eager("look", [] {});
            add_one(c.stream(), cell);
        });
    });
    CHECK_THAT(error.what(), ContainsSubstring("the capture has the break \"look\" at ") &&
                                 ContainsSubstring("segmented_graph.cpp:") &&
                                 ContainsSubstring("capture by capture_segments()"));
    CHECK(is_usable(stream));
    CHECK(read(cell) == std::vector{0});
}

TEST_CASE("an exception of a break ends the launch there, and the next launch is whole", "[capture][segments]") {
    const Stream stream;
    const auto cell = device({0});
    bool fails = true;
    SegmentedGraph program = capture_segments(stream, [&](StreamCapture& c) {
        add_one(c.stream(), cell);
        c.eager("may fail", [&] {
            if (fails) throw std::runtime_error("no");
        });
        launch(c.stream(), {}, add, cell.data(), cell.data(), 10);
    });
    CHECK_THROWS_AS(program.launch(stream), std::runtime_error);
    CHECK(read_after(stream, cell) == 1);
    CHECK(program.replays() == 0);
    CHECK(program.report().breaks.front().runs == 0);
    fails = false;
    program.launch(stream);
    CHECK(read_after(stream, cell) == 12);
    CHECK(program.replays() == 1);
    CHECK(program.report().breaks.front().runs == 1);
}

TEST_CASE("an exception in the captured function drops all segments", "[capture][segments]") {
    const Stream stream;
    const auto cell = device({0});
    auto owner = std::make_shared<int>(0);
    const std::weak_ptr<int> watch = owner;
    CHECK_THROWS_AS(static_cast<void>(capture_segments(stream,
                                                       [&](StreamCapture& c) {
                                                           add_one(c.stream(), cell);
                                                           c.eager("keeps", [kept = std::move(owner)] {});
                                                           add_one(c.stream(), cell);
                                                           throw std::runtime_error("no");
                                                       })),
                    std::runtime_error);
    CHECK(watch.expired());
    CHECK(is_usable(stream));
    CHECK(read(cell) == std::vector{0});
}

TEST_CASE("launches are refused where their breaks could not run", "[capture][segments]") {
    const Stream stream, other;
    const auto cell = device({0});
    SegmentedGraph program = capture_segments(stream, [&](StreamCapture& c) {
        add_one(c.stream(), cell);
        c.eager("look", [] {});
    });
    {
        StreamCapture c(stream, {.allow_empty = true});
        CHECK_THAT(
            refused<CaptureError>([&] { program.launch(stream); }).what(),
            ContainsSubstring("SegmentedGraph::launch: the stream is being captured, and the break \"look\" at ") &&
                ContainsSubstring("launch it outside of captures"));
        CHECK(c.status() == cudag::CaptureStatus::active);
        CHECK_THROWS_AS(program.launch(other), CaptureError);
    }
    program.launch(stream);
    CHECK(read_after(stream, cell) == 1);
    CHECK(program.replays() == 1);
}

TEST_CASE("wrong uses of a SegmentedGraph are named", "[capture][segments]") {
    const Stream stream;
    const auto cell = device({0});
    const auto function = [&](StreamCapture& c) {
        add_one(c.stream(), cell);
        c.eager("look", [] {});
    };
    SegmentedGraph program = capture_segments(stream, function);
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(program.exec(1)); }).what(),
               ContainsSubstring("segment 1 was asked for, but there are 1"));
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(program.graph(7)); }).what(),
               ContainsSubstring("segment 7"));
    SegmentedGraph shared = capture_segments(stream, function, {}, {.share_execs = true});
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(shared.exec(0)); }).what(),
               ContainsSubstring("has no Exec of its own with share_execs"));
    const SegmentedGraph taken = std::move(program);
    CHECK_THAT(refused<GraphError>([&] { program.launch(stream); }).what(),
               ContainsSubstring("a moved-from SegmentedGraph was used"));
    CHECK_THROWS_AS(program.report(), GraphError);
}

TEST_CASE("the Exec of a segment can be updated and bound", "[capture][segments]") {
    const Stream stream;
    const auto cell = device({0}), other = device({0});
    SegmentedGraph program = capture_segments(stream, [&](StreamCapture& c) {
        launch(c.stream(), {}, store, cell.data(), 1);
        c.eager("break", [] {});
        launch(c.stream(), {}, store, other.data(), 2);
    });
    program.exec(1).update(program.graph(1).find(store).at(0), cudag::arg<1>(5));
    program.launch(stream);
    CHECK(read_after(stream, cell) == 1);
    CHECK(read(other) == std::vector{5});
}

TEST_CASE("segments of equal structure may share an Exec", "[capture][segments]") {
    const Stream stream;
    constexpr int layers = 6;
    const DeviceBuffer<int> cells = device(std::vector<int>(layers + 1));
    SegmentedGraph program =
        capture_segments(stream,
                         [&](StreamCapture& c) {
                             for (int i = 0; i < layers; ++i) {
                                 launch(c.stream(), {}, add, cells.data() + i + 1, cells.data() + i, i + 1);
                                 c.eager("look", [] {});
                             }
                             cudag::memset_async(c.stream(), cells.span().first(1), 1);
                         },
                         {}, {.share_execs = true});
    CHECK(program.report().execs == 0);
    program.launch(stream);
    stream.synchronize();
    CHECK(read(cells) == std::vector{1, 1, 3, 6, 10, 15, 21});
    program.launch(stream);
    stream.synchronize();
    CHECK(read(cells) == std::vector{1, 2, 4, 7, 11, 16, 22});
    CHECK(program.report().execs == 2);
}

TEST_CASE("conditionals and other nodes in place stand in segments", "[capture][segments]") {
    if (older_than(12080)) return;
    const Stream stream;
    const auto cell = device({0});
    SegmentedGraph program = capture_segments(stream, [&](StreamCapture& c) {
        c.kernel({}, store, cell, 1).label("one");
        c.eager("break", [] {});
        c.repeat(3, [&](cudag::GraphBuilder& body) { body.kernel({}, add, cell, cell, 2); });
        add_one(c.stream(), cell);
    });
    program.launch(stream);
    CHECK(read_after(stream, cell) == 8);
    CHECK(program.graph(0).find("one").size() == 1);
}

TEST_CASE("a break may replace the object that is being launched", "[capture][segments]") {
    const Stream stream;
    const auto cell = device({0});
    std::unique_ptr<SegmentedGraph> program;
    program = std::make_unique<SegmentedGraph>(capture_segments(stream, [&](StreamCapture& c) {
        add_one(c.stream(), cell);
        c.eager("replace", [&] { program.reset(); });
        add_one(c.stream(), cell);
    }));
    program->launch(stream);
    CHECK(read_after(stream, cell) == 2);
}

TEST_CASE("a break may capture, allocate and launch graphs itself", "[capture][segments]") {
    const Stream stream;
    const auto cell = device({0});
    SegmentedGraph program = capture_segments(stream, [&](StreamCapture& c) {
        add_one(c.stream(), cell);
        c.eager("all of it", [&](cudaStream_t s) {
            const auto copy = device({0});
            cudag::memcpy_async(s, copy, cell);
            check(cudaStreamSynchronize(s));
            CHECK(read(copy) == read(cell));
            Exec inner = cudag::capture(s, [&](cudaStream_t again) { add_one(again, cell); }).instantiate();
            inner.launch(s);
        });
        add_one(c.stream(), cell);
    });
    program.launch(stream);
    program.launch(stream);
    CHECK(read_after(stream, cell) == 6);
}

TEST_CASE("options of the capture hold in each segment", "[capture][segments][legacy]") {
    const Stream stream;
    const auto cell = device({0});
    StreamCapture c(stream, {.refuse_legacy_stream = true});
    add_one(stream.get(), cell);
    c.eager("break", [] {});
    CHECK_THROWS_AS(c.step("legacy", [&] { check(cudaMemset(cell.data(), 0, sizeof(int))); }), CaptureError);
}

TEST_CASE("the report lists the memory that crosses breaks", "[capture][segments][memory]") {
    const Stream stream;
    const auto crossing = device({0, 0, 0, 0}), before = device({0}), after = device({0});
    SegmentedGraph program = capture_segments(stream, [&](StreamCapture& c) {
        launch(c.stream(), {}, add, crossing.data(), before.data(), 1);
        c.eager("first", [] {});
        c.eager("second", [] {});
        launch(c.stream(), {}, store, after.data(), 1);
        c.eager("third", [] {});
        check(cudaMemsetAsync(crossing.data() + 1, 0, 8, c.stream())); // another part of the same memory
        c.eager("last", [] {});
    });
    program.launch(stream);
    stream.synchronize();
    const SegmentedReport report = program.report();
    CHECK(report.nodes == std::vector<std::size_t>{1, 1, 1});
    REQUIRE(report.crossing.size() == 1);
    const cudag::CrossingBuffer& buffer = report.crossing.front();
    CHECK(buffer.data <= crossing.data());
    CHECK(buffer.bytes >= 16);
    CHECK(buffer.first == 0);
    CHECK(buffer.last == 2);
    CHECK_FALSE(buffer.is_graph_memory);
    CHECK(buffer.breaks == Labels{"first", "second", "third"});
    const std::string text = to_string(report);
    CHECK_THAT(text, StartsWith("3 segments of 1, 1, 1 nodes, 3 execs, 4 breaks, 1 launch\n\"first\" at ") &&
                         ContainsSubstring(": after 2 segments, 1 run\n") &&
                         ContainsSubstring(": segments 0 to 2, across \"first\", \"second\", \"third\""));
}

TEST_CASE("graph memory may live across breaks", "[capture][segments][memory]") {
    const Stream stream;
    const auto out = device({0});
    bool fails = false;
    const auto function = [&](StreamCapture& c) {
        int* memory = nullptr;
        check(cudaMallocAsync(reinterpret_cast<void**>(&memory), sizeof *memory, c.stream()));
        launch(c.stream(), {}, store, memory, 7);
        c.eager("look", [&] {
            if (fails) throw std::runtime_error("no");
        });
        launch(c.stream(), {}, add, out.data(), memory, 1);
        check(cudaFreeAsync(memory, c.stream()));
    };
    SegmentedGraph program = capture_segments(stream, function);
    program.launch(stream);
    program.launch(stream);
    CHECK(read_after(stream, out) == 8);
    const SegmentedReport report = program.report();
    REQUIRE(report.crossing.size() == 1);
    CHECK(report.crossing.front().is_graph_memory);
    CHECK(report.crossing.front().bytes == sizeof(int));

    SegmentedGraph freeing = capture_segments(stream, function, {}, {.instantiate = {.auto_free_on_launch = true}});
    fails = true;
    CHECK_THROWS_AS(freeing.launch(stream), std::runtime_error);
    fails = false;
    write(out.span(), {0});
    freeing.launch(stream);
    CHECK(read_after(stream, out) == 8);
}
