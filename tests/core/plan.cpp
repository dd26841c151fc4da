// Plans of random graphs, beside an oracle: what must come before what is the same, whatever the edges are.
#include "plan/plan.hpp"

#include "edges/edge_groups.hpp"
#include "edges/growing_reduction.hpp"
#include "edges/outline.hpp"
#include "edges/reduction.hpp"
#include "edges/topological_order.hpp"
#include "plan/ends.hpp"
#include "plan_oracle.hpp"
#include "random.hpp"

#include "catch.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

using cudag::EdgeKind;
using cudag::JoinForm;
using cudag::Plan;
using namespace cudag::detail;

namespace {

constexpr JoinCosts kernels_from_three{.edges_up_to = 1.4, .joins_up_to = 1.1};
constexpr JoinCosts kernels_always{.edges_up_to = 0, .joins_up_to = 0};
constexpr JoinCosts kernels_never{.edges_up_to = 1e9, .joins_up_to = 1e9};

/// By CUDAG_PLAN_SEEDS.
unsigned long seed_count() {
    const char* const given = std::getenv("CUDAG_PLAN_SEEDS");
    return given == nullptr ? 20'000 : std::strtoul(given, nullptr, 10);
}

struct RandomGraph {
    std::size_t nodes;
    std::vector<EdgeRecord> edges; ///< full ones between any nodes, and early ones between nodes that are no joins
    std::vector<bool> is_join;

    explicit RandomGraph(unsigned long seed) {
        Random random(seed);
        const auto below = [&](std::size_t end) { return random.below(end); };
        nodes = 2 + below(28);
        std::vector<std::uint32_t> order(nodes);
        std::iota(order.begin(), order.end(), 0U);
        for (std::size_t left = below(2) == 0 ? nodes : 0; left > 1; --left)
            std::swap(order[left - 1], order[below(left)]);
        is_join.resize(nodes);
        if (const std::uint32_t joins = below(3); joins != 0)
            for (std::size_t node = 0; node < nodes; ++node)
                is_join[node] = below(3 + joins) == 0;
        std::array<std::uint64_t, 32> seen{}; // by the first end
        const bool has_early = below(3) == 0;
        const auto add = [&](std::uint32_t a, std::uint32_t b) {
            const std::uint64_t bit = std::uint64_t{1} << std::max(a, b);
            if (a == b || (seen[std::min(a, b)] & bit) != 0) return;
            seen[std::min(a, b)] |= bit;
            const EdgeRecord edge{order[std::min(a, b)], order[std::max(a, b)]};
            edges.push_back(edge);
            if (has_early && below(6) == 0 && !is_join[edge.from] && !is_join[edge.to])
                edges.back().kind = EdgeKind::programmatic;
        };
        for (std::uint32_t i = 0, count = below(2 * nodes); i < count; ++i)
            add(below(nodes), below(nodes));
        for (std::uint32_t blocks = below(4); blocks > 0; --blocks) { // all of some nodes before all of some others
            const std::uint32_t first = below(nodes), middle = first + below(nodes - first);
            const std::uint32_t last = middle + below(nodes - middle);
            for (std::uint32_t a = first; a < middle; ++a)
                for (std::uint32_t b = middle; b < last; ++b)
                    add(a, b);
        }
    }
};

std::vector<EdgeRecord> early_of(std::vector<EdgeRecord> edges) {
    std::erase_if(edges, [](const EdgeRecord& edge) { return edge.kind == EdgeKind::full; });
    std::ranges::sort(edges, {}, [](const EdgeRecord& edge) { return std::pair(edge.to, edge.from); });
    return edges;
}

/// What comes before each node that is no join, without joins.
std::vector<std::uint64_t> order_of(const RandomGraph& graph, std::size_t nodes, const std::vector<EdgeRecord>& edges) {
    std::uint64_t asked = 0;
    for (std::size_t node = 0; node < graph.nodes; ++node)
        if (!graph.is_join[node]) asked |= std::uint64_t{1} << node;
    std::vector<std::uint64_t> before = nodes_before(nodes, edges);
    before.resize(graph.nodes);
    for (std::size_t node = 0; node < graph.nodes; ++node)
        before[node] = graph.is_join[node] ? 0 : before[node] & asked;
    return before;
}

bool has_repeats(std::vector<EdgeRecord> edges) {
    const auto ends = [](const EdgeRecord& edge) { return std::pair(edge.to, edge.from); };
    std::ranges::sort(edges, {}, ends);
    return std::ranges::adjacent_find(edges, {}, ends) != edges.end();
}

} // namespace

