// Which nodes can be reached from which others, beside a search that takes all edges.
#include "edges/reach.hpp"

#include "catch.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

using cudag::detail::EdgeRecord;
using cudag::detail::Reach;

namespace {

std::vector<bool> reached_from(std::uint32_t start, std::size_t nodes, const std::vector<EdgeRecord>& edges,
                               Reach::Along along) {
    std::vector<bool> found(nodes);
    std::vector<std::uint32_t> waiting{start};
    while (!waiting.empty()) {
        const std::uint32_t node = waiting.back();
        waiting.pop_back();
        for (const EdgeRecord& edge : edges) {
            const auto [from, to] =
                along == Reach::Along::edges ? std::pair(edge.from, edge.to) : std::pair(edge.to, edge.from);
            if (from != node || found[to]) continue;
            found[to] = true;
            waiting.push_back(to);
        }
    }
    return found;
}

/// Edges between `nodes` nodes, forward in a random order of these.
std::vector<EdgeRecord> random_edges(const std::vector<std::uint32_t>& order, std::size_t count, std::mt19937& random) {
    std::vector<EdgeRecord> edges;
    const auto last = static_cast<std::uint32_t>(order.size() - 1);
    while (edges.size() < count) {
        const std::uint32_t a = std::uniform_int_distribution<std::uint32_t>(0, last)(random);
        const std::uint32_t b = std::uniform_int_distribution<std::uint32_t>(0, last)(random);
        if (a != b) edges.push_back({order[std::min(a, b)], order[std::max(a, b)]});
    }
    return edges;
}

} // namespace

TEST_CASE("a search finds the targets that there are paths to, along the edges and against them, time after time") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const std::size_t nodes = 2 + random() % 30;
        std::vector<std::uint32_t> order(nodes);
        std::iota(order.begin(), order.end(), 0U);
        std::shuffle(order.begin(), order.end(), random);
        const std::vector<EdgeRecord> edges = random_edges(order, random() % (2 * nodes), random);
        std::vector<std::uint32_t> place(nodes);
        for (std::uint32_t i = 0; i < nodes; ++i)
            place[order[i]] = i;
        const Reach::Along along = random() % 2 == 0 ? Reach::Along::edges : Reach::Along::against;
        Reach reach(edges, place, along);
        for (int round = 0; round < 5; ++round) {
            const auto start = static_cast<std::uint32_t>(random() % nodes);
            const std::size_t one_of = 1 + random() % 16;
            std::vector<Reach::Target> targets;
            for (std::uint32_t node = 0; node < nodes; ++node)
                if (node != start && random() % one_of == 0) targets.push_back({node});
            reach.search(start, targets);
            const std::vector<bool> expected = reached_from(start, nodes, edges, along);
            for (const Reach::Target& target : targets) {
                INFO("seed " << seed << ", from " << start << " to " << target.node);
                CHECK(target.reached == expected[target.node]);
            }
        }
    }
}
