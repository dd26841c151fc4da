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