TEST_CASE("a reduction removes the edges that others imply, all of them, and nothing else") {
    std::size_t removed = 0;
    const auto problem_of = [&removed](const RandomGraph& graph) -> std::string {
        const std::vector<EdgeRecord> kept = reduced(graph.nodes, graph.edges);
        removed += graph.edges.size() - kept.size();
        if (early_of(kept) != early_of(graph.edges)) return "an early edge is gone";
        const std::vector<std::uint64_t> before = nodes_before(graph.nodes, graph.edges);
        if (nodes_before(graph.nodes, kept) != before) return "the order is another one";
        for (const EdgeRecord& edge : kept) {
            if (edge.kind != EdgeKind::full) continue;
            const bool implied = std::ranges::any_of(kept, [&](const EdgeRecord& other) {
                return other.kind == EdgeKind::full && other.to == edge.to &&
                       (before[other.from] >> edge.from & 1) != 0;
            });
            if (implied) return "an edge is left that others imply";
        }
        return "";
    };
    const unsigned long seeds = seed_count();
    for (unsigned long seed = 0; seed < seeds; ++seed)
        if (const std::string problem = problem_of(RandomGraph(seed)); !problem.empty())
            FAIL("seed " << seed << ": " << problem);
    CHECK(removed > seeds);
}

TEST_CASE("a reduction of a graph that grows leaves out of each part what is implied by then, and nothing else") {
    std::size_t removed = 0;
    const auto problem_of = [&removed](const RandomGraph& graph, Random random) -> std::string {
        GrowingReduction reduction;
        std::vector<EdgeRecord> known, kept;
        while (known.size() < graph.edges.size()) {
            const std::size_t first = known.size();
            const std::size_t size = first + 1 + random.below(graph.edges.size() - first);
            known.assign(graph.edges.begin(), graph.edges.begin() + static_cast<std::ptrdiff_t>(size));
            const std::vector<bool> implied = reduction.add(graph.nodes, known);
            if (implied.size() != known.size() - first || reduction.size() != known.size())
                return "not all are told of";
            const std::vector<std::uint64_t> before = nodes_before(graph.nodes, known);
            for (std::size_t i = first; i < known.size(); ++i) {
                const EdgeRecord& edge = known[i];
                const bool expected =
                    edge.kind == EdgeKind::full && std::ranges::any_of(known, [&](const EdgeRecord& other) {
                        return other.kind == EdgeKind::full && other.to == edge.to &&
                               (before[other.from] >> edge.from & 1) != 0;
                    });
                if (implied[i - first] != expected) return "an edge is wrong";
                if (!expected) kept.push_back(edge);
            }
            if (nodes_before(graph.nodes, kept) != before) return "the order is another one";
        }
        removed += graph.edges.size() - kept.size();
        return "";
    };
    const unsigned long seeds = seed_count() / 10;
    for (unsigned long seed = 0; seed < seeds; ++seed)
        if (const std::string problem = problem_of(RandomGraph(seed), Random(seed)); !problem.empty())
            FAIL("seed " << seed << ": " << problem);
    CHECK(removed > seeds);
}

TEST_CASE("a reduction of a graph that grows looks back so far and no further") {
    constexpr auto most = static_cast<std::uint32_t>(GrowingReduction::most_steps);
    for (const std::uint32_t steps : {1U, 100U, most - 1, most, most + 1, most + 100}) {
        std::vector<EdgeRecord> edges;
        for (std::uint32_t node = 0; node <= steps; ++node)
            edges.push_back({node, node + 1});
        GrowingReduction reduction;
        CHECK(reduction.add(steps + 2, edges) == std::vector<bool>(edges.size()));
        edges.push_back({0, steps + 1});
        CHECK(reduction.add(steps + 2, edges) == std::vector<bool>{steps <= most});
    }
}

namespace {

std::vector<EdgeRecord> line_of(std::uint32_t nodes) {
    std::vector<EdgeRecord> edges;
    for (std::uint32_t node = 1; node < nodes; ++node)
        edges.push_back({node - 1, node});
    return edges;
}

} // namespace

