// What nodes keep when their graph is written again.
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attributes.hpp"
#include "cuda_version.hpp"
#include "memory_nodes.hpp"
#include "native.hpp"

using cudag::AllocNode;
using cudag::CapturePool;
using cudag::DynamicParam;
using cudag::Edge;
using cudag::EdgeKind;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::HostError;
using cudag::programmatic;
using cudag::Stream;

namespace {

/// Ends a graph that CUDA does not clone, because it has a conditional.
Graph built_with_conditional(GraphBuilder&& b) {
    b.if_(b.condition(0), [](GraphBuilder&) {});
    return std::move(b).build();
}

/// A device other than the first, if there is one.
int last_device() {
    int count = 0;
    cudag::check(cudaGetDeviceCount(&count));
    return count - 1;
}

template <class T>
cudag::DeviceSpan<T> memory_of(const Graph& graph, const char* label) {
    return graph.find(label).at(0).as<AllocNode<T>>().span();
}

} // namespace

TEST_CASE("edges that are written again keep their kinds", "[builder][written]") {
    const auto cells = device({0});
    GraphBuilder b;
    const auto x = b.kernel({}, store, cells, 1).label("x");
    b.kernel({}, nothing).label("y").after(programmatic(x));
    const Graph clone = built_with_conditional(std::move(b)).clone();
    CHECK(clone.edges() == std::vector<Edge>{{clone.find("x").at(0), clone.find("y").at(0), EdgeKind::programmatic}});
}

TEST_CASE("nodes that are written again declare their accesses", "[builder][written][races]") {
    const auto cells = device({0});
    GraphBuilder b({.races = cudag::Races::allowed});
    b.kernel({}, nothing).writes(cells);
    b.kernel({}, nothing).reads(cells);
    const Graph graph = built_with_conditional(std::move(b));
    CHECK(graph.races().size() == 1);
    CHECK(graph.clone().races().size() == 1);
}

TEST_CASE("declared accesses to graph memory that is written again are those of the copy",
          "[builder][written][races]") {
    GraphBuilder b({.races = cudag::Races::allowed});
    const auto memory = b.alloc<int>(1).label("memory");
    const auto kernel = b.kernel({}, nothing).writes(memory.span()).after(memory);
    const auto fill = b.memset(memory.span(), 1).after(memory);
    b.free(memory).after(kernel, fill);
    const Graph graph = std::move(b).build();
    CHECK(graph.races().size() == 1);
    CHECK(graph.clone().races().size() == 1);
}

TEST_CASE("a host function that is written again has its exception reported", "[builder][written][host]") {
    GraphBuilder b;
    b.host([] { throw std::runtime_error("mine"); }).label("throwing");
    const Graph clone = built_with_conditional(std::move(b)).clone();
    Exec exec = clone.instantiate();
    const Stream stream;
    exec.launch(stream);
    const auto error = refused<HostError>([&] { stream.synchronize(); });
    CHECK_THAT(error.what(), ContainsSubstring("throwing") && ContainsSubstring("mine"));
}

TEST_CASE("a kernel that is inlined behind other nodes follows its DynamicParam", "[builder][written][update]") {
    const auto cells = device({0, 0});
    DynamicParam<int> value(1);
    GraphBuilder b;
    b.kernel({}, store, cells, value);
    const Graph graph = std::move(b).build();
    GraphBuilder c;
    c.kernel({}, store, cells.data() + 1, 3);
    c.inline_graph(graph);
    Exec exec = std::move(c).build().instantiate();
    value.set(6, exec);
    run(exec, Stream());
    CHECK(read(cells) == std::vector{6, 3});
}

