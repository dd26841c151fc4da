// Graphs with memory nodes: one Exec at a time, and a child only if they are moved.
#include <optional>
#include <utility>

#include "cuda_version.hpp"
#include "memory_nodes.hpp"

using cudag::AllocNode;
using cudag::Event;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::InstantiateError;
using cudag::Stream;

namespace {

/// alloc "memory" -> fill with `value` -> copy to `result` -> free.
Graph filled_copy(const cudag::DeviceBuffer<int>& result, int value) {
    GraphBuilder b;
    const auto alloc = b.alloc<int>(result.size()).label("memory");
    const auto fill = b.memset(alloc.span(), value).label("fill").after(alloc);
    const auto copy = b.memcpy(result, alloc.span()).after(fill);
    b.free(alloc).after(copy);
    return std::move(b).build();
}

} // namespace

TEST_CASE("a graph with memory nodes has one Exec at a time", "[memory][rules]") {
    const auto result = device({0});
    const Graph graph = filled_copy(result, 5);
    std::optional<Exec> exec = graph.instantiate();
    const auto error = refused<InstantiateError>([&] { static_cast<void>(graph.instantiate()); });
    CHECK(error.code() == cuda_code(cudaErrorNotSupported));
    CHECK(error.labels() == Labels{"memory"});
    CHECK_THAT(error.what(), ContainsSubstring("alloc \"memory\" at ") && ContainsSubstring("one Exec at a time"));
    exec.reset();
    exec = graph.instantiate();
    run(*exec, Stream());
    CHECK(read(result) == std::vector{5});
}

TEST_CASE("a graph that frees another's memory has one Exec at a time", "[memory][rules]") {
    GraphBuilder owner;
    const auto alloc = owner.alloc<int>(1);
    GraphBuilder b;
    b.free(alloc).label("end");
    const Graph graph = std::move(b).build();
    const Exec exec = graph.instantiate();
    CHECK(refused<InstantiateError>([&] { static_cast<void>(graph.instantiate()); }).labels() == Labels{"end"});
}

TEST_CASE("nodes beside memory nodes can be updated", "[memory][rules]") {
    const auto result = device({0});
    Graph graph = filled_copy(result, 5);
    Exec exec = graph.instantiate();
    const auto fill = graph.find("fill").at(0).as<cudag::MemsetNode>();
    const auto memory = graph.find("memory").at(0).as<AllocNode<int>>();
    exec.update(fill, memory.span(), 6);
    const Stream stream;
    run(exec, stream);
    CHECK(read(result) == std::vector{6});
    graph.update(fill, memory.span(), 7);
    CHECK(exec.apply(graph) == 1);
    run(exec, stream);
    CHECK(read(result) == std::vector{7});
}

TEST_CASE("a graph with memory nodes becomes a child by move", "[memory][rules]") {
    if (older_than(12090)) return;
    const auto result = device({0});
    Graph inner = filled_copy(result, 5);
    const auto alloc = inner.find("memory").at(0);
    GraphBuilder b;
    b.child(std::move(inner)).label("child");
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 1);
    CHECK(alloc.label() == "memory");
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(result) == std::vector{5});
    CHECK(refused<InstantiateError>([&] { static_cast<void>(graph.instantiate()); }).labels() == Labels{"memory"});
    const Graph clone = graph.clone();
    Exec second = clone.instantiate();
    run(second, Stream());
    CHECK(clone.counterpart(alloc).label() == "memory");
}

TEST_CASE("a use inside a child is ordered by its child node", "[memory][rules]") {
    if (older_than(12090)) return;
    const auto result = device({0});
    GraphBuilder b;
    const auto alloc = b.alloc<int>(1).label("memory");
    GraphBuilder body;
    body.memset(alloc.span(), 9).label("inner fill");
    const auto child = b.child(std::move(body).build()).label("child");
    const auto copy = b.memcpy(result, alloc.span()).after(alloc, child);
    b.free(alloc).after(copy);
    const auto error = refused<GraphError>([&] { b.check(); });
    CHECK(error.labels() == Labels{"inner fill", "memory"});
    CHECK_THAT(error.what(), ContainsSubstring("memset \"inner fill\" inside child \"child\" at ") &&
                                 ContainsSubstring("let child \"child\" at ") &&
                                 ContainsSubstring(" come .after(alloc \"memory\" at "));
    child.after(alloc);
    run(std::move(b));
    CHECK(read(result) == std::vector{9});
}