TEST_CASE("a reduction of a graph that grows looks back to where the edges come from") {
    GrowingReduction reduction;
    std::vector<EdgeRecord> edges = line_of(6000); // longer than it looks back
    static_cast<void>(reduction.add(6000, edges));
    edges.push_back({5990, 5995});
    CHECK(reduction.add(6000, edges) == std::vector<bool>{true});
}

TEST_CASE("after a reduction looked back too far, the next node is judged by itself") {
    constexpr std::uint32_t length = 5000, alone = length, far = length + 1, next = length + 2;
    std::vector<EdgeRecord> edges = line_of(length);
    edges.insert(edges.end(), {{0, far}, {length - 1, far}, {100, next}, {alone, next}});
    std::vector<bool> expected(edges.size());
    CHECK(GrowingReduction().add(length + 3, edges) == expected);
    edges.push_back({99, next});
    expected.push_back(true);
    CHECK(GrowingReduction().add(length + 3, edges) == expected);
}

TEST_CASE("a cleared reduction knows nothing of the graph before it") {
    GrowingReduction reduction;
    std::vector<EdgeRecord> edges{{3, 2}, {2, 1}, {3, 1}, {1, 0}};
    CHECK(reduction.add(4, edges) == std::vector<bool>{false, false, true, false});
    reduction.clear();
    CHECK(reduction.size() == 0);
    edges = {{1, 0}, {2, 0}, {3, 0}};
    CHECK(reduction.add(4, edges) == std::vector<bool>(3));
    reduction.clear();
    edges = line_of(6000); // which the edges that led backward do not make it look back in
    edges.push_back({5990, 5995});
    CHECK(reduction.add(6000, edges).back());
}

TEST_CASE("where adding to a growing reduction fails, no edges are known") {
    GrowingReduction reduction;
    const std::vector<EdgeRecord> edges{{0, 1}, {1, 2}, {0, 2}};
    CHECK(reduction.add(3, {{0, 1}, {1, 2}}) == std::vector<bool>(2));
    CHECK_THROWS(reduction.add(std::numeric_limits<std::size_t>::max(), edges));
    CHECK(reduction.size() == 0);
    CHECK(reduction.add(3, edges) == std::vector<bool>{false, false, true});
}

TEST_CASE("a reduction that takes several sweeps removes what is implied, and nothing else") {
    constexpr std::uint32_t nodes = 2048;
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        std::vector<EdgeRecord> edges;
        std::vector<bool> expected;
        std::vector<std::bitset<nodes>> before(nodes);
        for (std::uint32_t to = 1; to < nodes; ++to) {
            const std::size_t first = edges.size();
            if (random.below(5) == 0) continue; // nothing comes before it
            for (std::uint32_t from = to - std::min(to, 12U); from < to; ++from)
                if (random.below(4) == 0) edges.push_back({from, to});
            const std::span incoming = std::span(edges).subspan(first);
            for (const EdgeRecord& edge : incoming) {
                before[to] |= std::bitset<nodes>(before[edge.from]).set(edge.from);
                expected.push_back(std::ranges::any_of(
                    incoming, [&](const EdgeRecord& other) { return before[other.from][edge.from]; }));
            }
        }
        CHECK(std::ranges::count(expected, true) > 1000);
        CHECK(find_implied(nodes, edges) == expected);
    }
}