TEST_CASE("a graph that is written again keeps the owners of updated nodes", "[builder][written][owners]") {
    const auto watched = [](std::weak_ptr<int>& watcher) {
        auto value = std::make_shared<int>(7);
        watcher = value;
        return [value = std::move(value)] {};
    };
    std::weak_ptr<int> first, second, nested;
    GraphBuilder inner;
    inner.host([] {}).label("inside");
    const Graph part = std::move(inner).build();
    GraphBuilder b;
    const auto host = b.host([] {});
    b.child(part);
    Graph graph = built_with_conditional(std::move(b));
    graph.update(host, watched(first));
    const auto inside = graph.find("inside").at(0).as<cudag::HostNode>();
    graph.update(inside, watched(nested));
    const Graph clone = graph.clone();
    graph.update(host, watched(second));
    graph.update(inside, [] {});
    CHECK_FALSE(first.expired()); // the clone's
    CHECK_FALSE(second.expired());
    CHECK_FALSE(nested.expired());
}

TEST_CASE("a graph that is written again has the pool of its original", "[builder][written]") {
    const CapturePool pool;
    GraphBuilder b;
    b.retain(pool);
    const Graph graph = built_with_conditional(std::move(b));
    REQUIRE(graph.pool() == pool.id());
    CHECK(graph.clone().pool() == pool.id());
    GraphBuilder c;
    c.inline_graph(graph);
    CHECK(std::move(c).build().pool() == pool.id());
}

TEST_CASE("an alloc node that is written again keeps its options, and reuses memory freed before it",
          "[builder][written][memory]") {
    GraphBuilder b;
    const auto first = b.alloc<int>(1, {.peers = {last_device()}, .max_pool_bytes = 1 << 25}).label("first");
    const auto freed = b.free(first).after(first);
    const auto second = b.alloc<int>(1, {.after = {freed}}).label("second");
    b.free(second).after(second);
    const Graph graph = std::move(b).build();
    REQUIRE(memory_of<int>(graph, "first").data() == memory_of<int>(graph, "second").data());
    const Graph clone = graph.clone();
    CHECK(memory_of<int>(clone, "first").data() == memory_of<int>(clone, "second").data());
    const cudaMemAllocNodeParams before = alloc_params(graph.find("first").at(0));
    const cudaMemAllocNodeParams after = alloc_params(clone.find("first").at(0));
    CHECK(after.accessDescCount == before.accessDescCount);
    CHECK(after.poolProps.maxSize == before.poolProps.maxSize);
}

TEST_CASE("a graph that leaves memory at an address that it has used before is written again",
          "[builder][written][memory]") {
    GraphBuilder b;
    const auto first = b.alloc<int>(1).label("first");
    const auto freed = b.free(first).after(first);
    const auto second = b.alloc<int>(1, {.after = {freed}}).label("second");
    b.kernel({}, store, second.span().data(), 7).after(second);
    const Graph graph = std::move(b).build();
    REQUIRE(memory_of<int>(graph, "first").data() == memory_of<int>(graph, "second").data());
    const Graph clone = graph.clone();
    CHECK(clone.find_one(store).get<0>() == memory_of<int>(clone, "second").data());
}

TEST_CASE("fills and copies of several dimensions in graph memory use that of the copy", "[builder][written][memory]") {
    const auto out = device({0, 0, 0, 0});
    GraphBuilder b;
    const auto memory = b.alloc<int>(8).label("memory");
    const cudag::DeviceSpan<int> cells = memory.span();
    const auto fill = b.memset(cells.first(2), 5).label("fill").after(memory);
    const auto inside =
        b.memcpy2d(cudag::DeviceSpan2D<int>(cells.subspan(4, 4), 2, 2), cudag::DeviceSpan2D<int>(cells.first(4), 2, 2))
            .label("inside")
            .after(fill);
    const auto copy = b.memcpy(out, cells.subspan(4, 4)).label("out").after(inside);
    b.free(memory).after(copy);
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone();
    const auto of_clone = memory_of<int>(clone, "memory");
    CHECK(clone.find("fill").at(0).as<cudag::MemsetNode>().destination() == of_clone.data());
    const cudaMemcpy3DParms inside_params = memcpy_params(clone.find("inside").at(0));
    CHECK(inside_params.srcPtr.ptr == of_clone.data());
    CHECK(inside_params.dstPtr.ptr == of_clone.data() + 4);
    CHECK(memcpy_params(clone.find("out").at(0)).srcPtr.ptr == of_clone.data() + 4);
    Exec exec = clone.instantiate();
    run(exec, Stream());
    CHECK(read(out.span().first(2)) == std::vector{5, 5});
}

