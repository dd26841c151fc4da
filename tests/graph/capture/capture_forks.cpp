// Streams that fork from a capture and join it.
#include <algorithm>
#include <optional>
#include <utility>

#include "cuda_version.hpp"
#include "usable.hpp"

using cudag::capture;
using cudag::CaptureError;
using cudag::CaptureStatus;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::Error;
using cudag::Event;
using cudag::Graph;
using cudag::launch;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

using NumberedEdges = std::vector<std::pair<std::size_t, std::size_t>>;

/// The edges between nodes by their numbers, sorted.
NumberedEdges edges_of(const Graph& graph) {
    const std::vector<cudag::Node> nodes = graph.nodes();
    const auto number = [&](const cudag::Node& node) {
        return static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
    };
    NumberedEdges edges;
    for (const cudag::Edge& edge : graph.edges()) {
        CHECK(edge.kind == cudag::EdgeKind::full);
        edges.emplace_back(number(edge.from), number(edge.to));
    }
    std::sort(edges.begin(), edges.end());
    return edges;
}

CaptureStatus status_of(const Stream& stream) {
    cudaStreamCaptureStatus status{};
    check(cudaStreamIsCapturing(stream.get(), &status));
    return static_cast<CaptureStatus>(status);
}

/// A stream to capture, two to fork, and kernels for them.
struct Work {
    void node(cudag::StreamRef where) const { launch(where, {}, nothing); }
    Stream stream;
    Stream side;
    Stream other;
};

} // namespace

TEST_CASE("a fork and a join make a diamond", "[capture][forks]") {
    const auto cells = device({1, 0, 0, 0});
    int* const p = cells.data();
    const Stream stream;
    const Stream side;
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        launch(c.stream(), {}, add, p, p, 10);
        c.fork(side);
        launch(side, {}, add, p + 1, p, 100);
        launch(c.stream(), {}, add, p + 2, p, 1000);
        c.join(side);
        launch(c.stream(), {}, add, p + 3, p + 1, 10000);
    });
    CHECK(edges_of(graph) == NumberedEdges{{0, 1}, {0, 2}, {1, 3}, {2, 3}});
    cudag::Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cells) == std::vector{11, 111, 1011, 10111});
}

TEST_CASE("a fork comes after what was recorded before it, not after what is recorded later", "[capture][forks]") {
    const Work w;
    const Graph graph = capture(w.stream, [&](StreamCapture& c) {
        w.node(w.stream);
        c.fork(w.side);
        w.node(w.stream);
        w.node(w.side);
        c.join(w.side);
    });
    CHECK(edges_of(graph) == NumberedEdges{{0, 1}, {0, 2}});
}

TEST_CASE("a fork of a capture without nodes begins with it", "[capture][forks]") {
    const Work w;
    const Graph graph = capture(w.stream, [&](StreamCapture& c) {
        c.fork(w.side);
        w.node(w.side);
        w.node(w.stream);
        c.join(w.side);
        w.node(w.stream);
    });
    CHECK(edges_of(graph) == NumberedEdges{{0, 2}, {1, 2}});
}

TEST_CASE("a second fork of a stream adds to what it comes after", "[capture][forks]") {
    const Work w;
    const Graph graph = capture(w.stream, [&](StreamCapture& c) {
        w.node(w.stream);
        c.fork(w.side);
        w.node(w.side);   // 1
        w.node(w.stream); // 2
        c.fork(w.side);
        w.node(w.side); // 3
        c.join(w.side);
    });
    CHECK(edges_of(graph) == NumberedEdges{{0, 1}, {0, 2}, {1, 3}, {2, 3}});
}

TEST_CASE("a stream that goes on after its join is joined again", "[capture][forks]") {
    const Work w;
    const Graph graph = capture(w.stream, [&](StreamCapture& c) {
        w.node(w.stream);
        c.fork(w.side);
        w.node(w.side);
        c.join(w.side);
        w.node(w.stream); // 2, after 0 and 1
        w.node(w.side);   // 3, after 1
        c.join(w.side);
        w.node(w.stream); // 4
    });
    const NumberedEdges edges = edges_of(graph);
    const auto has = [&](std::size_t from, std::size_t to) {
        return std::find(edges.begin(), edges.end(), std::pair(from, to)) != edges.end();
    };
    CHECK((has(0, 1) && has(1, 2) && has(1, 3) && has(2, 4) && has(3, 4)));
    CHECK_FALSE((has(2, 3) || has(3, 2)));
}