TEST_CASE("memory that a child does not free is explained, too", "[memory][rules]") {
    if (older_than(12090)) return;
    GraphBuilder body;
    const auto alloc = body.alloc<int>(1).label("kept");
    GraphBuilder b;
    b.child(std::move(body).build());
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    run(exec, stream);
    CHECK_THAT(refused<cudag::Error>([&] { exec.launch(stream); }).what(), ContainsSubstring("alloc \"kept\" inside "));
    cudag::check(cudaFree(alloc.span().data()));
    run(exec, stream);
    cudag::check(cudaFree(alloc.span().data()));
}

TEST_CASE("kinds that bodies do not take are refused there by name", "[memory][rules][conditional]") {
    Event event;
    GraphBuilder other;
    const auto foreign = other.alloc<int>(1);
    const auto check = [](const char* kind, auto&& add) {
        GraphBuilder b;
        const cudag::Condition condition = b.condition(1);
        const auto error = refused<GraphError>([&] { b.if_(condition, [&](GraphBuilder& body) { add(body); }); });
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK_THAT(error.what(), ContainsSubstring(std::string("CUDA allows no ") + kind + " node in the body of if"));
        b.if_(condition, [](GraphBuilder& body) { body.kernel({}, nothing); });
        CHECK(std::move(b).build().node_count() == 1);
    };
    check("alloc", [](GraphBuilder& body) { body.alloc<int>(1); });
    check("free", [&](GraphBuilder& body) { body.free(foreign); });
    check("free", [&](GraphBuilder& body) { body.free(foreign.span()); });
    check("record_event", [&](GraphBuilder& body) { body.record(event); });
    check("wait_event", [&](GraphBuilder& body) { body.wait(event); });
    check("signal_semaphore", [](GraphBuilder& body) { body.signal({cudaExternalSemaphore_t(), 1}); });
    check("wait_semaphore", [](GraphBuilder& body) { body.wait({cudaExternalSemaphore_t(), 1}); });
}

TEST_CASE("a use inside a body is ordered by its conditional node", "[memory][rules][conditional]") {
    const auto result = device({0});
    GraphBuilder b;
    const auto alloc = b.alloc<int>(1).label("memory");
    const auto branch = b.if_(b.condition(1), [&](GraphBuilder& body) {
                             body.kernel({}, store, alloc.span(), 9).label("inner store");
                         }).label("branch");
    const auto copy = b.memcpy(result, alloc.span()).after(alloc, branch);
    b.free(alloc).after(copy);
    const auto error = refused<GraphError>([&] { b.check(); });
    CHECK(error.labels() == Labels{"inner store", "memory"});
    CHECK_THAT(error.what(),
               ContainsSubstring("let if \"branch\" at ") && ContainsSubstring(" come .after(alloc \"memory\" at "));
    branch.after(alloc);
    run(std::move(b));
    CHECK(read(result) == std::vector{9});
}

namespace {

/// alloc "kept" -> store `value`; nothing frees it.
struct KeptValue {
    AllocNode<int> alloc;
    Graph graph;

    explicit KeptValue(int value) : graph(build(value)) {}

  private:
    Graph build(int value) {
        GraphBuilder b;
        alloc = b.alloc<int>(1).label("kept");
        b.kernel({}, store, alloc.span(), value).after(alloc);
        return std::move(b).build();
    }
};

} // namespace

TEST_CASE("a whole update makes an Exec one of the graph that it is updated from", "[memory][rules][update]") {
    const KeptValue first(1);
    const KeptValue second(2);
    const Stream stream;
    Exec exec = first.graph.instantiate();
    REQUIRE(exec.update(second.graph).updated());
    CHECK(refused<InstantiateError>([&] { static_cast<void>(second.graph.instantiate()); }).labels() == Labels{"kept"});
    Exec again = first.graph.instantiate();
    run(exec, stream);
    CHECK(read(second.alloc.span()) == std::vector{2});
    run(again, stream);
    CHECK(read(first.alloc.span()) == std::vector{1});
    cudag::check(cudaFree(first.alloc.span().data()));
    cudag::check(cudaFree(second.alloc.span().data()));
}

