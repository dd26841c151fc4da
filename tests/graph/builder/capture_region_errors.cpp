// What GraphBuilder::capture refuses, and what becomes of the builder when a capture fails.
#include <stdexcept>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "native.hpp"

using cudag::CapturedNode;
using cudag::CaptureError;
using cudag::check;
using cudag::Event;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::launch;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

void allocate_and_forget() {
    void* memory = nullptr;
    static_cast<void>(cudaMalloc(&memory, 16));
    static_cast<void>(cudaGetLastError());
}

/// Work that another stream is left with.
void fork_and_forget(cudaStream_t stream, cudaStream_t side, int* cell) {
    const Event event({.timing = false});
    check(cudaEventRecord(event.get(), stream));
    check(cudaStreamWaitEvent(side, event.get()));
    launch(side, {}, store, cell, -1);
}

/// A graph with a child, half of its edges written, into which captures fail; and what must still run afterwards.
class Survivor {
  public:
    GraphBuilder& builder() { return b_; }
    int* cell() { return cells_.data() + 2; }

    void run_and_check() {
        const auto tail = b_.capture(stream_, [&](cudaStream_t s) { launch(s, {}, add, cell(), cell() - 1, 100); });
        tail.after(child_);
        const Graph graph = std::move(b_).build();
        CHECK(graph.node_count() == 5);
        CHECK(graph.edge_count() == 4);
        CHECK(first_.label() == "first");
        Exec exec = graph.instantiate();
        run(exec, stream_);
        CHECK(read(cells_) == std::vector{2, 13, 113});
        exec.update(first_, cudag::arg<1>(5));
        exec.update(child_.inside(inner_), cudag::arg<2>(20));
        run(exec, stream_);
        CHECK(read(cells_) == std::vector{6, 26, 126});
    }

  private:
    [[nodiscard]] Graph inner() {
        GraphBuilder b;
        inner_ = b.kernel({}, add, cells_.data() + 1, cells_.data(), 11);
        return std::move(b).build();
    }

    cudag::DeviceBuffer<int> cells_ = device({0, 0, 0});
    Stream stream_;
    GraphBuilder b_;
    cudag::KernelNode<int*, int> first_ = b_.kernel({}, store, cells_.data(), 1).label("first");
    CapturedNode region_ = b_.capture(stream_, [this](cudaStream_t s) {
                                 launch(s, {}, add, cells_.data(), cells_.data(), 1);
                             }).after(first_);
    cudag::KernelNode<int*, const int*, int> inner_;
    Graph inner_graph_ = inner();
    cudag::ChildNode child_ = b_.child(inner_graph_).after(region_);
    cudag::KernelNode<> last_ = b_.kernel({}, nothing).after(child_);
};

} // namespace

TEST_CASE("what a captured function throws leaves the builder as it was", "[capture][region]") {
    Survivor survivor;
    const Stream stream;
    CHECK_THROWS_AS(survivor.builder().capture(stream,
                                               [&](cudaStream_t s) {
                                                   launch(s, {}, store, survivor.cell(), 3);
                                                   throw std::out_of_range("half-way");
                                               }),
                    std::out_of_range);
    survivor.run_and_check();
}

TEST_CASE("a function that throws between fork and join leaves the builder as it was", "[capture][region]") {
    Survivor survivor;
    const Stream stream;
    const Stream side;
    CHECK_THROWS_AS(survivor.builder().capture(stream,
                                               [&](StreamCapture& c) {
                                                   c.fork(side);
                                                   launch(side, {}, store, survivor.cell(), 3);
                                                   throw std::out_of_range("half-way");
                                               }),
                    std::out_of_range);
    survivor.run_and_check();
}

TEST_CASE("a broken capture is told, and leaves the builder as it was", "[capture][region]") {
    Survivor survivor;
    const Stream stream;
    const auto mode = GENERATE(cudag::CaptureMode::global, cudag::CaptureMode::thread_local_);
    const auto error = refused<CaptureError>([&] {
        survivor.builder().capture(stream,
                                   [&](cudaStream_t s) {
                                       launch(s, {}, store, survivor.cell(), 3);
                                       allocate_and_forget();
                                   },
                                   {.mode = mode});
    });
    CHECK(error.code() == code_of_broken(cudaErrorStreamCaptureUnsupported));
    CHECK_THAT(error.what(), ContainsSubstring(broken_by("cuMemAlloc_v2")) && !ContainsSubstring("lost"));
    survivor.run_and_check();
}