TEST_CASE("what a stream records after its last join is not joined", "[capture][forks]") {
    const Work w;
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(w.stream, [&](StreamCapture& c) {
            w.node(w.stream);
            c.fork(w.side);
            w.node(w.side);
            c.join(w.side);
            w.node(w.side);
        }));
    });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnjoined));
    CHECK(is_usable(w.stream));
    CHECK(is_usable(w.side));
}

TEST_CASE("joining twice without new work is joining once", "[capture][forks]") {
    const Work w;
    const Graph graph = capture(w.stream, [&](StreamCapture& c) {
        w.node(w.stream);
        c.fork(w.side);
        w.node(w.side);
        c.join(w.side);
        c.join(w.side);
        w.node(w.stream);
    });
    const NumberedEdges edges = edges_of(graph);
    CHECK(std::count(edges.begin(), edges.end(), std::pair<std::size_t, std::size_t>(1, 2)) == 1);
    CHECK(edges.front() == std::pair<std::size_t, std::size_t>(0, 1));
}

TEST_CASE("a fork that records nothing needs no join", "[capture][forks]") {
    const Work w;
    const Graph graph = capture(w.stream, [&](StreamCapture& c) {
        w.node(w.stream);
        c.fork(w.side);
        CHECK(status_of(w.side) == CaptureStatus::active);
    });
    CHECK(graph.node_count() == 1);
    CHECK(status_of(w.side) == CaptureStatus::none);
    CHECK(is_usable(w.side));
}

TEST_CASE("several streams fork at once, and each join adds to what comes next", "[capture][forks]") {
    const Work w;
    const Graph graph = capture(w.stream, [&](StreamCapture& c) {
        w.node(w.stream);
        c.fork(w.side);
        c.fork(w.other);
        w.node(w.side);
        w.node(w.other);
        c.join(w.other);
        c.join(w.side);
        w.node(w.stream);
    });
    const NumberedEdges edges = edges_of(graph);
    for (const auto& edge : NumberedEdges{{0, 1}, {0, 2}, {1, 3}, {2, 3}})
        CHECK(std::find(edges.begin(), edges.end(), edge) != edges.end());
}

TEST_CASE("a fork of a fork, made with events, is joined through the first or at once", "[capture][forks]") {
    const Work w;
    const bool through_the_first = GENERATE(true, false);
    const Event forked({.timing = false});
    Event joined({.timing = false});
    const Graph graph = capture(w.stream, [&](StreamCapture& c) {
        w.node(w.stream);
        c.fork(w.side);
        w.node(w.side);
        check(cudaEventRecord(forked.get(), w.side.get()));
        check(cudaStreamWaitEvent(w.other.get(), forked.get()));
        w.node(w.other);
        if (through_the_first) {
            joined.record(w.other);
            check(cudaStreamWaitEvent(w.side.get(), joined.get()));
        } else {
            c.join(w.other); // part of the capture, though not forked by it
        }
        c.join(w.side);
        w.node(w.stream);
    });
    const NumberedEdges edges = edges_of(graph);
    for (const auto& edge : NumberedEdges{{0, 1}, {1, 2}, {2, 3}})
        CHECK(std::find(edges.begin(), edges.end(), edge) != edges.end());
    CHECK(is_usable(w.side));
    CHECK(is_usable(w.other));
}

TEST_CASE("a fork made with events alone is joined by the capture", "[capture][forks]") {
    const Work w;
    Event forked({.timing = false});
    const Graph graph = capture(w.stream, [&](StreamCapture& c) {
        w.node(w.stream);
        forked.record(w.stream);
        check(cudaStreamWaitEvent(w.side.get(), forked.get()));
        w.node(w.side);
        c.join(w.side);
        w.node(w.stream);
    });
    const NumberedEdges edges = edges_of(graph);
    for (const auto& edge : NumberedEdges{{0, 1}, {1, 2}})
        CHECK(std::find(edges.begin(), edges.end(), edge) != edges.end());
}

