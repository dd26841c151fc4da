// Nodes that are taken back before build().
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda_version.hpp"
#include "test.hpp"
#include "watched.hpp"

using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Node;
using cudag::NodeKind;
using cudag::Stream;

namespace {

constexpr cudag::BuilderOptions unchecked{.races = cudag::Races::allowed};

auto point(GraphBuilder& b, const char* label) {
    return b.kernel({}, nothing).label(label);
}

std::vector<std::string> labels_of(const Graph& graph) {
    std::vector<std::string> labels;
    for (const Node& node : graph.nodes())
        labels.emplace_back(node.label());
    return labels;
}

std::vector<std::string> edges_of(const Graph& graph) {
    std::vector<std::string> edges;
    for (const auto& edge : graph.edges())
        edges.push_back(std::string(edge.from.label()) + " -> " + std::string(edge.to.label()));
    return edges;
}

std::size_t native_nodes(const Graph& graph) {
    std::size_t count = 0;
    REQUIRE(cudaGraphGetNodes(graph.native(), nullptr, &count) == cudaSuccess);
    return count;
}

/// `call` is given the removed node of that label.
void check_removed(const std::string& label, CallRef<> call) {
    const auto error = refused<GraphError>(call);
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("kernel \"" + label + "\" at ") &&
                                 ContainsSubstring("the node was removed, at ") && ContainsSubstring("remove.cpp:"));
    CHECK(error.labels() == Labels{label});
}

void check_refused(const std::string& text, CallRef<> call) {
    CHECK_THAT(refused<GraphError>(call).what(), StartsWith("cudag: ") && ContainsSubstring(text));
}

} // namespace

TEST_CASE("a removed node goes with its edges, and nothing bridges them", "[builder][remove]") {
    GraphBuilder b;
    const auto a = point(b, "a");
    const auto m = point(b, "m").after(a);
    const auto z = point(b, "z").after(m);
    const auto y = point(b, "y").after(a, z);
    b.remove(m);
    const Graph graph = std::move(b).build();
    CHECK(labels_of(graph) == Labels{"a", "z", "y"});
    CHECK(edges_of(graph) == Labels{"a -> y", "z -> y"});
    CHECK(native_nodes(graph) == 3);
    CHECK(graph.nodes() == std::vector<Node>{a, z, y});
}

TEST_CASE("handles of the nodes that stay name them, before build, after it, and in Execs", "[builder][remove]") {
    const auto cells = device({0, 0, 0, 0, 0, 0});
    int* const p = cells.data();
    GraphBuilder b(unchecked);
    const auto n0 = b.kernel({}, store, p, 1).label("0");
    const auto n1 = b.kernel({}, store, p + 1, 2).label("1");
    const auto n2 = b.kernel({}, store, p + 2, 3).label("2");
    const auto n3 = b.kernel({}, store, p + 3, 4).label("3");
    b.remove(n1);
    CHECK(n0.label() == "0");
    CHECK(n2.label() == "2");
    CHECK(n3.label() == "3");
    const auto n4 = b.kernel({}, store, p + 4, 5).label("4");
    b.remove(n3, n0);
    const auto n5 = b.kernel({}, store, p + 5, 6).label("5").after(n2, n4);
    CHECK(n2.get<1>() == 3);
    CHECK(n4.get<1>() == 5);
    CHECK(n5.as(store) == n5);
    const Graph graph = std::move(b).build();
    CHECK(graph.nodes() == std::vector<Node>{n2, n4, n5});
    CHECK(graph.find_one("4") == n4);
    CHECK(graph.find(store).back() == n5);
    CHECK(graph.edges() == std::vector<cudag::Edge>{{n2, n5}, {n4, n5}});

    Exec exec = graph.instantiate();
    const Stream stream;
    run(exec, stream);
    CHECK(read(cells) == std::vector{0, 0, 3, 0, 5, 6});
    exec.update(n4, cudag::LaunchConfig{}, p + 4, 50);
    exec.update(n5, cudag::arg<1>(60));
    exec.disable(n2);
    write(cells.span(), std::vector<int>(6, 9));
    run(exec, stream);
    CHECK(read(cells) == std::vector{9, 9, 9, 9, 50, 60});
    check_removed("1", [&] { exec.update(n1, cudag::arg<1>(7)); });
    check_removed("0", [&] { exec.disable(n0); });
}

