// GraphBuilder::capture: stream code as a region of a graph that is built.
#include <algorithm>
#include <memory>
#include <stdexcept>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "test.hpp"

using cudag::CapturedNode;
using cudag::CapturedRegion;
using cudag::Edge;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::launch;
using cudag::Node;
using cudag::NodeKind;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

/// Stream code that adds `value` to *cell.
auto adds(int* cell, int value) {
    return [=](cudaStream_t s) { launch(s, {}, add, cell, cell, value); };
}

/// Stream code that adds `value` twice.
auto adds_twice(int* cell, int value) {
    return [=](cudaStream_t s) {
        launch(s, {}, add, cell, cell, value);
        launch(s, {}, add, cell, cell, value);
    };
}

} // namespace

TEST_CASE("a captured region runs between the nodes before and after it", "[capture][region]") {
    const auto cells = device({0, 0, 0});
    const Stream stream;
    GraphBuilder b;
    const auto before = b.kernel({}, store, cells.data(), 5);
    const CapturedNode region = b.capture(stream, [&](cudaStream_t s) {
                                     launch(s, {}, add, cells.data() + 1, cells.data(), 10);
                                     launch(s, {}, add, cells.data() + 1, cells.data() + 1, 100);
                                 }).after(before);
    const auto after = b.kernel({}, add, cells.data() + 2, cells.data() + 1, 1000).after(region);
    CHECK(region.nodes().size() == 2);
    CHECK(region.roots() == std::vector{region.nodes()[0]});
    CHECK(region.tails() == std::vector{region.nodes()[1]});
    const Graph graph = std::move(b).build();
    const auto nodes = graph.nodes();
    REQUIRE(nodes.size() == 4);
    CHECK(region.nodes() == std::vector<Node>{nodes[1], nodes[2]});
    CHECK(graph.edges() == std::vector<Edge>{{nodes[1], nodes[2]}, {before, nodes[1]}, {nodes[2], after}});
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cells) == std::vector{5, 115, 1115});
}

TEST_CASE("a region of several roots and tails is ordered as a whole", "[capture][region]") {
    const auto cells = device({0, 0, 0, 0});
    int* c = cells.data();
    const Stream stream;
    const Stream side;
    GraphBuilder b;
    const auto before = b.kernel({}, store, c, 1);
    const CapturedNode region = b.capture(stream, [&](StreamCapture& capture) {
        capture.fork(side);
        launch(capture.stream(), {}, add, c + 1, c, 10);
        launch(side, {}, add, c + 2, c, 20);
        capture.join(side);
    });
    region.after(before);
    const auto after = b.kernel({}, add, c + 3, c + 1, 100).after(region);
    b.kernel({}, add, c + 3, c + 3, 1000).after(b.join(region, after));
    CHECK(region.roots().size() == 2);
    CHECK(region.tails() == region.nodes());
    const Graph graph = std::move(b).build();
    CHECK(graph.edge_count() == 8); // into the two, out of the two to two nodes, after the join and into it
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cells) == std::vector{1, 11, 21, 1111});
}

TEST_CASE("a region that may be empty, and is, still orders", "[capture][region]") {
    const auto cells = device({0, 0});
    const Stream stream;
    GraphBuilder b;
    const auto before = b.kernel({}, store, cells.data(), 4);
    const CapturedNode region = b.capture(stream, [](cudaStream_t) {}, {.allow_empty = true}).after(before);
    b.kernel({}, add, cells.data() + 1, cells.data(), 1).after(region);
    REQUIRE(region.nodes().size() == 1);
    CHECK(region.nodes()[0].kind() == NodeKind::empty);
    CHECK(region.roots() == region.tails());
    run(std::move(b));
    CHECK(read(cells) == std::vector{4, 5});
}

TEST_CASE("regions follow each other, in any order of capture", "[capture][region]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    const auto first = b.capture(stream, [&](cudaStream_t s) { launch(s, {}, store, cell.data(), 1); });
    const auto third = b.capture(stream, [&](cudaStream_t s) { launch(s, {}, store, cell.data(), 3); });
    const auto second = b.capture(stream, adds_twice(cell.data(), 10)).after(first);
    third.after(second);
    const std::vector<CapturedNode> all{first, second, third};
    b.kernel({}, add, cell.data(), cell.data(), 100).after(all);
    CHECK(first != second);
    run(std::move(b));
    CHECK(read(cell) == std::vector{103});
}

TEST_CASE("a region comes after nodes right before and right behind it in the list of nodes", "[capture][region]") {
    const Stream stream;
    const auto cell = device({0});
    GraphBuilder b;
    const Node before = b.host([] {});
    const CapturedNode region = b.capture(stream, adds_twice(cell.data(), 1));
    const Node behind = b.host([] {});
    region.after(before);
    region.after(behind);
    const Graph graph = std::move(b).build();
    const auto edges = graph.edges();
    const Node first = region.nodes().front();
    for (const Node& node : {before, behind})
        CHECK(std::count(edges.begin(), edges.end(), Edge{node, first, cudag::EdgeKind::full}) == 1);
}