TEST_CASE("steps name what they record in forked streams, too", "[capture][forks]") {
    const Work w;
    const Graph graph = capture(w.stream, [&](StreamCapture& c) {
        c.step("fork", [&] { c.fork(w.side); });
        c.step("aside", [&] { w.node(w.side); });
        c.step("join", [&](cudaStream_t s) {
            c.join(w.side);
            w.node(s);
        });
    });
    REQUIRE(graph.node_count() == 2);
    CHECK(graph.nodes()[0].label() == "aside");
    CHECK(graph.nodes()[1].label() == "join");
    CHECK(edges_of(graph) == NumberedEdges{{0, 1}});
}

TEST_CASE("streams that were forked run work again, and are captured again", "[capture][forks]") {
    const Work w;
    static_cast<void>(capture(w.stream, [&](StreamCapture& c) {
        c.fork(w.side);
        w.node(w.side);
        c.join(w.side);
    }));
    CHECK(is_usable(w.side));
    const Graph graph = capture(w.side, [&](StreamCapture& c) { // the other way round
        c.fork(w.stream);
        w.node(w.stream);
        c.join(w.stream);
    });
    CHECK(graph.node_count() == 1);
    CHECK(is_usable(w.stream));
}

TEST_CASE("a forked stream may go before the capture ends, once it is joined", "[capture][forks]") {
    const Stream stream;
    std::optional<Stream> side(std::in_place);
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        c.fork(*side);
        launch(*side, {}, nothing);
        c.join(*side);
        side.reset();
        launch(c.stream(), {}, nothing);
    });
    CHECK(edges_of(graph) == NumberedEdges{{0, 1}});
}

TEST_CASE("what a forked stream did before the capture is no part of it", "[capture][forks]") {
    const auto cell = device({0});
    const Work w;
    launch(w.side, {}, store, cell.data(), 3);
    const Graph graph = capture(w.stream, [&](StreamCapture& c) {
        c.fork(w.side);
        launch(w.side, {}, add, cell.data(), cell.data(), 10);
        c.join(w.side);
    });
    w.side.synchronize();
    CHECK(graph.node_count() == 1);
    CHECK(read(cell) == std::vector{3});
    cudag::Exec exec = graph.instantiate();
    run(exec, w.stream);
    CHECK(read(cell) == std::vector{13});
}

TEST_CASE("refused forks are told, and the capture goes on", "[capture][forks][errors]") {
    const Work w;
    const Stream foreign;
    StreamCapture capture(w.stream);
    StreamCapture another(foreign, {.allow_empty = true});
    w.node(w.stream);
    const unsigned line = __LINE__ + 1;
    const auto itself = refused<CaptureError>([&] { capture.fork(w.stream); });
    CHECK_THAT(itself.what(), ContainsSubstring("capture at ") && ContainsSubstring("fork at ") &&
                                  ContainsSubstring("a stream cannot fork from itself"));
    CHECK(itself.location().line == line);
    for (const cudaStream_t legacy : {cudaStream_t{}, cudaStreamLegacy}) {
        const auto error = refused<CaptureError>([&] { capture.fork(legacy); });
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
        CHECK_THAT(error.what(), ContainsSubstring("the legacy default stream cannot be captured: fork to a"));
    }
    const auto merge = refused<CaptureError>([&] { capture.fork(foreign); });
    CHECK(merge.code() == cuda_code(cudaErrorStreamCaptureMerge));
    CHECK_THAT(merge.what(), ContainsSubstring("the stream is part of another capture: end that first"));

    CHECK(capture.status() == CaptureStatus::active);
    CHECK(another.status() == CaptureStatus::active);
    CHECK(std::move(capture).finish().node_count() == 1);
    CHECK(std::move(another).finish().node_count() == 0);
}

