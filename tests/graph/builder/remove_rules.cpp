// Nodes that are taken back: conditionals, regions, and what CUDA keeps.
#include <algorithm>
#include <string>
#include <vector>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "test.hpp"

using cudag::CapturedNode;
using cudag::Condition;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::launch;
using cudag::Node;
using cudag::NodeKind;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

constexpr cudag::BuilderOptions unchecked{.races = cudag::Races::allowed};

void check_refused(const std::string& text, CallRef<> call) {
    CHECK_THAT(refused<GraphError>(call).what(), StartsWith("cudag: ") && ContainsSubstring(text));
}

std::vector<NodeKind> kinds_of(const Graph& graph) {
    std::vector<NodeKind> kinds;
    for (const Node& node : graph.nodes())
        kinds.push_back(node.kind());
    return kinds;
}

auto adds_twice(int* cell, int value) {
    return [=](cudaStream_t s) {
        launch(s, {}, add, cell, cell, value);
        launch(s, {}, add, cell, cell, value);
    };
}

} // namespace

TEST_CASE("a conditional goes with its bodies, and its condition may have another node", "[conditional][remove]") {
    const auto cell = device({0});
    GraphBuilder b(unchecked);
    const Condition condition = b.condition(1);
    Node inside;
    const auto branch = b.if_(condition, [&](GraphBuilder& body) { inside = body.kernel({}, store, cell, 1); });
    b.remove(branch);
    check_refused("no longer exists", [&] { static_cast<void>(inside.label()); });
    b.if_(condition, [&](GraphBuilder& body) { body.kernel({}, store, cell, 2); });
    const Graph graph = std::move(b).build();
    CHECK(kinds_of(graph) == std::vector{NodeKind::conditional});
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cell) == std::vector{2});
}

TEST_CASE("conditions of conditionals that went get nodes that do nothing", "[conditional][remove]") {
    const auto cell = device({0});
    GraphBuilder b(unchecked);
    const Condition outer = b.condition(1);
    const auto setter = b.kernel({}, set_condition, outer, 0U);
    const auto branch = b.if_(outer, [&](GraphBuilder& body) {
        const Condition inner = body.condition(0);
        body.if_(inner, [&](GraphBuilder& deep) { deep.kernel({}, store, cell, 1); });
    });
    b.kernel({}, store, cell, 3).after(branch, setter);
    b.remove(branch);
    b.check();
    check_refused("the condition made at", [&] {
        static_cast<void>(b.condition(1));
        b.check();
    });
}

TEST_CASE("a graph whose conditional went runs", "[conditional][remove]") {
    const auto cell = device({0});
    GraphBuilder b(unchecked);
    const Condition outer = b.condition(1);
    const auto setter = b.kernel({}, set_condition, outer, 1U);
    const auto branch = b.if_(outer, [&](GraphBuilder& body) {
                             body.if_(body.condition(1), [&](GraphBuilder& deep) { deep.kernel({}, store, cell, 1); });
                         }).after(setter);
    const auto stays = b.kernel({}, store, cell, 3).after(branch);
    b.remove(branch);
    const Graph graph = std::move(b).build();
    REQUIRE(graph.node_count() == 4);
    CHECK(graph.nodes()[0] == setter);
    CHECK(graph.nodes()[1] == stays);
    CHECK(graph.nodes()[2].label() == "left over by a node that was removed");
    CHECK(graph.nodes()[3].label() == "left over by a node that was removed");
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cell) == std::vector{3});
}

TEST_CASE("conditionals that move up keep their conditions", "[conditional][remove]") {
    const auto cells = device({3, 0});
    GraphBuilder b(unchecked);
    const auto gone = b.kernel({}, store, cells.data(), 100);
    const Condition more = b.condition(1);
    const auto loop = b.while_(more, [&](GraphBuilder& body) {
        const auto unwanted = body.kernel({}, store, cells.data(), 50);
        body.kernel({}, count_down, cells.data(), more);
        body.kernel({}, add, cells.data() + 1, cells.data() + 1, 1);
        body.remove(unwanted);
    });
    b.remove(gone);
    check_refused("has a node already, while", [&] { b.if_(more, [](GraphBuilder&) {}); });
    CHECK(loop.body().node_count() == 2);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == std::vector{0, 3});
}

TEST_CASE("a loop whose setter went is found endless", "[conditional][remove]") {
    const auto cell = device({3});
    GraphBuilder b;
    const Condition more = b.condition(1);
    b.while_(more, [&](GraphBuilder& body) {
        const auto setter = body.kernel({}, count_down, cell.data(), more);
        body.remove(setter);
    });
    check_refused("it never ends", [&] { b.check(); });
}