TEST_CASE("a region may come after an earlier node that its stream is told to come after", "[capture][region]") {
    const auto cells = device({0, 0});
    int* c = cells.data();
    const Stream stream;
    GraphBuilder b;
    const auto before = b.kernel({}, store, c, 1);
    b.kernel({}, store, c + 1, 10);
    const CapturedNode region = b.capture(stream, [&](cudaStream_t s) {
        cudaGraphNode_t native = before.native();
        launch(s, {}, nothing);
#if CUDART_VERSION >= 13000
        cudag::check(cudaStreamUpdateCaptureDependencies(s, &native, nullptr, 1, cudaStreamAddCaptureDependencies));
#else
        cudag::check(cudaStreamUpdateCaptureDependencies(s, &native, 1, cudaStreamAddCaptureDependencies));
#endif
        launch(s, {}, add, c + 1, c, 100);
    });
    const auto nodes = region.nodes();
    REQUIRE(nodes.size() == 2);
    const Graph graph = std::move(b).build();
    const std::vector<Edge> edges = graph.edges(), expected{{before, nodes[1]}, {nodes[0], nodes[1]}};
    CHECK(std::is_permutation(edges.begin(), edges.end(), expected.begin(), expected.end()));
}

TEST_CASE("lines, forks and lines again are regions of one graph", "[capture][region]") {
    const auto cells = device({0, 0, 0});
    int* c = cells.data();
    const Stream stream;
    const Stream side;
    GraphBuilder b;
    const auto before = b.kernel({}, store, c, 1).label("before");
    std::vector<CapturedNode> regions;
    for (int i = 0; i < 3; ++i) {
        regions.push_back(b.capture(stream, adds_twice(c, 1)));
        regions.push_back(b.capture(stream, [&](StreamCapture& capture) {
            capture.fork(side);
            launch(side, {}, add, c + 1, c, 10);
            launch(stream, {}, add, c + 2, c, 20);
            capture.join(side);
            launch(stream, {}, add, c, c, 100);
        }));
    }
    regions.front().after(before);
    for (std::size_t i = 1; i < regions.size(); ++i)
        regions[i].after(regions[i - 1]);
    const Graph graph = std::move(b).build();
    const auto nodes = graph.nodes();
    REQUIRE(nodes.size() == 16);
    std::vector<Edge> edges;
    for (std::size_t i = 0; i < 3; ++i) {
        const auto line = regions[2 * i].nodes();
        const auto fork = regions[2 * i + 1].nodes();
        REQUIRE(line.size() == 2);
        REQUIRE(fork.size() == 3);
        CHECK(line[0] == nodes[1 + 5 * i]);
        CHECK(fork[2] == nodes[5 + 5 * i]);
        CHECK(regions[2 * i + 1].roots() == std::vector{fork[0], fork[1]});
        CHECK(regions[2 * i + 1].tails() == std::vector{fork[2]});
        edges.insert(edges.end(), {{line[0], line[1]}, {fork[0], fork[2]}, {fork[1], fork[2]}});
    }
    const std::vector<Edge> all = graph.edges();
    // those that CUDA has stand before the others
    CHECK(std::is_permutation(all.begin(), all.begin() + 9, edges.begin(), edges.end()));
    CHECK(all[9] == Edge{before, nodes[1]});
    CHECK(all.size() == 9 + 1 + 3 * 2 + 2);
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cells) == std::vector{307, 10 + 207, 20 + 207});
}

TEST_CASE("what a captured function returns comes with its region", "[capture][region]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    CapturedRegion<std::unique_ptr<int>> region = b.capture(stream, [&](cudaStream_t s) {
        launch(s, {}, store, cell.data(), 1);
        return std::make_unique<int>(8);
    });
    CHECK(*region.output == 8);
    b.kernel({}, add, cell.data(), cell.data(), 10).after(region.node);
    run(std::move(b));
    CHECK(read(cell) == std::vector{11});
}

TEST_CASE("nodes of a region have the names of steps and marks, the others that of the region", "[capture][region]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    b.kernel({}, store, cell.data(), 1).label("before");
    const unsigned line = __LINE__ + 1;
    const CapturedNode region = b.capture(stream, [&](StreamCapture& c) {
        c.step("stepped", adds(cell.data(), 1));
        launch(c.stream(), {}, add, cell.data(), cell.data(), 2);
        c.mark("marked");
        launch(c.stream(), {}, add, cell.data(), cell.data(), 3);
    });
    CHECK(region.location().line == line);
    region.label("mine").label("not mine");
    const auto nodes = region.nodes();
    REQUIRE(nodes.size() == 3);
    CHECK(nodes[0].label() == "stepped");
    CHECK(nodes[1].label() == "marked");
    CHECK(nodes[2].label() == "mine");
    CHECK(nodes[2].location().line == line);
}