TEST_CASE("a plan says of the nodes what the edges say, whatever joins become") {
    std::size_t kernels = 0, replaced = 0, blocks = 0, ends = 0, nodes_left = 0;
    const auto problem_of = [&](const RandomGraph& graph, const JoinRules& rules, unsigned launches) -> std::string {
        std::vector<bool> is_kernel = graph.is_join; // all others are
        is_kernel.flip();
        const PlanInput input{graph.nodes, graph.edges, graph.is_join, {}, is_kernel, rules};
        const Plan plan{.launches = launches};
        const auto planned = plan_edges(input, plan);
        if (planned != plan_edges(input, plan)) return "the second plan is another one";
        if (!planned) return "";
        const std::size_t all = graph.nodes + planned->kernels;
        if (has_repeats(planned->edges)) return "an edge is there twice";
        if (early_of(planned->edges) != early_of(graph.edges)) return "an early edge is gone";
        if (order_of(graph, all, planned->edges) != order_of(graph, graph.nodes, graph.edges))
            return "the order is another one";
        if (!rules.kernels && planned->kernels != 0) return "a kernel was added";
        for (const JoinRecord& join : planned->joins) {
            kernels += join.form == JoinForm::kernel ? 1 : 0;
            blocks += join.node == JoinRecord::no_node && join.before != 0 && join.after != 0 ? 1 : 0;
            ends += join.before == 0 && join.form == JoinForm::kernel ? 1 : 0;
            replaced += join.form == JoinForm::edges ? 1 : 0;
            nodes_left += join.form == JoinForm::node ? 1 : 0;
            if (join.node == JoinRecord::no_node || join.form == JoinForm::node) continue;
            for (const EdgeRecord& edge : planned->edges)
                if (edge.from == join.node || edge.to == join.node) return "a join that was replaced has edges";
        }
        return "";
    };
    const unsigned long seeds = seed_count();
    for (unsigned long seed = 0; seed < seeds; ++seed) {
        const JoinCosts costs = seed % 3 == 0 ? kernels_from_three : (seed % 3 == 1 ? kernels_always : kernels_never);
        const unsigned launches = seed % 7 == 0 ? 1 : Plan().launches;
        if (const std::string problem = problem_of(RandomGraph(seed), {costs, seed % 5 != 0}, launches);
            !problem.empty())
            FAIL("seed " << seed << ": " << problem);
    }
    CHECK(kernels > seeds / 10);
    CHECK(blocks > seeds / 100);
    CHECK(ends > seeds / 100);
    CHECK(replaced > seeds / 10);
    CHECK(nodes_left > 0);
}

TEST_CASE("lanes only add to the order, close no cycle, and let no more nodes run at once", "[long]") {
    std::size_t laid = 0;
    const auto problem_of = [&laid](const RandomGraph& graph, const Plan& plan) -> std::string {
        std::vector<bool> is_kernel = graph.is_join;
        is_kernel.flip();
        const PlanInput input{graph.nodes, graph.edges,          graph.is_join, {},
                              is_kernel,   {kernels_from_three}, graph.is_join};
        const auto planned = plan_edges(input, plan);
        if (planned != plan_edges(input, plan)) return "the second plan is another one";
        if (!planned) return "";
        const std::size_t all = graph.nodes + planned->kernels;
        if (has_repeats(planned->edges)) return "an edge is there twice";
        if (early_of(planned->edges) != early_of(graph.edges)) return "an early edge is gone";
        const EdgeGroups outgoing(all, planned->edges, &EdgeRecord::from);
        if (topological_order(planned->edges, outgoing).size() != all) return "the edges close a cycle";
        const std::vector<std::uint64_t> written = order_of(graph, graph.nodes, graph.edges);
        const std::vector<std::uint64_t> order = order_of(graph, all, planned->edges);
        for (std::size_t node = 0; node < graph.nodes; ++node)
            if ((written[node] & ~order[node]) != 0) return "something that was written is not so";
        if (plan.reduce && !find_implied(all, planned->edges).empty()) return "an edge is left that others imply";
        if (planned->lanes == 0) return order == written ? "" : "the order is another one without lanes";
        ++laid;
        if (plan.lanes != 0 && planned->lanes > plan.lanes) return "there are more lanes";
        if (!early_of(graph.edges).empty()) return ""; // whose nodes may overlap on a lane, too
        std::uint64_t nodes = 0;
        for (std::size_t node = 0; node < graph.nodes; ++node)
            if (!graph.is_join[node]) nodes |= std::uint64_t{1} << node;
        return width_of(order, nodes) > planned->lanes ? "more nodes run at once than there are lanes" : "";
    };
    const unsigned long seeds = seed_count();
    for (unsigned long seed = 0; seed < seeds; ++seed) {
        Random random(seed ^ 0xA5A5);
        const RandomGraph graph(seed);
        Plan plan{.reduce = seed % 7 != 0, .joins = seed % 3 != 0, .lanes = random.below(6)};
        if (seed % 2 != 0)
            for (std::size_t node = 0; node < graph.nodes; ++node)
                plan.durations.push_back(random.below(40));
        if (const std::string problem = problem_of(graph, plan); !problem.empty())
            FAIL("seed " << seed << ": " << problem);
    }
    CHECK(laid > seeds / 4);
}

