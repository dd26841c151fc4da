// Conditions are memory for inferred edges and races, and events keep their place.
#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "test.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using cudag::Condition;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::RaceError;

namespace {

constexpr cudag::BuilderOptions inferred{.dependencies = cudag::Dependencies::inferred};

using Edges = std::vector<std::string>;

Edges edges_of(const Graph& graph) {
    Edges edges;
    for (const auto& edge : graph.edges())
        edges.push_back(std::string(edge.from.label()) + " -> " + std::string(edge.to.label()));
    std::ranges::sort(edges);
    return edges;
}

/// Kernels that nothing orders set the condition of an if.
template <class Set>
std::string race_of_setter(const Set& set) {
    GraphBuilder b;
    const Condition condition = b.condition(0);
    set(b, condition);
    b.if_(condition, [](GraphBuilder& body) { body.kernel({}, nothing); }).label("branch");
    return refused<RaceError>([&] { b.check(); }).what();
}

} // namespace

TEST_CASE("a conditional comes after the kernels that set its condition, in the order of the program",
          "[builder][inferred][conditional]") {
    const DeviceBuffer<int> x(1), y(1);
    write(x.span(), std::vector{0});
    GraphBuilder b(inferred);
    const Condition condition = b.condition(0);
    b.kernel({}, nothing).label("apart");
    b.kernel({}, set_condition, condition, 0U).label("no");
    b.kernel({}, set_condition, condition, 1U).label("yes");
    b.if_(condition, [&](GraphBuilder& body) { body.kernel({}, store, x, 7); }).label("branch");
    b.kernel({}, add, y, x, 1).label("after");
    const Graph graph = std::move(b).build();
    CHECK(edges_of(graph) == Edges{"branch -> after", "no -> yes", "yes -> branch"});
    CHECK(graph.races().empty());
    Exec exec = graph.instantiate();
    const cudag::Stream stream;
    for (int i = 0; i < 8; ++i) {
        run(exec, stream);
        CHECK(read(y)[0] == 8);
    }
}

TEST_CASE("set(condition, value) takes part in inferred edges, and the initial values inside loops",
          "[builder][inferred][conditional]") {
    if (older_than(12080)) return; // set() needs it
    const DeviceBuffer<int> turns(1), ran(1);
    const auto yes = device<unsigned>({1});
    write(turns.span(), std::vector{3});
    write(ran.span(), std::vector{0});
    GraphBuilder b(inferred);
    const Condition more = b.condition(1);
    b.while_(more, [&](GraphBuilder& body) {
        const Condition inner = body.condition(0);
        body.set(inner, yes).label("set");
        body.if_(inner, [&](GraphBuilder& branch) { branch.kernel({}, add, ran, ran, 1); }).label("inner");
        body.kernel({}, count_down, turns, more).label("count");
    });
    Exec exec = std::move(b).build().instantiate();
    run(exec, cudag::Stream());
    CHECK(read(ran)[0] == 3);
}

TEST_CASE("a kernel that sets a condition races with its conditional and with other setters",
          "[builder][races][conditional]") {
    const std::string alone =
        race_of_setter([](GraphBuilder& b, const Condition& c) { b.kernel({}, set_condition, c, 1U).label("set"); });
    CHECK_THAT(
        alone,
        ContainsSubstring("nothing orders kernel \"set\" at ") &&
            ContainsSubstring(" (argument 0) and if \"branch\" at ") &&
            ContainsSubstring(
                " (its condition): the first may set the condition, the second reads it; let if \"branch\" at ") &&
            !ContainsSubstring("elements"));
    GraphBuilder b({.races = cudag::Races::allowed});
    const Condition condition = b.condition(0);
    const auto one = b.kernel({}, set_condition, condition, 1U);
    const auto other = b.kernel({}, set_condition, condition, 0U);
    b.if_(condition, [](GraphBuilder& body) { body.kernel({}, nothing); }).after(one, other);
    const Graph graph = std::move(b).build();
    const std::vector<cudag::Race> races = graph.races();
    REQUIRE(races.size() == 1);
    CHECK(races[0].first == one);
    CHECK(races[0].second == other);
    CHECK(races[0].is_condition);
    CHECK(races[0].elements == 0);
    CHECK_THAT(to_string(races[0]),
               ContainsSubstring("both may set the condition; let kernel") && !ContainsSubstring("disjoint"));
}