TEST_CASE("clones find the counterparts of what stayed, also when the origin is gone", "[builder][remove]") {
    GraphBuilder b;
    const auto a = point(b, "a");
    const auto gone = point(b, "gone");
    const auto z = point(b, "z");
    b.remove(gone);
    std::optional<Graph> graph = std::move(b).build();
    std::optional<Graph> clone = graph->clone();
    const Graph last = clone->clone();
    const auto of_clone = clone->counterpart(z);
    CHECK(of_clone == clone->nodes().at(1));
    check_removed("gone", [&] { static_cast<void>(clone->counterpart(gone)); });
    graph.reset();
    CHECK(clone->counterpart(z) == of_clone);
    CHECK(clone->counterpart(a) == clone->nodes().at(0));
    check_removed("gone", [&] { static_cast<void>(clone->counterpart(gone)); });
    const auto of_last = last.counterpart(of_clone);
    clone.reset();
    CHECK(last.counterpart(of_clone) == of_last);
    CHECK(of_last.label() == "z");
}

TEST_CASE("children find what is inside by handles of graphs from which nodes were removed", "[builder][remove]") {
    GraphBuilder inner;
    const auto first = point(inner, "first");
    const auto gone = point(inner, "gone");
    const auto second = point(inner, "second");
    inner.remove(gone);
    const Graph graph = std::move(inner).build();
    GraphBuilder b;
    const auto unwanted = b.child(graph);
    const auto child = b.child(graph);
    b.remove(unwanted);
    CHECK(child.inside(second).label() == "second");
    check_removed("gone", [&] { static_cast<void>(child.inside(gone)); });
    const Graph outer = std::move(b).build();
    CHECK(child.inside(first).label() == "first");
    const Graph clone = outer.clone();
    CHECK(clone.counterpart(child.inside(second)).label() == "second");
    CHECK(clone.counterpart(child).graph().node_count() == 2);
}

TEST_CASE("a removed node is refused by name wherever a handle is given", "[builder][remove]") {
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto stays = point(b, "stays");
    const auto made_at = x.location();
    const int line = __LINE__ + 1;
    b.remove(x);
    const auto error = refused<GraphError>([&] { static_cast<void>(x.native()); });
    CHECK_THAT(error.what(), ContainsSubstring("remove.cpp:" + std::to_string(line)));
    CHECK(error.location().line == made_at.line);
    check_removed("x", [&] { static_cast<void>(x.label()); });
    check_removed("x", [&] { static_cast<void>(x.kind()); });
    check_removed("x", [&] { static_cast<void>(x.location()); });
    check_removed("x", [&] { static_cast<void>(x.kernel_info()); });
    check_removed("x", [&] { static_cast<void>(x.as(nothing)); });
    check_removed("x", [&] { static_cast<void>(x.as<cudag::HostNode>()); });
    check_removed("x", [&] { x.label("again"); });
    check_removed("x", [&] { x.retain(std::make_shared<int>(1)); });
    check_removed("x", [&] { x.after(stays); });
    check_removed("x", [&] { stays.after(x); });
    check_removed("x", [&] { b.join(stays, x); });
    check_removed("x", [&] { b.alloc<int>(1, {.after = {x}}); });
    check_removed("x", [&] { b.remove(stays, x); });
    check_removed("x", [&] { b.remove_edge(x, stays); });
    check_removed("x", [&] { b.remove_edge(stays, x); });
    CHECK_THAT(cudag::to_string(x),
               StartsWith("handle of kernel \"x\" at ") && ContainsSubstring(", which was removed at "));
    Graph graph = std::move(b).build();
    CHECK(labels_of(graph) == Labels{"stays"});
    CHECK(graph.edge_count() == 0);
    check_removed("x", [&] { static_cast<void>(x.label()); });
    check_removed("x", [&] { graph.update(x, {.block = 2}); });
}

