// What is alive in CUDA before and after: the CPU runtime counts it.
#include <cudart_cpu/control.hpp>

#include <chrono>
#include <optional>
#include <thread>

#include "cuda_version.hpp"
#include "gate.hpp"

using cudag::arg;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Stream;

namespace {

/// Whether everything made since `before` is gone, at the latest once the device has come to rest.
bool all_gone(const cudart_cpu::LiveCounts& before) {
    for (int attempt = 0; attempt < 2000; ++attempt) {
        cudag::check(cudaDeviceSynchronize());
        Stream().synchronize();
        if (cudart_cpu::live() == before) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}

/// A builder with a node of every kind and owners.
GraphBuilder pipeline() {
    const DeviceBuffer<int> cells(2);
    const cudag::PinnedBuffer<int> host(2);
    GraphBuilder b;
    const auto clear = b.memset(cells, 1);
    const auto fill = b.kernel({}, store, cells, 2).after(clear);
    const auto down = b.memcpy(host, cells).after(fill);
    const auto call = b.host([] {}).after(fill);
    b.join(down, call);
    return b;
}

} // namespace

TEST_CASE("a graph, its clones and execs leave nothing behind", "[owners]") {
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    {
        const Graph graph = pipeline().build();
        const Graph clone = graph.clone();
        Exec first = graph.instantiate();
        Exec second = clone.instantiate();
        const Stream stream;
        run(first, stream);
        run(second, stream);
        CHECK_FALSE(cudart_cpu::live() == before);
    }
    CHECK(all_gone(before));
}

TEST_CASE("a builder that is dropped or refused leaves nothing behind", "[owners]") {
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    {
        GraphBuilder dropped = pipeline();
        GraphBuilder b = pipeline();
        const auto one = b.kernel({}, nothing);
        const auto two = b.kernel({}, nothing).after(one);
        one.after(two);
        static_cast<void>(refused<GraphError>([&] { static_cast<void>(std::move(b).build()); }));
    }
    CHECK(all_gone(before));
}

TEST_CASE("updates and launches in flight leave nothing behind", "[owners][update]") {
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    {
        const DeviceBuffer<int> cell(1);
        const Stream stream;
        Gate gate;
        GraphBuilder b;
        const auto wait = b.host(gate.node());
        const auto node = b.kernel({}, store, cell, 1).after(wait);
        Exec exec = std::move(b).build().instantiate();
        for (int i = 0; i < 3; ++i) {
            exec.update(node, arg<0>(DeviceBuffer<int>(1)));
            exec.launch(stream);
        }
        gate.wait_until_entered();
    }
    CHECK(all_gone(before));
}

TEST_CASE("a graph that is adopted goes with its Graph", "[graph][adopt]") {
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    {
        const Graph graph = pipeline().build();
        cudaGraph_t copy = nullptr;
        cudag::check(cudaGraphClone(&copy, graph.native()));
        std::optional<Graph> adopted = Graph::adopt(copy);
        const std::size_t graphs = cudart_cpu::live().graphs;
        adopted.reset();
        CHECK(cudart_cpu::live().graphs == graphs - 1);
    }
    CHECK(all_gone(before));
}

TEST_CASE("looking at a graph makes nothing", "[graph]") {
    const Graph graph = pipeline().build();
    static_cast<void>(graph.native()); // edges and owners reach CUDA here
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    static_cast<void>(graph.nodes());
    static_cast<void>(graph.edges());
    static_cast<void>(graph.find("none"));
    static_cast<void>(graph.find(store));
    static_cast<void>(graph.dot());
    static_cast<void>(graph.native());
    CHECK(cudart_cpu::live() == before);
}

TEST_CASE("children and conditionals leave nothing behind", "[owners]") {
    if (older_than(12090)) return;
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    {
        const DeviceBuffer<int> cell(1);
        GraphBuilder inner;
        inner.kernel({}, store, cell, 1);
        Graph child = std::move(inner).build();
        GraphBuilder b;
        const auto cloned = b.child(child);
        const auto moved = b.child(std::move(child)).after(cloned);
        b.if_(b.condition(1), [&](GraphBuilder& body) { body.kernel({}, store, cell, 2); }).after(moved);
        Exec exec = std::move(b).build().instantiate();
        run(exec, Stream());
    }
    CHECK(all_gone(before));
}

TEST_CASE("a body that throws leaves nothing behind", "[owners]") {
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    {
        GraphBuilder b;
        const auto condition = b.condition(1);
        const auto body = [](GraphBuilder& outer) {
            outer.kernel({}, store, DeviceBuffer<int>(1), 1);
            outer.if_(outer.condition(1), [](GraphBuilder&) { throw 5; });
        };
        CHECK_THROWS_AS(b.while_(condition, body), int);
        CHECK_THROWS_AS(b.while_(condition, body), int);
    }
    CHECK(all_gone(before));
}

TEST_CASE("graphed functions leave nothing behind: evicted, failed, in flight", "[owners]") {
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    {
        const std::vector one{1};
        const std::vector two{1, 2};
        const Stream stream;
        int calls = 0;
        cudag::GraphedFunction f([&](cudaStream_t s, cudag::DeviceSpan<const int> in) {
            const cudag::ThreadCaptureMode allow_allocation(cudag::CaptureMode::relaxed);
            DeviceBuffer<int> output(1);
            cudag::launch(s, {}, sum, output, in);
            if (++calls == 3 || calls == 5) throw calls;
            return output;
        });
        f.forward(stream, one);
        CHECK_THROWS_AS(f.forward(stream, two), int); // in the warm-up
        CHECK_THROWS_AS(f.forward(stream, two), int); // in the capture
        f.forward(stream, two);                       // evicts the first shape
        f.forward(stream, two);
        CHECK(calls == 7);
    }
    CHECK(all_gone(before));
}