TEST_CASE("captured nodes of a built graph are found and updated", "[capture][region]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    const auto before = b.kernel({}, store, cell.data(), 1);
    b.capture(stream, adds(cell.data(), 10)).after(before);
    const Graph graph = std::move(b).build();
    const auto found = graph.find(add);
    REQUIRE(found.size() == 1);
    Exec exec = graph.instantiate();
    exec.update(found[0], cudag::arg<2>(20));
    run(exec, stream);
    CHECK(read(cell) == std::vector{21});
    exec.update(before, cudag::arg<1>(2));
    run(exec, stream);
    CHECK(read(cell) == std::vector{22});
}

TEST_CASE("a graph with a region is cloned, and its region has a counterpart", "[capture][region]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    const auto before = b.kernel({}, store, cell.data(), 1);
    const CapturedNode region = b.capture(stream, adds_twice(cell.data(), 10)).after(before);
    std::optional<Graph> graph = std::move(b).build();
    const Graph clone = graph->clone();
    const CapturedNode copy = clone.counterpart(region);
    graph.reset();
    CHECK(copy.nodes() == std::vector<Node>{clone.nodes()[1], clone.nodes()[2]});
    Exec exec = clone.instantiate();
    run(exec, stream);
    CHECK(read(cell) == std::vector{21});
    refused<cudag::GraphError>([&] { static_cast<void>(region.nodes()); });
}

TEST_CASE("a graph with a region updates an exec of an equal one as a whole", "[capture][region]") {
    const auto cell = device({0});
    const Stream stream;
    const auto build = [&](int value) {
        GraphBuilder b;
        const auto before = b.kernel({}, store, cell.data(), value);
        b.capture(stream, adds_twice(cell.data(), 10 * value)).after(before);
        return std::move(b).build();
    };
    Exec exec = build(1).instantiate();
    CHECK(exec.update(build(2)).updated());
    run(exec, stream);
    CHECK(read(cell) == std::vector{42});
}

TEST_CASE("what a region retains lives as long as the graph", "[capture][region]") {
    const Stream stream;
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = owner;
    GraphBuilder b;
    b.capture(stream, [&](StreamCapture& c) { c.retain(std::exchange(owner, nullptr)); }, {.allow_empty = true});
    CHECK_FALSE(watch.expired());
    const Graph graph = std::move(b).build();
    CHECK_FALSE(watch.expired());
}

TEST_CASE("a region in the body of an if runs when the body runs", "[capture][region]") {
    const auto value = GENERATE(0, 1);
    const auto cells = device({value, 0, 0});
    const Stream stream;
    GraphBuilder b;
    const cudag::Condition condition = b.condition(0);
    const auto set = b.kernel({}, set_from, condition, cells.data());
    const auto node = b.if_(condition, [&](GraphBuilder& body) {
                           const auto before = body.kernel({}, store, cells.data() + 1, 1);
                           const auto region = body.capture(stream, adds_twice(cells.data() + 1, 10)).after(before);
                           body.kernel({}, add, cells.data() + 2, cells.data() + 1, 100).after(region);
                       }).after(set);
    CHECK(node.body().node_count() == 4);
    run(std::move(b));
    CHECK(read(cells) == (value != 0 ? std::vector{1, 21, 121} : std::vector{0, 0, 0}));
}

TEST_CASE("a region in the body of a while is repeated, and may set the condition", "[capture][region]") {
    const auto cells = device({3, 0});
    const Stream stream;
    GraphBuilder b;
    const cudag::Condition condition = b.condition(1);
    b.while_(condition, [&](GraphBuilder& body) {
        const auto work = body.capture(stream, adds(cells.data() + 1, 10));
        body.capture(stream, [&](cudaStream_t s) { launch(s, {}, count_down, cells.data(), condition); }).after(work);
    });
    run(std::move(b));
    CHECK(read(cells) == std::vector{0, 30});
}

TEST_CASE("a region and a conditional stand in one graph", "[capture][region]") {
    const auto cells = device({0, 0});
    const Stream stream;
    GraphBuilder b;
    const cudag::Condition condition = b.condition(0);
    const auto set = b.capture(stream, [&](cudaStream_t s) { launch(s, {}, set_condition, condition, 1U); });
    const auto node = b.if_(condition, [&](GraphBuilder& body) { body.kernel({}, store, cells.data(), 1); }).after(set);
    b.capture(stream, adds(cells.data(), 10)).after(node);
    run(std::move(b));
    CHECK(read(cells) == std::vector{11, 0});
}