TEST_CASE("a condition in an object is set by the kernel that takes it", "[builder][races][conditional]") {
    const DeviceBuffer<int> cell(1);
    const std::string text = race_of_setter([&](GraphBuilder& b, const Condition& c) {
        b.kernel({}, count_down_with, Counter{'x', c, cell.data()}).label("counter");
    });
    CHECK_THAT(text, ContainsSubstring("kernel \"counter\" at "));
}

TEST_CASE("setters inside a body race with each other, and with setters of its condition outside",
          "[builder][races][conditional]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const Condition condition = b.condition(1);
    b.while_(condition, [&](GraphBuilder& body) {
        body.kernel({}, count_down, cell, condition).label("count");
        body.kernel({}, set_condition, condition, 0U).label("stop");
    });
    CHECK_THAT(refused<RaceError>([&] { b.check(); }).what(),
               ContainsSubstring("kernel \"count\"") && ContainsSubstring("kernel \"stop\""));

    GraphBuilder two;
    const Condition other = two.condition(1);
    const auto outside = two.kernel({}, set_condition, other, 1U).label("outside");
    const auto around = two.while_(other, [&](GraphBuilder& body) { body.kernel({}, count_down, cell, other); });
    CHECK_THAT(refused<RaceError>([&] { two.check(); }).what(), ContainsSubstring("kernel \"outside\""));
    around.after(outside);
    two.check();
}

TEST_CASE("an update to a condition that another node uses is refused as a race", "[exec][races][conditional]") {
    GraphBuilder b;
    const Condition left = b.condition(0), right = b.condition(0);
    const auto set_left = b.kernel({}, set_condition, left, 1U).label("left");
    const auto set_right = b.kernel({}, set_condition, right, 1U).label("right");
    b.if_(left, [](GraphBuilder& body) { body.kernel({}, nothing); }).after(set_left, set_right);
    b.if_(right, [](GraphBuilder& body) { body.kernel({}, nothing); }).after(set_left, set_right);
    Graph graph = std::move(b).build();
    CHECK_THAT(refused<RaceError>([&] { graph.update(set_left, cudag::arg<0>(right)); }).what(),
               ContainsSubstring("both may set the condition"));
    Exec exec = graph.instantiate();
    exec.update(set_left, cudag::arg<1>(0U));
    CHECK_THAT(refused<RaceError>([&] { exec.update(set_left, cudag::arg<0>(right)); }).what(),
               ContainsSubstring("kernel \"left\" at ") && ContainsSubstring("both may set the condition"));
    exec.update(set_left, left, 1U);
}

TEST_CASE("a partial update with one more Condition keeps those that the kernel takes", "[exec][races][conditional]") {
    GraphBuilder b;
    const Condition first = b.condition(0), second = b.condition(0), third = b.condition(0);
    const auto both = b.kernel({}, set_two_raw, first, second.native(), 1U).label("both"); // a number is no Condition
    const auto other = b.kernel({}, set_condition, third, 1U).label("other");
    for (const Condition& condition : {first, second, third})
        b.if_(condition, [](GraphBuilder& body) { body.kernel({}, nothing); }).after(both, other);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const auto check_in = [&](auto& target) {
        target.update(both, cudag::arg<1>(second));
        for (const Condition& condition : {first, second})
            CHECK_THAT(refused<RaceError>([&] { target.update(other, cudag::arg<0>(condition)); }).what(),
                       ContainsSubstring("kernel \"both\" at ") && ContainsSubstring("both may set the condition"));
        target.update(both, cudag::arg<0>(second)); // both arguments are one condition now
        target.update(other, cudag::arg<0>(first));
        CHECK_THROWS_AS(target.update(both, cudag::arg<0>(first)), RaceError);
        target.update(both, cudag::arg<2>(0U));
        CHECK_THROWS_AS(target.update(other, cudag::arg<0>(second)), RaceError);
    };
    check_in(exec);
    check_in(graph);
}

