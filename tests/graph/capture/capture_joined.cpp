// Captures begun by other code: cudag joins them, adds steps and nodes, and leaves them.
#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "foreign_capture.hpp"
#include "test.hpp"
#include "watched.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

using cudag::arg;
using cudag::CaptureError;
using cudag::CaptureMode;
using cudag::CaptureStatus;
using cudag::Condition;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::launch;
using cudag::MemoryNodes;
using cudag::Node;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

void expect(const cudag::Error& error, const std::string& part) {
    CHECK_THAT(error.what(), ContainsSubstring(part));
}

} // namespace

TEST_CASE("nodes added to a joined capture stand between other code's work before and after", "[capture][joined]") {
    const Stream stream;
    const auto cells = device({0, 0, 0, 0});
    int* const x = cells.data();
    ForeignCapture foreign(stream.get());
    launch(stream, {}, store, x, 1);
    {
        auto joined = StreamCapture::join_existing(stream);
        CHECK(joined.status() == CaptureStatus::active);
        CHECK(joined.stream() == stream.get());
        joined.kernel({}, add, x + 1, x, 10);
        joined.step("by a function", [&](cudaStream_t s) { launch(s, {}, add, x + 2, x + 1, 100); });
        std::move(joined).leave();
    }
    launch(stream, {}, add, x + 3, x + 2, 1000);
    foreign.run();
    CHECK(read(cells) == std::vector{1, 11, 111, 1111});
    CHECK(foreign.node_count() == 4);
}

TEST_CASE("nodes may be added to a joined capture more than once, and by a builder", "[capture][joined]") {
    const Stream stream;
    const auto cells = device({0, 0, 0});
    int* const x = cells.data();
    ForeignCapture foreign(stream.get());
    {
        auto joined = StreamCapture::join_existing(stream);
        joined.kernel({}, store, x, 1);
        launch(stream, {}, add, x + 1, x, 1);
        joined.add([&](GraphBuilder& b) {
            const Node first = b.kernel({}, add, x + 1, x + 1, 5);
            b.kernel({}, add, x + 2, x + 1, 10).after(first);
        });
        std::move(joined).leave();
    }
    foreign.run();
    CHECK(read(cells) == std::vector{1, 7, 17});
}

TEST_CASE("a capture can be joined twice in turn", "[capture][joined]") {
    const Stream stream;
    const auto cells = device({0});
    ForeignCapture foreign(stream.get());
    for (const int value : {1, 10}) {
        auto joined = StreamCapture::join_existing(stream);
        joined.kernel({}, add, cells.data(), cells.data(), value);
        std::move(joined).leave();
    }
    foreign.run();
    CHECK(read(cells) == std::vector{11});
}

TEST_CASE("a joined capture that is not left goes on with its nodes", "[capture][joined]") {
    const Stream stream;
    const auto cells = device({0});
    ForeignCapture foreign(stream.get());
    {
        auto joined = StreamCapture::join_existing(stream);
        joined.kernel({}, store, cells.data(), 4);
    }
    foreign.run();
    CHECK(read(cells) == std::vector{4});
}

TEST_CASE("handles of nodes in a joined capture die when it is left", "[capture][joined][errors]") {
    const Stream stream;
    const auto cells = device({0});
    ForeignCapture foreign(stream.get());
    Node node;
    {
        auto joined = StreamCapture::join_existing(stream);
        node = joined.kernel({}, store, cells.data(), 4);
        CHECK(node.kind() == cudag::NodeKind::kernel);
        std::move(joined).leave();
        refused<GraphError>([&] { static_cast<void>(node.kind()); });
    }
    refused<GraphError>([&] { static_cast<void>(node.kind()); });
}

TEST_CASE("the graph of other code keeps the owners given to a joined capture", "[capture][joined][owners]") {
    const Stream stream;
    Watched of_node;
    Watched retained;
    {
        ForeignCapture foreign(stream.get());
        {
            auto joined = StreamCapture::join_existing(stream);
            joined.retain(retained.take());
            joined.kernel({}, store, of_node.take(), 5);
            std::move(joined).leave();
        }
        foreign.run();
        CHECK(of_node.value() == 5);
        CHECK(of_node.alive());
        CHECK(retained.alive());
    }
    CHECK(released(of_node, stream));
    CHECK(released(retained, stream));
}

TEST_CASE("owners given to a joined capture that other code drops are released", "[capture][joined][owners]") {
    const Stream stream;
    Watched of_node;
    {
        ForeignCapture foreign(stream.get());
        auto joined = StreamCapture::join_existing(stream);
        joined.kernel({}, store, of_node.take(), 5);
    }
    CHECK(released(of_node, stream));
}

TEST_CASE("a loop in a joined capture runs in each launch of the other code's graph", "[capture][joined][repeat]") {
    if (older_than(12080)) return;
    const Stream stream;
    const auto cells = device({0});
    ForeignCapture foreign(stream.get());
    {
        auto joined = StreamCapture::join_existing(stream);
        joined.repeat(5, [&](GraphBuilder& body) { body.kernel({}, add, cells.data(), cells.data(), 1); });
        std::move(joined).leave();
    }
    foreign.run();
    CHECK(read(cells) == std::vector{5});
    foreign.run();
    CHECK(read(cells) == std::vector{10});
}