TEST_CASE("a plan leaves a line, a tree and what branches as they are") {
    const std::vector<EdgeRecord> line{{0, 1}, {1, 2}, {2, 3}};
    CHECK_FALSE(plan_edges({4, line, {}, {}, {}, {kernels_always}}));
    const std::vector<EdgeRecord> tree{{0, 1}, {0, 2}, {1, 3}, {1, 4}};
    CHECK_FALSE(plan_edges({5, tree, {}, {}, {}, {kernels_always}}));
    const std::vector<EdgeRecord> diamond{{0, 1}, {0, 2}, {1, 3}, {2, 3}};
    CHECK_FALSE(plan_edges({4, diamond, {}, {}, {}, {kernels_always}}));
}

TEST_CASE("a join whose own edges are kept stays an empty node") {
    const std::vector<EdgeRecord> edges{{0, 2}, {1, 2}, {2, 3}, {2, 4}};
    const std::vector<bool> is_join{false, false, true, false, false};
    const JoinRules rules{kernels_always, true};
    REQUIRE(plan_edges({5, edges, is_join, {}, {}, rules})->joins[0].form == JoinForm::kernel);
    const auto planned = plan_edges({5, edges, is_join, {false, false, true, false, false}, {}, rules});
    CHECK(planned->joins == std::vector{JoinRecord{2, 2, 2, JoinForm::node, JoinReason::kept_edges}});
    CHECK(planned->edges == edges);
}

TEST_CASE("edges to nodes that keep theirs are neither removed nor led through a kernel") {
    const std::vector<EdgeRecord> shortcut{{0, 1}, {1, 2}, {0, 2}};
    CHECK_FALSE(plan_edges({3, shortcut, {}, {false, false, true}, {}, {kernels_always}}));
    const std::vector<EdgeRecord> block{{0, 2}, {1, 2}, {0, 3}, {1, 3}};
    CHECK_FALSE(plan_edges({4, block, {}, {false, false, false, true}, {}, {kernels_always}}));
    CHECK(plan_edges({4, block, {}, {}, {}, {kernels_always}})->kernels == 1);
    const std::vector<EdgeRecord> join{{0, 2}, {1, 2}, {2, 3}, {2, 4}};
    const auto planned = plan_edges(
        {5, join, {false, false, true, false, false}, {false, false, false, true, false}, {}, {kernels_always}});
    REQUIRE(planned);
    CHECK(planned->edges == join);
    CHECK(planned->joins == std::vector{JoinRecord{2, 2, 2, JoinForm::node, JoinReason::kept_edges}});
}

TEST_CASE("a new kernel is no node that keeps its edges, whatever stands behind those") {
    const std::vector<EdgeRecord> edges{{0, 2}, {1, 2}, {2, 3}, {2, 4}, {0, 5}, {1, 5}};
    std::vector<bool> keeps_all(64, true);
    keeps_all.resize(6); // the bits of the others stay
    std::fill(keeps_all.begin(), keeps_all.end(), false);
    PlanInput input{6, edges, {false, false, true, false, false, false}, {}, {}, {kernels_always}};
    const auto expected = plan_edges(input);
    REQUIRE(expected);
    CHECK(expected->kernels == 2);
    input.keeps_all = std::move(keeps_all);
    CHECK(plan_edges(input) == expected);
}

TEST_CASE("as many first kernels as are worth while get an empty one, one less does not") {
    for (const std::uint32_t count :
         {static_cast<std::uint32_t>(min_kernels_at_end) - 1, static_cast<std::uint32_t>(min_kernels_at_end)}) {
        const auto planned = plan_edges({count, {}, {}, {}, std::vector<bool>(count, true), {kernels_never}});
        CHECK(planned.has_value() == (count == min_kernels_at_end));
        if (planned) CHECK(planned->joins.size() == 2);
    }
}

TEST_CASE("a graph that begins and ends with many kernels gets an empty one before and after them") {
    std::vector<EdgeRecord> edges;
    for (std::uint32_t i = 0; i < 8; ++i)
        edges.push_back({i, 8 + i});
    const std::vector<bool> kernels(17, true); // and one by itself
    const auto planned = plan_edges({17, edges, {}, {}, kernels, {kernels_never}});
    REQUIRE(planned);
    CHECK(planned->kernels == 2);
    CHECK(planned->edges.size() == 8 + 9 + 9);
    CHECK(planned->joins ==
          std::vector{JoinRecord{JoinRecord::no_node, 0, 9, JoinForm::kernel, JoinReason::launch_call},
                      JoinRecord{JoinRecord::no_node, 9, 0, JoinForm::kernel, JoinReason::launch_call}});
    std::vector<bool> others(17, false);
    CHECK_FALSE(plan_edges({17, edges, {}, {}, others, {kernels_never}}));
    CHECK_FALSE(plan_edges({17, edges, {}, {}, {}, {kernels_never}}));
    CHECK_FALSE(plan_edges({17, edges, {}, {}, kernels, {kernels_never, false}}));
    CHECK_FALSE(plan_edges({17, edges, {}, {}, kernels, {kernels_never}}, {.ends = false}));
}