TEST_CASE("refused joins are told, and the capture goes on", "[capture][forks][errors]") {
    const Work w;
    const Stream foreign;
    StreamCapture capture(w.stream);
    StreamCapture another(foreign, {.allow_empty = true});
    w.node(w.stream);
    const auto itself = refused<CaptureError>([&] { capture.join(w.stream); });
    CHECK_THAT(itself.what(), ContainsSubstring("join at ") && ContainsSubstring("a stream cannot join itself"));
    const auto is_foreign = [&](cudaStream_t stream) {
        const unsigned line = __LINE__ + 1;
        const auto error = refused<CaptureError>([&] { capture.join(stream); });
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureIsolation));
        CHECK(error.location().line == line);
        CHECK_THAT(error.what(), ContainsSubstring("the stream is not part of this capture: fork it first"));
    };
    is_foreign(w.side.get()); // not captured at all
    is_foreign(foreign.get());
    is_foreign(cudaStream_t{});
    is_foreign(cudaStreamLegacy);
    is_foreign(cudaStreamPerThread);

    CHECK(capture.status() == CaptureStatus::active);
    CHECK(another.status() == CaptureStatus::active);
    CHECK(std::move(capture).finish().node_count() == 1);
    CHECK(std::move(another).finish().node_count() == 0);
}

TEST_CASE("all forks that are left unjoined are named in order, the joined ones are not", "[capture][forks][errors]") {
    const Work w;
    const Stream joined;
    unsigned line = 0;
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(w.stream, [&](StreamCapture& c) {
            line = __LINE__;
            c.fork(w.side);
            c.fork(joined);
            c.fork(w.other);
            w.node(w.side);
            w.node(joined);
            w.node(w.other);
            c.join(joined);
        }));
    });
    const auto at = [&](unsigned offset) { return "capture_forks.cpp:" + std::to_string(line + offset); };
    const std::string text = error.what();
    CHECK_THAT(text, ContainsSubstring("is not joined"));
    CHECK(text.find(at(1)) < text.find(at(3)));
    CHECK(text.find(at(3)) != std::string::npos);
    CHECK(text.find(at(2)) == std::string::npos);
    for (const Stream* stream : {&w.stream, &w.side, &joined, &w.other}) {
        CHECK(status_of(*stream) == CaptureStatus::none);
        CHECK(is_usable(*stream));
    }
}

TEST_CASE("forking and joining a broken capture tells what broke it", "[capture][forks][errors]") {
    const Work w;
    StreamCapture capture(w.stream);
    void* memory = nullptr;
    static_cast<void>(cudaMalloc(&memory, 16));
    static_cast<void>(cudaGetLastError());
    for (const bool forks : {true, false}) {
        const auto error = refused<CaptureError>([&] { forks ? capture.fork(w.side) : capture.join(w.side); });
        CHECK_THAT(error.what(),
                   ContainsSubstring(forks ? "fork at " : "join at ") && ContainsSubstring(broken_by("cuMemAlloc_v2")));
    }
    CHECK(status_of(w.side) == CaptureStatus::none);
}

TEST_CASE("streams of a capture that is dropped run work again, joined or not", "[capture][forks]") {
    const Work w;
    {
        StreamCapture dropped(w.stream);
        dropped.fork(w.side);
        w.node(w.side);
    }
    for (const Stream* stream : {&w.stream, &w.side}) {
        CHECK(status_of(*stream) == CaptureStatus::none);
        CHECK(is_usable(*stream));
    }
}

TEST_CASE("the legacy default stream joins no capture, also where it cannot be asked for one",
          "[capture][forks][errors][legacy]") {
    cudaStream_t blocking = nullptr;
    check(cudaStreamCreate(&blocking));
    {
        StreamCapture capture(blocking); // during which the legacy stream has no status
        for (const cudaStream_t legacy : {cudaStream_t{}, cudaStreamLegacy}) {
            const auto error = refused<CaptureError>([&] { capture.join(legacy); });
            CHECK(error.code() == cuda_code(cudaErrorStreamCaptureIsolation));
            CHECK_THAT(error.what(), ContainsSubstring("the stream is not part of this capture: fork it first"));
        }
        CHECK(capture.status() == CaptureStatus::active);
    }
    check(cudaStreamDestroy(blocking));
}