TEST_CASE("many nodes go at once, also by ranges, and a repeated one once", "[builder][remove]") {
    GraphBuilder b;
    std::vector<Node> odd;
    std::vector<cudag::KernelNode<>> all;
    for (int i = 0; i < 100; ++i) {
        all.push_back(point(b, std::to_string(i).c_str()));
        if (i > 0) all.back().after(all[all.size() - 2]);
        if (i % 2 != 0) odd.push_back(all.back());
    }
    b.remove(odd[3], odd, std::vector{all[0], all[0]});
    b.remove(std::vector<Node>());
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 49);
    CHECK(graph.edge_count() == 0);
    for (std::size_t i = 2; i < all.size(); i += 2)
        CHECK(all[i].label() == std::to_string(i));
}

TEST_CASE("all nodes can go, and others come after them", "[builder][remove]") {
    const auto cell = device({0});
    GraphBuilder b;
    const auto x = point(b, "x");
    const auto y = point(b, "y").after(x);
    b.remove(y, x);
    const auto last = b.kernel({}, store, cell, 5).label("last");
    check_removed("x", [&] { last.after(x); });
    CHECK(last.label() == "last");
    const Graph graph = std::move(b).build();
    CHECK(labels_of(graph) == Labels{"last"});
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cell) == std::vector{5});
}

TEST_CASE("a removal that is refused removes nothing", "[builder][remove]") {
    GraphBuilder b;
    GraphBuilder other;
    const auto x = point(b, "x");
    const auto stranger = point(other, "stranger");
    check_refused("another graph", [&] { b.remove(x, stranger); });
    check_refused("empty node handle", [&] { b.remove(x, Node()); });
    CHECK(x.label() == "x");
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 1);
    check_refused("a GraphBuilder was used after it was built", [&] { b.remove(x); });
}

TEST_CASE("owners go with their nodes, at once", "[builder][remove][owners]") {
    Watched first, second;
    auto called = std::make_shared<int>(1);
    auto kept = std::make_shared<int>(2);
    const std::weak_ptr<int> watch_called = called, watch_kept = kept;
    GraphBuilder b(unchecked);
    const auto n1 = b.kernel({}, store, first.take(), 1);
    const auto n2 = b.kernel({}, store, second.take(), 1);
    const auto host = b.host([called] {});
    called.reset();
    n1.retain(kept);
    kept.reset();
    b.remove(n1);
    CHECK(!first.alive());
    CHECK(watch_kept.expired());
    CHECK(second.alive());
    CHECK(!watch_called.expired());
    const auto n3 = b.kernel({}, store, second.watch().lock(), 2);
    b.remove(host, n2);
    CHECK(watch_called.expired());
    CHECK(second.alive());
    b.remove(n3);
    CHECK(!second.alive());
}

TEST_CASE("an owner that ends may use the builder", "[builder][remove][owners]") {
    GraphBuilder b;
    const auto stays = point(b, "stays");
    std::string seen;
    std::shared_ptr<int> owner(new int(1), [&](int* number) {
        seen = stays.label();
        point(b, "made by an owner");
        delete number;
    });
    const auto x = point(b, "x").retain(owner);
    owner.reset();
    b.remove(x);
    CHECK(seen == "stays");
    CHECK(labels_of(std::move(b).build()) == Labels{"stays", "made by an owner"});
}

TEST_CASE("what a removed node did to memory orders and races no more", "[builder][remove]") {
    const DeviceBuffer<int> x(1), y(1);
    GraphBuilder b;
    const auto unordered = b.kernel({}, store, x, 1).label("unordered");
    b.kernel({}, store, y, 1).label("other");
    b.kernel({}, store, x, 2).label("stays");
    const auto declared = b.host([] {}).writes(y).label("declared");
    CHECK_THROWS_AS(b.check(), cudag::RaceError);
    b.remove(unordered);
    CHECK_THROWS_AS(b.check(), cudag::RaceError);
    b.remove(declared);
    CHECK(std::move(b).build().node_count() == 2);
}