namespace {

/// A kernel that is made with two numbers where it may take conditions, beside one that sets another condition.
struct BesideSetter {
    BesideSetter() {
        GraphBuilder b;
        for (unsigned i = 0; i < 5; ++i)
            conditions.push_back(b.condition(0));
        both = b.kernel({}, set_two_raw, native(0), native(0), 1U).label("both");
        other = b.kernel({}, set_condition, conditions[4], 1U).label("other");
        for (const Condition& condition : conditions)
            b.if_(condition, [](GraphBuilder& body) { body.kernel({}, nothing); }).after(both, other);
        graph = std::move(b).build();
    }

    [[nodiscard]] cudaGraphConditionalHandle native(std::size_t i) const { return conditions[i].native(); }
    /// Of which conditions nobody else may be the setter.
    template <class Target>
    [[nodiscard]] std::vector<std::size_t> taken_in(Target& target) const {
        std::vector<std::size_t> taken;
        for (std::size_t i = 0; i < 4; ++i) {
            try {
                target.update(other, cudag::arg<0>(conditions[i]));
            } catch (const RaceError&) {
                taken.push_back(i);
            }
            target.update(other, cudag::arg<0>(conditions[4]));
        }
        return taken;
    }

    std::vector<Condition> conditions;
    cudag::KernelNode<cudaGraphConditionalHandle, cudaGraphConditionalHandle, unsigned> both;
    cudag::KernelNode<Condition, unsigned> other;
    std::optional<Graph> graph;
};

using Taken = std::vector<std::size_t>;

} // namespace

TEST_CASE("conditions that a kernel takes stay or go with each update of an argument", "[exec][races][conditional]") {
    BesideSetter sample;
    Exec exec = sample.graph->instantiate();
    const auto check_in = [&](auto& target) {
        CHECK(sample.taken_in(target).empty());
        CHECK_THROWS_AS(target.update(sample.both, cudag::arg<1>(sample.conditions[4])), RaceError);
        target.update(sample.both, cudag::arg<1>(sample.conditions[1]));
        CHECK(sample.taken_in(target) == Taken{1});
        target.update(sample.both, cudag::arg<0>(sample.conditions[2]));
        CHECK(sample.taken_in(target) == Taken{1, 2});
        target.update(sample.both, cudag::arg<1>(sample.conditions[3]));
        CHECK(sample.taken_in(target) == Taken{2, 3});
    };
    check_in(exec);
    check_in(*sample.graph);
}

TEST_CASE("a number in place of a Condition leaves that to others to set", "[exec][races][conditional]") {
    BesideSetter sample;
    Exec exec = sample.graph->instantiate();
    const auto check_in = [&](auto& target) {
        target.update(sample.both, sample.conditions[1], sample.conditions[3], 1U);
        CHECK(sample.taken_in(target) == Taken{1, 3});
        target.update(sample.both, cudag::arg<0>(sample.native(2))); // taken as one there: the kernel has taken one
        CHECK(sample.taken_in(target) == Taken{2, 3});
        target.update(sample.both, sample.native(0), sample.native(2), 1U);
        CHECK(sample.taken_in(target).empty());
    };
    check_in(exec);
    check_in(*sample.graph);
}

TEST_CASE("an update that makes a number a Condition is refused as a race", "[exec][races][conditional]") {
    GraphBuilder b;
    const Condition left = b.condition(0), right = b.condition(0);
    const auto raw = b.kernel({}, set_two_raw, left, left.native(), 1U).label("raw");
    const auto other = b.kernel({}, set_condition, right, 1U).label("other");
    for (const Condition& condition : {left, right})
        b.if_(condition, [](GraphBuilder& body) { body.kernel({}, nothing); }).after(raw, other);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK_THROWS_AS(exec.update(raw, cudag::arg<1>(right)), RaceError);
    CHECK_THROWS_AS(graph.update(raw, cudag::arg<1>(right)), RaceError);
    exec.update(raw, cudag::arg<1>(left));
}