TEST_CASE("a body removes its own nodes, and the builder outside none meanwhile", "[conditional][remove]") {
    if (older_than(12080)) return;
    const auto cells = device({0, 0});
    GraphBuilder b(unchecked);
    const auto outside = b.kernel({}, store, cells.data(), 1);
    Node within;
    const auto loop = b.repeat(2, [&](GraphBuilder& body) {
        const auto one = body.kernel({}, add, cells.data(), cells.data(), 1);
        const auto two = body.kernel({}, add, cells.data(), cells.data(), 10).after(one);
        const Condition condition = body.condition(1);
        const auto branch = body.if_(condition, [](GraphBuilder&) {}).after(two);
        body.if_(body.condition(1),
                 [&](GraphBuilder& deep) { deep.kernel({}, add, cells.data() + 1, cells.data() + 1, 1); });
        body.remove(branch, one);
        body.if_(condition, [](GraphBuilder&) {});
        within = two;
        check_refused("is being written; remove nodes outside of it before or after that", [&] { b.remove(outside); });
        check_refused("is used in", [&] { body.remove(outside); });
    });
    check_refused("is used in", [&] { b.remove(within); });
    loop.after(outside);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == std::vector{21, 2});
}

TEST_CASE("nothing is removed from a body that has ended", "[conditional][remove]") {
    GraphBuilder b;
    GraphBuilder kept;
    Node inside;
    const auto loop = b.while_(b.condition(0), [&](GraphBuilder& body) {
                           inside = body.kernel({}, nothing);
                           kept = std::move(body);
                       }).label("loop");
    check_refused("the body of while \"loop\"", [&] { kept.remove(inside); });
    check_refused("has ended; remove its nodes before it ends", [&] { kept.remove(inside); });
    const Graph graph = std::move(b).build();
    check_refused("has ended; remove its nodes before it ends", [&] { kept.remove(inside); });
    CHECK(loop.body().node_count() == 1);
}

TEST_CASE("a body that throws after a removal is taken back as any other", "[conditional][remove]") {
    const auto cell = device({0});
    GraphBuilder b(unchecked);
    const auto gone = b.kernel({}, store, cell, 1);
    const auto stays = b.kernel({}, store, cell, 2);
    b.remove(gone);
    const Condition condition = b.condition(1);
    CHECK_THROWS_AS(b.if_(condition,
                          [&](GraphBuilder& body) {
                              const auto x = body.kernel({}, store, cell, 3);
                              body.remove(x);
                              throw 1;
                          }),
                    int);
    const auto branch =
        b.if_(condition, [&](GraphBuilder& body) { body.kernel({}, add, cell.data(), cell.data(), 5); });
    branch.after(stays);
    const Graph graph = std::move(b).build();
    CHECK(graph.nodes() == std::vector<Node>{stays, branch});
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cell) == std::vector{7});
}

TEST_CASE("a captured region goes as a whole", "[capture][region][remove]") {
    const auto cells = device({0, 0});
    int* const p = cells.data();
    const Stream stream;
    GraphBuilder b(unchecked);
    const auto before = b.kernel({}, store, p, 5);
    const CapturedNode region = b.capture(stream, adds_twice(p, 10)).after(before);
    const CapturedNode second = b.capture(stream, adds_twice(p + 1, 1)).after(region);
    const std::vector<Node> parts = region.nodes();
    check_refused("it is a part of the region captured at ", [&] { b.remove(parts[1]); });
    check_refused("remove the region", [&] { b.remove(second, parts[0]); });
    check_refused("is in the region captured at", [&] { b.remove_edge(parts[0], parts[1]); });
    CHECK(region.nodes().size() == 2);
    b.remove(region);
    for (const auto& ask :
         std::vector<void (*)(const CapturedNode&)>{[](const CapturedNode& r) { static_cast<void>(r.nodes()); },
                                                    [](const CapturedNode& r) { static_cast<void>(r.roots()); },
                                                    [](const CapturedNode& r) { static_cast<void>(r.tails()); },
                                                    [](const CapturedNode& r) { static_cast<void>(r.location()); },
                                                    [](const CapturedNode& r) { r.label("x"); }})
        check_refused("the node was removed, at ", [&] { ask(region); });
    check_refused("the node was removed, at ", [&] { region.after(before); });
    check_refused("the node was removed, at ", [&] { second.after(region); });
    check_refused("the node was removed, at ", [&] { b.remove(region); });
    second.after(before).label("second");
    CHECK(second.nodes().size() == 2);
    CHECK(second.roots().front().label() == "second");
    check_refused("cannot come after itself", [&] { second.after(second); });
    const CapturedNode third = b.capture(stream, adds_twice(p, 100)).after(second);
    const auto last = b.kernel({}, add, p, p, 1000).after(third);
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 6);
    CHECK(second.nodes() == std::vector<Node>{graph.nodes()[1], graph.nodes()[2]});
    CHECK(third.tails() == std::vector<Node>{graph.nodes()[4]});
    const Graph clone = graph.clone();
    CHECK(clone.counterpart(third).nodes() == std::vector<Node>{clone.nodes()[3], clone.nodes()[4]});
    Exec exec = graph.instantiate();
    exec.update(last, cudag::arg<2>(2000));
    run(exec, stream);
    CHECK(read(cells) == std::vector{2205, 2});
}