TEST_CASE("a broken step is named, and the builder is as it was", "[capture][region]") {
    Survivor survivor;
    const Stream stream;
    const auto error = refused<CaptureError>([&] {
        survivor.builder().capture(stream,
                                   [&](StreamCapture& c) { c.step("allocates", [] { allocate_and_forget(); }); });
    });
    CHECK(error.labels() == Labels{"allocates"});
    survivor.run_and_check();
}

TEST_CASE("a fork that is not joined is named, and the builder is as it was", "[capture][region]") {
    Survivor survivor;
    const Stream stream;
    const Stream side;
    const auto error = refused<CaptureError>([&] {
        survivor.builder().capture(stream, [&](StreamCapture& c) {
            c.fork(side);
            launch(side, {}, store, survivor.cell(), 3);
        });
    });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnjoined));
    CHECK_THAT(error.what(), ContainsSubstring("work forked at ") && ContainsSubstring("is not joined"));
    survivor.run_and_check();
}

TEST_CASE("a broken capture to which no nodes were added leaves the builder as it was", "[capture][region][add]") {
    Survivor survivor;
    const Stream stream;
    const Stream side;
    CHECK_THROWS_AS(survivor.builder().capture(stream,
                                               [&](StreamCapture& c) {
                                                   launch(c.stream(), {}, store, survivor.cell(), 3);
                                                   c.add([](GraphBuilder&) {}); // which asks what was recorded
                                                   c.fork(side);
                                                   launch(side, {}, store, survivor.cell(), 3);
                                               }),
                    CaptureError);
    survivor.run_and_check();
}

TEST_CASE("an unjoined stream that cudag did not fork leaves the builder as it was", "[capture][region]") {
    Survivor survivor;
    const Stream stream;
    const Stream side;
    const auto error = refused<CaptureError>([&] {
        survivor.builder().capture(stream, [&](cudaStream_t s) {
            launch(s, {}, nothing);
            fork_and_forget(s, side.get(), survivor.cell());
            launch(s, {}, nothing);
        });
    });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnjoined));
    survivor.run_and_check();
}

TEST_CASE("a stream left unjoined before nodes were asked for leaves the builder as it was", "[capture][region][add]") {
    Survivor survivor;
    const Stream stream;
    const Stream side;
    const auto error = refused<CaptureError>([&] {
        survivor.builder().capture(stream, [&](StreamCapture& c) {
            launch(c.stream(), {}, nothing);
            fork_and_forget(c.stream(), side.get(), survivor.cell());
            c.add([](GraphBuilder&) {}); // which asks what was recorded
            launch(c.stream(), {}, nothing);
        });
    });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnjoined));
    survivor.run_and_check();
}

TEST_CASE("an unjoined stream that alone has recorded something leaves the builder as it was", "[capture][region]") {
    Survivor survivor;
    const Stream stream;
    const Stream side;
    const auto error = refused<CaptureError>([&] {
        survivor.builder().capture(stream, [&](cudaStream_t s) { fork_and_forget(s, side.get(), survivor.cell()); });
    });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnjoined));
    survivor.run_and_check();
}

TEST_CASE("a graph that CUDA cannot clone is lost with a broken capture, by name", "[capture][region]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    const auto alloc = b.alloc<int>(4);
    const auto error = refused<CaptureError>([&] {
        b.capture(stream, [&](cudaStream_t s) {
            launch(s, {}, store, cell.data(), 3);
            allocate_and_forget();
        });
    });
    CHECK_THAT(error.what(), ContainsSubstring(broken_by("cuMemAlloc_v2")) &&
                                 ContainsSubstring("the graph under construction is lost with it") &&
                                 ContainsSubstring("start again with a new GraphBuilder"));
    const auto later = refused<GraphError>([&] { b.kernel({}, nothing); });
    CHECK_THAT(later.what(), ContainsSubstring("the graph under construction was lost when the capture at ") &&
                                 ContainsSubstring("capture_region_errors.cpp"));
    refused<GraphError>([&] { static_cast<void>(std::move(b).build()); });
    refused<GraphError>([&] { b.check(); });
    refused<GraphError>([&] { static_cast<void>(b.condition()); });
    refused<GraphError>([&] { b.capture(stream, [](cudaStream_t) {}); });
    refused<GraphError>([&] { static_cast<void>(alloc.label()); });
    CHECK(cudag::capture(stream, [&](cudaStream_t s) { launch(s, {}, nothing); }).node_count() == 1);
}

