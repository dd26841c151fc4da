// Nodes of green contexts: where they run, their updates, comparison and copies, and what is refused.
#include "green_nodes.hpp"

#include <cudag/graph_text.hpp>

#include <algorithm>
#include <optional>
#include <utility>

using cudag::arg;
using cudag::DeviceBuffer;
using cudag::diff;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::GreenContext;
using cudag::KernelNode;
using cudag::Stream;

namespace {

constexpr unsigned least = 8; // groups of multiprocessors have no more

/// A fill, a copy, and a kernel after them, on one part of the device.
struct Branch {
    DeviceBuffer<int> cells{4}, copies{4};
    cudag::MemsetNode fill;
    KernelNode<int*, const int*, int> kernel;
    Graph graph;

    explicit Branch(const GreenContext& part, int value = 5) : Branch(part, GraphBuilder(), value) {}
    Branch(const GreenContext& part, GraphBuilder&& b, int value) : graph(make(part, b, value)) {}

    std::vector<int> run(Exec& exec) const {
        const Stream stream;
        ::run(exec, stream);
        return read(copies);
    }

  private:
    Graph make(const GreenContext& part, GraphBuilder& b, int value) {
        GraphBuilder on_part = b.on(part);
        fill = on_part.memset(cells, value).label("fill");
        auto copy = on_part.memcpy(copies, cells).label("copy").after(fill);
        kernel = on_part.kernel({}, add, copies.data() + 1, cells.data(), 10).label("kernel").after(copy);
        return std::move(b).build();
    }
};

Graph one_store(const DeviceBuffer<int>& cell) {
    GraphBuilder b;
    b.kernel({}, store, cell, 1);
    return std::move(b).build();
}

} // namespace

TEST_CASE("nodes added on a green context run in it", "[green]") {
    if (!has_green_contexts()) return;
    const GreenContext part(least);
    const Branch branch(part);
    CHECK(contexts_of(branch.graph) == std::vector<CUcontext>{part.get()});
    CHECK(branch.graph.find(add).size() == 1);
    CHECK_THAT(branch.graph.dot({.color = cudag::DotColor::device}), ContainsSubstring("fillcolor=\"#"));
    Exec exec = branch.graph.instantiate();
    CHECK(branch.run(exec) == std::vector{5, 15, 5, 5});
    CUcontext current = nullptr; // the caller's again
    const auto get = reinterpret_cast<CUresult(CUDAAPI*)(CUcontext*)>(driver_function("cuCtxGetCurrent", 12000));
    CHECK(get(&current) == CUDA_SUCCESS);
    CHECK(current != part.get());
}

TEST_CASE("one graph has nodes of several green contexts and of the device", "[green]") {
    if (!has_green_contexts()) return;
    const auto parts = GreenContext::split({least, GreenContext::rest});
    const DeviceBuffer<int> cells(3);
    GraphBuilder b;
    const auto first = b.on(parts[0]).kernel({}, store, cells.data(), 1);
    const auto second = b.on(parts[1]).kernel({}, store, cells.data() + 1, 2);
    b.kernel({}, add, cells.data() + 2, cells.data(), 2).after(first, second);
    const Graph graph = std::move(b).build();
    const auto contexts = contexts_of(graph);
    REQUIRE(contexts.size() == 3);
    CHECK(contexts[0] == parts[0].get());
    CHECK(contexts[1] == parts[1].get());
    CHECK(contexts[2] != parts[0].get());
    CHECK(contexts[2] != parts[1].get());
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == std::vector{1, 2, 3});
}

TEST_CASE("a graph and its Exec keep the green context of their nodes", "[green]") {
    if (!has_green_contexts()) return;
    std::optional<Branch> branch;
    branch.emplace(GreenContext(least)); // the context has no other owner
    Exec exec = branch->graph.instantiate();
    CHECK(branch->run(exec) == std::vector{5, 15, 5, 5});
    exec.update(branch->kernel, arg<2>(20));
    CHECK(branch->run(exec) == std::vector{5, 25, 5, 5});
    branch->graph = one_store(branch->cells);
    CHECK(branch->run(exec) == std::vector{5, 25, 5, 5});
}