TEST_CASE("a region goes by a list of its nodes, and by a range of regions", "[capture][region][remove]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    const CapturedNode one = b.capture(stream, adds_twice(cell.data(), 1));
    const CapturedNode two = b.capture(stream, adds_twice(cell.data(), 2)).after(one);
    const CapturedNode three = b.capture(stream, adds_twice(cell.data(), 3)).after(two);
    b.remove(one.nodes());
    b.remove(std::vector{two, three});
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("a region that fails after a removal leaves the graph as it was", "[capture][region][remove]") {
    const auto cells = device({0, 0});
    const Stream stream;
    GraphBuilder b(unchecked);
    const auto gone = b.kernel({}, store, cells.data(), 1);
    const auto stays = b.kernel({}, store, cells.data(), 2);
    b.remove(gone);
    refused<cudag::CaptureError>([&] {
        b.capture(stream, [&](cudaStream_t s) {
            launch(s, {}, store, cells.data() + 1, 7);
            void* memory = nullptr;
            static_cast<void>(cudaMalloc(&memory, 4)); // breaks the capture
            static_cast<void>(cudaGetLastError());
        });
    });
    const auto later = b.kernel({}, add, cells.data() + 1, cells.data(), 5).after(stays);
    const Graph graph = std::move(b).build();
    CHECK(graph.nodes() == std::vector<Node>{stays, later});
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cells) == std::vector{2, 7});
}

TEST_CASE("nothing is removed while a stream is captured into the graph", "[capture][region][remove]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b(unchecked);
    const auto before = b.kernel({}, store, cell, 5);
    const std::string text = "a stream is captured into the graph, from which CUDA removes nothing meanwhile";
    b.capture(stream, [&](StreamCapture& c) {
        launch(c.stream(), {}, add, cell.data(), cell.data(), 10);
        check_refused(text, [&] { b.remove(before); });
        c.add([&](GraphBuilder& writer) {
            const auto written = writer.kernel({}, add, cell.data(), cell.data(), 10);
            check_refused(text, [&] { writer.remove(written); });
            check_refused(text, [&] { writer.remove(before); });
        });
    });
    CHECK(std::move(b).build().node_count() == 3);
}

TEST_CASE("CUDA keeps all nodes of a graph with memory nodes", "[memory][remove]") {
    GraphBuilder b;
    const auto before = b.host([] {}).label("before");
    const auto unwanted = b.host([] {});
    b.remove(unwanted);
    const auto memory = b.alloc<int>(4).label("memory");
    check_refused("CUDA keeps nodes that allocate or free", [&] { b.remove(memory); });
    const auto error = refused<GraphError>([&] { b.remove(before); });
    CHECK(error.code() == cuda_code(cudaErrorNotSupported));
    CHECK_THAT(error.what(), ContainsSubstring("host \"before\" at ") &&
                                 ContainsSubstring("CUDA removes no node from a graph with memory nodes, and this one "
                                                   "has alloc \"memory\" at ") &&
                                 ContainsSubstring("before the first alloc() and free()"));
    b.free(memory).after(memory);
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 3);
}

TEST_CASE("CUDA keeps device-updatable kernels", "[builder][remove]") {
    GraphBuilder b;
    const auto updatable = b.kernel({.device_updatable = true}, nothing).label("updatable");
    const auto other = b.kernel({}, nothing);
    const auto error = refused<GraphError>([&] { b.remove(other, updatable); });
    CHECK(error.code() == cuda_code(cudaErrorNotSupported));
    CHECK_THAT(error.what(), ContainsSubstring("\"updatable\"") && ContainsSubstring("CUDA keeps device-updatable"));
    b.remove(other);
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("the builder of a device removes, too", "[builder][remove]") {
    GraphBuilder b;
    GraphBuilder view = b.on(0);
    const auto x = view.kernel({}, nothing);
    const auto y = b.kernel({}, nothing);
    view.remove(y);
    b.remove(x);
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("an edge is removed where a node may be, and nowhere else", "[builder][remove]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b(unchecked);
    const auto x = b.kernel({}, nothing);
    const auto y = b.kernel({}, nothing).after(x);
    b.capture(stream, [&](StreamCapture& c) {
        launch(c.stream(), {}, nothing);
        check_refused("remove_edge at ", [&] { b.remove_edge(x, y); });
        check_refused("a stream is captured into the graph", [&] { b.remove_edge(x, y); });
    });
    GraphBuilder kept;
    Node inside, after;
    b.if_(b.condition(0), [&](GraphBuilder& body) {
        inside = body.kernel({}, nothing);
        const auto last = body.kernel({}, nothing);
        last.after(inside.as(nothing));
        after = last;
        check_refused("is being written; remove nodes outside of it", [&] { b.remove_edge(x, y); });
        kept = std::move(body);
    });
    check_refused("has ended; remove its nodes before it ends", [&] { kept.remove_edge(inside, after); });
    b.remove_edge(x, y);
    const Graph graph = std::move(b).build();
    CHECK(graph.edge_count() == 0);
    check_refused("remove_edge at ", [&] { kept.remove_edge(inside, after); });
}