TEST_CASE("a pointer to the end of graph memory becomes the end of the copy's", "[builder][written][memory]") {
    const cudag::DeviceBuffer<std::uint64_t> out(1);
    GraphBuilder b;
    const auto memory = b.alloc<std::uint64_t>(2).label("memory");
    std::uint64_t* const begin = memory.span().data();
    const auto kernel = b.kernel({}, write_address, begin, static_cast<const void*>(begin + 2)).after(memory);
    const auto copy = b.memcpy(out, memory.span().first(1)).after(kernel);
    b.free(memory).after(copy);
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone();
    const auto of_clone = memory_of<std::uint64_t>(clone, "memory");
    REQUIRE(of_clone.data() != begin);
    CHECK(clone.find_one(write_address).get<1>() == of_clone.data() + 2);
}

TEST_CASE("the access policy of a kernel follows graph memory that is written again", "[builder][written][memory]") {
    GraphBuilder b;
    const auto memory = b.alloc<int>(64).label("memory");
    const auto kernel = b.kernel({.access_policy = cudag::AccessPolicy{.memory = as_bytes(memory.span())}}, nothing)
                            .label("kernel")
                            .after(memory);
    b.free(memory).after(kernel);
    const Graph clone = std::move(b).build().clone();
    CHECK(policy_of(clone.find("kernel").at(0)).base_ptr == memory_of<int>(clone, "memory").data());
}

TEST_CASE("an address in graph memory that is allocated by a later node is refused by name",
          "[builder][written][memory][errors]") {
    const auto cells = device({0});
    GraphBuilder b;
    const auto kernel = b.kernel({}, store, cells.data(), 1).label("early");
    const auto memory = b.alloc<int>(1).label("late");
    kernel.after(memory);
    b.free(memory).after(kernel);
    Graph graph = std::move(b).build();
    graph.update(kernel, cudag::arg<0>(memory.span().data()));
    const auto error = refused<GraphError>([&] { static_cast<void>(graph.clone()); });
    CHECK_THAT(error.what(),
               ContainsSubstring("early") && ContainsSubstring("late") && ContainsSubstring("which was made later"));
}

TEST_CASE("a declared access to graph memory that is allocated by a later node is refused by name",
          "[builder][written][memory][errors]") {
    GraphBuilder b;
    const auto kernel = b.kernel({}, nothing).label("early");
    const auto memory = b.alloc<int>(1).label("late");
    kernel.writes(memory.span()).after(memory);
    b.free(memory).after(kernel);
    const Graph graph = std::move(b).build();
    const auto error = refused<GraphError>([&] { static_cast<void>(graph.clone()); });
    CHECK_THAT(error.what(), ContainsSubstring("early") && ContainsSubstring("which was made later"));
}

TEST_CASE("a clone that is written again refuses races as its original does", "[builder][written][races][errors]") {
    const auto cells = device({0});
    const auto others = device({0});
    GraphBuilder b;
    b.kernel({}, store, cells, 1);
    const auto second = b.kernel({}, store, others, 2);
    const Graph graph = built_with_conditional(std::move(b));
    const Graph clone = graph.clone();
    Exec exec = clone.instantiate();
    refused<cudag::RaceError>([&] { exec.update(clone.counterpart(second), cells, 2); });
}

TEST_CASE("graph memory that a child frees is freed by the child of the copy", "[builder][written][memory][child]") {
    if (older_than(12090)) return;
    GraphBuilder b;
    const auto memory = b.alloc<int>(1).label("memory");
    GraphBuilder freeing;
    freeing.free(memory).label("end");
    add_child(b, std::move(freeing).build()).after(memory);
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone();
    CHECK(freed_address(clone.find("end").at(0)) == memory_of<int>(clone, "memory").data());
}