TEST_CASE("few kernels at the begin stay, and with several of them many at the end do, too") {
    std::vector<EdgeRecord> edges;
    for (std::uint32_t i = 2; i < 12; ++i)
        edges.push_back({i % 2, i});
    CHECK_FALSE(plan_edges({12, edges, {}, {}, std::vector<bool>(12, true), {kernels_never}}));
    edges.clear();
    for (std::uint32_t i = 1; i < 12; ++i)
        edges.push_back({0, i});
    CHECK(plan_edges({12, edges, {}, {}, std::vector<bool>(12, true), {kernels_never}})->kernels == 1);
}

TEST_CASE("a line of many kernels gets an edge from the first to the last, one of fewer does not") {
    const auto planned = [](std::vector<EdgeRecord> edges, std::vector<bool> is_kernel, const Plan& plan = {}) {
        return plan_edges({is_kernel.size(), edges, {}, {}, is_kernel, {kernels_never}}, plan);
    };
    constexpr auto most = static_cast<std::uint32_t>(min_kernels_in_long_line);
    const std::vector<bool> kernels(most, true);
    std::vector<EdgeRecord> expected = line_of(most);
    expected.push_back({0, most - 1});
    const auto plan = planned(line_of(most), kernels);
    REQUIRE(plan);
    CHECK(plan->edges == expected);
    CHECK(plan->kernels == 0);
    CHECK(plan->joins == std::vector{JoinRecord{JoinRecord::no_node, 1, 1, JoinForm::edges, JoinReason::long_line}});
    std::vector<EdgeRecord> redundant = line_of(most);
    redundant.push_back({3, 5});
    CHECK(planned(redundant, kernels) == plan);
    CHECK_FALSE(planned(line_of(most - 1), std::vector<bool>(most - 1, true)));
    CHECK_FALSE(planned(line_of(most), kernels, {.ends = false}));

    std::vector<bool> with_copy = kernels;
    with_copy[7] = false;
    CHECK_FALSE(planned(line_of(most), with_copy));
    std::vector<EdgeRecord> early = line_of(most);
    early[7].kind = EdgeKind::programmatic;
    CHECK_FALSE(planned(early, kernels));
    std::vector<EdgeRecord> fork = line_of(most);
    fork.back().from = 0;
    CHECK_FALSE(planned(fork, kernels));
}

TEST_CASE("first kernels that would take the places of others stay as they are") {
    constexpr auto most = static_cast<std::uint32_t>(max_first_kernels_at_once);
    const auto begins_at_once = [](std::uint32_t alone, std::uint32_t chains, std::uint32_t length) {
        const std::uint32_t nodes = alone + chains * length;
        std::vector<EdgeRecord> edges;
        for (std::uint32_t node = alone; node < nodes; ++node)
            if ((node - alone) % length != 0) edges.push_back({node - 1, node});
        const auto planned = plan_edges({nodes, edges, {}, {}, std::vector<bool>(nodes, true), {kernels_never}});
        return planned && planned->kernels != 0;
    };
    CHECK_FALSE(begins_at_once(most / 2, most / 2 + 1, 3));
    CHECK(begins_at_once(most / 2, most / 2, 3));      // no more than run at once
    CHECK(begins_at_once(0, most + 1, 3));             // all as important
    CHECK(begins_at_once(most + 1, 0, 1));             // likewise
    CHECK(begins_at_once(most / 4, most, 3));          // few of them precede little
    CHECK(begins_at_once(most / 2, most / 2 + 1, 51)); // a kernel more or less is little
    CHECK_FALSE(begins_at_once(most / 2, most / 2 + 1, 50));
}

TEST_CASE("edges without a meeting are planned like others") {
    const std::vector<EdgeRecord> edges{{0, 1}, {0, 2}, {2, 3}, {4, 5}};
    PlanInput input{12, edges, {}, {}, std::vector<bool>(12, true), {kernels_from_three}};
    const auto expected = plan_edges(input);
    const auto on_lanes = plan_edges(input, {.lanes = 1});
    input.has_fan_in = false;
    CHECK(plan_edges(input) == expected);
    CHECK(plan_edges(input, {.lanes = 1}) == on_lanes);
    CHECK(expected->kernels == 2);
}

