// What handles tell of their nodes: neighbours, memory, values, events, semaphores, addresses; pools of graphs.
#include <cstdint>
#include <utility>
#include <vector>

#include "conditional_kernels.hpp"
#include "memory_nodes.hpp"
#include "native.hpp"
#include "native_nodes.hpp"

using cudag::ArraySpan;
using cudag::capture;
using cudag::CaptureError;
using cudag::CaptureOptions;
using cudag::CapturePool;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::DeviceSpan2D;
using cudag::DeviceSpan3D;
using cudag::Event;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::MemcpyNode;
using cudag::MemoryNodes;
using cudag::MemsetNode;
using cudag::Node;
using cudag::PinnedBuffer;
using cudag::PoolId;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

using Nodes = std::vector<Node>;

void allocate_in(cudaStream_t stream) {
    void* memory = nullptr;
    check(cudaMallocAsync(&memory, 64, stream));
    check(cudaFreeAsync(memory, stream));
}

} // namespace

TEST_CASE("a node names its neighbours, each once, in the order of their edges", "[graph][values]") {
    GraphBuilder b;
    const auto x = b.kernel({}, nothing);
    const auto y = b.kernel({}, nothing);
    const auto z = b.kernel({}, nothing).after(y).after(x).after(y);
    CHECK(z.predecessors() == Nodes{y, x});
    CHECK(z.successors().empty());
    CHECK(x.predecessors().empty());
    b.remove(x);
    CHECK(z.predecessors() == Nodes{y});
    const auto w = b.kernel({}, nothing).after(y);
    const Graph graph = std::move(b).build();
    CHECK(y.successors() == Nodes{z, w});
    CHECK(z.predecessors() == Nodes{y});
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(x.successors()); }).what(), ContainsSubstring("removed"));
    CHECK_THROWS_AS(Node().predecessors(), GraphError);
}

TEST_CASE("a captured node names its neighbours", "[capture][values]") {
    const Stream stream;
    const Graph graph = capture(stream, [](cudaStream_t s) {
        cudag::launch(s, {}, nothing);
        cudag::launch(s, {}, nothing);
    });
    const Nodes nodes = graph.nodes();
    REQUIRE(nodes.size() == 2);
    CHECK(nodes[0].successors() == Nodes{nodes[1]});
    CHECK(nodes[1].predecessors() == Nodes{nodes[0]});
}

TEST_CASE("a copy tells its memory, also after an update of the graph", "[graph][memcpy][values]") {
    const DeviceBuffer<int> x(4);
    const DeviceBuffer<int> y(4);
    std::vector<int> host(4);
    GraphBuilder b;
    const MemcpyNode node = b.memcpy(x, host);
    CHECK(node.destination() == x.data());
    CHECK(node.source() == host.data());
    CHECK(node.bytes() == 4 * sizeof(int));
    Graph graph = std::move(b).build();
    graph.update(node, y.span().first(2), std::span(host).last(2));
    CHECK(node.destination() == y.data());
    CHECK(node.source() == host.data() + 2);
    CHECK(node.bytes() == 2 * sizeof(int));
}

TEST_CASE("a copy of several rows tells the first byte on both sides, and its bytes without padding",
          "[graph][memcpy][values]") {
    const DeviceBuffer<int> from(24);
    const DeviceBuffer<int> to(24);
    GraphBuilder b;
    const auto rows =
        b.memcpy2d(DeviceSpan2D<int>(to, 3, 4).subspan(1, 1, 2, 2), DeviceSpan2D<int>(from, 3, 4).subspan(0, 2, 2, 2));
    CHECK(rows.destination() == to.data() + 4);
    CHECK(rows.source() == from.data() + 6);
    CHECK(rows.bytes() == 4 * sizeof(int));
    const Graph graph = std::move(b).build();
    CHECK(graph.nodes().at(0).as<MemcpyNode>().source() == from.data() + 6);

    cudaGraph_t native = nullptr; // positions, as other code writes them
    check(cudaGraphCreate(&native, 0));
    Graph adopted = [&] {
        cudaMemcpy3DParms params{};
        params.srcPtr = {from.data(), 16, 16, 3};
        params.srcPos = {4, 1, 1};
        params.dstPtr = {to.data(), 16, 16, 3};
        params.dstPos = {0, 1, 0};
        params.extent = {8, 2, 1};
        params.kind = cudaMemcpyDeviceToDevice;
        add_native_memcpy(native, {}, params);
        return Graph::adopt(native);
    }();
    const auto box = adopted.nodes().at(0).as<MemcpyNode>();
    CHECK(box.source() == from.data() + 12 + 4 + 1);
    CHECK(box.destination() == to.data() + 4);
    CHECK(box.bytes() == 16);
}