TEST_CASE("updates leave nodes in their green context", "[green]") {
    if (!has_green_contexts()) return;
    const GreenContext part(least);
    Branch branch(part);
    Exec exec = branch.graph.instantiate();
    const DeviceBuffer<int> other(4);
    exec.update(branch.kernel, branch.copies.data() + 2, branch.cells.data(), 20);
    exec.update(branch.fill, branch.cells, 6);
    CHECK(branch.run(exec) == std::vector{6, 6, 26, 6});
    branch.graph.update(branch.kernel, arg<2>(30));
    branch.graph.update(branch.fill, branch.cells, 7);
    CHECK(contexts_of(branch.graph) == std::vector<CUcontext>{part.get()});
    CHECK(exec.apply(branch.graph) == 2);
    CHECK(branch.run(exec) == std::vector{7, 37, 7, 7});
    CHECK(exec.update(branch.graph.clone()).updated()); // CUDA refuses it if a node has left the context
    CHECK(branch.run(exec) == std::vector{7, 37, 7, 7});
}

TEST_CASE("a fill of a green context is disabled and enabled", "[green]") {
    if (!has_green_contexts()) return;
    const GreenContext part(least);
    const Branch branch(part);
    Exec exec = branch.graph.instantiate();
    CHECK(branch.run(exec) == std::vector{5, 15, 5, 5});
    exec.disable(branch.fill);
    write(branch.cells.span(), {0, 0, 0, 0});
    CHECK(branch.run(exec) == std::vector{0, 10, 0, 0});
    exec.enable(branch.fill);
    CHECK(branch.run(exec) == std::vector{5, 15, 5, 5});
    CHECK(exec.update(branch.graph.clone()).updated());
}

TEST_CASE("diff names the green context of a node, and an Exec keeps its own", "[green]") {
    if (!has_green_contexts()) return;
    const auto parts = GreenContext::split({least, GreenContext::rest});
    const DeviceBuffer<int> cell(1);
    const auto graph_on = [&](const GreenContext* part) {
        GraphBuilder b;
        GraphBuilder place = part == nullptr ? b.on(0) : b.on(*part);
        auto fill = place.memset(cell, 1).label("fill");
        place.kernel({}, store, cell, 2).label("kernel").after(fill);
        return std::move(b).build();
    };
    const Graph first = graph_on(&parts[0]), second = graph_on(&parts[1]), plain = graph_on(nullptr);
    CHECK(diff(first, graph_on(&parts[0])).empty());
    const auto differences = diff(first, second);
    REQUIRE(differences.size() == 2);
    for (const cudag::Difference& each : differences) {
        CHECK(each.field == "context");
        CHECK(each.needs_instantiate);
        CHECK_THAT(each.old_value, StartsWith("green context ") && EndsWith("(8 multiprocessors)"));
        CHECK_THAT(each.new_value, StartsWith("green context "));
        CHECK(each.old_value != each.new_value);
    }
    CHECK(diff(second, plain).at(0).new_value == "the device's own");

    Exec exec = first.instantiate();
    for (const Graph* other : {&second, &plain}) {
        const auto report = exec.update(*other);
        CHECK_FALSE(report.updated());
        CHECK(report.needs_instantiate());
        CHECK_THAT(report.to_string(), ContainsSubstring("context") && ContainsSubstring("green context"));
        const auto matched = exec.update(*other, {.match = cudag::Match::structure});
        CHECK_FALSE(matched.updated());
    }
    CHECK(exec.update(graph_on(&parts[0])).updated());

    cudag::ExecCache cache;
    const Stream stream;
    for (const Graph* each : {&first, &second, &plain, &first, &second, &plain})
        cache.launch(*each, stream);
    stream.synchronize();
    CHECK(cache.stats().instantiations == 3);
}

