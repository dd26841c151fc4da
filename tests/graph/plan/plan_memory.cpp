// Plans of graphs with memory nodes, of which CUDA removes no edges.
#include "cuda_version.hpp"
#include "native.hpp"
#include "plan_graphs.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::JoinForm;
using cudag::Plan;
using cudag::PlanReport;
using cudag::Stream;

namespace {

/// Three kernels in a line and a shortcut before an allocation, and a shortcut after it.
Graph with_shortcuts() {
    GraphBuilder b;
    const Kernels k = add_kernels(b, 3);
    k[1].after(k[0]);
    k[2].after(k[0], k[1]);
    const auto memory = b.alloc<int>(16, {.after = {k[2]}});
    b.free(memory).after(memory, k[0]);
    return std::move(b).build();
}

/// The sums between an allocation and its end.
Graph sums_with_memory(const Sums& sums, std::uint32_t salt = 1) {
    GraphBuilder b;
    const auto memory = b.alloc<int>(16);
    sums.write(b, salt);
    b.free(memory).after(memory);
    return std::move(b).build();
}

} // namespace

TEST_CASE("CUDA gets no edge before an allocation that others imply, and none after it", "[plan]") {
    const Graph graph = with_shortcuts();
    CHECK(graph.edge_count() == 6);
    Exec exec = graph.instantiate();
    CHECK(exec.plan().edges_after() == 4);
    CHECK(native_edges(graph.native()).size() == 4);
    run(exec, Stream());
}

TEST_CASE("a graph with memory nodes is planned once", "[plan]") {
    const Graph graph = with_shortcuts();
    SECTION("first as it is written") {
        CHECK(graph.instantiate({.plan = Plan::as_written()}).plan().edges_after() == 6);
        CHECK(native_edges(graph.native()).size() == 6);
        CHECK(graph.instantiate().plan().edges_after() == 6);
    }
    SECTION("first by a plan") {
        CHECK(graph.instantiate().plan().edges_after() == 4);
        Exec exec = graph.instantiate({.plan = Plan::as_written()});
        CHECK(exec.plan().edges_after() == 4);
        run(exec, Stream());
    }
    SECTION("first by being shown") {
        CHECK(native_edges(graph.native()).size() == 4);
        CHECK(graph.instantiate({.plan = Plan::as_written()}).plan().edges_after() == 4);
    }
    CHECK(graph.edge_count() == 6);
}

TEST_CASE("a join in a graph with memory nodes becomes a kernel, with the same results", "[plan]") {
    const Sums sums(10);
    const std::vector<std::uint32_t> expected = sums.expected();
    const Graph graph = sums_with_memory(sums);
    Exec exec = graph.instantiate({.plan = without_ends});
    CHECK(sums.run_of(exec) == expected);
    if (older_than(12080)) return;
    REQUIRE(exec.plan().joins().size() == 1);
    CHECK(exec.plan().joins()[0].form == JoinForm::kernel);
    CHECK(exec.plan().advice().empty());
}

TEST_CASE("execs of graphs with memory nodes and joins are updated from each other's", "[plan]") {
    const Sums sums(10);
    const std::vector<std::uint32_t> expected = sums.expected(2);
    for (const Plan& plan : {Plan(), Plan::as_written(), Plan{.lanes = 2}}) {
        const Graph graph = sums_with_memory(sums);
        Exec exec = graph.instantiate({.plan = plan});
        CHECK(exec.plan().lanes() == 0);
        CHECK(exec.update(sums_with_memory(sums, 2)).updated());
        CHECK(sums.run_of(exec) == expected);
    }
}

TEST_CASE("a join that CUDA has had before an allocation stays an empty node", "[plan]") {
    const Sums sums(10);
    const auto after_join = [&](bool join_alone) {
        GraphBuilder b;
        const Kernels before = add_kernels(b, 10), after = add_kernels(b, 10);
        const auto join = b.join(before).label("early");
        for (const auto& node : after)
            node.after(join);
        const auto memory = b.alloc<int>(16, {.after = {join_alone ? cudag::Node(join) : cudag::Node(after[0])}});
        b.free(memory).after(memory);
        return std::move(b).build();
    };
    for (const bool join_alone : {false, true}) {
        Exec exec = after_join(join_alone).instantiate({.plan = without_ends});
        const PlanReport plan = exec.plan();
        REQUIRE(plan.joins().size() == 1);
        CHECK(plan.joins()[0].form == JoinForm::node);
        CHECK(plan.joins()[0].why == "CUDA had its edges before an allocation, and removes none then");
        REQUIRE(plan.advice().size() == 1);
        CHECK_THAT(plan.advice()[0],
                   StartsWith("1 join as an empty node costs") && ContainsSubstring("allocate before"));
        run(exec, Stream());
    }
}

TEST_CASE("a graph gets memory nodes after a region that failed", "[plan]") {
    const Stream stream;
    GraphBuilder b;
    add_kernels(b, 2);
    const auto fail = [](cudaStream_t s) {
        cudag::launch(s, {}, nothing);
        throw std::runtime_error("enough");
    };
    CHECK_THROWS_AS(b.capture(stream, fail), std::runtime_error);
    const auto memory = b.alloc<int>(16);
    const auto again = b.alloc<int>(16, {.after = {memory}});
    b.free(memory).after(memory);
    b.free(again).after(again);
    Exec exec = std::move(b).build().instantiate();
    run(exec, stream);
}