TEST_CASE("a copy of an array has no address there, and counts its bytes", "[graph][memcpy][array][values]") {
    const cudaChannelFormatDesc shorts = cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindSigned);
    cudaArray_t array = nullptr;
    check(cudaMalloc3DArray(&array, &shorts, make_cudaExtent(4, 2, 0)));
    {
        struct Pair {
            short x, y;
        };
        const DeviceBuffer<Pair> memory(8);
        GraphBuilder b;
        const auto in = b.memcpy2d(ArraySpan<Pair>(array), DeviceSpan2D<Pair>(memory, 4, 2));
        CHECK(in.destination() == nullptr);
        CHECK(in.source() == memory.data());
        CHECK(in.bytes() == 32);
    }
    CHECK(cudaFreeArray(array) == cudaSuccess);
}

TEST_CASE("a fill tells its memory and its value", "[graph][memset][values]") {
    const DeviceBuffer<float> x(6);
    const DeviceBuffer<double> d(3);
    GraphBuilder b;
    const MemsetNode ones = b.memset(x, 1.0F);
    CHECK(ones.destination() == x.data());
    CHECK(ones.bytes() == 24);
    CHECK(ones.value() == 0x3f800000U);
    CHECK(ones.element_bytes() == 4);
    const MemsetNode zeros = b.memset(d, 0.0);
    CHECK(zeros.bytes() == 24);
    CHECK(zeros.element_bytes() <= 4);
    Graph graph = std::move(b).build();
    graph.update(ones, x.span().first(2), -1.0F);
    CHECK(ones.value() == 0xbf800000U);
    CHECK(ones.bytes() == 8);

    GraphBuilder rows;
    const DeviceBuffer<char> area(12);
    const auto part = rows.memset2d(DeviceSpan2D<char>(area, 3, 4).subspan(1, 1, 2, 2), 'x');
    CHECK(part.destination() == area.data() + 4);
    CHECK(part.bytes() == 4);
    CHECK(part.value() == 'x');
    CHECK(part.element_bytes() == 1);
}

TEST_CASE("event nodes tell their event", "[event][values]") {
    Event first;
    Event second;
    GraphBuilder b;
    const auto mark = b.record(first);
    const auto ready = b.wait(second);
    Graph graph = std::move(b).build();
    CHECK(mark.event() == first.get());
    CHECK(ready.event() == second.get());
    graph.update(mark, second);
    CHECK(mark.event() == second.get());
}

TEST_CASE("alloc and free nodes tell their memory", "[memory][values]") {
    GraphBuilder b;
    const auto memory = b.alloc<float>(100);
    const auto freed = b.free(memory).after(memory);
    CHECK(memory.address() == memory.span().data());
    CHECK(memory.address() == alloc_params(memory).dptr);
    CHECK(memory.bytes() == 400);
    CHECK(memory.device() == 0);
    CHECK(freed.address() == memory.address());
    const Graph graph = std::move(b).build();
    CHECK(graph.nodes().at(1).as<cudag::FreeNode>().address() == freed_address(freed));
}

TEST_CASE("a builder counts its nodes, without those inside", "[builder][values]") {
    GraphBuilder b;
    CHECK(b.node_count() == 0);
    const auto condition = b.condition(0);
    b.if_(condition, [](GraphBuilder& body) {
        body.kernel({}, nothing);
        body.kernel({}, nothing);
        CHECK(body.node_count() == 2);
    });
    CHECK(b.node_count() == 1);
    b.remove(b.kernel({}, nothing));
    CHECK(b.node_count() == 1);
    static_cast<void>(std::move(b).build());
    CHECK_THROWS_AS(b.node_count(), GraphError);
}