TEST_CASE("an outline tells what there is to plan, whatever the order of the edges") {
    const auto is = [](const Outline& outline, bool has_fan_in, std::size_t first, std::size_t last) {
        return outline.has_fan_in == has_fan_in && outline.first_nodes == first && outline.last_nodes == last;
    };
    CHECK(is(outline_of(4, {{0, 1}, {1, 2}, {2, 3}}), false, 1, 1));
    CHECK(is(outline_of(4, {{2, 3}, {1, 2}, {0, 1}}), false, 1, 1));
    CHECK(is(outline_of(4, {}), false, 4, 4));
    CHECK(is(outline_of(4, {{0, 1}, {0, 2}, {0, 3}}), false, 1, 3));
    CHECK(is(outline_of(4, {{0, 3}, {1, 3}, {2, 3}}), true, 3, 1));
    CHECK(is(outline_of(4, {{0, 1}, {2, 3}}), false, 2, 2));
}

TEST_CASE("a join has the reason of what it becomes") {
    const auto planned = [](std::uint32_t before, std::uint32_t after, const JoinRules& rules) {
        const std::uint32_t join = before + after;
        std::vector<EdgeRecord> edges;
        for (std::uint32_t i = 0; i < before; ++i)
            edges.push_back({i, join});
        for (std::uint32_t i = before; i < join; ++i)
            edges.push_back({join, i});
        std::vector<bool> is_join(join + 1);
        is_join[join] = true;
        const auto plan = plan_edges({join + 1, edges, is_join, {}, {}, rules});
        return std::pair(plan->joins[0].form, plan->joins[0].reason);
    };
    const JoinRules rules{kernels_from_three}, no_kernels{kernels_from_three, false};
    CHECK(planned(2, 0, rules) == std::pair(JoinForm::edges, JoinReason::joins_nothing));
    CHECK(planned(0, 2, rules) == std::pair(JoinForm::edges, JoinReason::joins_nothing));
    CHECK(planned(1, 5, rules) == std::pair(JoinForm::edges, JoinReason::no_more_edges));
    CHECK(planned(5, 1, rules) == std::pair(JoinForm::edges, JoinReason::no_more_edges));
    CHECK(planned(2, 2, rules) == std::pair(JoinForm::edges, JoinReason::few_edges));
    CHECK(planned(3, 3, rules) == std::pair(JoinForm::kernel, JoinReason::many_edges));
    CHECK(planned(3, 3, no_kernels) == std::pair(JoinForm::edges, JoinReason::no_kernel));
    CHECK(planned(40, 40, no_kernels) == std::pair(JoinForm::node, JoinReason::no_kernel));

    std::vector<EdgeRecord> early{{0, 2}, {1, 2}, {2, 3}, {2, 4}, {5, 3, EdgeKind::programmatic}};
    const std::vector<bool> is_join{false, false, true, false, false, false};
    CHECK(plan_edges({6, early, is_join, {}, {}, rules})->joins ==
          std::vector{JoinRecord{2, 2, 2, JoinForm::kernel, JoinReason::early_edges}});
    const std::vector<EdgeRecord> block{{0, 3}, {1, 3}, {2, 3}, {0, 4}, {1, 4}, {2, 4}, {0, 5}, {1, 5}, {2, 5}};
    CHECK(plan_edges({6, block, {}, {}, {}, rules})->joins ==
          std::vector{JoinRecord{JoinRecord::no_node, 3, 3, JoinForm::kernel, JoinReason::many_edges}});
}

TEST_CASE("launches that repay no slower instantiation leave joins and ends as they are") {
    std::vector<EdgeRecord> edges{{0, 11}}; // implied
    constexpr std::uint32_t join = 10, after = 11;
    for (std::uint32_t i = 0; i < 10; ++i)
        edges.insert(edges.end(), {{i, join}, {join, after + i}});
    std::vector<bool> is_join(21), is_kernel(21, true);
    is_join[join] = true;
    is_kernel[join] = false;
    const PlanInput input{21, edges, is_join, {}, is_kernel, {kernels_from_three}};
    for (const unsigned launches : {0U, 1U, kernels_from_three.repaid_by - 1}) {
        const auto few = plan_edges(input, {.launches = launches});
        REQUIRE(few);
        CHECK(few->kernels == 0);
        CHECK(few->joins == std::vector{JoinRecord{join, 10, 10, JoinForm::node, JoinReason::few_launches}});
        CHECK(few->edges.size() == 20);
    }
    const auto enough = plan_edges(input, {.launches = kernels_from_three.repaid_by});
    CHECK(enough == plan_edges(input));
    CHECK(enough->kernels == 3);
}

