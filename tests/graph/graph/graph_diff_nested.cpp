// diff of graphs whose nodes have graphs inside, and of conditions.
#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "native.hpp"

using cudag::Condition;
using cudag::DeviceBuffer;
using cudag::Difference;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;

namespace {

/// An if, with an else or not, and behind it a child graph.
Graph branch_and_child(const DeviceBuffer<int>& cell, bool has_else) {
    GraphBuilder inner({.races = cudag::Races::allowed});
    inner.kernel({}, store, cell, 1).label("in the child");
    inner.memset(cell, 3).label("fill in the child");
    const Graph child = std::move(inner).build();
    GraphBuilder b({.races = cudag::Races::allowed});
    const Condition condition = b.condition(1);
    const auto body = [&](GraphBuilder& writes) { writes.kernel({}, store, cell, 2).label("body"); };
    if (has_else)
        b.if_(condition, body, body).label("if");
    else
        b.if_(condition, body).label("if");
    b.child(child).label("child");
    return std::move(b).build();
}

/// Two conditions, each with an if and a kernel that sets it; `reverse`: made in the other order.
Graph two_conditions(const DeviceBuffer<int>& cell, bool reverse, bool swapped_setters = false, unsigned initial = 1) {
    GraphBuilder b;
    const Condition first = b.condition(initial);
    const Condition second = b.condition(1);
    const Condition& x = reverse ? second : first;
    const Condition& y = reverse ? first : second;
    const auto set_x = b.kernel({}, set_condition, swapped_setters ? y : x, 1);
    const auto set_y = b.kernel({}, set_condition, swapped_setters ? x : y, 1).after(set_x);
    const auto body = [&](GraphBuilder& writes) { writes.kernel({}, store, cell, 1); };
    const auto if_x = b.if_(x, body).label("x").after(set_y);
    b.if_(y, body).label("y").after(if_x);
    return std::move(b).build();
}

} // namespace

TEST_CASE("graphs inside nodes are compared with those inside the same nodes", "[graph][diff]") {
    if (older_than(12080)) return;
    const DeviceBuffer<int> cell(1);
    const Graph without = branch_and_child(cell, false);
    const Graph with = branch_and_child(cell, true);
    for (const bool forward : {true, false}) {
        const auto differences = forward ? diff(without, with) : diff(with, without);
        REQUIRE(differences.size() == 1);
        CHECK_THAT(to_string(differences[0]),
                   StartsWith("if \"if\" at ") && EndsWith(forward ? ": bodies: 1 -> 2" : ": bodies: 2 -> 1"));
    }
    Exec exec = without.instantiate();
    const auto report = exec.update(with);
    CHECK_FALSE(report.updated());
    CHECK(report.differences().size() == 1);
    CHECK_THAT(report.to_string(), ContainsSubstring("bodies: 1 -> 2"));
}

TEST_CASE("a child in the place of a conditional is not compared with its body", "[graph][diff]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder inner;
    inner.kernel({}, store, cell, 1);
    const Graph child = std::move(inner).build();
    GraphBuilder b;
    b.child(child);
    GraphBuilder c;
    c.if_(c.condition(1), [&](GraphBuilder& body) { body.memset(cell, 1); });
    const auto differences = diff(std::move(b).build(), std::move(c).build());
    REQUIRE(differences.size() == 1);
    CHECK(differences[0].kind == cudag::DifferenceKind::node_kind);
}

TEST_CASE("the order in which conditions were made is no difference", "[graph][diff]") {
    const DeviceBuffer<int> cell(1);
    const Graph graph = two_conditions(cell, false);
    CHECK(diff(graph, two_conditions(cell, false)).empty());
    CHECK(diff(graph, two_conditions(cell, true)).empty());
}

TEST_CASE("a kernel that sets another condition is a difference, by the names of their nodes", "[graph][diff]") {
    const DeviceBuffer<int> cell(1);
    const Graph graph = two_conditions(cell, false);
    for (const bool reverse : {false, true}) {
        const auto differences = diff(graph, two_conditions(cell, reverse, true));
        REQUIRE(differences.size() == 2);
        CHECK(differences[0].field == "argument 0");
        CHECK_THAT(differences[0].old_value, StartsWith("condition of if \"x\" at "));
        CHECK_THAT(differences[0].new_value, StartsWith("condition of if \"y\" at "));
        CHECK_FALSE(differences[0].needs_instantiate);
    }
}

TEST_CASE("another initial value of a condition is a difference", "[graph][diff]") {
    const DeviceBuffer<int> cell(1);
    const auto differences = diff(two_conditions(cell, false), two_conditions(cell, false, false, 5));
    REQUIRE(differences.size() == 1);
    CHECK_THAT(to_string(differences[0]), StartsWith("if \"x\" at ") && EndsWith(": initial value: 1 -> 5"));
    CHECK_FALSE(differences[0].needs_instantiate);
}

TEST_CASE("a refused update tells that conditions were made in another order", "[conditional][update]") {
    const DeviceBuffer<int> cell(1);
    const Graph graph = two_conditions(cell, false);
    const Graph other = two_conditions(cell, true);
    Exec exec = graph.instantiate();
    const auto report = exec.update(other);
    CHECK(report.verdict() == cudag::UpdateVerdict::not_supported);
    CHECK(report.needs_instantiate());
    CHECK_THAT(report.to_string(), ContainsSubstring("if \"x\" at ") &&
                                       ContainsSubstring("number of its condition, in the order in which they were "
                                                         "made: 1 -> 2"));
}
