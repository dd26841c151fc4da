// The nodes of CUPTI's records, by the numbers that an exec gives them.
#include "profile/activity_match.hpp"

#include "catch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using cudag::NodeKind;
using namespace cudag::detail;

namespace {

using Numbers = std::vector<std::pair<std::uint32_t, std::size_t>>;

std::size_t add(ProfiledNodes& profiled, NodeKind kind, std::string kernel, std::optional<std::size_t> outer = {}) {
    profiled.nodes.push_back({.kind = kind, .kernel = std::move(kernel), .outer = outer});
    return profiled.nodes.size() - 1;
}

NodeActivity kernel(std::uint32_t number, std::string name, std::uint64_t begin, std::uint32_t call = 1) {
    return {number, call, Activity::kernel, std::move(name), begin, begin == 0 ? 0 : begin + 1000};
}

/// The nodes of the runs, in order.
std::vector<std::size_t> nodes_of(const std::vector<RunRecord>& runs) {
    std::vector<std::size_t> nodes;
    for (const RunRecord& run : runs)
        nodes.push_back(run.node);
    return nodes;
}

/// A kernel, then a child of a kernel, a child of one kernel, and another kernel; then a kernel.
struct Nested {
    ProfiledNodes profiled{};
    Numbers outermost{{0, add(profiled, NodeKind::kernel, "first")}, {1, 0}, {3, 0}};

    Nested() {
        const std::size_t outer = outermost[1].second = add(profiled, NodeKind::child, "");
        const std::size_t x = add(profiled, NodeKind::kernel, "x", outer);
        const std::size_t middle = add(profiled, NodeKind::child, "", outer);
        const std::size_t deep = add(profiled, NodeKind::kernel, "deep", middle);
        const std::size_t y = add(profiled, NodeKind::kernel, "y", outer);
        outermost[2].second = add(profiled, NodeKind::kernel, "last");
        profiled.inner = {{{x, middle, y}, 0}, {{deep}, 0}};
    }
};

} // namespace

TEST_CASE("records of nodes outside of others find them by their numbers in the graph", "[profile]") {
    const Nested graph;
    const auto runs =
        match_activities(graph.profiled, graph.outermost,
                         {kernel(0, "first", 1000), kernel(3, "last", 3500), kernel(0, "first", 9000, 2)});
    REQUIRE(nodes_of(runs) == std::vector<std::size_t>{0, 6, 0});
    CHECK(runs[0].launch == 0);
    CHECK(runs[1].begin == 2.5);
    CHECK(runs[1].end == 3.5);
    CHECK(runs[2].launch == 1);
}

TEST_CASE("records in any order become runs in the order of time", "[profile]") {
    const Nested graph;
    const auto runs =
        match_activities(graph.profiled, graph.outermost,
                         {kernel(0, "first", 9000, 2), kernel(3, "last", 3500), kernel(0, "first", 1000)});
    REQUIRE(nodes_of(runs) == std::vector<std::size_t>{0, 6, 0});
    CHECK(runs[0].begin == 0);
    CHECK(runs[1].launch == 0);
    CHECK(runs[2].launch == 1);
}

TEST_CASE("a record repeated by a later launch is one run, and another record at its time is another", "[profile]") {
    const Nested graph;
    const auto runs = match_activities(graph.profiled, graph.outermost,
                                       {kernel(0, "first", 1000), kernel(0, "first", 1000), kernel(3, "last", 1000)});
    CHECK(nodes_of(runs) == std::vector<std::size_t>{0, 6});
}

TEST_CASE("nodes inside others are numbered after the others, each graph before those inside it", "[profile]") {
    const Nested graph;
    for (const std::uint32_t first : {4U, 5U, 9U}) { // nodes removed from the graph had numbers, too
        const auto runs = match_activities(graph.profiled, graph.outermost,
                                           {kernel(0, "first", 1000), kernel(first, "x", 3000),
                                            kernel(first + 3, "deep", 5000), kernel(first + 2, "y", 7000)});
        CHECK(nodes_of(runs) == std::vector<std::size_t>{0, 2, 4, 5});
    }
}

