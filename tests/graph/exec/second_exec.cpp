// Further Execs of graphs of which CUDA allows one at a time: handles of the Graph are good for all.
#include <cudag/pool_order.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "native_nodes.hpp"
#include "opaque.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::Condition;
using cudag::DeviceBuffer;
using cudag::DynamicParam;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Node;
using cudag::Stream;
using cudag::UpdateError;

namespace {

using Cells = std::vector<int>;

constexpr cudag::UpdateOptions by_structure{.match = cudag::Match::structure};

/// cells[1] += 1, as often as cells[0] says: both are written by memsets first.
Graph counts(const DeviceBuffer<int>& cells, int times = 3, int value = 1) {
    GraphBuilder b;
    const Condition more = b.condition(1);
    const auto begin = b.memset(cells.span().first(1), times).label("times");
    const auto zero = b.memset(cells.span().last(1), 0).label("zero");
    b.while_(more,
             [&](GraphBuilder& body) {
                 const auto step = body.kernel({}, add, cells.data() + 1, cells.data() + 1, value).label("step");
                 body.kernel({}, count_down, cells, more).label("count").after(step);
             })
        .label("loop")
        .after(begin, zero);
    return std::move(b).build();
}

/// Runs the exec, and returns cells[1].
int run_to(Exec& exec, const DeviceBuffer<int>& cells) {
    run(exec, Stream());
    return read(cells)[1];
}

} // namespace

TEST_CASE("a graph with conditionals has several Execs at a time", "[conditional][exec][second]") {
    const auto cells = device({0, 0});
    const Graph graph = counts(cells);
    Exec one = graph.instantiate();
    Exec two = graph.instantiate();
    Exec three = graph.instantiate();
    for (Exec* exec : {&one, &two, &three}) {
        write(cells.span(), {0, 0});
        CHECK(run_to(*exec, cells) == 3);
    }
    CHECK(graph.node_count() == 3);
}

TEST_CASE("a handle of the Graph updates each of its Execs alone", "[conditional][exec][second]") {
    const auto cells = device({0, 0});
    const Graph graph = counts(cells);
    Exec one = graph.instantiate();
    Exec two = graph.instantiate();
    const auto step = graph.find(add).at(0); // inside the loop
    two.update(step, arg<2>(10));
    two.update(graph.find_one("times").as<cudag::MemsetNode>(), cells.span().first(1), 5);
    CHECK(run_to(one, cells) == 3);
    CHECK(run_to(two, cells) == 50);
    one.update(step, arg<2>(2));
    CHECK(run_to(one, cells) == 6);
    CHECK(run_to(two, cells) == 50);
    two.disable(graph.find_one("times"));
    CHECK_FALSE(two.is_enabled(graph.find_one("times")));
    CHECK(one.is_enabled(graph.find_one("times")));
    write(cells.span(), {2, 0});
    CHECK(run_to(two, cells) == 20);
}

TEST_CASE("a further Exec outlives its Graph and the first Exec", "[conditional][exec][second]") {
    const auto cells = device({0, 0});
    std::optional<Graph> graph(counts(cells));
    std::optional<Exec> one(graph->instantiate());
    Exec two = graph->instantiate();
    const auto step = graph->find(add).at(0);
    one.reset();
    Exec again = graph->instantiate(); // the graph itself is free
    graph.reset();
    two.update(step, arg<2>(4));
    CHECK(run_to(two, cells) == 12);
    again.update(step, arg<2>(5));
    CHECK(run_to(again, cells) == 15);
}

TEST_CASE("a further Exec keeps the owners of the Graph", "[conditional][exec][second]") {
    Watched watched;
    std::optional<Exec> two;
    {
        GraphBuilder b;
        const Condition once = b.condition(1);
        b.host([kept = watched.take()] { static_cast<void>(kept); });
        b.if_(once, [](GraphBuilder& body) { body.kernel({}, nothing); });
        const Graph graph = std::move(b).build();
        const Exec one = graph.instantiate();
        two = graph.instantiate();
    }
    CHECK(watched.alive());
    const Stream stream;
    run(*two, stream);
    two.reset();
    CHECK(released(watched, stream));
}

TEST_CASE("a further Exec begins with the updates of the Graph, and takes later ones by apply",
          "[conditional][exec][second]") {
    const auto cells = device({0, 0});
    Graph graph = counts(cells);
    const auto step = graph.find(add).at(0);
    Exec one = graph.instantiate();
    graph.update(step, arg<2>(2));
    Exec two = graph.instantiate();
    CHECK(run_to(two, cells) == 6);
    CHECK(two.apply(graph) == 0);
    graph.update(step, arg<2>(3));
    CHECK(two.apply(graph) == 1);
    CHECK(two.apply(graph) == 0);
    CHECK(run_to(two, cells) == 9);
    CHECK(run_to(one, cells) == 3);
    CHECK(one.apply(graph) == 1);
    CHECK(run_to(one, cells) == 9);
    const Graph other = counts(cells);
    const auto error = refused<UpdateError>([&] { two.apply(other); });
    CHECK_THAT(error.what(), ContainsSubstring("apply: the graph is not the one") && !ContainsSubstring("clone"));
}

