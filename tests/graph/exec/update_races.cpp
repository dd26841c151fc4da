// Updates that would make a race are refused.
#include "conditional_kernels.hpp"
#include "stores.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

using cudag::arg;
using cudag::BufferParam;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::RaceError;
using cudag::Stream;

namespace {

using Store = cudag::KernelNode<int*, int>;

/// Two kernels that nothing orders store 1 and 2, each in two cells of its own.
struct Two {
    explicit Two(cudag::BuilderOptions options = {}) {
        GraphBuilder b(options);
        left = b.kernel({}, store, left_cells, 1).label("left");
        right = b.kernel({}, store, right_cells, 2).label("right");
        graph = std::move(b).build();
    }

    /// What the first cells have after one launch.
    Cells result(Exec& exec) const {
        for (const DeviceBuffer<int>* cells : {&left_cells, &right_cells, &others})
            write(cells->span(), Cells{-1, -1});
        run(exec, stream);
        return {read(left_cells)[0], read(right_cells)[0], read(others)[0]};
    }

    DeviceBuffer<int> left_cells{2}, right_cells{2}, others{2};
    Stream stream;
    Store left, right;
    std::optional<Graph> graph;
};

std::string race_of(CallRef<> call) {
    return refused<RaceError>(call).what();
}

} // namespace

TEST_CASE("an update of an exec that would make a race is refused, and changes nothing", "[exec][races]") {
    const Two two;
    Exec exec = two.graph->instantiate();
    const auto error = refused<RaceError>([&] { exec.update(two.left, two.right_cells, 3); });
    CHECK_THAT(error.what(), ContainsSubstring("update of kernel \"left\" at ") &&
                                 ContainsSubstring("it would make a race: nothing orders kernel \"left\" at ") &&
                                 ContainsSubstring("(argument 0) and kernel \"right\" at ") &&
                                 ContainsSubstring("both write elements 0 to 1 of") &&
                                 ContainsSubstring("bind, apply"));
    CHECK(error.labels() == Labels{"left"});
    CHECK(two.result(exec) == Cells{1, 2, -1});
    exec.update(two.left, two.others, 3);
    CHECK(two.result(exec) == Cells{-1, 2, 3});
    exec.update(two.right, two.left_cells, 4); // nobody uses it any more
    CHECK(two.result(exec) == Cells{4, -1, 3});
    static_cast<void>(race_of([&] { exec.update(two.right, two.others, 4); }));
    CHECK(two.result(exec) == Cells{4, -1, 3});
}

TEST_CASE("updates that touch no common byte, or what both only read, make no race", "[exec][races]") {
    const DeviceBuffer<int> from(4), other(4), first(1), second(1);
    GraphBuilder b;
    const auto left = b.kernel({}, add, first, from.span().subspan(0, 1), 1);
    const auto right = b.kernel({}, add, second, other.span().subspan(0, 1), 1);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.update(right, arg<1>(from.span()));
    exec.update(left, arg<0>(other.span().subspan(0, 1)));
    CHECK_THAT(race_of([&] { exec.update(left, arg<0>(from.span().subspan(3, 1))); }),
               ContainsSubstring("the first writes, the second reads, element 0 of"));
    exec.update(right, arg<1>(from.span().subspan(0, 3)));
    exec.update(left, arg<0>(from.span().subspan(3, 1)));
}

TEST_CASE("updates of nodes in one order make no race", "[exec][races]") {
    const DeviceBuffer<int> cells(1), others(1);
    GraphBuilder b;
    const auto fork = b.kernel({}, store, others, 1);
    const auto left = b.kernel({}, store, cells, 1).after(fork);
    b.host([] {}).after(fork); // so that they are no line
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.update(left, others, 5);
    run(exec, Stream());
    CHECK(read(others) == Cells{5});
}

TEST_CASE("updates of graphs that may have races, and of captured ones, are not refused for races", "[exec][races]") {
    const Two two({.races = cudag::Races::allowed});
    Exec exec = two.graph->instantiate();
    CHECK_NOTHROW(exec.update(two.left, two.right_cells, 3));
    Graph clone = two.graph->clone();
    CHECK_NOTHROW(clone.update(clone.counterpart(two.left), two.right_cells, 3));
    CHECK(clone.races().size() == 1);
}

TEST_CASE("an argument that becomes a raw pointer is looked at no more", "[exec][races]") {
    const Two two;
    Exec exec = two.graph->instantiate();
    exec.update(two.right, two.right_cells.data(), 2);
    exec.update(two.left, two.right_cells, 3);
    CHECK_THAT(race_of([&] { exec.update(two.right, two.right_cells, 2); }), ContainsSubstring("make a race"));
}

