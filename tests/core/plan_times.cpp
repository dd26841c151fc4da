// What plans and the order of accesses cost: ten times as many nodes take about ten times as long.
#include "accesses/inference.hpp"
#include "accesses/race_search.hpp"
#include "accesses/relaxation.hpp"
#include "bench/shapes.hpp"
#include "edges/growing_reduction.hpp"
#include "edges/precedence.hpp"
#include "edges/reduction.hpp"
#include "graph/declared_accesses.hpp"
#include "plan/plan.hpp"

#include "catch.hpp"
#include "watched_nodes.hpp"

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

using bench::Between;
using bench::Shape;
using namespace cudag::detail;

namespace {

std::vector<EdgeRecord> edges_of(const Shape& shape) {
    std::vector<EdgeRecord> edges;
    for (const Shape::Edge& edge : shape.edges())
        edges.push_back({edge.from, edge.to});
    return edges;
}

/// The shortest of a few, in clocks of this process.
double time_of(const std::function<void()>& task) {
    double shortest = std::numeric_limits<double>::max();
    for (int i = 0; i < 3; ++i) {
        const std::clock_t start = std::clock();
        task();
        shortest = std::min(shortest, static_cast<double>(std::clock() - start));
    }
    return shortest;
}

double time_to_plan(const Shape& shape) {
    const std::vector<EdgeRecord> edges = edges_of(shape);
    PlanInput input{shape.size(), edges, {}, {}, {}, {join_costs(9, 0)}};
    for (Shape::Node node = 0; node < shape.size(); ++node) {
        input.is_join.push_back(shape.is_barrier(node));
        input.is_kernel.push_back(!shape.is_barrier(node));
    }
    return time_of([&] { static_cast<void>(plan_edges(input)); });
}

double time_to_grow(const Shape& shape) {
    const std::vector<EdgeRecord> edges = edges_of(shape);
    return time_of([&] {
        GrowingReduction reduction;
        std::vector<EdgeRecord> known;
        for (const EdgeRecord& edge : edges) { // a part for each node
            const bool is_other = !known.empty() && known.back().to != edge.to;
            if (is_other) static_cast<void>(reduction.add(shape.size(), known));
            known.push_back(edge);
        }
    });
}

/// Far from a hundred times, which it would be if each node looked at all others; caches alone make it more than ten.
constexpr double most_for_ten_times = 40;
constexpr double one_millisecond = CLOCKS_PER_SEC / 1000.0;

} // namespace

TEST_CASE("plans take time in proportion to nodes and edges", "[times]") {
    const std::vector<std::pair<const char*, std::function<Shape(unsigned)>>> shapes{
        {"line", [](unsigned n) { return bench::redundant_line(n, 8); }},
        {"layers", [](unsigned n) { return bench::layers(n / 20, 20, Between::edges); }},
        {"joined layers", [](unsigned n) { return bench::layers(n / 20, 20, Between::barriers); }},
        {"when_all", [](unsigned n) { return bench::when_all_chain(n / 4, 3); }},
        {"wavefront", [](unsigned n) { return bench::wavefront(n / 50, 50); }},
        {"chains", [](unsigned n) { return bench::chains(n / 10, 10); }},
    };
    for (const auto& [name, of_size] : shapes) {
        CAPTURE(name);
        CHECK(time_to_plan(of_size(50'000)) < most_for_ten_times * (time_to_plan(of_size(5'000)) + one_millisecond));
    }
}

TEST_CASE("a reduction of a graph that grows takes time in proportion to edges", "[times]") {
    const auto of_size = [](unsigned n) { return bench::redundant_line(n, 8); };
    CHECK(time_to_grow(of_size(20'000)) < most_for_ten_times * (time_to_grow(of_size(2'000)) + one_millisecond));
}

namespace {

/// Whether `task` takes time in proportion to its argument.
bool is_linear(std::uint32_t few, const std::function<void(std::uint32_t)>& task) {
    const double one = time_of([&] { task(few); });
    const std::clock_t start = std::clock();
    task(10 * few);
    return static_cast<double>(std::clock() - start) < most_for_ten_times * (one + one_millisecond);
}

} // namespace

TEST_CASE("a reduction takes no longer for edges that are long, if none may be implied", "[times]") {
    CHECK(is_linear(10'000, [](std::uint32_t n) {
        std::vector<EdgeRecord> edges; // two to each node, from nodes far before it
        for (std::uint32_t node = 0; node < n; ++node)
            edges.insert(edges.end(), {{node, 2 * n + node}, {n + node, 2 * n + node}});
        CHECK(find_implied(std::size_t{3} * n, edges).empty());
    }));
}

TEST_CASE("a reduction of a graph that grows looks at each node once for each part", "[times]") {
    CHECK(is_linear(2'000, [](std::uint32_t n) {
        std::vector<EdgeRecord> edges; // to two nodes by turns
        for (std::uint32_t node = 0; node < n; ++node)
            edges.push_back({node, n + node % 2});
        CHECK(GrowingReduction().add(n + 2, edges) == std::vector<bool>(n));
    }));
}