TEST_CASE("races of nodes that moved up are still told by name", "[builder][remove]") {
    const DeviceBuffer<int> x(1);
    GraphBuilder b;
    const auto gone = point(b, "gone");
    b.host([] {}).reads(x).label("reader");
    b.kernel({}, store, x, 1).label("writer");
    b.remove(gone);
    const auto error = refused<cudag::RaceError>([&] { b.check(); });
    CHECK(error.labels() == Labels{"reader", "writer"});
}

TEST_CASE("inferred edges come from the nodes that are left", "[builder][remove][inferred]") {
    const DeviceBuffer<int> x(1), y(1);
    const auto write = [&](bool with) {
        GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
        b.kernel({}, store, x, 1).label("write x");
        std::optional<Node> through;
        if (with) through = b.kernel({}, add, y, x, 1).label("through");
        b.kernel({}, store, x, 2).label("write x again");
        b.kernel({}, add, x, y, 1).label("y to x");
        b.check(); // which infers, and takes back
        if (with) b.remove(*through);
        return edges_of(std::move(b).build());
    };
    CHECK(write(true) == write(false));
    CHECK(write(true) == Labels{"write x -> write x again", "write x again -> y to x"});
}

TEST_CASE("DynamicParams leave the nodes that go alone", "[builder][remove][dynamic]") {
    const auto cells = device({0, 0, 0});
    cudag::DynamicParam<int> value(7);
    GraphBuilder b(unchecked);
    const auto gone = b.kernel({}, store, cells.data(), value);
    b.kernel({}, store, cells.data() + 1, 1);
    const auto stays = b.kernel({}, store, cells.data() + 2, value);
    b.kernel({}, nothing);
    b.remove(gone);
    check_refused("was removed", [&] { value.drive(gone, [](int) { return cudag::LaunchConfig(); }); });
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK(value.set(8, exec) == 1);
    CHECK(stays.get<1>() == 7);
    run(exec, Stream());
    CHECK(read(cells) == std::vector{0, 1, 8});
}

TEST_CASE("BufferParams are bound in what is left", "[builder][remove][bind]") {
    const auto other = device({0, 0});
    GraphBuilder b(unchecked);
    const auto memory = b.parameter<int>(2);
    const auto gone = b.memset(memory, 1);
    b.kernel({}, store, memory, 4);
    b.remove(gone);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.bind(memory, other);
    run(exec, Stream());
    CHECK(read(other) == std::vector{4, 0});
}

TEST_CASE("a child goes with what is inside it, also if it was moved there", "[builder][remove]") {
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = owner;
    GraphBuilder inner;
    const auto within = point(inner, "within").retain(owner);
    owner.reset();
    Graph graph = std::move(inner).build();
    GraphBuilder b;
    const auto cloned = b.child(graph);
    const auto in_clone = cloned.inside(within);
    b.remove(cloned);
    check_refused("no longer exists", [&] { static_cast<void>(in_clone.label()); });
    CHECK(within.label() == "within");
    if (can_move()) {
        const auto before = point(b, "before");
        const auto moved = b.child(std::move(graph));
        b.remove(before);
        CHECK(moved.inside(within) == within);
        b.remove(moved);
        check_refused("no longer exists", [&] { static_cast<void>(within.label()); });
        CHECK(released(watched, Stream()));
    }
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("a child that was updated goes, and what changes afterwards is counted", "[builder][remove]") {
    const auto cells = device({0, 0});
    GraphBuilder inner(unchecked);
    const auto changed = inner.kernel({}, store, cells.data(), 1);
    Graph graph = std::move(inner).build();
    graph.update(changed, std::make_shared<DeviceBuffer<int>>(1), 2);
    GraphBuilder b(unchecked);
    const auto child = b.child(graph);
    const auto stays = b.kernel({}, store, cells.data() + 1, 1);
    b.remove(child);
    Graph outer = std::move(b).build();
    Exec exec = outer.instantiate();
    for (int i = 0; i < 70; ++i) // so many that the list of changes is looked through
        outer.update(stays, cudag::arg<1>(i));
    CHECK(exec.apply(outer) == 1);
    run(exec, Stream());
    CHECK(read(cells) == std::vector{0, 69});
}