TEST_CASE("copies and fills are looked at in updates, and what a node declares stays", "[exec][races]") {
    const DeviceBuffer<int> cells(4), others(4), free(4);
    GraphBuilder b;
    const auto fill = b.memset(cells, 0).label("fill");
    const auto copy = b.memcpy(others.span().subspan(0, 2), others.span().subspan(2, 2)).label("copy");
    const auto host = b.host([] {}).label("host").reads(free.span().subspan(0, 1));
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK_THAT(race_of([&] { exec.update(fill, others.span().subspan(2, 2), 0); }),
               ContainsSubstring("(the destination) and memcpy \"copy\" at ") && ContainsSubstring("(the source)"));
    CHECK_THAT(race_of([&] { exec.update(copy, free.span().subspan(0, 2), others.span().subspan(2, 2)); }),
               ContainsSubstring("host \"host\"") && ContainsSubstring("(what it declares)"));
    exec.update(host, [] {});
    CHECK_THAT(race_of([&] { exec.update(fill, free, 0); }), ContainsSubstring("host \"host\""));
    exec.update(copy, free.span().subspan(1, 2), others.span().subspan(2, 2));
    exec.update(fill, others.span().subspan(0, 2), 0);
    CHECK_THAT(race_of([&] { graph.update(fill, others.span().subspan(2, 2), 0); }), ContainsSubstring("\"copy\""));
}

TEST_CASE("what is bound together may change places, one after the other it races in between", "[exec][races]") {
    const BufferParam<int> left(1), right(1);
    const DeviceBuffer<int> one(1), two(1);
    GraphBuilder b;
    b.kernel({}, store, left, 1);
    b.kernel({}, store, right, 2);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;
    exec.bind({{left, one}, {right, two}});
    CHECK_THAT(race_of([&] { exec.bind(left, two); }), ContainsSubstring("bind: ") && ContainsSubstring("make a race"));
    run(exec, stream);
    CHECK(read(one) == Cells{1});
    exec.bind({{left, two}, {right, one}});
    run(exec, stream);
    CHECK(read(one) == Cells{2});
    CHECK(read(two) == Cells{1});
    static_cast<void>(race_of([&] { exec.bind({{left, two}, {right, two}}); }));
    CHECK(read(two) == Cells{1});
}

TEST_CASE("two nodes of a graph exchange memory by way of a third buffer, as the refusal advises", "[graph][races]") {
    Two two;
    Graph& graph = *two.graph;
    graph.update(two.left, two.others, 1);
    graph.update(two.right, two.left_cells, 2);
    graph.update(two.left, two.right_cells, 1);
    Exec exec = graph.instantiate();
    CHECK(two.result(exec) == Cells{2, 1, -1});
}

TEST_CASE("many nodes move together beside many others", "[exec][races]") {
    constexpr std::size_t n = 40;
    const BufferParam<int> param(n);
    const DeviceBuffer<int> one(n), two(n + 1), out(n);
    GraphBuilder b;
    std::optional<Store> before;
    for (std::size_t i = 0; i < n; ++i) {
        Store layer = b.kernel({}, store, param, 1).label("layer");
        if (before) layer.after(*before);
        b.kernel({}, store, out.span().subspan(i, 1), 2).after(layer);
        before = layer;
    }
    const auto beside = b.kernel({}, store, two.span().subspan(n, 1), 3).label("beside");
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.bind(param, one);
    exec.bind(param, two.span().subspan(0, n)); // next to what another node writes
    for (int round = 0; round < 3; ++round) {
        CHECK_THAT(race_of([&] { exec.bind(param, two.span().subspan(1, n)); }),
                   ContainsSubstring("\"layer\"") && ContainsSubstring("\"beside\""));
        exec.bind(param, round % 2 == 0 ? one.span() : two.span().subspan(0, n));
    }
    exec.bind(param, one);
    exec.update(beside, two.span().subspan(0, 1), 3);
    static_cast<void>(race_of([&] { exec.bind(param, two.span().subspan(0, n)); }));
    exec.bind(param, two.span().subspan(1, n));
    static_cast<void>(race_of([&] { exec.update(beside, two.span().subspan(1, 1), 3); }));
}

