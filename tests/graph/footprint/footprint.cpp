// The memory of graphs and Execs, known before and after their launches.
#include <cudag/footprint.hpp>

#include <array>

#include "cuda_version.hpp"
#include "test.hpp"

using cudag::arg;
using cudag::CapturePool;
using cudag::copied;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Footprint;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::HostSpan2D;
using cudag::PinnedBuffer;
using cudag::Stream;

namespace {

constexpr std::size_t kib = 1024;

} // namespace

TEST_CASE("memory freed and allocated again in a graph counts once", "[memory][footprint]") {
    constexpr std::size_t bytes = std::size_t{4} << 20U;
    GraphBuilder b;
    const auto first = b.alloc<char>(bytes);
    const auto freed = b.free(first).after(first);
    const auto second = b.alloc<char>(bytes, {.after = {freed}});
    b.free(second).after(second);
    const bool is_reused = first.span().data() == second.span().data();
    const Graph graph = std::move(b).build();
    CHECK(graph.memory().graph_memory_requested == 2 * bytes);
    CHECK(graph.memory().graph_memory == (is_reused ? bytes : 2 * bytes));
    CHECK(is_reused); // as on a GPU
}

TEST_CASE("allocations alive together count both, also inside a child", "[memory][footprint]") {
    if (older_than(12090)) return; // memory moves into a child
    GraphBuilder inner;
    const auto nested = inner.alloc<char>(8 * kib);
    inner.free(nested).after(nested);
    GraphBuilder b;
    const auto first = b.alloc<char>(4 * kib);
    const auto second = b.alloc<char>(4 * kib);
    const auto child = b.child(std::move(inner).build());
    b.free(first).after(first, child);
    b.free(second).after(second, child);
    const Graph graph = std::move(b).build();
    CHECK(graph.memory().graph_memory_requested == 16 * kib);
    CHECK(graph.memory().graph_memory == 16 * kib);
    CHECK(graph.instantiate().memory().graph_memory == 16 * kib);
}

TEST_CASE("memory freed for another graph is not this graph's", "[memory][footprint]") {
    GraphBuilder first;
    const auto memory = first.alloc<char>(kib);
    const Graph allocates = std::move(first).build();
    GraphBuilder second;
    second.free(memory);
    const Graph frees = std::move(second).build();
    CHECK(allocates.memory().graph_memory == kib);
    CHECK(frees.memory().graph_memory == 0);
}

TEST_CASE("buffers given to nodes count once each, spans of others do not", "[memory][footprint]") {
    const DeviceBuffer<int> kept(100), borrowed(1000);
    GraphBuilder b;
    const auto first = b.kernel({}, store, kept, 1);
    const auto second = b.kernel({}, store, kept, 2).after(first);
    b.memset(borrowed.span(), 0).after(second);
    const Graph graph = std::move(b).build();
    CHECK(graph.memory().buffers == 400);
    CHECK(graph.memory().pools.empty());
    CHECK(graph.clone().memory().buffers == 400);
    const Exec exec = graph.instantiate(); // bundles the owners
    CHECK(graph.memory().buffers == 400);
}

TEST_CASE("a pool counts with all its memory, by itself or by one of its buffers", "[memory][footprint]") {
    CapturePool pool("activations"), other("other");
    const auto large = pool.allocate<char>(64 * kib);
    const auto small = pool.allocate<char>(100);
    const auto unused = other.allocate<char>(100);
    GraphBuilder b;
    b.memset(small, 'x');
    Graph graph = std::move(b).build();
    REQUIRE(graph.memory().pools.size() == 1);
    CHECK(graph.memory().pools.front() == pool.memory());
    CHECK_THAT(graph.memory().pools.front().name, StartsWith("CapturePool \"activations\" made at "));
    CHECK(graph.memory().buffers == 0);
    CHECK(graph.memory().device() == graph.memory().executable + pool.reserved_bytes());
    graph.retain(pool);
    CHECK(graph.memory().pools.size() == 1);
    graph.retain(other);
    REQUIRE(graph.memory().pools.size() == 2);
    CHECK(graph.memory().pools.back() == other.memory());
}

