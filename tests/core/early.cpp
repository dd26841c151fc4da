// Early launch, as values: which edges become programmatic.
#include "plan/early.hpp"
#include "plan/plan.hpp"

#include "catch.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

using namespace cudag::detail;
using cudag::EdgeKind;

namespace {

constexpr EarlyRole other = EarlyRole::other, plain = EarlyRole::plain, waiting = EarlyRole::waiting;

/// The edges of `edges` that become programmatic, by number.
std::vector<std::size_t> early_in(const EarlyNodes& nodes, std::vector<EdgeRecord> edges,
                                  const std::vector<bool>& keeps_all = {}) {
    PlannedEdges planned{std::move(edges), 1};
    plan_early(nodes, keeps_all, planned);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < planned.edges.size(); ++i)
        if (planned.edges[i].kind == EdgeKind::programmatic) found.push_back(i);
    CHECK(planned.early == found.size());
    return found;
}

const JoinRules no_kernels{{.edges_up_to = 1e9, .joins_up_to = 1e9}, false};

using Numbers = std::vector<std::size_t>;

} // namespace

TEST_CASE("edges from kernels to waiting kernels become programmatic", "[plan][early]") {
    CHECK(early_in({{plain, waiting, waiting, plain}}, {{0, 1}, {1, 2}, {2, 3}}) == Numbers{0, 1});
    CHECK(early_in({{waiting, plain}}, {{0, 1}}).empty());
    CHECK(early_in({{other, waiting}}, {{0, 1}}).empty());
}

TEST_CASE("edges from other nodes, and edges that must stay, are full beside programmatic ones", "[plan][early]") {
    const std::vector<EdgeRecord> edges{{0, 2}, {1, 2}, {2, 3}};
    CHECK(early_in({{plain, plain, waiting, waiting}}, edges) == Numbers{0, 1, 2});
    CHECK(early_in({{plain, other, waiting, waiting}}, edges) == Numbers{0, 2});
    CHECK(early_in({{plain, plain, waiting, waiting}}, edges, {false, false, true, false}) == Numbers{2});
}

TEST_CASE("nothing starts early after a kernel with many successors", "[plan][early]") {
    for (const std::size_t successors : {most_early_successors, most_early_successors + 1}) {
        EarlyNodes nodes{{plain}};
        std::vector<EdgeRecord> edges;
        for (std::uint32_t i = 1; i <= successors; ++i) {
            nodes.roles.push_back(waiting);
            edges.push_back({0, i});
        }
        CHECK(early_in(nodes, edges).empty() == (successors > most_early_successors));
    }
}

TEST_CASE("kernels of different contexts do not start early", "[plan][early]") {
    const EarlyNodes nodes{{waiting, waiting, waiting}, {0, 1, 1}};
    CHECK(early_in(nodes, {{0, 1}, {1, 2}}) == Numbers{1});
}

TEST_CASE("an empty kernel of the plan may be followed early, in one context only", "[plan][early]") {
    constexpr std::uint32_t added = 2;
    CHECK(early_in({{waiting, waiting}}, {{0, added}, {added, 1}}) == Numbers{1});
    CHECK(early_in({{waiting, waiting}, {0, 0}}, {{0, added}, {added, 1}}).empty());
}

TEST_CASE("a plan removes redundant edges before kernels start early", "[plan][early]") {
    const std::vector<EdgeRecord> edges{{0, 1}, {1, 2}, {0, 2}};
    PlanInput input{.nodes = 3, .edges = edges, .rules = no_kernels, .early = {{plain, waiting, plain}}};
    const auto planned = plan_edges(input);
    REQUIRE(planned);
    CHECK(planned->edges == std::vector<EdgeRecord>{{0, 1, EdgeKind::programmatic}, {1, 2}});
    CHECK(planned->early == 1);
    CHECK(plan_edges(input, {.early = false})->edges == std::vector<EdgeRecord>{{0, 1}, {1, 2}});
    const std::vector<EdgeRecord> line{{0, 1}, {1, 2}};
    CHECK(plan_edges({.nodes = 3, .edges = line, .rules = no_kernels, .early = {{plain, waiting, plain}}}));
    CHECK_FALSE(plan_edges({.nodes = 3, .edges = line, .rules = no_kernels, .early = {{plain, plain, plain}}}));
}
