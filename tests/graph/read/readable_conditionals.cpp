// Conditionals made by other code, as a driver of CUDA 13.2 reports them: kinds, bodies, and what asks about them.
#include <cudag/graph_text.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "native_nodes.hpp"
#include "opaque.hpp"

using cudag::arg;
using cudag::Condition;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::IfNode;
using cudag::Node;
using cudag::NodeKind;
using cudag::Stream;
using cudag::SwitchNode;
using cudag::WhileNode;

namespace {

using Cells = std::vector<int>;

bool are_opaque() {
    if (reads_conditionals()) return false;
    WARN("skipped: it needs a driver of CUDA 13.2");
    return true;
}

/// store(cells, 1) -> if (true) store(cells, value), made by CUDA's own functions.
Graph adopted(const DeviceBuffer<int>& cells, int value, cudaGraphConditionalNodeType type = cudaGraphCondTypeIf) {
    cudaGraph_t raw = nullptr;
    cudag::check(cudaGraphCreate(&raw, 0));
    const auto first = add_raw_store(raw, {}, cells.data(), 1);
    add_raw_conditional(raw, {first}, cells.data(), value, type);
    return Graph::adopt(raw);
}

void clear_in(cudaGraph_t graph, const DeviceBuffer<int>& cells) {
    cudaMemsetParams set{};
    set.dst = cells.data();
    set.elementSize = sizeof(int);
    set.width = cells.size();
    set.height = 1;
    add_native_memset(graph, {}, set);
}

} // namespace

TEST_CASE("an adopted conditional has its kind and its body", "[conditional][readable]") {
    if (are_opaque()) return;
    const auto cells = device({0});
    const Graph graph = adopted(cells, 2);
    const Node node = graph.nodes().at(1);
    CHECK(node.kind() == NodeKind::conditional);
    const IfNode conditional = node.as<IfNode>();
    CHECK_FALSE(conditional.has_else());
    REQUIRE(conditional.body().node_count() == 1);
    CHECK(conditional.body().nodes()[0].kind() == NodeKind::kernel);
    CHECK(graph.find(store).size() == 2);
    CHECK(graph.find(store).at(1).get<1>() == 2);
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(node.as<WhileNode>()); }).what(),
               ContainsSubstring("it is no while node"));
    CHECK_THAT(graph.listing(), ContainsSubstring("if"));
    CHECK_THAT(graph.dot(), ContainsSubstring("if") && ContainsSubstring("then"));
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == Cells{2});

    CHECK(adopted(cells, 2, cudaGraphCondTypeWhile).nodes().at(1).as<WhileNode>().body().node_count() == 1);
}

TEST_CASE("adopted conditionals have all their bodies, also nested ones", "[conditional][readable]") {
    if (are_opaque() || older_than(12080)) return;
    const auto cells = device({0, 0});
    GraphBuilder b({.races = cudag::Races::allowed});
    const Condition choice = b.condition(1);
    b.switch_(choice, {[&](GraphBuilder& body) { body.kernel({}, store, cells, 1); },
                       [&](GraphBuilder& body) {
                           const Condition inner = body.condition();
                           const auto set = body.kernel({}, set_condition, inner, 0U);
                           body.if_(
                                   inner, [&](GraphBuilder& then) { then.kernel({}, store, cells, 2); },
                                   [&](GraphBuilder& other) { other.kernel({}, store, cells, 3); })
                               .after(set);
                       }});
    Graph built = std::move(b).build();
    static_cast<void>(built.instantiate({.plan = cudag::Plan::as_written()}));
    const Graph read_again = Graph::view(built.native());
    CHECK(diff(built, read_again).empty());
    const SwitchNode node = read_again.nodes().at(0).as<SwitchNode>();
    REQUIRE(node.body_count() == 2);
    CHECK(node.body(1).nodes().at(1).as<IfNode>().has_else());
    CHECK(read_again.find(store).size() == 3);
    Exec exec = read_again.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == Cells{3, 0});
}

TEST_CASE("adopted conditionals are compared: kinds, and the nodes in bodies", "[conditional][readable]") {
    if (are_opaque()) return;
    const auto cells = device({0});
    const Graph graph = adopted(cells, 2);
    CHECK(diff(graph, adopted(cells, 2)).empty());
    const auto value = diff(graph, adopted(cells, 3));
    REQUIRE(value.size() == 1);
    CHECK(value[0].field == "argument 1");
    CHECK_THAT(value[0].node, ContainsSubstring("inside if"));
    const auto kind = diff(graph, adopted(cells, 2, cudaGraphCondTypeWhile));
    REQUIRE(kind.size() == 1);
    CHECK(kind[0].kind == cudag::DifferenceKind::node_kind);
    CHECK(kind[0].old_value == "if");
    CHECK(kind[0].new_value == "while");

    GraphBuilder b; // its initial value counts as equal: CUDA reports none
    const auto first = b.kernel({}, store, cells, 1);
    b.if_(b.condition(1), [&](GraphBuilder& body) { body.kernel({}, store, cells, 2); }).after(first);
    CHECK(diff(std::move(b).build(), graph).empty());
}