TEST_CASE("whether a stream is captured is told for any capture, also a broken one", "[capture][values]") {
    const Stream stream;
    CHECK_FALSE(cudag::is_capturing(stream));
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeRelaxed));
    CHECK(cudag::is_capturing(stream));
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.get(), &graph));
    check(cudaGraphDestroy(graph));
    CHECK_FALSE(cudag::is_capturing(stream));
    {
        const StreamCapture broken(stream);
        static_cast<void>(cudaStreamSynchronize(stream.get()));
        static_cast<void>(cudaGetLastError());
        CHECK(cudag::is_capturing(stream));
    }
    CHECK_FALSE(cudag::is_capturing(stream));
}

TEST_CASE("a graph tells its pool, as clones do; a buffer of one is no pool", "[memory][pool][values]") {
    const Stream stream;
    CapturePool pool;
    const CapturePool other;
    const auto work = [](cudaStream_t s) { cudag::launch(s, {}, nothing); };
    const Graph given = capture(stream, work, {.pool = pool.id()});
    CHECK(given.pool() == pool.id());
    CHECK(given.clone().pool() == pool.id());
    CHECK(capture(stream, work).pool() == PoolId());
    const Graph kept = capture(stream, [&](StreamCapture& c) {
        work(c.stream());
        c.retain(pool);
    });
    CHECK(kept.pool() == pool.id());

    GraphBuilder b;
    b.kernel({}, nothing);
    const DeviceBuffer<int> buffer = pool.allocate<int>(4);
    b.retain(buffer);
    Graph built = std::move(b).build();
    CHECK(built.pool() == PoolId());
    built.retain(pool);
    built.retain(other);
    CHECK(built.pool() == pool.id());
}

TEST_CASE("a pool counts what record keeps", "[memory][pool][values]") {
    CapturePool pool;
    CHECK(pool.recorded_count() == 0);
    pool.record(DeviceBuffer<int>(1), std::make_shared<int>(2));
    pool.record(std::shared_ptr<int>());
    CHECK(pool.recorded_count() == 2);
    CHECK(pool.count() == 0);
    pool.clear();
    CHECK(pool.recorded_count() == 0);
}

TEST_CASE("a capture that refuses memory nodes names the step", "[capture][values]") {
    const Stream stream;
    const CaptureOptions options{.memory_nodes = MemoryNodes::refused};
    const auto error = refused<CaptureError>([&] {
        StreamCapture c(stream, options);
        c.step("free of them", [&](cudaStream_t s) { cudag::launch(s, {}, nothing); });
        c.step("library", [&](cudaStream_t s) { allocate_in(s); });
    });
    CHECK(error.labels() == Labels{"library"});
    CHECK_THAT(error.what(), ContainsSubstring("step \"library\" at "));
    CHECK_THAT(error.what(), ContainsSubstring("an allocation of graph memory was recorded, by cudaMallocAsync"));
    CHECK_THAT(error.what(), ContainsSubstring("use a CapturePool"));
    CHECK_FALSE(cudag::is_capturing(stream));

    CHECK_THAT(refused<CaptureError>([&] { static_cast<void>(capture(stream, allocate_in, options)); }).what(),
               ContainsSubstring("finish: an allocation of graph memory"));
    CHECK_FALSE(cudag::is_capturing(stream));
    const Graph graph = capture(
        stream, [](cudaStream_t s) { cudag::launch(s, {}, nothing); }, options);
    CHECK(graph.node_count() == 1);
    CHECK(capture(stream, allocate_in).node_count() == 2);
}

TEST_CASE("a region that refuses memory nodes names them; a builder that CUDA has kept them in cannot go on",
          "[builder][capture][values]") {
    const Stream stream;
    const CaptureOptions options{.memory_nodes = MemoryNodes::refused};
    GraphBuilder b;
    b.capture(
        stream, [](cudaStream_t s) { cudag::launch(s, {}, nothing); }, options);
    CHECK_THAT(refused<CaptureError>([&] { b.capture(stream, allocate_in, options); }).what(),
               ContainsSubstring("an allocation of graph memory was recorded"));
    CHECK(b.node_count() == 1);
    CHECK_FALSE(cudag::is_capturing(stream));
    CHECK_THAT(refused<GraphError>([&] { b.check(); }).what(), ContainsSubstring("write the graph again"));
}