TEST_CASE("many nodes that all overlap each other change together", "[exec][races]") {
    constexpr std::size_t n = 60;
    const DeviceBuffer<int> one(n), two(n), three(1);
    GraphBuilder b;
    std::vector<Store> nodes;
    for (std::size_t i = 0; i < n; ++i)
        nodes.push_back(b.kernel({}, store, cudag::disjoint(one.span().subspan(i, 1)), 1));
    const Store beside = b.kernel({}, store, three, 3).label("beside");
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    for (std::size_t i = 0; i < n; ++i)
        graph.update(nodes[i], cudag::disjoint(two.span().subspan(0, n - i)), 2);
    exec.update(beside, two.span().subspan(5, 1), 3);
    CHECK_THAT(race_of([&] { exec.apply(graph); }), ContainsSubstring("\"beside\""));
    exec.update(beside, three, 3);
    CHECK(exec.apply(graph) == n);
    static_cast<void>(race_of([&] { exec.update(beside, two.span().subspan(5, 1), 3); }));
}

TEST_CASE("an update of a graph that would make a race is refused, and changes nothing", "[graph][races]") {
    Two two;
    Graph& graph = *two.graph;
    CHECK_THAT(race_of([&] { graph.update(two.left, two.right_cells, 3); }),
               ContainsSubstring("it would make a race: nothing orders kernel \"left\" at "));
    CHECK(graph.races().empty());
    CHECK_THAT(
        race_of([&] { graph.update(two.left, two.right_cells, 3); }),
        EndsWith("; nodes of a Graph change one by one: where two of them exchange memory, give one of them other "
                 "memory in between, or build a graph that has both changes"));
    graph.update(two.left, two.others, 3);
    Exec exec = graph.instantiate();
    CHECK(two.result(exec) == Cells{-1, 2, 3});
    graph.update(two.right, two.left_cells, 4);
    static_cast<void>(race_of([&] { graph.update(two.right, two.others, 4); }));
    CHECK(exec.apply(graph) == 1);
    CHECK(two.result(exec) == Cells{4, -1, 3});
}

TEST_CASE("a clone of a graph has what its updates have changed", "[graph][races]") {
    Two two;
    two.graph->update(two.left, two.others.span(), 3);
    Graph clone = two.graph->clone();
    static_cast<void>(race_of([&] { clone.update(clone.counterpart(two.right), two.others, 4); }));
    clone.update(clone.counterpart(two.right), two.left_cells, 4);
    Exec exec = clone.instantiate();
    CHECK(two.result(exec) == Cells{4, -1, 3});
    static_cast<void>(race_of(
        [&] { exec.update(two.graph->nodes().empty() ? two.left : clone.counterpart(two.right), two.others, 4); }));
}

TEST_CASE("what a graph gives to an exec is looked at with what the exec was given", "[exec][races]") {
    Two two;
    Exec exec = two.graph->instantiate();
    exec.update(two.left, two.others, 3);
    two.graph->update(two.right, two.others, 4); // in the graph, nobody uses it
    CHECK_THAT(race_of([&] { exec.apply(*two.graph); }),
               ContainsSubstring("apply: ") && ContainsSubstring("make a race"));
    CHECK(two.result(exec) == Cells{-1, 2, 3});
    exec.update(two.left, two.left_cells, 3);
    CHECK(exec.apply(*two.graph) == 1);
    CHECK(two.result(exec) == Cells{3, -1, 4});
}

TEST_CASE("after the update of a whole graph its memory counts", "[exec][races]") {
    const Two two, next;
    Exec exec = two.graph->instantiate();
    exec.update(two.left, two.others, 3);
    const cudag::UpdateOptions options{.match = GENERATE(cudag::Match::order, cudag::Match::structure)};
    CHECK(exec.update(*next.graph, options).updated());
    exec.update(two.left, two.right_cells, 3); // what the former graph used
    static_cast<void>(race_of([&] { exec.update(two.left, next.right_cells, 3); }));
}

TEST_CASE("nodes inside of others are looked at beside all around them", "[exec][races]") {
    const DeviceBuffer<int> cells(1), others(1), beside(1), free(1);
    GraphBuilder inner;
    inner.kernel({}, store, cells, 1).label("inside");
    const Graph child_graph = std::move(inner).build();
    GraphBuilder b;
    const auto child = b.child(child_graph).label("child");
    const auto condition = b.condition(1);
    Store in_body;
    b.if_(condition, [&](GraphBuilder& body) { in_body = body.kernel({}, store, others, 2).label("in body"); });
    const auto outside = b.kernel({}, store, beside, 3).label("outside");
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK_THAT(race_of([&] { exec.update(in_body, beside, 2); }), ContainsSubstring("kernel \"in body\""));
    CHECK_THAT(race_of([&] { exec.update(outside, cells, 2); }),
               ContainsSubstring("child \"child\"") && ContainsSubstring("kernel \"inside\""));
    GraphBuilder other;
    other.kernel({}, store, beside, 1);
    const Graph racing = std::move(other).build();
    static_cast<void>(race_of([&] { exec.update(child, racing); }));
    GraphBuilder another;
    another.kernel({}, store, free, 1);
    const Graph sound = std::move(another).build();
    exec.update(child, sound);
    exec.update(in_body, cells, 2);
    static_cast<void>(race_of([&] { exec.update(outside, free, 2); }));
    run(exec, Stream());
    CHECK(read(free) == Cells{1});
    CHECK(read(cells) == Cells{2});
    CHECK(read(beside) == Cells{3});
}