TEST_CASE("edges that others imply only later stay, and the report says so", "[plan]") {
    GraphBuilder b;
    const Kernels k = add_kernels(b, 3);
    k[2].after(k[0]);
    const auto memory = b.alloc<int>(16, {.after = {k[2]}});
    b.free(memory).after(memory);
    k[1].after(k[0]);
    k[2].after(k[1]); // so that its first edge is implied
    Exec exec = std::move(b).build().instantiate();
    CHECK(exec.plan().edges_after() == 5);
    REQUIRE(exec.plan().advice().size() == 1);
    CHECK(exec.plan().advice()[0] ==
          "CUDA removes no edges of graphs with memory nodes: leave 1 edge that others imply out of the program");
    run(exec, Stream());
}

TEST_CASE("a report counts the joins of a captured graph with memory nodes, which stay as they are", "[plan]") {
    const auto advice_for = [](std::size_t joins, std::size_t before, std::size_t after) {
        GraphBuilder b;
        for (std::size_t i = 0; i < joins; ++i) {
            const auto join = b.join(add_kernels(b, before));
            for (const auto& node : add_kernels(b, after))
                node.after(join);
        }
        const auto memory = b.alloc<int>(16);
        b.free(memory).after(memory);
        return std::move(b).build().instantiate({.plan = Plan::as_written()}).plan().advice();
    };
    const auto told = [&](std::size_t joins, std::size_t before, std::size_t after, const std::string& text) {
        const std::vector<std::string> advice = advice_for(joins, before, after);
        return std::ranges::count(advice, "CUDA removes no edges of graphs with memory nodes: " + text) == 1;
    };
    const std::string rest = " an empty node, which is slow; write edges or a kernel instead";
    CHECK(told(1, 2, 2, "1 join stays" + rest));
    CHECK(told(2, 3, 2, "each of 2 joins stays" + rest));
    CHECK_FALSE(told(1, 1, 2, "1 join stays" + rest));
    CHECK_FALSE(told(1, 2, 1, "1 join stays" + rest));
}

TEST_CASE("a report counts the edges that CUDA keeps though others imply them", "[plan]") {
    GraphBuilder b;
    const Kernels k = add_kernels(b, 4);
    k[2].after(k[0]);
    k[3].after(k[0]);
    const auto memory = b.alloc<int>(16, {.after = {k[2], k[3]}});
    b.free(memory).after(memory);
    k[1].after(k[0]);
    k[2].after(k[1]); // so that their first edges are implied
    k[3].after(k[1]);
    const PlanReport plan = std::move(b).build().instantiate().plan();
    REQUIRE(plan.advice().size() == 1);
    CHECK_THAT(plan.advice()[0], EndsWith(": leave 2 edges that others imply out of the program"));
}

TEST_CASE("edges to events before an allocation stay, though others imply them", "[plan]") {
    cudag::Event event;
    event.record(Stream());
    GraphBuilder b;
    const auto waits = b.wait(event);
    const Kernels k = add_kernels(b, 2);
    k[0].after(waits);
    k[1].after(waits, k[0]);
    const auto memory = b.alloc<int>(16, {.after = {k[1]}});
    b.free(memory).after(memory);
    const Graph graph = std::move(b).build();
    CHECK(graph.instantiate().plan().edges_after() == 5);
    CHECK(native_edges(graph.native()).size() == 5);
}

TEST_CASE("edges before an allocation that are not full stay, beside joins after it", "[plan]") {
    if (older_than(12030)) return;
    GraphBuilder b;
    const Kernels k = add_kernels(b, 3);
    k[2].after(k[0]);
    k[2].after(cudag::programmatic(k[1]));
    const auto memory = b.alloc<int>(16, {.after = {k[2]}});
    add_join(b, 2);
    b.free(memory).after(memory);
    Exec exec = std::move(b).build().instantiate();
    CHECK(exec.plan().edges_after() == 4 + 4);
    run(exec, Stream());
}

TEST_CASE("a captured graph with memory nodes keeps its edges, and the report says what it could lose", "[plan]") {
    const Stream stream, other;
    const Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        void* memory = nullptr;
        cudag::check(cudaMallocAsync(&memory, 64, s));
        record_line_with_shortcut(s, other);
        cudag::check(cudaFreeAsync(memory, s));
    });
    const std::size_t edges = graph.edge_count();
    Exec exec = graph.instantiate();
    CHECK(exec.plan().edges_after() == edges);
    REQUIRE(exec.plan().advice().size() == 1);
    CHECK_THAT(exec.plan().advice()[0], StartsWith("CUDA removes no edges of graphs with memory nodes: leave "));
    run(exec, stream);
}

TEST_CASE("a moved child with memory nodes is planned as it was, with the graph around it", "[plan]") {
    if (older_than(12090)) return;
    const Sums sums(10);
    const std::vector<std::uint32_t> expected = sums.expected();
    GraphBuilder b;
    b.child(sums_with_memory(sums));
    const Graph graph = std::move(b).build();
    for (const Plan& plan : {Plan(), Plan::as_written()}) {
        Exec exec = graph.instantiate({.plan = plan});
        CHECK(exec.plan().kernels() != 0);
        CHECK(sums.run_of(exec) == expected);
    }
}

TEST_CASE("a graph with memory nodes has no lanes, neither of a number nor by durations", "[plan][lanes]") {
    for (const bool by_durations : {false, true}) {
        GraphBuilder b;
        const auto memory = b.alloc<int>(16);
        add_kernels(b, 40);
        b.free(memory).after(memory);
        const Graph graph = std::move(b).build();
        Plan plan{.ends = false, .lanes = 4};
        if (by_durations) plan.durations.assign(42, 1);
        const Exec exec = graph.instantiate({.plan = plan});
        CHECK(exec.plan().lanes() == 0);
        CHECK(native_edges(graph.native()).size() == 1);
    }
}