TEST_CASE("many that come after the same many by way of one node take constant time each", "[times]") {
    CHECK(is_linear(500, [](std::uint32_t n) {
        constexpr MemoryBlock x{0x1000, 64};
        AccessList accesses;
        std::vector<EdgeRecord> edges;
        for (std::uint32_t node = 0; node < n; ++node) {
            accesses.add({node, AccessMode::read, x});
            edges.push_back({node, n});
        }
        for (std::uint32_t node = n + 1; node <= 2 * n; ++node) {
            accesses.add({node, AccessMode::atomic, x});
            edges.push_back({n, node});
        }
        CHECK(find_races(accesses, 2 * n + 1, edges, 1).empty());
    }));
}

TEST_CASE("what the trees of a precedence do not know takes few steps along edges", "[times]") {
    CHECK(is_linear(2'000, [](std::uint32_t n) {
        std::vector<EdgeRecord> edges; // two lines, and an edge from each node of the first to one of the second
        for (std::uint32_t i = 0; i < n; ++i) {
            if (i > 0) edges.insert(edges.end(), {{i - 1, i}, {n + i - 1, n + i}});
            edges.push_back({i, n + i});
        }
        std::vector<std::uint32_t> order(2 * n);
        std::iota(order.begin(), order.end(), 0U);
        Precedence precedence(edges, order, order);
        bool are_ordered = true;
        for (std::uint32_t i = 1; i < n / 2; ++i) {
            std::vector<std::uint32_t> asked{i};
            precedence.remove_ordered(n + n / 2 + i, asked);
            are_ordered = are_ordered && asked.empty();
        }
        CHECK(are_ordered);
    }));
}

TEST_CASE("regions of many shapes at one address stand in a list in constant time each", "[times]") {
    CHECK(is_linear(4'000, [](std::uint32_t n) {
        AccessList accesses;
        for (std::uint32_t i = 0; i < n; ++i)
            accesses.add({i, AccessMode::read, {0x1000, 16, 2 + i, 64}});
        CHECK(accesses.blocks().size() == n);
    }));
}

TEST_CASE("what reads memory that another node cuts into parts takes constant time each", "[times]") {
    CHECK(is_linear(1'000, [](std::uint32_t n) {
        AccessList accesses;
        for (std::uint32_t node = 0; node < n; ++node)
            accesses.add({node, AccessMode::read, {0x1000, std::size_t{8} * n}});
        for (std::uint32_t i = 0; i < n; ++i)
            accesses.add({n, AccessMode::write, {0x1000 + std::uintptr_t{8} * i, 8}});
        CHECK(inferred_order(accesses, n + 1, {}).edges.size() == n);
    }));
}

TEST_CASE("relaxing takes time in proportion to nodes beside a line of those that stay", "[times]") {
    CHECK(is_linear(100, [](std::uint32_t n) {
        std::vector<bool> stays(std::size_t{2} * n);
        std::vector<EdgeRecord> edges;
        for (std::uint32_t i = 0; i < n; ++i) {
            stays[i] = true;
            if (i > 0) edges.insert(edges.end(), {{i - 1, i}, {n + i - 1, n + i}});
            edges.push_back({i, n + i});
        }
        CHECK(relaxed_edges({}, std::size_t{2} * n, edges, stays).size() == 2 * n - 1);
    }));
}

TEST_CASE("changes that all overlap each other take constant time each", "[times]") {
    const auto time_to_find = [](std::uint32_t n) {
        WatchedNodes nodes(n);
        const std::vector<ArgumentAccess> next(10, {0, AccessMode::atomic, 1, {0x1000, 4}});
        for (std::uint32_t i = 0; i < n; ++i)
            nodes.stage(i, next);
        return time_of([&] { CHECK(nodes.find() == std::nullopt); });
    };
    CHECK(time_to_find(2'000) < most_for_ten_times * std::max(time_to_find(200), one_millisecond));
}

TEST_CASE("changes are staged in constant time each", "[times]") {
    const auto time_to_stage = [](std::uint32_t n) {
        const WatchedNodes nodes(n);
        const std::vector<ArgumentAccess> next{{0, AccessMode::read, 1, {0x1000, 4}}};
        return time_of([&] {
            RaceWatch watch(nodes.in_force);
            for (std::uint32_t i = 0; i < n; ++i)
                watch.stage({nodes.graph.get(), i}, {}, next);
        });
    };
    CHECK(time_to_stage(20'000) < most_for_ten_times * std::max(time_to_stage(2'000), one_millisecond));
}

TEST_CASE("nodes declare accesses in constant time each, in any order", "[times]") {
    const std::vector<ArgumentAccess> one{{0, AccessMode::read, 1, {0x1000, 4}}};
    const auto time_to_declare = [&](std::uint32_t n) {
        return time_of([&] {
            DeclaredAccesses declared;
            for (std::uint32_t i = 0; i < n; ++i)
                declared.add(i, one);
            for (std::uint32_t i = 0; i < n; ++i) // nodes that are not the last
                declared.add(i, one);
            for (std::uint32_t i = n; i > 0; --i)
                declared.add(i - 1, one);
            CHECK(declared.size() == std::size_t{3} * n);
        });
    };
    CHECK(time_to_declare(20'000) < most_for_ten_times * std::max(time_to_declare(2'000), one_millisecond));
}
