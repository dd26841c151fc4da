// Whole updates of execs whose graphs have conditionals.
#include "conditional_kernels.hpp"
#include "native.hpp"

using cudag::Condition;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;

namespace {

/// Adds `value` to cells[1], as many times as cells[0] says, but at most once if it is no loop.
Graph adds(const DeviceBuffer<int>& cells, int value, unsigned initial, bool loop = true) {
    GraphBuilder b;
    const Condition more = b.condition(initial);
    const auto body = [&](GraphBuilder& inner) {
        const auto step = inner.kernel({}, add, cells.data() + 1, cells.data() + 1, value).label("step");
        inner.kernel({}, count_down, cells, more).after(step);
    };
    if (loop)
        b.while_(more, body).label("turns");
    else
        b.if_(more, body).label("turns");
    return std::move(b).build();
}

} // namespace

TEST_CASE("a whole update reaches the nodes of a body", "[conditional][update]") {
    const auto cells = device({3, 0});
    const Graph graph = adds(cells, 1, 1);
    const Graph other = adds(cells, 10, 1);
    Exec exec = graph.instantiate();
    const Stream stream;
    CHECK(exec.update(other).updated());
    run(exec, stream);
    CHECK(read(cells) == std::vector{0, 30});

    write(cells.span(), {2, 0});
    exec.update(graph.find(add).at(0), cudag::arg<2>(7));
    run(exec, stream);
    CHECK(read(cells) == std::vector{0, 14});
}

TEST_CASE("a whole update brings the initial values of conditions", "[conditional][update]") {
    const auto cells = device({3, 0});
    const Graph graph = adds(cells, 1, 1);
    const Graph other = adds(cells, 1, 0);
    Exec exec = graph.instantiate();
    CHECK(exec.update(other).updated());
    run(exec, Stream());
    CHECK(read(cells) == std::vector{3, 0});
}

TEST_CASE("a whole update does not make an if of a while", "[conditional][update]") {
    const auto cells = device({3, 0});
    const Graph graph = adds(cells, 1, 1);
    const Graph other = adds(cells, 1, 1, false);
    Exec exec = graph.instantiate();
    const auto report = exec.update(other);
    CHECK_FALSE(report.updated());
    CHECK(report.needs_instantiate());
    CHECK_THAT(report.to_string(), ContainsSubstring("while \"turns\"") && ContainsSubstring("while -> if"));
    run(exec, Stream());
    CHECK(read(cells) == std::vector{0, 3});
}

TEST_CASE("a whole update names a body with other nodes", "[conditional][update]") {
    const auto cells = device({3, 0});
    const Graph graph = adds(cells, 1, 1);
    GraphBuilder b;
    const Condition more = b.condition(1);
    b.while_(more, [&](GraphBuilder& body) { body.kernel({}, count_down, cells, more); });
    const Graph other = std::move(b).build();
    Exec exec = graph.instantiate();
    const auto report = exec.update(other);
    CHECK(report.verdict() == cudag::UpdateVerdict::topology_changed);
    CHECK_THAT(report.to_string(), ContainsSubstring("inside while \"turns\"") && ContainsSubstring("missing"));
}

namespace {

constexpr cudag::UpdateOptions by_structure{.match = cudag::Match::structure};

/// Two ifs, with conditions made in this order, whose bodies store in a cell each: the nodes in another order if
/// `backwards`.
Graph two_ifs(const DeviceBuffer<int>& cells, int value, bool backwards, unsigned initial = 1, bool swapped = false) {
    GraphBuilder b;
    Condition first = b.condition(initial);
    Condition second = b.condition(1);
    if (swapped) std::swap(first, second);
    const auto one = [&] {
        b.if_(first, [&](GraphBuilder& body) {
             if (backwards) body.kernel({}, nothing);
             body.kernel({}, store, cells.data(), value).label("inside one");
             if (!backwards) body.kernel({}, nothing);
         }).label("one");
    };
    if (!backwards) one();
    b.if_(second, [&](GraphBuilder& body) { body.kernel({}, store, cells.data() + 1, 10 * value); }).label("two");
    if (backwards) one();
    return std::move(b).build();
}

} // namespace

TEST_CASE("an update by structure reaches the nodes of bodies", "[conditional][update][structure]") {
    const auto cells = device({0, 0});
    const Graph graph = two_ifs(cells, 1, false);
    const Graph other = two_ifs(cells, 2, true);
    Exec exec = graph.instantiate();
    const auto report = exec.update(other, by_structure);
    INFO(report.to_string());
    REQUIRE(report.updated());
    const Stream stream;
    run(exec, stream);
    CHECK(read(cells) == std::vector{2, 20});
    exec.update(graph.find_one("inside one").as(store), cudag::arg<1>(7));
    run(exec, stream);
    CHECK(read(cells) == std::vector{7, 20});
}

TEST_CASE("an update by structure to other conditions is refused by name", "[conditional][update][structure]") {
    const auto cells = device({0, 0});
    const Graph graph = two_ifs(cells, 1, false);
    Exec exec = graph.instantiate();
    const Graph swapped = two_ifs(cells, 2, true, 1, true);
    const auto report = exec.update(swapped, by_structure);
    CHECK(report.needs_instantiate());
    CHECK_THAT(report.to_string(), ContainsSubstring("if \"one\"") && ContainsSubstring("number of its condition"));
    const Graph never = two_ifs(cells, 2, true, 0);
    const auto never_report = exec.update(never, by_structure);
    CHECK(never_report.verdict() == cudag::UpdateVerdict::parameters_changed);
    CHECK_THAT(never_report.to_string(), ContainsSubstring("if \"one\"") &&
                                             ContainsSubstring("initial value: 1 -> 0") &&
                                             ContainsSubstring("cannot be made node by node"));
    run(exec, Stream());
    CHECK(read(cells) == std::vector{1, 10});
}

TEST_CASE("an update by structure brings another condition of the exec's own graph",
          "[conditional][update][structure]") {
    const auto cells = device({0, 0});
    GraphBuilder b;
    const Condition first = b.condition(0), second = b.condition(0);
    const auto sets = b.kernel({}, set_condition, first, 1U);
    b.if_(first, [&](GraphBuilder& body) { body.kernel({}, store, cells.data(), 5); }).after(sets);
    b.if_(second, [&](GraphBuilder& body) { body.kernel({}, store, cells.data() + 1, 6); }).after(sets);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    graph.update(sets, cudag::arg<0>(second));
    REQUIRE(exec.update(graph, by_structure).updated());
    run(exec, Stream());
    CHECK(read(cells) == std::vector{0, 6});
}
