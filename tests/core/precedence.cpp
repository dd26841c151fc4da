// From which nodes paths lead to another one, beside all paths.
#include "plan/precedence.hpp"

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