TEST_CASE("an Exec of a graph with memory nodes frees the graph that it was updated from", "[memory][rules][update]") {
    const KeptValue first(1);
    const KeptValue second(2);
    {
        Exec exec = first.graph.instantiate();
        REQUIRE(exec.update(second.graph).updated());
    }
    const Exec of_second = second.graph.instantiate();
    const Exec of_first = first.graph.instantiate();
    CHECK(refused<InstantiateError>([&] { static_cast<void>(first.graph.instantiate()); }).labels() == Labels{"kept"});
}

TEST_CASE("a graph with memory nodes that has an Exec updates no other one", "[memory][rules][update]") {
    const KeptValue first(1);
    const KeptValue second(2);
    Exec exec = first.graph.instantiate();
    const Exec other = second.graph.instantiate();
    const cudag::UpdateReport report = exec.update(second.graph);
    CHECK_FALSE(report.updated());
    CHECK_FALSE(report.needs_instantiate());
    CHECK_THAT(report.to_string(),
               ContainsSubstring("alloc \"kept\" at ") && ContainsSubstring("destroy that Exec first"));
    run(exec, Stream());
    CHECK(read(first.alloc.span()) == std::vector{1});
    cudag::check(cudaFree(first.alloc.span().data()));
}

TEST_CASE("devices are counted from 0, and there is none of the number of devices", "[memory][rules]") {
    int count = 0;
    cudag::check(cudaGetDeviceCount(&count));
    for (const int device : {-1, count}) {
        GraphBuilder b;
        const auto error = refused<GraphError>([&] { b.alloc<int>(1, {.device = device}); });
        CHECK(error.code() == cuda_code(cudaErrorInvalidDevice));
        CHECK_THAT(error.what(), ContainsSubstring("the device is " + std::to_string(device) + "; there are " +
                                                   std::to_string(count) + " devices, counted from 0"));
        const auto peer = refused<GraphError>([&] { b.alloc<int>(1, {.peers = {device}}); });
        CHECK_THAT(peer.what(), ContainsSubstring("the peer device is " + std::to_string(device)));
        CHECK(std::move(b).build().node_count() == 0);
    }
}

TEST_CASE("memory that another graph freed is refused by name while that exists", "[memory][rules]") {
    GraphBuilder b;
    const auto alloc = b.alloc<int>(4);
    {
        GraphBuilder other;
        other.free(alloc);
        CHECK_THAT(refused<GraphError>([&] { b.free(alloc); }).what(),
                   ContainsSubstring("is freed already by ") && ContainsSubstring(", in another graph"));
    }
    CHECK(refused<GraphError>([&] { b.free(alloc); }).operation() == "cuGraphAddNode");
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("a free node is refused for its place, whoever has freed the memory", "[memory][rules]") {
    GraphBuilder b;
    const auto alloc = b.alloc<int>(1);
    b.free(alloc).after(alloc);
    b.if_(b.condition(0), [&](GraphBuilder& body) {
        CHECK_THAT(refused<GraphError>([&] { body.free(alloc); }).what(),
                   ContainsSubstring("CUDA allows no free node in the body"));
    });
}

TEST_CASE("a use inside a child of a child is ordered by the outer child node", "[memory][rules]") {
    if (older_than(12090)) return;
    const auto result = device({0});
    GraphBuilder b;
    const auto alloc = b.alloc<int>(1).label("memory");
    GraphBuilder innermost;
    innermost.memset(alloc.span(), 9).label("inner fill");
    GraphBuilder inner;
    inner.child(std::move(innermost).build()).label("inner child");
    const auto child = b.child(std::move(inner).build()).label("child");
    const auto copy = b.memcpy(result, alloc.span()).after(alloc, child);
    b.free(alloc).after(copy);
    const auto error = refused<GraphError>([&] { b.check(); });
    CHECK(error.labels() == Labels{"inner fill", "memory"});
    child.after(alloc);
    run(std::move(b));
    CHECK(read(result) == std::vector{9});
}

TEST_CASE("what a child cannot have is told with its label", "[memory][rules]") {
    GraphBuilder inner;
    inner.host([] {}).label("told");
    const Graph graph = std::move(inner).build();
    GraphBuilder b;
    b.if_(b.condition(0), [&](GraphBuilder& body) {
        const auto error = refused<GraphError>([&] { body.child(graph); });
        CHECK(error.labels() == Labels{"told"});
        CHECK_THAT(error.what(), ContainsSubstring("CUDA allows no host node in "));
    });
}