TEST_CASE("for few launches, small joins become edges, and wide blocks a kernel") {
    const auto joined = [](std::uint32_t before, std::uint32_t after) {
        std::vector<EdgeRecord> edges;
        for (std::uint32_t i = 0; i < before; ++i)
            edges.push_back({i, before});
        for (std::uint32_t i = 0; i < after; ++i)
            edges.push_back({before, before + 1 + i});
        return edges;
    };
    const JoinCosts costs = join_costs(9, 0);
    const auto form = [&](std::uint32_t before, std::uint32_t after, unsigned launches) {
        std::vector<bool> is_join(before + after + 1);
        is_join[before] = true;
        const auto edges = joined(before, after);
        return plan_edges({before + after + 1, edges, is_join, {}, {}, {costs}}, {.launches = launches})
            ->joins.front()
            .form;
    };
    for (const unsigned launches : {0U, 1U, 3U}) {
        CHECK(form(2, 2, launches) == JoinForm::edges);
        CHECK(form(2, 8, launches) == JoinForm::edges);
        CHECK(form(4, 4, launches) == JoinForm::node);
    }
    for (const unsigned launches : {4U, 9U, 10U, 99U, 300U})
        CHECK(form(3, 3, launches) == JoinForm::edges);
    CHECK(form(4, 4, 4) == JoinForm::kernel);
    CHECK(form(4, 4, 10) == JoinForm::edges);
    CHECK(form(6, 6, 50) == JoinForm::kernel);
    CHECK(form(6, 6, 300) == JoinForm::edges);
    CHECK(form(7, 7, 300) == JoinForm::kernel);
    std::vector<EdgeRecord> block;
    for (std::uint32_t i = 0; i < 16; ++i)
        block.push_back({i % 4, 4 + i / 4});
    const PlanInput written{8, block, {}, {}, {}, {costs}};
    CHECK(plan_edges(written, {.launches = 1})->kernels == 1);
    CHECK_FALSE(plan_edges(written, {.launches = 10}));
    CHECK_FALSE(plan_edges(written));
}

TEST_CASE("few launches leave no join that nothing needs, and no edges from each to each") {
    const std::vector<EdgeRecord> one_before{{0, 1}, {1, 2}, {1, 3}};
    const auto planned =
        plan_edges({4, one_before, {false, true, false, false}, {}, {}, {kernels_from_three}}, {.launches = 1});
    CHECK(planned->joins == std::vector{JoinRecord{1, 1, 2, JoinForm::edges, JoinReason::no_more_edges}});
    std::vector<EdgeRecord> block;
    for (std::uint32_t i = 0; i < 9; ++i)
        block.push_back({i % 3, 3 + i / 3});
    CHECK(plan_edges({6, block, {}, {}, {}, {kernels_from_three}}, {.launches = 1})->kernels == 1);
}

TEST_CASE("edges become a kernel above the ratio up to which they are better, not at it") {
    const std::vector<EdgeRecord> block{{0, 2}, {1, 2}, {0, 3}, {1, 3}}, join{{0, 2}, {1, 2}, {2, 3}, {2, 4}};
    const std::vector<bool> is_join{false, false, true, false, false};
    const double ratio = JoinCosts::edge_ratio(2, 2);
    for (const double limit : {ratio, ratio - .01}) {
        const JoinRules rules{{.edges_up_to = limit, .joins_up_to = limit}};
        CHECK(plan_edges({4, block, {}, {}, {}, rules}).has_value() == (limit < ratio));
        CHECK(plan_edges({5, join, is_join, {}, {}, rules})->kernels == (limit < ratio ? 1 : 0));
    }
}

TEST_CASE("gains are known for the kind of GPU that was measured, and no other") {
    REQUIRE(join_gains(9, 0));
    CHECK(join_gains(9, 0)->node_call > join_gains(9, 0)->block_call);
    CHECK_FALSE(join_gains(8, 0));
    CHECK_FALSE(join_gains(10, 0));
}