TEST_CASE("a pool remembers the most that its buffers have had", "[memory][pool][footprint]") {
    CapturePool pool;
    CHECK(pool.memory().used_high == 0);
    {
        const auto first = pool.allocate<char>(1000);
        const auto second = pool.allocate<char>(500);
        CHECK(pool.memory().used == 1500);
    }
    const auto third = pool.allocate<char>(200);
    const cudag::PoolFootprint memory = pool.memory();
    CHECK(memory.used == 200);
    CHECK(memory.used_high == 1500);
    CHECK(memory.reserved == pool.reserved_bytes());
    CHECK(to_string(memory) == memory.name + ": 1.5 KiB reserved, 200 bytes used, at most 1.5 KiB");
    CapturePool moved = std::move(pool);
    CHECK_THAT(refused<cudag::Error>([&] { static_cast<void>(pool.memory()); }).what(),
               ContainsSubstring("a moved-from CapturePool was used"));
}

TEST_CASE("arguments of kernels count with their padding", "[memory][footprint]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const auto first = b.kernel({}, store, cell, 1);      // a pointer and an int
    b.kernel({}, add, cell, cell.data(), 1).after(first); // two pointers and an int
    b.kernel({}, nothing);
    CHECK(std::move(b).build().memory().parameters == 12 + 20);
}

TEST_CASE("host memory is kept with its owner, otherwise borrowed", "[memory][footprint]") {
    const DeviceBuffer<int> cells(100);
    const PinnedBuffer<int> pinned(100);
    const auto shared = std::make_shared<std::array<int, 10>>();
    std::vector<int> borrowed(100);
    GraphBuilder b;
    auto last = b.memcpy(pinned, cells);
    last = b.memcpy(cells.span().first(3), copied(std::vector{1, 2, 3})).after(last);
    last = b.memcpy(cells.span().first(10), shared).after(last);
    const std::span all(borrowed);
    last = b.memcpy(cells.span().first(60), all.first(60)).after(last);
    last = b.memcpy(cells.span().first(60), all.last(60)).after(last); // 20 of them as well
    const Footprint memory = std::move(b).build().memory();
    CHECK(memory.host_owned == 400 + 12 + 40);
    CHECK(memory.host_borrowed == 400);
    CHECK(memory.host() == memory.host_owned);
}

TEST_CASE("a part of page-locked memory is borrowed until the graph keeps the buffer", "[memory][footprint]") {
    const DeviceBuffer<int> cells(10);
    const PinnedBuffer<int> pinned(100);
    GraphBuilder b;
    b.memcpy(cells, pinned.span().subspan(5, 10));
    Graph graph = std::move(b).build();
    CHECK(graph.memory().host_owned == 0);
    CHECK(graph.memory().host_borrowed == 40);
    graph.retain(pinned);
    CHECK(graph.memory().host_owned == 400);
    CHECK(graph.memory().host_borrowed == 0);
}

TEST_CASE("copies of several rows use host memory from the first byte to the last", "[memory][footprint]") {
    const DeviceBuffer<int> cells(12);
    std::vector<int> host(40);
    GraphBuilder b;
    b.memcpy2d(cudag::DeviceSpan2D<int>(cells.data(), 4, 3), HostSpan2D<const int>(host.data(), 4, 3, 40));
    CHECK(std::move(b).build().memory().host_borrowed == 2 * 40 + 16);
}

TEST_CASE("an Exec counts what its updates brought, and its graph's memory", "[memory][footprint]") {
    const DeviceBuffer<int> first(100);
    std::vector<int> borrowed(50);
    GraphBuilder b;
    const auto node = b.kernel({}, store, first, 1);
    const DeviceBuffer<int> cells(100);
    const auto copy = b.memcpy(cells.span().first(50), borrowed);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK(exec.memory() == graph.memory());
    {
        const DeviceBuffer<int> second(1000);
        exec.update(node, arg<0>(second));
    }
    std::vector<int> longer(100);
    exec.update(copy, cells.span(), longer);
    CHECK(exec.memory().buffers == 400 + 4000);
    CHECK(exec.memory().host_borrowed == 400);
    CHECK(graph.memory().buffers == 400);
    CHECK(graph.memory().host_borrowed == 200);
}

TEST_CASE("an Exec counts the buffers of the graph of a whole update", "[memory][footprint]") {
    const auto make = [](std::size_t count) {
        GraphBuilder b;
        b.kernel({}, store, DeviceBuffer<int>(count), 1);
        return std::move(b).build();
    };
    const Graph graph = make(100);
    Exec exec = graph.instantiate();
    REQUIRE(exec.update(make(1000)).updated());
    CHECK(exec.memory().buffers == 400 + 4000); // the graph of an Exec stays
}

