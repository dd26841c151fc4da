// From which nodes paths lead to another one, beside all paths.
#include "edges/precedence.hpp"

#include "random.hpp"

#include "catch.hpp"

#include <algorithm>
#include <bitset>
#include <numeric>
#include <vector>

using cudag::detail::EdgeRecord;
using cudag::detail::Precedence;

namespace {

using Nodes = std::vector<std::uint32_t>;

struct RandomGraph {
    Nodes order;
    Nodes place;
    std::vector<EdgeRecord> edges;
    std::vector<std::bitset<256>> before; ///< by node: from which ones a path leads to it

    explicit RandomGraph(Random& random) : order(2 + random.below(250)), place(order.size()), before(order.size()) {
        const std::size_t nodes = order.size();
        std::iota(order.begin(), order.end(), 0U);
        for (std::size_t left = random.below(2) == 0 ? nodes : 0; left > 1; --left)
            std::swap(order[left - 1], order[random.below(left)]);
        for (std::uint32_t i = 0; i < nodes; ++i)
            place[order[i]] = i;
        const std::uint32_t longest = 1 + random.below(random.below(2) == 0 ? 12 : nodes);
        for (std::size_t left = random.below(4 * nodes); left > 0; --left) {
            const std::uint32_t from = random.below(nodes), to = from + 1 + random.below(longest);
            if (to < nodes) edges.push_back({order[from], order[to]});
        }
        std::ranges::sort(edges, {}, [this](const EdgeRecord& edge) { return place[edge.to]; });
        for (const EdgeRecord& edge : edges)
            before[edge.to] |= std::bitset<256>(before[edge.from]).set(edge.from);
        for (std::size_t left = edges.size(); left > 1; --left)
            std::swap(edges[left - 1], edges[random.below(left)]);
    }
};

} // namespace

TEST_CASE("nodes remain if and only if no path leads from them, near and far, time after time", "[races]") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Random random(seed);
        const RandomGraph graph(random);
        Precedence precedence(graph.edges, graph.order, graph.place);
        for (int round = 0; round < 20; ++round) {
            const std::uint32_t node = graph.order[random.below(graph.order.size())];
            const std::uint32_t one_of = 1 + random.below(32);
            Nodes asked, expected;
            for (const std::uint32_t other : graph.order)
                if (graph.place[other] < graph.place[node] && random.below(one_of) == 0) {
                    asked.push_back(other);
                    if (!graph.before[node][other]) expected.push_back(other);
                }
            precedence.remove_ordered(node, asked);
            std::ranges::sort(asked);
            std::ranges::sort(expected);
            if (asked != expected) FAIL_CHECK("seed " << seed << ", round " << round);
        }
    }
}

TEST_CASE("the trees know what comes before what in a line, however long it is", "[races]") {
    constexpr std::uint32_t nodes = 100;
    Nodes order(nodes), place(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i)
        order[i] = nodes - 1 - i, place[nodes - 1 - i] = i; // against the numbers
    std::vector<EdgeRecord> edges;
    for (std::uint32_t i = 1; i < nodes; ++i)
        edges.push_back({order[i - 1], order[i]});
    const Precedence precedence(edges, order, place);
    for (std::uint32_t a = 0; a < nodes; ++a)
        for (std::uint32_t b = 0; b < nodes; ++b)
            if (a != b) REQUIRE(precedence.is_known(order[a], order[b]) == (a < b));
}

TEST_CASE("the trees know what comes before what in branches that fork and join", "[races]") {
    // 0 forks into three branches of three nodes, which join in 10, and 11 comes after that
    std::vector<EdgeRecord> edges{{10, 11}};
    for (std::uint32_t first = 1; first < 10; first += 3)
        edges.insert(edges.end(), {{0, first}, {first, first + 1}, {first + 1, first + 2}, {first + 2, 10}});
    Nodes order(12);
    std::iota(order.begin(), order.end(), 0U);
    const Precedence precedence(edges, order, order);
    for (std::uint32_t a = 0; a < 12; ++a)
        for (std::uint32_t b = 0; b < 12; ++b) {
            if (a == b) continue;
            CAPTURE(a, b);
            const bool are_of_branches = a > 0 && a < 10 && b > 0 && b < 10;
            CHECK(precedence.is_known(a, b) == (a < b && (!are_of_branches || (a - 1) / 3 == (b - 1) / 3)));
        }
}

TEST_CASE("the trees know no paths that are not there, and each node's latest predecessor", "[races]") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const RandomGraph graph(random);
        const Precedence precedence(graph.edges, graph.order, graph.place);
        const auto nodes = static_cast<std::uint32_t>(graph.order.size());
        Nodes latest(nodes, 0xFFFFFFFF);
        for (const EdgeRecord& edge : graph.edges)
            if (latest[edge.to] >= nodes || graph.place[latest[edge.to]] < graph.place[edge.from])
                latest[edge.to] = edge.from;
        for (std::uint32_t node = 0; node < nodes; ++node) {
            REQUIRE(precedence.latest_predecessor(node) == latest[node]);
            if (latest[node] < nodes) REQUIRE(precedence.is_known(latest[node], node));
            for (int i = 0; i < 20; ++i) {
                const std::uint32_t other = random.below(nodes);
                if (other != node && precedence.is_known(other, node)) REQUIRE(graph.before[node][other]);
            }
        }
    }
}