TEST_CASE("records that do not fit the nodes inside others find none of them", "[profile]") {
    const Nested graph;
    const auto runs = match_activities(graph.profiled, graph.outermost,
                                       {kernel(0, "first", 1000), kernel(4, "deep", 3000), kernel(7, "x", 5000)});
    CHECK(nodes_of(runs) == std::vector<std::size_t>{0});
}

TEST_CASE("kernels of plans have numbers and no nodes", "[profile]") {
    Nested graph;
    graph.profiled.inner[0].kernels = 1;
    const std::string plan(kernel_of_plans);
    const auto runs = match_activities(graph.profiled, graph.outermost,
                                       {kernel(4, plan, 500), kernel(0, "first", 1000), kernel(5, "x", 3000),
                                        kernel(8, plan, 3500), kernel(9, "deep", 5000), kernel(7, "y", 7000)});
    CHECK(nodes_of(runs) == std::vector<std::size_t>{0, 2, 4, 5});
}

TEST_CASE("records of a body that did not run are no runs", "[profile]") {
    const Nested graph;
    const auto runs = match_activities(graph.profiled, graph.outermost,
                                       {kernel(0, "first", 1000), kernel(4, "x", 0), kernel(6, "y", 0),
                                        kernel(0, "first", 9000, 2), kernel(4, "x", 9500, 2), kernel(6, "y", 9700, 2),
                                        kernel(0, "first", 19000, 3), kernel(4, "x", 9500, 3), // those of launch 2
                                        kernel(6, "y", 9700, 3)});
    CHECK(nodes_of(runs) == std::vector<std::size_t>{0, 0, 2, 5, 0});
}

TEST_CASE("marks between launches separate records without a call", "[profile]") {
    const Nested graph;
    const std::vector<NodeActivity> activities{kernel(4, "x", 1000, 0), kernel(0, "first", 3000, 1),
                                               kernel(4, "x", 5000, 0), kernel(0, "first", 7000, 2)};
    const auto launches_of = [](const std::vector<RunRecord>& runs) {
        std::vector<std::uint64_t> launches;
        for (const RunRecord& run : runs)
            launches.push_back(run.launch);
        return launches;
    };
    const auto match = [&](std::vector<std::uint64_t> marks) {
        return match_activities(graph.profiled, graph.outermost, std::vector(activities), std::move(marks));
    };
    CHECK(launches_of(match({4500, 500})) == std::vector<std::uint64_t>{0, 0, 1, 1});
    CHECK(launches_of(match({})) == std::vector<std::uint64_t>{0, 0, 0, 1}); // by the calls, as far as they are known
}

TEST_CASE("copies and fills inside others may be kernels of CUDA's own", "[profile]") {
    ProfiledNodes profiled;
    const std::size_t outer = add(profiled, NodeKind::child, "");
    const std::size_t copy = add(profiled, NodeKind::memcpy, "", outer);
    const std::size_t fill = add(profiled, NodeKind::memset, "", outer);
    const std::size_t step = add(profiled, NodeKind::kernel, "step", outer);
    profiled.inner = {{{copy, fill, step}, 0}};
    const Numbers outermost{{0, outer}};
    CHECK(nodes_of(match_activities(
              profiled, outermost,
              {{1, 1, Activity::copy, "", 1, 2}, {2, 1, Activity::fill, "", 3, 4}, kernel(3, "step", 5)})) ==
          std::vector<std::size_t>{copy, fill, step});
    CHECK(nodes_of(match_activities(profiled, outermost,
                                    {kernel(1, "memcpy128", 1), kernel(2, "memset32", 3), kernel(3, "step", 5)})) ==
          std::vector<std::size_t>{copy, fill, step});
    CHECK(match_activities(profiled, outermost,
                           {{1, 1, Activity::fill, "", 1, 2}, {2, 1, Activity::copy, "", 3, 4}, kernel(3, "step", 5)})
              .empty());
}