TEST_CASE("a graph that CUDA does not clone for its conditions is lost with a capture", "[capture][region]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    SECTION("a condition") {
        b.if_(b.condition(1), [](GraphBuilder&) {});
    }
    SECTION("a condition without a node") {
        static_cast<void>(b.condition(1));
    }
    SECTION("a kernel that others change") {
        b.kernel({.device_updatable = true}, store, cell.data(), 1);
    }
    const auto error = refused<CaptureError>([&] {
        b.capture(stream, [&](cudaStream_t s) {
            launch(s, {}, store, cell.data(), 3);
            allocate_and_forget();
        });
    });
    CHECK_THAT(error.what(), ContainsSubstring("the graph under construction is lost with it, because CUDA destroys "
                                               "the graph of a broken capture, and cannot clone this one"));
    const auto later = refused<GraphError>([&] { b.kernel({}, nothing); });
    CHECK_THAT(later.what(), ContainsSubstring("the graph under construction was lost when the capture at "));
    const auto removal = refused<GraphError>([&] { b.check(); });
    CHECK_THAT(removal.what(), ContainsSubstring("the graph under construction was lost when the capture at "));
}

TEST_CASE("a capture that is broken in a body takes the whole graph with it, by name", "[capture][region]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    const auto before = b.kernel({}, nothing);
    const cudag::Condition condition = b.condition(1);
    const bool caught_inside = GENERATE(false, true);
    std::string told;
    const auto write = [&] {
        b.if_(condition, [&](GraphBuilder& body) {
            try {
                body.capture(stream, [&](cudaStream_t) { allocate_and_forget(); });
            } catch (const CaptureError& error) {
                told = error.what();
                if (!caught_inside) throw;
            }
        });
    };
    if (caught_inside)
        refused<GraphError>(write);
    else
        refused<CaptureError>(write);
    CHECK_THAT(told, ContainsSubstring("the graph under construction is lost with it"));
    const auto later = refused<GraphError>([&] { b.kernel({}, nothing); });
    CHECK_THAT(later.what(), ContainsSubstring("the graph under construction was lost when the capture at "));
    refused<GraphError>([&] { static_cast<void>(std::move(b).build()); });
    refused<GraphError>([&] { static_cast<void>(before.native()); });
}

TEST_CASE("a body takes no captured node that CUDA forbids there, and stays as it was", "[capture][region]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    const cudag::Condition condition = b.condition(1);
    b.if_(condition, [&](GraphBuilder& body) {
         const auto before = body.kernel({}, store, cell.data(), 1);
         const auto error = refused<GraphError>([&] {
             body.capture(stream, [&](StreamCapture& c) {
                 launch(c.stream(), {}, add, cell.data(), cell.data(), 10);
                 c.step("calls back", [](cudaStream_t s) {
                     check(cudaLaunchHostFunc(
                         s, [](void*) {}, nullptr));
                 });
             });
         });
         CHECK(error.labels().size() == 2); // the node's, and that of the conditional, which has none yet
         CHECK(error.labels().front() == "calls back");
         CHECK_THAT(error.what(), ContainsSubstring("capture at ") && ContainsSubstring("host \"calls back\"") &&
                                      ContainsSubstring("CUDA allows no host node in the body of if "));
         body.capture(stream, [&](cudaStream_t s) { launch(s, {}, add, cell.data(), cell.data(), 100); }).after(before);
     }).label("guarded");
    run(std::move(b));
    CHECK(read(cell) == std::vector{101});
}