TEST_CASE("an update to an object with a condition that another node uses is refused as a race",
          "[exec][races][conditional]") {
    const DeviceBuffer<int> left_cell(1), right_cell(1);
    GraphBuilder b;
    const Condition left = b.condition(0), right = b.condition(0), third = b.condition(0);
    const auto set_left = b.kernel({}, count_down_with, Counter{'l', left, left_cell.data()}).label("left");
    const auto set_right = b.kernel({}, count_down_with, Counter{'r', right, right_cell.data()}).label("right");
    for (const Condition& condition : {left, right, third})
        b.if_(condition, [](GraphBuilder& body) { body.kernel({}, nothing); }).after(set_left, set_right);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const auto check_in = [&](auto& target) {
        CHECK_THAT(refused<RaceError>([&] {
                       target.update(set_right, Counter{'r', left, right_cell.data()});
                   }).what(),
                   ContainsSubstring("kernel \"left\" at ") && ContainsSubstring("both may set the condition"));
        target.update(set_left, Counter{'l', third, left_cell.data()});
        target.update(set_right, Counter{'r', left, right_cell.data()}); // which is free now
        CHECK_THROWS_AS(target.update(set_right, Counter{'r', third, right_cell.data()}), RaceError);
    };
    check_in(exec);
    check_in(graph);
}

TEST_CASE("a condition that is all of an object is one in updates, too", "[exec][races][conditional]") {
    GraphBuilder b;
    const Condition left = b.condition(0), right = b.condition(0);
    const auto of_object = b.kernel({}, set_condition_of, ConditionOnly{left}, 1U).label("of object");
    const auto other = b.kernel({}, set_condition, right, 1U).label("other");
    for (const Condition& condition : {left, right})
        b.if_(condition, [](GraphBuilder& body) { body.kernel({}, nothing); }).after(of_object, other);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK_THROWS_AS(exec.update(of_object, ConditionOnly{right}, 1U), RaceError);
    CHECK_THROWS_AS(graph.update(of_object, ConditionOnly{right}, 1U), RaceError);
    CHECK_THROWS_AS(exec.update(other, cudag::arg<0>(left)), RaceError);
}

TEST_CASE("events keep their place in the program where edges are inferred", "[builder][inferred][event]") {
    const DeviceBuffer<int> x(1), y(1), z(1);
    cudag::Event event, other;
    GraphBuilder b(inferred);
    b.kernel({}, store, x, 1).label("x");
    b.kernel({}, store, y, 1).label("y");
    b.record(event).label("record");
    b.kernel({}, add, z, x, 1).label("z");
    b.kernel({}, store, y, 2).label("y again");
    b.wait(other).label("wait");
    b.record(event).label("last");
    CHECK(edges_of(std::move(b).build()) == Edges{"record -> y again", "record -> z", "wait -> last", "x -> record",
                                                  "y -> record", "y again -> wait", "z -> wait"});
}

TEST_CASE("a child or a region with an event keeps its place, as a whole", "[builder][inferred][event]") {
    const DeviceBuffer<int> x(1), y(1);
    cudag::Event event;
    GraphBuilder inner;
    inner.record(event);
    const Graph child = std::move(inner).build();
    const cudag::Stream stream;
    GraphBuilder b(inferred);
    b.kernel({}, store, x, 1).label("x");
    b.child(child).label("child");
    b.kernel({}, store, y, 1).label("y");
    b.capture(stream, [&](cudag::StreamCapture& c) {
        c.step("first", [&] { cudag::launch(stream, {}, nothing); });
        c.step("mark",
               [&] { cudag::check(cudaEventRecordWithFlags(event.get(), stream.get(), cudaEventRecordExternal)); });
    });
    b.memset(x, 0).label("end");
    CHECK(edges_of(std::move(b).build()) ==
          Edges{"child -> y", "first -> mark", "mark -> end", "x -> child", "y -> first"});
}