TEST_CASE("what a paired node declares counts in later updates, also if its parameters stay", "[exec][races]") {
    const DeviceBuffer<int> x(2), y(2), z(2);
    Store ordered;
    const auto build = [&](const DeviceBuffer<int>& written) {
        GraphBuilder b;
        b.kernel({}, store, x.data(), 1).label("declares").writes(written);
        ordered = b.kernel({}, store, z, 2).label("moves");
        return std::move(b).build();
    };
    const Graph first = build(x);
    const Store moves = ordered;
    const Graph second = build(y);
    Exec exec = first.instantiate();
    REQUIRE(exec.update(second, {.match = cudag::Match::structure}).updated());
    CHECK_THAT(race_of([&] { exec.update(moves, arg<0>(y)); }), ContainsSubstring("kernel \"declares\""));
    exec.update(moves, arg<0>(x)); // which the other node no longer declares
}

TEST_CASE("what an unchanged node of a child declares counts in later updates", "[exec][races]") {
    const bool has_removed = GENERATE(false, true); // where it has, the nodes are updated one by one
    const DeviceBuffer<int> x(2), y(2), z(2);
    Store moves;
    const auto build = [&](const DeviceBuffer<int>& written, bool with_removed) {
        GraphBuilder b;
        if (with_removed) b.remove(b.kernel({}, store, x.data(), 1));
        b.kernel({}, store, x.data(), 1).label("declares").writes(written);
        moves = b.kernel({}, store, z, 2).label("moves");
        return std::move(b).build();
    };
    GraphBuilder b;
    const Graph first = build(x, false);
    const auto child = b.child(first);
    const Store inside = child.inside(moves);
    Exec exec = std::move(b).build().instantiate();
    exec.update(child, build(y, has_removed));
    CHECK_THAT(race_of([&] { exec.update(inside, arg<0>(y)); }), ContainsSubstring("kernel \"declares\""));
    exec.update(inside, arg<0>(x));
}

TEST_CASE("what a node of a child has taken stays declared where another argument changes", "[exec][races]") {
    const bool has_removed = GENERATE(false, true); // where it has, the nodes are updated one by one
    const DeviceBuffer<int> x(1), y(1), z(1), from(1), other_from(1);
    std::optional<cudag::KernelNode<int*, const int*, int>> adds;
    const auto build = [&](const DeviceBuffer<int>& to, bool with_removed) {
        GraphBuilder b;
        if (with_removed) b.remove(b.kernel({}, add, to, from, 1));
        adds = b.kernel({}, add, to, from, 1).label("adds");
        return std::move(b).build();
    };
    GraphBuilder b;
    const Graph first = build(x, false);
    const auto child = b.child(first);
    const auto inside = child.inside(*adds);
    const auto moves = b.kernel({}, store, z, 2).label("moves");
    Exec exec = std::move(b).build().instantiate();
    exec.update(child, build(y, has_removed));
    exec.update(inside, arg<1>(other_from));
    CHECK_THAT(race_of([&] { exec.update(moves, arg<0>(y)); }), ContainsSubstring("kernel \"adds\""));
    exec.update(moves, arg<0>(x));
    exec.update(moves, arg<0>(from));
}

TEST_CASE("reads() and writes() of built graphs count in updates that come after them", "[exec][races]") {
    Two two;
    Graph& graph = *two.graph;
    Exec exec = graph.instantiate();
    const auto check_in = [&](auto& target, const DeviceBuffer<int>& declared) {
        target.update(two.left, declared, 3); // races are looked for from here on
        target.update(two.left, two.left_cells, 1);
        two.right.reads(declared);
        CHECK_THAT(race_of([&] { target.update(two.left, declared, 3); }), ContainsSubstring("kernel \"right\" at "));
        CHECK(two.result(exec) == Cells{1, 2, -1});
    };
    check_in(exec, two.others);
    const DeviceBuffer<int> more(2);
    check_in(graph, more);
}
