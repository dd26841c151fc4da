// Every runtime call that fails while graphs are put into nodes of other graphs.
#include "faults.hpp"
#include "live_counts.hpp"
#include "pipeline.hpp"

#include <catch.hpp>

#include <optional>

using cudag::Condition;
using cudag::Graph;
using cudag::GraphBuilder;

namespace {

/// A graph that a body takes, too.
Graph kernels(const cudag::DeviceBuffer<int>& x) {
    GraphBuilder builder;
    const auto first = builder.kernel({}, multiply_add, x, x, 1, 1).label("first");
    builder.kernel({}, multiply_add, x, x, 1, 1).after(first);
    return std::move(builder).build();
}

/// Makes the calls that a process or a thread makes once, so that no walk meets them.
void warm_up(const cudag::DeviceBuffer<int>& x) {
    GraphBuilder builder;
    builder.while_(builder.condition(0), [&](GraphBuilder& body) {
        body.if_(body.condition(1), [&](GraphBuilder& then) { then.child(kernels(x)); });
    });
    static_cast<void>(std::move(builder).build().instantiate());
}

std::size_t native_count(const Graph& graph) {
    std::size_t count = 0;
    REQUIRE(cudaGraphGetNodes(graph.native(), nullptr, &count) == cudaSuccess);
    return count;
}

} // namespace

TEST_CASE("a child whose call fails is not in the graph", "[unit][faults]") {
    const cudag::DeviceBuffer<int> x(1);
    warm_up(x);
    const NothingLeft check;
    const Graph inner = kernels(x);
    GraphBuilder builder;
    const Faults faults = for_every_call_failing([&] { static_cast<void>(builder.child(inner)); });
    CHECK(faults.thrown >= 3);
    CHECK(faults.ignored == 0);
    const Graph graph = std::move(builder).build();
    CHECK(graph.node_count() == 1);
    CHECK(native_count(graph) == 1);
}

TEST_CASE("a graph whose move fails stands for itself", "[unit][faults]") {
    const cudag::DeviceBuffer<int> x(1);
    warm_up(x);
    const NothingLeft check;
    Graph inner = kernels(x);
    GraphBuilder builder;
    const Faults faults = for_every_call_failing([&] { static_cast<void>(builder.child(std::move(inner))); },
                                                 [&] { static_cast<void>(inner.instantiate()); });
    CHECK(faults.thrown >= 1);
    CHECK(faults.ignored == 0);
    const Graph graph = std::move(builder).build();
    CHECK(native_count(graph) == 1);
}

TEST_CASE("a conditional whose call fails is not in the graph", "[unit][faults]") {
    const cudag::DeviceBuffer<int> x(1);
    warm_up(x);
    const NothingLeft check;
    const Graph inner = kernels(x);
    std::optional<GraphBuilder> builder;
    std::optional<Condition> outer;
    std::optional<Condition> repeated;
    bool added = false; // also by a run that ignored its fault
    const auto prepare = [&] {
        added = false;
        builder.emplace();
        outer = builder->condition(0);
        repeated = builder->condition(1);
    };
    const auto add = [&] {
        static_cast<void>(builder->while_(*outer, [&](GraphBuilder& body) {
            const auto branch = body.if_(
                *repeated, [&](GraphBuilder& then) { then.child(inner); },
                [&](GraphBuilder& other) { other.memset(x, 1); });
            body.kernel({}, multiply_add, x, x, 1, 1).after(branch);
        }));
        added = true;
    };
    const auto verify = [&] {
        if (!added) add();
        const Graph graph = std::move(*builder).build();
        CHECK(graph.node_count() == 1);
        CHECK(native_count(graph) == 1);
        static_cast<void>(graph.instantiate());
    };
    const Faults faults = for_every_call_failing(add, verify, prepare);
    CHECK(faults.thrown >= 6);
}

TEST_CASE("a repetition, and what sets conditions, is in the graph with all its nodes or not at all",
          "[unit][faults]") {
    const cudag::DeviceBuffer<int> x(1);
    warm_up(x);
    const cudag::DeviceScalar<unsigned> value(1U);
    std::optional<GraphBuilder> builder;
    bool added = false; // also by a run that ignored its fault
    const auto add = [&] {
        builder->repeat(3, [&](GraphBuilder& body) {
            const Condition condition = body.condition(0);
            body.if_(condition, [&](GraphBuilder& then) { then.memset(x, 1); }).after(body.set(condition, value));
        });
        added = true;
    };
    const auto prepare = [&] {
        added = false;
        builder.emplace();
    };
    prepare();
    add(); // loads the kernels
    builder.reset();
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    const auto verify = [&] {
        if (!added) add();
        const Graph graph = std::move(*builder).build();
        CHECK(native_count(graph) == 1);
        static_cast<void>(graph.instantiate());
    };
    CHECK(for_every_call_failing(add, verify, prepare).thrown >= 8);
    builder.reset();
    const cudart_cpu::LiveCounts after = cudart_cpu::live();
    CHECK(after.graphs == before.graphs);
    CHECK(after.graph_execs == before.graph_execs);
    CHECK(after.device_allocations == before.device_allocations);
    CHECK(after.streams == before.streams + 1); // the one whose destruction was made to fail
}

TEST_CASE("a view that cannot be made leaves the graph to its owner", "[unit][faults]") {
    const cudag::DeviceBuffer<int> x(1);
    warm_up(x);
    const NothingLeft check;
    const Graph graph = kernels(x);
    const cudag::Exec exec = graph.instantiate();
    const Faults faults = for_every_call_failing([&] { static_cast<void>(Graph::view(graph.native())); });
    CHECK(faults.thrown >= 3);
    const Graph view = Graph::view(graph.native());
    static_cast<void>(for_every_call_failing([&] { static_cast<void>(cudag::Exec::view(exec.native(), view)); }));
    CHECK(view.node_count() == 2);
}

TEST_CASE("a Graph with children is as it was when its clone fails", "[unit][faults]") {
    const cudag::DeviceBuffer<int> x(1);
    warm_up(x);
    const NothingLeft check;
    GraphBuilder builder;
    builder.child(kernels(x));
    const Graph graph = std::move(builder).build();
    const Faults faults =
        for_every_call_failing([&] { return graph.clone(); }, [&] { CHECK(graph.node_count() == 1); });
    CHECK(faults.thrown > 3);
    CHECK(faults.ignored == 0);
}

TEST_CASE("a CUDA graph with children that cannot be adopted is still its owner's", "[unit][faults]") {
    const cudag::DeviceBuffer<int> x(1);
    warm_up(x);
    const NothingLeft check;
    GraphBuilder builder;
    builder.child(kernels(x));
    const Graph graph = std::move(builder).build();
    cudaGraph_t copy = nullptr;
    cudag::check(cudaGraphClone(&copy, graph.native()));
    std::size_t count = 0;
    const Faults faults = for_every_call_failing(
        [&] { return Graph::adopt(copy); }, [&] { CHECK(cudaGraphGetNodes(copy, nullptr, &count) == cudaSuccess); });
    CHECK(faults.thrown > 6);
    CHECK(faults.ignored == 0);
}