TEST_CASE("a region may allocate, use and free graph memory", "[capture][region]") {
    const auto cells = device({1, 0});
    const Stream stream;
    GraphBuilder b;
    const auto before = b.kernel({}, store, cells.data(), 2);
    const CapturedNode region = b.capture(stream, [&](cudaStream_t s) {
                                     void* memory = nullptr;
                                     cudag::check(cudaMallocAsync(&memory, sizeof(int), s));
                                     launch(s, {}, add, static_cast<int*>(memory), cells.data(), 10);
                                     launch(s, {}, add, cells.data() + 1, static_cast<int*>(memory), 100);
                                     cudag::check(cudaFreeAsync(memory, s));
                                 }).after(before);
    b.kernel({}, add, cells.data() + 1, cells.data() + 1, 1000).after(region);
    CHECK(region.nodes().front().kind() == NodeKind::alloc);
    CHECK(region.nodes().back().kind() == NodeKind::free);
    run(std::move(b));
    CHECK(read(cells) == std::vector{2, 1112});
}

TEST_CASE("of several allocations in one region each has its own free node", "[capture][region]") {
    const Stream stream;
    GraphBuilder b;
    void* memory[3] = {};
    const CapturedNode region = b.capture(stream, [&](cudaStream_t s) {
        for (void*& each : memory)
            cudag::check(cudaMallocAsync(&each, sizeof(int), s));
        for (void* each : memory) {
            cudag::check(cudaFreeAsync(each, s));
            cudag::check(cudaMallocAsync(&each, sizeof(int), s));
            cudag::check(cudaFreeAsync(each, s));
        }
    });
    b.kernel({}, store, static_cast<int*>(memory[2]), 1).label("late").after(region);
    const auto error = refused<cudag::GraphError>([&] { static_cast<void>(std::move(b).build()); });
    CHECK_THAT(error.what(), ContainsSubstring("\"late\"") && ContainsSubstring("is not ordered before free node"));
}

TEST_CASE("memory from before a region is the graph's after the region has allocated", "[capture][region]") {
    const Stream stream;
    GraphBuilder b;
    const auto memory = b.alloc<int>(4);
    const auto use = b.memset(memory.span(), 1).after(memory);
    const CapturedNode region = b.capture(stream, [&](cudaStream_t s) {
        void* own = nullptr;
        cudag::check(cudaMallocAsync(&own, sizeof(int), s));
        cudag::check(cudaFreeAsync(own, s));
    });
    const auto late = b.memset(memory.span(), 2).label("late").after(use);
    const auto end = b.free(memory).label("end").after(use, region);
    const auto error = refused<cudag::GraphError>([&] { b.check(); });
    CHECK_THAT(error.what(), ContainsSubstring("\"late\"") && ContainsSubstring("is not ordered before free \"end\""));
    end.after(late);
    run(std::move(b));
}

TEST_CASE("a changed node of a region is applied to an exec, and shown by a diff", "[capture][region]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    b.capture(stream, [&](cudaStream_t s) { launch(s, {}, store, cell.data(), 1); }).label("stored");
    Graph graph = std::move(b).build();
    const Graph before = graph.clone();
    Exec exec = graph.instantiate();
    graph.update(graph.find(store).at(0), cudag::arg<1>(7));
    CHECK(exec.apply(graph) == 1);
    run(exec, stream);
    CHECK(read(cell) == std::vector{7});
    CHECK(diff(before, graph).size() == 1);
    CHECK_THAT(graph.dot(), ContainsSubstring("stored"));
}

TEST_CASE("a graph with a region becomes a child, where the region's nodes are the same", "[capture][region]") {
    if (older_than(12090)) return;
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder inner;
    const auto first = inner.kernel({}, store, cell.data(), 1);
    inner.capture(stream, adds(cell.data(), 10)).after(first);
    GraphBuilder b;
    const auto child = b.child(std::move(inner).build());
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.update(child.graph().find(add).at(0), cudag::arg<2>(20));
    run(exec, stream);
    CHECK(read(cell) == std::vector{21});
}

TEST_CASE("a region of a view is captured while the view's device is current", "[capture][region][device]") {
    int count = 0;
    cudag::check(cudaGetDeviceCount(&count));
    const int last = count - 1;
    GraphBuilder b;
    cudag::check(cudaSetDevice(last));
    const auto cell = device({0});
    std::optional<Stream> stream(std::in_place);
    cudag::check(cudaSetDevice(0));
    b.on(last).capture(*stream, [&](cudaStream_t s) {
        int current = -1;
        cudag::check(cudaGetDevice(&current));
        CHECK(current == last);
        launch(s, {}, store, cell.data(), 3);
    });
    int current = -1;
    cudag::check(cudaGetDevice(&current));
    CHECK(current == 0);
    run(std::move(b));
    CHECK(read(cell) == std::vector{3});
}