TEST_CASE("the executable grows with the nodes, and with the branches that run at once", "[memory][footprint]") {
    constexpr std::size_t of_branch = 108 * kib, of_node = 2608;
    const auto memory = [](int nodes, bool in_line) {
        GraphBuilder b;
        std::vector<cudag::Node> last;
        for (int i = 0; i < nodes; ++i) {
            const auto node = b.kernel({}, nothing).after(last);
            if (in_line) last = {node};
        }
        return std::move(b).build().memory().executable;
    };
    CHECK(memory(1, true) == of_branch + of_node);
    CHECK(memory(40, true) == of_branch + 40 * of_node);
    CHECK(memory(40, false) == 40 * (of_branch + of_node));
}

TEST_CASE("fills, joins and child nodes add nothing to the executable but their branches", "[memory][footprint]") {
    constexpr std::size_t of_branch = 108 * kib, of_node = 2608;
    const DeviceBuffer<int> cells(2);
    GraphBuilder inner;
    inner.kernel({}, nothing);
    const Graph part = std::move(inner).build();
    GraphBuilder b;
    const auto fill = b.memset(cells.span().first(1), 1), other = b.memset(cells.span().last(1), 1);
    const auto child = b.child(part).after(b.join(fill, other));
    b.child(part).after(child);
    CHECK(std::move(b).build().memory().executable == 2 * of_branch + 2 * of_node);
}

TEST_CASE("the branches of an Exec are those of its plan", "[memory][footprint]") {
    if (older_than(12080)) return; // kernels of cudag's own
    constexpr std::size_t of_branch = 108 * kib;
    GraphBuilder b;
    std::vector<cudag::Node> before;
    for (int layer = 0; layer < 3; ++layer) {
        std::vector<cudag::Node> nodes;
        for (int i = 0; i < 20; ++i)
            nodes.push_back(b.kernel({}, nothing).after(before));
        before = nodes;
    }
    const Graph graph = std::move(b).build();
    CHECK(graph.instantiate({.plan = cudag::Plan::as_written()}).memory().executable == graph.memory().executable);
    CHECK(graph.instantiate().memory().executable > graph.memory().executable + 30 * of_branch); // joins by kernels
}

TEST_CASE("a captured graph is read for its memory", "[memory][capture][footprint]") {
    const Stream stream;
    const DeviceBuffer<int> cell(1);
    const Graph graph = cudag::capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, store, cell.data(), 3); });
    CHECK(graph.memory().parameters == 12);
    CHECK(graph.instantiate().memory().parameters == 12);
}

TEST_CASE("a footprint as text leaves out what is 0", "[memory][footprint]") {
    CHECK(to_string(Footprint{}) == "device: 0 bytes; host: 0 bytes");
    const Footprint memory{.executable = 100 * kib,
                           .graph_memory = 1 << 20,
                           .graph_memory_requested = 3 << 20,
                           .buffers = 1,
                           .pools = {{"CapturePool \"p\" made at a.cpp:1", 5, 6, 2 * kib}},
                           .parameters = 24,
                           .host_owned = 1536,
                           .host_borrowed = std::size_t{5} << 30U};
    CHECK(to_string(memory) ==
          "device: 1.1 MiB (executable 100.0 KiB, graph memory 1.0 MiB of 3.0 MiB requested, buffers 1 byte, "
          "CapturePool \"p\" made at a.cpp:1 2.0 KiB); host: 1.5 KiB (parameters 24 bytes, kept memory 1.5 KiB); "
          "borrowed: 5.0 GiB");
}

TEST_CASE("the memory of moved-from graphs and Execs is refused", "[memory][footprint]") {
    GraphBuilder b;
    b.kernel({}, nothing);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Graph other = std::move(graph);
    const Exec another = std::move(exec);
    CHECK_THAT(refused<cudag::GraphError>([&] { static_cast<void>(graph.memory()); }).what(),
               ContainsSubstring("a moved-from Graph was used"));
    CHECK_THAT(refused<cudag::GraphError>([&] { static_cast<void>(exec.memory()); }).what(),
               ContainsSubstring("a moved-from Exec was used"));
}