TEST_CASE("a further Exec takes conditions of the Graph in updates", "[conditional][exec][second]") {
    const auto cells = device({0, 0});
    GraphBuilder b;
    const Condition first = b.condition(0), second = b.condition(0);
    const auto sets = b.kernel({}, set_condition, first, 1U);
    const auto sets_whole = b.kernel({}, set_condition_of, ConditionOnly{first}, 1U).after(sets);
    b.if_(first, [&](GraphBuilder& body) { body.kernel({}, store, cells.data(), 5); }).after(sets_whole);
    b.if_(second, [&](GraphBuilder& body) { body.kernel({}, store, cells.data() + 1, 6); }).after(sets_whole);
    Graph graph = std::move(b).build();
    Exec one = graph.instantiate();
    Exec two = graph.instantiate();
    two.update(sets, second, 1U);
    two.update(sets_whole, ConditionOnly{first}, 0U);
    run(two, Stream());
    CHECK(read(cells) == Cells{0, 6});
    graph.update(sets_whole, ConditionOnly{second}, 0U);
    CHECK(two.apply(graph) == 1);
    write(cells.span(), {0, 0});
    run(two, Stream());
    CHECK(read(cells) == Cells{0, 0});
    run(one, Stream());
    CHECK(read(cells) == Cells{5, 0});
}

TEST_CASE("parameters of the Graph are bound and set in each of its Execs", "[conditional][exec][second]") {
    const auto cells = device({0, 0}), other = device({0, 0});
    DynamicParam<int> value(1);
    GraphBuilder b;
    const Condition once = b.condition(1);
    b.if_(once, [&](GraphBuilder& body) { body.kernel({}, store, cells.data() + 1, value); });
    const Graph graph = std::move(b).build();
    const auto param = graph.parameter(cells);
    Exec one = graph.instantiate();
    Exec two = graph.instantiate();
    value.set(7, one, two);
    CHECK(two.bind(param, other) == 1);
    CHECK(run_to(one, cells) == 7);
    CHECK(run_to(two, other) == 7);
    CHECK(read(cells) == Cells{0, 7});
}

TEST_CASE("a whole update reaches a further Exec", "[conditional][exec][second]") {
    const auto cells = device({0, 0});
    Graph graph = counts(cells);
    const Graph next = counts(cells, 4, 10);
    Exec one = graph.instantiate();
    Exec two = graph.instantiate();
    REQUIRE(two.update(next).updated());
    CHECK(run_to(two, cells) == 40);
    two.update(graph.find(add).at(0), arg<2>(20));
    CHECK(run_to(two, cells) == 80);
    REQUIRE(two.update(graph).updated()); // back
    CHECK(run_to(two, cells) == 3);
    graph.update(graph.find(add).at(0), arg<2>(6));
    CHECK(two.apply(graph) == 1);
    CHECK(run_to(two, cells) == 18);
    REQUIRE(two.update(next).updated());
    graph.update(graph.find(add).at(0), arg<2>(9));
    REQUIRE(two.update(graph).updated());
    CHECK(two.apply(graph) == 0); // it has all changes already
    CHECK(run_to(two, cells) == 27);
    graph.update(graph.find(add).at(0), arg<2>(6));
    CHECK(two.apply(graph) == 1);
    REQUIRE(two.update(next, by_structure).updated());
    CHECK(run_to(two, cells) == 40);
    REQUIRE(two.update(graph, by_structure).updated());
    CHECK(two.apply(graph) == 0);
    CHECK(run_to(two, cells) == 18);
    CHECK(run_to(one, cells) == 3);
}

TEST_CASE("reports of a further Exec speak of the Graph and its handles", "[conditional][exec][second]") {
    const auto cells = device({0, 0});
    const Graph graph = counts(cells);
    GraphBuilder b;
    b.kernel({}, nothing).label("another");
    const Graph other = std::move(b).build();
    const Exec one = graph.instantiate();
    Exec two = graph.instantiate();
    const cudag::UpdateReport report = two.update(other);
    REQUIRE_FALSE(report.differences().empty());
    const std::vector<Node> nodes = graph.nodes();
    for (const cudag::Difference& difference : report.differences())
        CHECK((difference.before == Node() || std::ranges::find(nodes, difference.before) != nodes.end()));
    const auto foreign = refused<UpdateError>([&] { two.disable(other.find_one("another")); });
    CHECK_THAT(foreign.what(),
               ContainsSubstring("does not belong to the graph of this Exec") && !ContainsSubstring("clone"));
    CHECK_THAT(foreign.what(), ContainsSubstring("second_exec.cpp"));
    const Graph clone = graph.clone();
    CHECK_THAT(refused<UpdateError>([&] { two.disable(clone.find_one("zero")); }).what(),
               ContainsSubstring("to a clone of this one"));
}