TEST_CASE("after a region that a body does not take, CUDA gets all edges of the nodes that come in its place",
          "[capture][region]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    cudag::Node first;
    cudag::Node second;
    const auto guarded = b.if_(b.condition(1), [&](GraphBuilder& body) {
        refused<GraphError>([&] {
            body.capture(stream, [&](cudaStream_t s) {
                launch(s, {}, nothing);
                check(cudaLaunchHostFunc(
                    s, [](void*) {}, nullptr));
            });
        });
        first = body.kernel({}, store, cell.data(), 1);
        second = body.kernel({}, add, cell.data(), cell.data(), 10).after(first);
    });
    const Graph graph = std::move(b).build();
    CHECK(native_edges(guarded.body().native()) == NativeEdges{{first.native(), second.native()}});
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cell) == std::vector{11});
}

TEST_CASE("a body that captured an allocation is not kept, though CUDA removes none", "[capture][region]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    const auto before = b.kernel({}, store, cell.data(), 1);
    const cudag::Condition condition = b.condition(1);
    const auto capture_allocation = [&](GraphBuilder& body) {
        body.capture(stream, [](cudaStream_t s) {
            void* memory = nullptr;
            check(cudaMallocAsync(&memory, 4, s));
        });
    };
    const auto error = refused<GraphError>([&] { b.if_(condition, capture_allocation); });
    CHECK_THAT(error.what(), ContainsSubstring("CUDA allows no alloc node in the body of if "));
    const auto kept = refused<GraphError>(
        [&] { b.if_(condition, [&](GraphBuilder& body) { refused<GraphError>([&] { capture_allocation(body); }); }); });
    CHECK_THAT(kept.what(), ContainsSubstring("a node could not be removed"));
    b.if_(condition, [&](GraphBuilder& body) {
         body.capture(stream, [&](cudaStream_t s) { launch(s, {}, add, cell.data(), cell.data(), 10); });
     }).after(before);
    run(std::move(b));
    CHECK(read(cell) == std::vector{11});
}

TEST_CASE("a body captures no stream of another device", "[capture][region][device]") {
    int count = 0;
    check(cudaGetDeviceCount(&count));
    if (count < 2) {
        WARN("skipped: it needs two devices, and there is one");
        return;
    }
    check(cudaSetDevice(1));
    const Stream other;
    check(cudaSetDevice(0));
    const Stream stream;
    GraphBuilder b;
    const cudag::Condition condition = b.condition(1);
    b.if_(condition, [&](GraphBuilder& body) {
        const auto error = refused<GraphError>([&] { body.capture(other, [](cudaStream_t) {}); });
        CHECK_THAT(error.what(), ContainsSubstring("the stream is of device 1, and the body of if ") &&
                                     ContainsSubstring("is on device 0; all its nodes belong there"));
        body.capture(stream, [](cudaStream_t s) { launch(s, {}, nothing); });
    });
    run(std::move(b));
}