TEST_CASE("nodes in adopted bodies are updated, alone and with the whole graph", "[conditional][readable]") {
    if (are_opaque()) return;
    const auto cells = device({0});
    const Graph graph = adopted(cells, 2);
    Exec exec = graph.instantiate();
    exec.update(graph.find(store).at(1), arg<1>(5));
    run(exec, Stream());
    CHECK(read(cells) == Cells{5});
    CHECK(exec.update(adopted(cells, 7)).updated());
    run(exec, Stream());
    CHECK(read(cells) == Cells{7});
    const auto report = exec.update(adopted(cells, 7, cudaGraphCondTypeWhile));
    CHECK_FALSE(report.updated());
    CHECK_THAT(report.to_string(), ContainsSubstring("if -> while"));
}

TEST_CASE("memory used in adopted and captured bodies is bound", "[conditional][readable][bind]") {
    if (are_opaque()) return;
    const auto x = device({0}), y = device({0});
    const Graph graph = adopted(x, 2);
    Exec exec = graph.instantiate();
    CHECK(exec.bind(graph.parameter(x), y) == 2);
    run(exec, Stream());
    CHECK(read(x) == Cells{0});
    CHECK(read(y) == Cells{2});

    const Stream stream;
    const Graph captured = cudag::capture(stream, [&](cudaStream_t s) {
        cudag::launch(s, {}, store, x.data(), 1);
        enqueue_conditional(s, x.data(), 4);
    });
    Exec replay = captured.instantiate();
    CHECK(replay.bind(captured.parameter(x), y) == 2);
    run(replay, stream);
    CHECK(read(x) == Cells{0});
    CHECK(read(y) == Cells{4});
}

TEST_CASE("adopted bodies race with nodes that nothing orders", "[conditional][readable][races]") {
    if (are_opaque()) return;
    const auto cells = device({0});
    cudaGraph_t raw = nullptr;
    cudag::check(cudaGraphCreate(&raw, 0));
    cudaGraphNode_t conditional = add_raw_conditional(raw, {}, cells.data(), 2);
    static_cast<void>(conditional);
    clear_in(raw, cells);
    const Graph raced = Graph::adopt(raw);
    // the body's kernel has a raw pointer, which is untracked, as in any adopted graph
    bool is_whole = false;
    for (const cudag::UntrackedArgument& each : raced.untracked())
        is_whole = is_whole || each.node == raced.nodes().at(0);
    CHECK_FALSE(is_whole);
    raced.find(store).at(0).writes(cells);
    REQUIRE(raced.races().size() == 1);
    CHECK_THAT(to_string(raced.races()[0]), ContainsSubstring("if") && ContainsSubstring("memset"));
}

TEST_CASE("a region with a conditional is part of a builder's graph, and leaves it as a whole",
          "[conditional][builder][readable]") {
    if (are_opaque()) return;
    const auto cells = device({0});
    const Stream stream;
    GraphBuilder b;
    const auto before = b.kernel({}, store, cells, 1);
    const auto region = b.capture(stream, [&](cudaStream_t s) { enqueue_conditional(s, cells.data(), 3); });
    region.after(before);
    CHECK(region.nodes().at(0).as<IfNode>().body().node_count() == 1);
    const auto gone = b.capture(stream, [&](cudaStream_t s) { enqueue_conditional(s, cells.data(), 5); });
    b.remove(gone);
    const Graph graph = std::move(b).build();
    REQUIRE(graph.node_count() == 3); // CUDA removes no condition: an empty conditional tests it
    CHECK(graph.nodes()[2].label() == "left over by a node that was removed");
    CHECK(graph.find(store).size() == 2);
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cells) == Cells{3});
}

TEST_CASE("the text of a graph with an adopted conditional shows it, and loads once the initial value is given",
          "[text][readable]") {
    if (are_opaque()) return;
    const auto cells = device({0});
    const Graph graph = adopted(cells, 2);
    const cudag::GraphNames names = names_of(graph);
    std::string text = to_text(graph, names);
    CHECK_THAT(text, ContainsSubstring("condition 0: unknown initial value\n") && ContainsSubstring("  then:"));
    CHECK(diff(graph, text, names).empty());
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(cudag::load(text, names)); }).what(),
               ContainsSubstring("CUDA does not report its initial value"));
    const std::string unknown = "unknown initial value";
    text.replace(text.find(unknown), unknown.size(), "initial 1");
    const cudag::LoadedGraph loaded = cudag::load(text, names);
    Exec exec = loaded.graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == Cells{2});
    CHECK_FALSE(diff(loaded.graph, to_text(graph, names), names).empty());
}