TEST_CASE("a joined capture forks to other streams and joins them", "[capture][joined][fork]") {
    const Stream stream;
    const Stream side;
    const auto cells = device({0, 0, 0});
    int* const x = cells.data();
    ForeignCapture foreign(stream.get());
    {
        auto joined = StreamCapture::join_existing(stream);
        joined.kernel({}, store, x, 1);
        joined.fork(side);
        launch(side, {}, add, x + 1, x, 1);
        const auto error = refused<CaptureError>([&] { std::move(joined).leave(); });
        expect(error, "is not joined");
        joined.join(side);
        joined.kernel({}, add, x + 1, x + 1, 1);
        std::move(joined).leave();
    }
    launch(stream, {}, add, x + 2, x + 1, 1);
    foreign.run();
    CHECK(read(cells) == std::vector{1, 3, 4});
}

TEST_CASE("a stream that other code has forked into its capture can be joined", "[capture][joined][fork]") {
    const Stream stream;
    const Stream side;
    const cudag::Event forked;
    const cudag::Event done;
    const auto cells = device({0, 0});
    int* const x = cells.data();
    ForeignCapture foreign(stream.get());
    launch(stream, {}, store, x, 1);
    cudag::check(cudaEventRecord(forked.get(), stream.get()));
    cudag::check(cudaStreamWaitEvent(side.get(), forked.get()));
    {
        auto joined = StreamCapture::join_existing(side);
        joined.kernel({}, add, x + 1, x, 1);
        std::move(joined).leave();
    }
    cudag::check(cudaEventRecord(done.get(), side.get()));
    cudag::check(cudaStreamWaitEvent(stream.get(), done.get()));
    foreign.run();
    CHECK(read(cells) == std::vector{1, 2});
}

TEST_CASE("a capture begun by cudag can be joined, and its graph has the nodes and their owners", "[capture][joined]") {
    const Stream stream;
    Watched owned;
    const auto cells = device({0, 0});
    {
        const cudag::Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
            auto joined = StreamCapture::join_existing(s);
            joined.kernel({}, store, owned.take(), 3);
            std::move(joined).leave();
            launch(s, {}, store, cells.data(), 4);
        });
        CHECK(graph.node_count() == 2);
        cudag::Exec exec = graph.instantiate();
        run(exec, stream);
        CHECK(owned.value() == 3);
        CHECK(read(cells) == std::vector{4, 0});
        CHECK(owned.alive());
    }
    CHECK(released(owned, stream));
}

TEST_CASE("an exception without nodes leaves a joined capture as it was", "[capture][joined][errors]") {
    const Stream stream;
    const auto cells = device({0});
    ForeignCapture foreign(stream.get());
    {
        auto joined = StreamCapture::join_existing(stream);
        CHECK_THROWS_AS(joined.add([](GraphBuilder&) { throw std::runtime_error("mine"); }), std::runtime_error);
        std::move(joined).leave();
    }
    launch(stream, {}, store, cells.data(), 2);
    foreign.run();
    CHECK(read(cells) == std::vector{2});
}

TEST_CASE("a condition left over by an exception gets a node at the leave, and the joined capture goes on",
          "[capture][joined][errors]") {
    const Stream stream;
    const auto cells = device({0});
    ForeignCapture foreign(stream.get());
    {
        auto joined = StreamCapture::join_existing(stream);
        const auto throwing = [](GraphBuilder& b) {
            static_cast<void>(b.condition(1));
            throw std::runtime_error("mine");
        };
        CHECK_THROWS_AS(joined.add(throwing), std::runtime_error);
        joined.kernel({}, store, cells.data(), 1);
        std::move(joined).leave();
    }
    launch(stream, {}, add, cells.data(), cells.data(), 2);
    foreign.run();
    CHECK(read(cells) == std::vector{3});
    const cudag::Graph graph = foreign.take();
    CHECK(graph.node_count() == 3);
    CHECK(graph.edges().size() == 2); // both nodes come before the next work
}