TEST_CASE("a body takes no captured copy of pageable memory", "[capture][region]") {
    const auto cell = device({0});
    const int value = 1;
    const Stream stream;
    GraphBuilder b;
    const cudag::Condition condition = b.condition(1);
    const auto error = refused<GraphError>([&] {
        b.if_(condition, [&](GraphBuilder& body) {
            body.capture(stream, [&](cudaStream_t s) {
                check(cudaMemcpyAsync(cell.data(), &value, sizeof value, cudaMemcpyHostToDevice, s));
            });
        });
    });
    CHECK_THAT(error.what(), ContainsSubstring("its host memory is not page-locked"));
    b.if_(condition, [](GraphBuilder&) {}); // as if nothing had been
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("the builder takes nothing else while a region is captured", "[capture][region]") {
    const Stream stream;
    const Stream other;
    GraphBuilder b;
    b.capture(stream, [&](cudaStream_t s) {
        launch(s, {}, nothing);
        const auto node = refused<GraphError>([&] { b.kernel({}, nothing); });
        CHECK_THAT(node.what(), ContainsSubstring("it is added while a stream is captured into the graph at ") &&
                                    ContainsSubstring("enqueue it into that stream"));
        refused<GraphError>([&] { b.capture(other, [](cudaStream_t) {}); });
        const auto build = refused<GraphError>([&] { static_cast<void>(std::move(b).build()); });
        CHECK_THAT(build.what(), ContainsSubstring("build: a stream is captured into the graph at "));
    });
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("only the builder ends the capture of a region", "[capture][region]") {
    const Stream stream;
    GraphBuilder b;
    b.capture(stream, [&](StreamCapture& c) {
        launch(c.stream(), {}, nothing);
        const auto error = refused<CaptureError>([&] { static_cast<void>(std::move(c).finish()); });
        CHECK_THAT(error.what(), ContainsSubstring("the GraphBuilder ends this capture"));
        CHECK(c.status() == cudag::CaptureStatus::active);
    });
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("streams that cannot be captured into a builder are refused, and change nothing", "[capture][region]") {
    const Stream stream;
    GraphBuilder b;
    refused<CaptureError>([&] { b.capture(cudaStreamLegacy, [](cudaStream_t) {}); });
    {
        const StreamCapture busy(stream);
        refused<CaptureError>([&] { b.capture(stream, [](cudaStream_t) {}); });
    }
    const CapturedNode region = b.capture(stream, [](cudaStream_t s) { launch(s, {}, nothing); });
    CHECK(region.nodes().size() == 1);
    CHECK(std::move(b).build().node_count() == 1);
    refused<GraphError>([&] { b.capture(stream, [](cudaStream_t) {}); });
}

TEST_CASE("a body refuses default streams, also while a blocking stream is captured", "[capture][region]") {
    cudaStream_t blocking = nullptr;
    check(cudaStreamCreate(&blocking));
    GraphBuilder b;
    b.if_(b.condition(0), [&](GraphBuilder& body) {
        for (const cudaStream_t stream : {cudaStream_t(), cudaStreamLegacy}) {
            const auto idle = refused<CaptureError>([&] { body.capture(stream, [](cudaStream_t) {}); });
            check(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
            const auto busy = refused<CaptureError>([&] { body.capture(stream, [](cudaStream_t) {}); });
            cudaGraph_t graph = nullptr;
            check(cudaStreamEndCapture(blocking, &graph));
            check(cudaGraphDestroy(graph));
            CHECK(busy.code() == idle.code());
        }
    });
    check(cudaStreamDestroy(blocking));
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("a region cannot come after itself, after a stranger, or after the build", "[capture][region]") {
    const Stream stream;
    GraphBuilder b;
    GraphBuilder other;
    const auto stranger = other.kernel({}, nothing);
    const CapturedNode region = b.capture(stream, [](cudaStream_t s) {
        launch(s, {}, nothing);
        launch(s, {}, nothing);
    });
    const auto node = b.kernel({}, nothing);
    const auto self = refused<GraphError>([&] { region.after(node, region); });
    CHECK_THAT(self.what(), ContainsSubstring("it is in the region captured at ") &&
                                ContainsSubstring("which cannot come after itself"));
    refused<GraphError>([&] { region.after(node, stranger); });
    refused<GraphError>([&] { region.after(cudag::Node()); });
    refused<GraphError>([&] { node.after(CapturedNode()); });
    refused<GraphError>([&] { CapturedNode().after(node); });
    refused<GraphError>([&] { static_cast<void>(CapturedNode().nodes()); });
    const Graph graph = std::move(b).build();
    CHECK(graph.edge_count() == 1);
    refused<GraphError>([&] { region.after(node); });
}

TEST_CASE("a cycle through a region is refused with the labels on it", "[capture][region]") {
    const Stream stream;
    GraphBuilder b;
    const auto node = b.kernel({}, nothing).label("outside");
    const CapturedNode region =
        b.capture(stream, [](cudaStream_t s) { launch(s, {}, nothing); }).label("inside").after(node);
    node.after(region);
    const auto error = refused<GraphError>([&] { static_cast<void>(std::move(b).build()); });
    CHECK_THAT(error.what(), ContainsSubstring("the edges close a cycle") && ContainsSubstring("\"inside\"") &&
                                 ContainsSubstring("\"outside\""));
}