TEST_CASE("a whole update does not move a fill to another green context", "[green]") {
    if (!has_green_contexts()) return;
    const auto parts = GreenContext::split({least, GreenContext::rest});
    const DeviceBuffer<int> cell(1);
    const auto graph_on = [&](const GreenContext* part) {
        GraphBuilder b;
        GraphBuilder place = part == nullptr ? b.on(0) : b.on(*part);
        place.memset(cell, 1).label("fill");
        return std::move(b).build();
    };
    Exec exec = graph_on(&parts[0]).instantiate();
    CHECK(exec.update(graph_on(&parts[0])).updated());
    for (const GreenContext* other : {&parts[1], static_cast<const GreenContext*>(nullptr)}) {
        const auto report = exec.update(graph_on(other)); // CUDA would take it
        CHECK_FALSE(report.updated());
        CHECK(report.needs_instantiate());
        CHECK_THAT(report.to_string(), ContainsSubstring("\"fill\"") && ContainsSubstring("its context changes"));
    }
    Exec plain = graph_on(nullptr).instantiate();
    CHECK_FALSE(plain.update(graph_on(&parts[0])).updated());
    CHECK(plain.update(graph_on(nullptr)).updated());
}

TEST_CASE("clones, children and inlined graphs stay in their green context", "[green]") {
    if (!has_green_contexts()) return;
    const GreenContext part(least);
    const Branch branch(part);
    CHECK(contexts_of(branch.graph.clone()) == std::vector<CUcontext>{part.get()});
    GraphBuilder b;
    const auto inlined = b.inline_graph(branch.graph);
    const Graph graph = std::move(b).build();
    CHECK(contexts_of(graph) == std::vector<CUcontext>{part.get()});
    Exec exec = graph.instantiate();
    exec.update(inlined.counterpart(branch.kernel), arg<2>(40));
    CHECK(branch.run(exec) == std::vector{5, 45, 5, 5});
    GraphBuilder around;
    around.child(branch.graph);
    Exec whole = std::move(around).build().instantiate();
    CHECK(branch.run(whole) == std::vector{5, 15, 5, 5});

    GraphBuilder plain;
    plain.kernel({}, store, branch.copies.data(), 9);
    const Graph one = std::move(plain).build();
    GraphBuilder moved;
    moved.on(part).inline_graph(one); // nodes without a context of their own take the view's
    CHECK(contexts_of(std::move(moved).build()) == std::vector<CUcontext>{part.get()});
}

TEST_CASE("the body of a conditional is in the green context of the conditional", "[green]") {
    if (!has_green_contexts()) return;
    const auto parts = GreenContext::split({least, GreenContext::rest});
    const DeviceBuffer<int> cell(1);
    write(cell.span(), {0});
    GraphBuilder b;
    GraphBuilder on_part = b.on(parts[0]);
    const auto condition = on_part.condition(1U);
    on_part.if_(condition, [&](GraphBuilder& body) {
        auto set = body.memset(cell, 3);
        body.kernel({}, add, cell.data(), cell.data(), 4).after(set);
    });
    Exec exec = std::move(b).build().instantiate();
    run(exec, Stream());
    CHECK(read(cell).front() == 7);
}