TEST_CASE("an exception behind added nodes breaks a joined capture, for the other code, too",
          "[capture][joined][errors]") {
    const Stream stream;
    const auto cells = device({0});
    ForeignCapture foreign(stream.get());
    {
        auto joined = StreamCapture::join_existing(stream);
        const auto throwing = [&](GraphBuilder& b) {
            b.kernel({}, store, cells.data(), 1);
            throw std::runtime_error("mine");
        };
        CHECK_THROWS_AS(joined.add(throwing), std::runtime_error);
        CHECK(cudaPeekAtLastError() == cudaSuccess);
        CHECK(joined.status() == CaptureStatus::invalidated);
        const auto error = refused<CaptureError>([&] { joined.kernel({}, store, cells.data(), 1); });
        expect(error, "adding nodes at");
        expect(refused<CaptureError>([&] { std::move(joined).leave(); }), "adding nodes at");
    }
    CHECK(foreign.end() == cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("a condition without a node is refused at the leave, and breaks the joined capture",
          "[capture][joined][errors]") {
    const Stream stream;
    const auto cells = device({0});
    ForeignCapture foreign(stream.get());
    {
        auto joined = StreamCapture::join_existing(stream);
        joined.add([&](GraphBuilder& b) {
            static_cast<void>(b.condition(1));
            b.kernel({}, store, cells.data(), 1);
        });
        expect(refused<GraphError>([&] { std::move(joined).leave(); }), "has no node");
    }
    CHECK(foreign.end() == cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("a step in a joined capture that records nothing is refused", "[capture][joined][errors]") {
    const Stream stream;
    const auto cells = device({0});
    ForeignCapture foreign(stream.get());
    {
        auto joined = StreamCapture::join_existing(stream);
        const auto error = refused<CaptureError>([&] { joined.step("idle", [] {}); });
        expect(error, "the step recorded nothing");
        expect(error, "(joined)");
        const Stream other;
        expect(refused<CaptureError>([&] { joined.step("elsewhere", [&] { launch(other, {}, nothing); }); }),
               "elsewhere");
        joined.kernel({}, store, cells.data(), 1);
        std::move(joined).leave();
    }
    foreign.run();
    CHECK(read(cells) == std::vector{1});
}

TEST_CASE("a joined capture refuses graph memory as its options say, but not that of the other code",
          "[capture][joined][errors]") {
    const Stream stream;
    ForeignCapture foreign(stream.get());
    void* memory = nullptr;
    cudag::check(cudaMallocAsync(&memory, 64, stream.get()));
    {
        auto joined = StreamCapture::join_existing(stream, {.memory_nodes = MemoryNodes::refused});
        const auto free = [&](cudaStream_t s) { cudag::check(cudaFreeAsync(memory, s)); };
        expect(refused<CaptureError>([&] { joined.step("frees", free); }), "refuses memory nodes");
    }
    CHECK(foreign.end() == cudaSuccess);
}

TEST_CASE("the functions that end a capture are refused in a joined one, which goes on", "[capture][joined][errors]") {
    const Stream stream;
    const auto cells = device({0});
    ForeignCapture foreign(stream.get());
    {
        auto joined = StreamCapture::join_existing(stream);
        joined.kernel({}, store, cells.data(), 1);
        expect(refused<CaptureError>([&] { static_cast<void>(std::move(joined).finish()); }), "leave() it instead");
        expect(refused<CaptureError>([&] { static_cast<void>(std::move(joined).finish_segments()); }),
               "leave() it instead");
        expect(refused<CaptureError>([&] { joined.eager("break", [] {}); }), "other code ends this capture");
        std::move(joined).leave();
        expect(refused<CaptureError>([&] { std::move(joined).leave(); }), "was left by leave()");
        expect(refused<CaptureError>([&] { joined.kernel({}, store, cells.data(), 1); }), "was left by leave()");
    }
    foreign.run();
    CHECK(read(cells) == std::vector{1});
}

TEST_CASE("leave() is refused for a capture begun by cudag, which goes on", "[capture][joined][errors]") {
    const Stream stream;
    const auto cells = device({0});
    StreamCapture capture(stream);
    capture.kernel({}, store, cells.data(), 1);
    expect(refused<CaptureError>([&] { std::move(capture).leave(); }), "end it by finish()");
    CHECK(std::move(capture).finish().node_count() == 1);
}

TEST_CASE("only a stream in an unbroken capture can be joined, and the options are those of joining",
          "[capture][joined][errors]") {
    const Stream stream;
    const auto join = [&](StreamCapture&&) {};
    const auto cannot_join = [&](cudag::StreamRef given, const cudag::CaptureOptions& options, const char* why) {
        expect(refused<CaptureError>([&] { join(StreamCapture::join_existing(given, options)); }), why);
    };
    cannot_join(stream, {}, "is not being captured");
    cannot_join(cudaStreamLegacy, {}, "is not being captured");
    const ForeignCapture foreign(stream.get());
    cannot_join(stream, {.mode = CaptureMode::relaxed}, "chooses its mode");
    cannot_join(stream, {.refuse_legacy_stream = true}, "chooses its mode");
    CHECK(cudaStreamSynchronize(stream.get()) == cudaErrorStreamCaptureUnsupported);
    static_cast<void>(cudaGetLastError());
    cannot_join(stream, {}, "was broken before");
}

TEST_CASE("calls in a joined capture that other code has ended are refused", "[capture][joined][errors]") {
    const Stream stream;
    const auto cells = device({0});
    ForeignCapture foreign(stream.get());
    auto joined = StreamCapture::join_existing(stream);
    joined.kernel({}, store, cells.data(), 1);
    CHECK(foreign.end() == cudaSuccess);
    expect(refused<CaptureError>([&] { joined.kernel({}, store, cells.data(), 1); }), "before the code that began it");
    expect(refused<CaptureError>([&] { std::move(joined).leave(); }), "before the code that began it");
    foreign.run();
    CHECK(read(cells) == std::vector{1});
}
