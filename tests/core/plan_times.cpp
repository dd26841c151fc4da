// What plans cost: ten times as many nodes take about ten times as long, where edges are short.
#include "bench/shapes.hpp"
#include "plan/growing_reduction.hpp"
#include "plan/plan.hpp"

#include "catch.hpp"

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>
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