TEST_CASE("a body takes no nodes of another green context", "[green]") {
    if (!has_green_contexts()) return;
    const auto parts = GreenContext::split({least, GreenContext::rest});
    GraphBuilder b;
    GraphBuilder on_part = b.on(parts[0]);
    const auto condition = on_part.condition(1U);
    on_part.if_(condition, [&](GraphBuilder& body) {
        const auto error = refused<GraphError>([&] { body.on(parts[1]).kernel({}, nothing); });
        CHECK_THAT(error.what(), ContainsSubstring("it is on green context ") &&
                                     ContainsSubstring("all its nodes belong to that context"));
        CHECK_THROWS_AS(body.on(0).kernel({}, nothing), GraphError);
        body.on(parts[0]).kernel({}, nothing);
    });
    const auto own = b.condition(1U);
    const auto refusal =
        refused<GraphError>([&] { on_part.if_(own, [](GraphBuilder& body) { body.kernel({}, nothing); }); });
    CHECK_THAT(refusal.what(), ContainsSubstring("the condition was made on device 0") &&
                                   ContainsSubstring("by the same view of the builder"));
    b.if_(own, [&](GraphBuilder& body) {
        CHECK_THROWS_AS(body.on(parts[0]).kernel({}, nothing), GraphError);
        body.kernel({}, nothing);
    });
    CHECK(std::move(b).build().node_count() == 2);
}

TEST_CASE("edges are inferred, and races found, between green contexts", "[green]") {
    if (!has_green_contexts()) return;
    const auto parts = GreenContext::split({least, GreenContext::rest});
    const DeviceBuffer<int> cells(2);
    GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.on(parts[0]).kernel({}, store, cells, 4);
    b.on(parts[1]).kernel({}, store, cells, 5);
    const Graph graph = std::move(b).build();
    CHECK(graph.edge_count() == 1);
    GraphBuilder racing;
    racing.on(parts[0]).memset(cells, 4);
    racing.on(parts[1]).memset(cells, 5);
    CHECK_THAT(refused<cudag::RaceError>([&] { static_cast<void>(std::move(racing).build()); }).what(),
               ContainsSubstring("on green context"));
}

TEST_CASE("the plan adds its kernels to layers of green contexts", "[green]") {
    if (!has_green_contexts()) return;
    const auto parts = GreenContext::split({least, GreenContext::rest});
    constexpr int width = 32;
    const DeviceBuffer<int> cells(width);
    GraphBuilder b;
    std::vector<cudag::Node> before;
    for (int layer = 0; layer < 3; ++layer) {
        std::vector<cudag::Node> now;
        for (int i = 0; i < width; ++i) {
            auto node = b.on(parts[i % 2 == 0 ? 0 : 1]).kernel({}, store, cells.data() + i, layer);
            for (const cudag::Node& each : before)
                node.after(each);
            now.push_back(node);
        }
        before = std::move(now);
    }
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == std::vector<int>(width, 2));
    Exec recorded = graph.instantiate({.recorder = true});
    run(recorded, Stream());
    CHECK(recorded.replays() == 1);
}

TEST_CASE("a stream of a green context is captured and cached", "[green]") {
    if (!has_green_contexts()) return;
    const GreenContext part(least);
    const Stream stream(part);
    const DeviceBuffer<int> cells(4);
    const Graph graph = cudag::capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, store, cells.data(), 6); });
    CHECK(contexts_of(graph) == std::vector<CUcontext>{part.get()});
    Exec exec = graph.instantiate();
    exec.update(graph.find(store).at(0), arg<1>(7));
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(cells).front() == 7);
    cudag::CaptureCache cache;
    for (int turn = 0; turn < 4; ++turn)
        cache.run(stream, 1, [&](cudaStream_t s) { cudag::memset_async(s, cells, 8); });
    stream.synchronize();
    CHECK(read(cells) == std::vector(4, 8));
}

TEST_CASE("nodes of green contexts have no text that another process could load", "[green]") {
    if (!has_green_contexts()) return;
    const Branch branch{GreenContext(least)};
    const std::string text = to_text(branch.graph, names_of(branch.graph));
    CHECK_THAT(text, ContainsSubstring("context: its own"));
    const auto error = refused<GraphError>([&] { static_cast<void>(cudag::load(text, names_of(branch.graph))); });
    CHECK_THAT(error.what(), ContainsSubstring("is in a context of its own, such as a green context"));
}