TEST_CASE("the plan of a further Exec names the joins of the Graph", "[conditional][exec][second]") {
    GraphBuilder b;
    std::vector<Node> before;
    for (int i = 0; i < 8; ++i)
        before.push_back(b.kernel({}, nothing));
    const auto meet = b.join(before).label("meet");
    for (int i = 0; i < 8; ++i)
        b.kernel({}, nothing).after(meet);
    b.if_(b.condition(1), [](GraphBuilder& body) { body.kernel({}, nothing); }).after(meet);
    const Graph graph = std::move(b).build();
    const Exec one = graph.instantiate();
    const Exec two = graph.instantiate();
    REQUIRE(two.plan().joins().size() == one.plan().joins().size());
    std::size_t written = 0;
    for (std::size_t i = 0; i < one.plan().joins().size(); ++i) {
        CHECK(two.plan().joins()[i].node == one.plan().joins()[i].node);
        written += one.plan().joins()[i].node == meet ? 1 : 0;
    }
    CHECK(written == 1);
}

TEST_CASE("a further Exec has the place of its Graph in the order of a pool", "[conditional][exec][second]") {
    const Stream stream;
    cudag::CapturePool pool("activations");
    const DeviceBuffer<int> cell = pool.allocate<int>(1);
    const auto storing = [&](int value) {
        GraphBuilder b;
        b.if_(b.condition(1), [&](GraphBuilder& body) { body.kernel({}, store, cell, value); });
        return std::move(b).build();
    };
    const Graph first = storing(1), second = storing(2);
    Exec one = first.instantiate(), two = second.instantiate();
    Exec another_one = first.instantiate(), another_two = second.instantiate();
    const cudag::PoolOrder order(pool, {first, second}, {.checked = true});
    CHECK_THAT(refused<cudag::Error>([&] { another_two.launch(stream); }).what(),
               ContainsSubstring("out of the order"));
    another_one.launch(stream);
    two.launch(stream);
    one.launch(stream);
    another_two.launch(stream);
    stream.synchronize();
    CHECK(order.launches() == 4);
    CHECK(read(cell) == Cells{2});
}

TEST_CASE("a further Exec of a repetition counts its turns alone", "[conditional][exec][second]") {
    if (older_than(12080)) return;
    const auto cells = device({0});
    GraphBuilder b;
    b.repeat(3, [&](GraphBuilder& body) { body.kernel({}, add, cells.data(), cells.data(), 1).label("turn"); });
    const Graph graph = std::move(b).build();
    Exec one = graph.instantiate();
    Exec two = graph.instantiate();
    run(one, Stream());
    run(two, Stream());
    run(two, Stream());
    CHECK(read(cells) == Cells{9});
}

TEST_CASE("a launch of a further Exec into a capture writes its nodes", "[conditional][exec][second]") {
    const auto cells = device({0, 0});
    const Graph graph = counts(cells);
    const Exec one = graph.instantiate();
    Exec two = graph.instantiate();
    two.update(graph.find(add).at(0), arg<2>(8));
    const Graph captured = cudag::capture(Stream(), [&](cudaStream_t s) { two.launch(cudag::StreamRef(s)); });
    Exec exec = captured.instantiate();
    CHECK(run_to(exec, cells) == 24);
}

TEST_CASE("an adopted conditional keeps its graph to one Exec", "[conditional][exec][second]") {
    const auto cells = device({0, 0});
    cudaGraph_t raw = nullptr;
    cudag::check(cudaGraphCreate(&raw, 0));
    add_raw_conditional(raw, {}, cells.data(), 7);
    const Graph graph = Graph::adopt(raw);
    std::optional<Exec> one(graph.instantiate());
    const auto error = refused<cudag::InstantiateError>([&] { static_cast<void>(graph.instantiate()); });
    CHECK_THAT(error.what(), ContainsSubstring("one Exec at a time") &&
                                 ContainsSubstring("cannot be written again for another: ") &&
                                 !ContainsSubstring("writing: "));
    one.reset();
    Exec two = graph.instantiate();
    run(two, Stream());
}

TEST_CASE("a condition left over by a body that threw does not hinder a further Exec", "[conditional][exec][second]") {
    const auto cells = device({0});
    GraphBuilder b;
    const Condition outer = b.condition(1);
    const auto throws = [](GraphBuilder& body) {
        static_cast<void>(body.condition(2));
        throw 1;
    };
    CHECK_THROWS_AS(b.if_(outer, throws), int);
    const auto sets = b.kernel({}, set_condition, outer, 0);
    b.if_(outer, [](GraphBuilder& body) { body.kernel({}, nothing); }).after(sets);
    const Condition last = b.condition(0); // behind the one of the body that threw
    const auto decides = b.kernel({}, set_condition, last, 1);
    b.if_(last, [&](GraphBuilder& body) { body.kernel({}, store, cells, 7); }).after(decides);
    const Graph graph = std::move(b).build();
    const Exec one = graph.instantiate();
    Exec two = graph.instantiate();
    run(two, Stream());
    CHECK(read(cells) == Cells{7});
}
