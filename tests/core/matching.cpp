// Which nodes of two graphs stand for each other, against all permutations of small graphs, and what it costs.
#include "matching/matching.hpp"
#include "bench/shapes.hpp"
#include "matching/refinement.hpp"

#include "catch.hpp"

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

using cudag::detail::MatchEdge;
using cudag::detail::Matcher;
using cudag::detail::MatchGraph;
using cudag::detail::Matching;
using cudag::detail::MatchNode;
using cudag::detail::Refinement;

namespace {

using Result = Matching::Result;
using Partners = std::vector<std::uint32_t>;
using Random = std::mt19937;

std::uint32_t below(std::uint32_t limit, Random& random) {
    return static_cast<std::uint32_t>(random() % limit);
}

void shuffle(Partners& list, Random& random) {
    for (auto i = static_cast<std::uint32_t>(list.size()); i > 1; --i)
        std::swap(list[i - 1], list[below(i, random)]);
}

Partners numbers(std::size_t count) {
    Partners list(count);
    std::iota(list.begin(), list.end(), 0U);
    return list;
}

/// `graph` with node i as number `to[i]`, and its edges in another order.
MatchGraph renumbered(const MatchGraph& graph, const Partners& to) {
    MatchGraph other;
    other.nodes.resize(graph.nodes.size());
    for (std::size_t i = 0; i < to.size(); ++i)
        other.nodes[to[i]] = graph.nodes[i];
    for (const MatchEdge& edge : graph.edges)
        other.edges.push_back({to[edge.from], to[edge.to], edge.kind});
    std::reverse(other.edges.begin(), other.edges.end());
    return other;
}

MatchGraph shuffled(const MatchGraph& graph, Random& random) {
    Partners to = numbers(graph.nodes.size());
    shuffle(to, random);
    return renumbered(graph, to);
}

/// By the definition: without what the library has for it.
bool is_isomorphism(const MatchGraph& before, const MatchGraph& after, const Partners& partner) {
    if (before.nodes.size() != after.nodes.size() || partner.size() != before.nodes.size()) return false;
    std::vector<bool> is_taken(partner.size());
    for (std::size_t i = 0; i < partner.size(); ++i) {
        const MatchNode& a = before.nodes[i];
        const MatchNode& b = after.nodes.at(partner[i]);
        if (is_taken[partner[i]] || a.key != b.key || a.more != b.more) return false;
        if (a.label != 0 && b.label != 0 && a.label != b.label) return false;
        is_taken[partner[i]] = true;
    }
    MatchGraph mapped;
    for (const MatchEdge& edge : before.edges)
        mapped.edges.push_back({partner[edge.from], partner[edge.to], edge.kind});
    std::vector<MatchEdge> edges = after.edges;
    std::sort(edges.begin(), edges.end());
    std::sort(mapped.edges.begin(), mapped.edges.end());
    return mapped.edges == edges;
}

bool has_isomorphism(const MatchGraph& before, const MatchGraph& after) {
    if (before.nodes.size() != after.nodes.size()) return false;
    Partners partner = numbers(before.nodes.size());
    do {
        if (is_isomorphism(before, after, partner)) return true;
    } while (std::next_permutation(partner.begin(), partner.end()));
    return false;
}

MatchGraph graph_of(const bench::Shape& shape) {
    MatchGraph graph;
    for (bench::Shape::Node node = 0; node < shape.size(); ++node)
        graph.nodes.push_back({.key = shape.is_barrier(node) ? 1U : 0U});
    for (const bench::Shape::Edge& edge : shape.edges())
        graph.edges.push_back({edge.from, edge.to});
    return graph;
}

MatchGraph parallel(std::uint32_t count) {
    MatchGraph graph;
    graph.nodes.resize(count);
    return graph;
}

/// Small, and with few edges, so that many nodes look alike.
MatchGraph random_graph(std::uint32_t nodes, Random& random, std::uint32_t rarity = 3) {
    MatchGraph graph;
    for (std::uint32_t i = 0; i < nodes; ++i)
        graph.nodes.push_back({.key = below(4, random) / 3});
    for (std::uint32_t to = 1; to < nodes; ++to)
        for (std::uint32_t from = 0; from < to; ++from)
            if (below(rarity, random) == 0) graph.edges.push_back({from, to, below(6, random) / 5});
    return graph;
}

/// Adds a ring of `length` nodes that looks like any other from each of them: every other one is a source.
void add_ring(MatchGraph& graph, std::uint32_t length) {
    const auto first = static_cast<std::uint32_t>(graph.nodes.size());
    graph.nodes.resize(first + length);
    for (std::uint32_t i = 0; i < length; i += 2) {
        graph.edges.push_back({first + i, first + i + 1});
        graph.edges.push_back({first + i, first + (i + length - 1) % length});
    }
}

MatchGraph rings(const std::vector<std::uint32_t>& lengths) {
    MatchGraph graph;
    for (const std::uint32_t length : lengths)
        add_ring(graph, length);
    return graph;
}

/// How many edges of which kinds a node has to and from the nodes of each cell.
std::vector<std::vector<std::uint32_t>> neighbours_of(const MatchGraph& graph, std::uint32_t node,
                                                      const cudag::detail::Cells& cells) {
    std::vector<std::vector<std::uint32_t>> found;
    for (const MatchEdge& edge : graph.edges) {
        if (edge.from == node) found.push_back({0, edge.kind, cells.of(edge.to)});
        if (edge.to == node) found.push_back({1, edge.kind, cells.of(edge.from)});
    }
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace

TEST_CASE("nodes that are not told apart have the same neighbours", "[matching]") {
    Random random(6);
    for (int turn = 0; turn < 500; ++turn) {
        CAPTURE(turn);
        const MatchGraph graph = random_graph(1 + below(30, random), random, 20);
        const auto count = static_cast<std::uint32_t>(graph.nodes.size());
        Partners colours(2 * count);
        for (std::uint32_t i = 0; i < count; ++i)
            colours[i] = colours[count + i] = static_cast<std::uint32_t>(graph.nodes[i].key);
        const std::uint32_t colour_count = 1 + *std::max_element(colours.begin(), colours.end());
        if (std::count(colours.begin(), colours.end(), 0U) == 0) continue;
        Refinement refinement(graph, graph, colours, colour_count, std::numeric_limits<std::uint64_t>::max());
        REQUIRE(refinement.refine());
        const auto& cells = refinement.cells();
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t other = cells.elements(cells.of(i)).back() % count;
            CHECK(graph.nodes[i].key == graph.nodes[other].key);
            CHECK(neighbours_of(graph, i, cells) == neighbours_of(graph, other, cells));
        }
        const std::uint32_t before = cells.count();
        for (std::uint32_t i = 0; i < count; ++i)
            if (cells[cells.of(i)].size() > 2) {
                static_cast<void>(refinement.pair(i, count + i));
                CHECK(cells.count() > before);
                refinement.undo(before);
                break;
            }
        CHECK(cells.count() == before);
        for (std::uint32_t cell = 0; cell < before; ++cell)
            for (const std::uint32_t element : cells.elements(cell))
                CHECK(cells.of(element) == cell);
    }
}

TEST_CASE("a graph whose nodes are numbered otherwise is found again", "[matching]") {
    Random random(1);
    for (const bench::Shape& shape : bench::all_shapes(0.1)) {
        CAPTURE(shape.name());
        const MatchGraph before = graph_of(shape);
        const MatchGraph after = shuffled(before, random);
        const Matching matching = Matcher(before, after).find();
        REQUIRE(matching.result == Result::found);
        CHECK(is_isomorphism(before, after, matching.partner));
        CHECK(Matcher(before, after).find().partner == matching.partner);
    }
}

TEST_CASE("of small graphs a pairing is found exactly where one of all permutations is one", "[matching]") {
    Random random(2);
    unsigned found = 0;
    for (int turn = 0; turn < 3000; ++turn) {
        CAPTURE(turn);
        const MatchGraph before = random_graph(1 + below(6, random), random);
        MatchGraph after = shuffled(before, random);
        if (below(2, random) == 0) {
            if (const unsigned what = below(3, random); what == 0)
                after.nodes[below(static_cast<std::uint32_t>(after.nodes.size()), random)].key ^= 1U;
            else if (after.edges.empty())
                continue;
            else if (MatchEdge& edge = after.edges[below(static_cast<std::uint32_t>(after.edges.size()), random)];
                     what == 1)
                edge.kind ^= 1U;
            else
                std::swap(edge.from, edge.to);
        }
        const Matching matching = Matcher(before, after).find();
        const bool is_found = matching.result == Result::found;
        REQUIRE(is_found == has_isomorphism(before, after));
        if (!is_found) continue;
        ++found;
        CHECK(is_isomorphism(before, after, matching.partner));
    }
    CHECK(found > 1500);
    CHECK(found < 2900);
}

TEST_CASE("of small graphs with labels, every pairing that is found has equal labels where both nodes have one",
          "[matching]") {
    Random random(3);
    unsigned found = 0, refused = 0;
    for (int turn = 0; turn < 3000; ++turn) {
        CAPTURE(turn);
        MatchGraph before = random_graph(1 + below(6, random), random);
        MatchGraph after = shuffled(before, random);
        for (MatchNode& node : before.nodes)
            node.label = below(3, random);
        for (MatchNode& node : after.nodes)
            node.label = below(2, random) == 0 ? 0 : below(3, random);
        const Matching matching = Matcher(before, after).find();
        ++(matching.result == Result::found ? found : refused);
        if (matching.result == Result::found) CHECK(is_isomorphism(before, after, matching.partner));
        if (!has_isomorphism(before, after)) CHECK(matching.result != Result::found);
    }
    CHECK(found > 500);
    CHECK(refused > 500);
}

TEST_CASE("graphs with one edge of another kind are not paired", "[matching]") {
    MatchGraph before = parallel(2);
    before.edges = {{0, 1, 0}};
    MatchGraph after = before;
    CHECK(Matcher(before, after).is_in_order());
    after.edges = {{0, 1, 1}};
    CHECK_FALSE(Matcher(before, after).is_in_order());
    CHECK(Matcher(before, after).find().result == Result::other_edges);
}

TEST_CASE("the order is right if nodes and edges are the same, in whichever order the edges are", "[matching]") {
    MatchGraph before = parallel(3);
    before.edges = {{0, 2}, {1, 2}};
    MatchGraph after = before;
    std::swap(after.edges[0], after.edges[1]);
    CHECK(Matcher(before, after).is_in_order());
    after.edges[0] = {0, 1};
    CHECK_FALSE(Matcher(before, after).is_in_order());
    after = parallel(4);
    CHECK_FALSE(Matcher(before, after).is_in_order());
    after = before;
    after.nodes[1].more = 5;
    CHECK_FALSE(Matcher(before, after).is_in_order());
}

TEST_CASE("equal nodes beside each other pair by what is preferred, and then in order", "[matching]") {
    MatchGraph before = parallel(5);
    MatchGraph after = parallel(5);
    const std::uint64_t preferences[2][5] = {{7, 8, 9, 1, 7}, {9, 7, 2, 7, 8}};
    for (std::size_t i = 0; i < 5; ++i) {
        before.nodes[i].preference = preferences[0][i];
        after.nodes[i].preference = preferences[1][i];
    }
    CHECK(Matcher(before, after).find().partner == Partners{1, 4, 0, 2, 3});
}

TEST_CASE("what is left after some were paired by preference pairs in order", "[matching]") {
    MatchGraph before = parallel(3);
    MatchGraph after = parallel(3);
    const std::uint64_t preferences[2][3] = {{1, 2, 3}, {1, 8, 9}};
    for (std::size_t i = 0; i < 3; ++i) {
        before.nodes[i].preference = preferences[0][i];
        after.nodes[i].preference = preferences[1][i];
    }
    CHECK(Matcher(before, after).find().partner == Partners{0, 1, 2});
}

TEST_CASE("preferences and likenesses are compared in all their bits", "[matching]") {
    for (std::uint64_t MatchNode::*const value : {&MatchNode::preference, &MatchNode::likeness}) {
        MatchGraph before = parallel(2);
        for (std::uint64_t i = 0; i < 2; ++i) {
            before.nodes[i].preference = i;
            before.nodes[i].*value = (i + 1) << 40;
        }
        MatchGraph after = renumbered(before, {1, 0});
        if (value == &MatchNode::likeness)
            for (MatchNode& node : after.nodes)
                node.preference += 2;
        CHECK(Matcher(before, after).find().partner == Partners{1, 0});
    }
}

TEST_CASE("a label of which the graphs have different numbers pairs as many as there are", "[matching]") {
    MatchGraph before = parallel(3);
    MatchGraph after = parallel(3);
    for (std::uint64_t i = 0; i < 3; ++i) {
        before.nodes[i] = {.preference = i, .likeness = i};
        after.nodes[i] = {.preference = 3 + i, .likeness = 3 + i};
    }
    before.nodes[0].label = before.nodes[1].label = after.nodes[2].label = 1;
    CHECK(Matcher(before, after).find().partner == Partners{2, 1, 0}); // and nodes without one with each other
}

TEST_CASE("nodes that look alike follow a neighbour that is preferred", "[matching]") {
    constexpr std::uint32_t chains = 4;
    MatchGraph before = parallel(3 * chains);
    for (std::uint32_t i = 0; i < chains; ++i) { // the last node of each chain is one of a kind
        before.edges.push_back({3 * i, 3 * i + 1});
        before.edges.push_back({3 * i + 1, 3 * i + 2});
        before.nodes[3 * i + 2].preference = i + 1;
    }
    Random random(4);
    Partners to = numbers(before.nodes.size());
    shuffle(to, random);
    CHECK(Matcher(before, renumbered(before, to)).find().partner == to);
}

TEST_CASE("what is left is paired by likeness, and goes before what is equal several times", "[matching]") {
    MatchGraph before = parallel(6);
    before.edges = {{0, 1}, {2, 3}, {4, 5}};
    for (std::uint32_t i = 0; i < 6; i += 2)
        before.nodes[i] = {.key = 1, .preference = 4};
    for (std::uint32_t i = 1; i < 6; i += 2)
        before.nodes[i] = {.preference = i, .likeness = i};
    MatchGraph after = renumbered(before, {4, 5, 0, 1, 2, 3});
    for (std::uint32_t i = 1; i < 6; i += 2)
        after.nodes[i].preference = 10 + i;
    CHECK(Matcher(before, after).find().partner == Partners{4, 5, 0, 1, 2, 3});
}

TEST_CASE("a label that equally many nodes have pairs those, whatever is preferred", "[matching]") {
    MatchGraph before = parallel(3);
    before.nodes = {{.label = 1, .preference = 1}, {.label = 2, .preference = 2}, {.preference = 3}};
    MatchGraph after = parallel(3);
    after.nodes = {{.preference = 1}, {.label = 1, .preference = 2}, {.label = 2, .preference = 3}};
    CHECK_FALSE(Matcher(before, after).is_in_order());
    CHECK(Matcher(before, after).find().partner == Partners{1, 2, 0});
}

TEST_CASE("a label of one graph only pairs with nodes that have none", "[matching]") {
    MatchGraph before = parallel(2);
    before.nodes = {{.label = 1}, {}};
    MatchGraph after = parallel(2);
    after.nodes = {{.label = 2}, {}};
    CHECK(Matcher(before, after).find().partner == Partners{1, 0});
    CHECK_FALSE(Matcher(before, after).is_in_order());
    before.nodes.pop_back();
    after.nodes.pop_back();
    CHECK(Matcher(before, after).find().result == Result::other_edges);
}

TEST_CASE("a label that neighbours contradict keeps nodes apart", "[matching]") {
    MatchGraph before = parallel(4);
    before.edges = {{0, 1}, {2, 3}};
    before.nodes[0].label = 1;
    before.nodes[3].label = 2;
    MatchGraph after = before;
    after.nodes[0].label = 3;
    after.nodes[3].label = 0;
    CHECK(Matcher(before, after).find().partner == Partners{2, 3, 0, 1});
    after.nodes[2].label = 3;
    CHECK(Matcher(before, after).find().result != Result::found);
}

TEST_CASE("nodes of which the graphs have different numbers are told", "[matching]") {
    MatchGraph before = parallel(3);
    before.nodes[1].key = 7;
    MatchGraph after = parallel(3);
    after.nodes[2].key = 8;
    after.nodes[1].key = 8;
    const Matching matching = Matcher(before, after).find();
    CHECK(matching.result == Result::other_nodes);
    REQUIRE(matching.unmatched.size() == 3);
    CHECK(matching.unmatched[0].before == Partners{0, 2});
    CHECK(matching.unmatched[0].after == Partners{0});
    CHECK(matching.unmatched[1].before == Partners{1});
    CHECK(matching.unmatched[1].after.empty());
    CHECK(matching.unmatched[2].after == Partners{1, 2});
}

TEST_CASE("nodes that an edge tells apart are told", "[matching]") {
    MatchGraph before = parallel(4);
    before.edges = {{0, 1}, {2, 3}};
    MatchGraph after = parallel(4);
    after.edges = {{0, 1}, {1, 2}};
    const Matching matching = Matcher(before, after).find();
    CHECK(matching.result == Result::other_edges);
    REQUIRE(matching.unmatched.size() == 1);
    CHECK(matching.unmatched[0].before.size() != matching.unmatched[0].after.size());
}

TEST_CASE("where only one graph has an edge, a node at one of its ends is told", "[matching]") {
    const MatchGraph without = parallel(2);
    for (const MatchEdge& edge : {MatchEdge{0, 1}, MatchEdge{1, 0}}) {
        MatchGraph with = without;
        with.edges = {edge};
        const Matching added = Matcher(without, with).find();
        CHECK(added.result == Result::other_edges);
        REQUIRE(added.unmatched.size() == 1);
        CHECK(added.unmatched[0].before.empty());
        REQUIRE(added.unmatched[0].after.size() == 1);
        CHECK(added.unmatched[0].after[0] < 2);
        const Matching removed = Matcher(with, without).find();
        CHECK(removed.result == Result::other_edges);
        REQUIRE(removed.unmatched.size() == 1);
        CHECK(removed.unmatched[0].after.empty());
        CHECK(removed.unmatched[0].before == added.unmatched[0].after);
    }
}

TEST_CASE("graphs of which one has more edges between the same nodes are not paired", "[matching]") {
    MatchGraph before = parallel(6); // three nodes from which edges lead, and three to which they lead
    for (std::uint32_t i = 0; i < 3; ++i)
        before.nodes[i].key = 1;
    MatchGraph after = before;
    before.edges = {{0, 3}, {1, 4}};
    after.edges = {{0, 3}, {1, 4}, {2, 5}};
    const Matching matching = Matcher(before, after).find();
    CHECK(matching.result == Result::other_edges);
    REQUIRE(matching.unmatched.size() == 1);
    CHECK(matching.unmatched[0].before.size() == 2);
    CHECK(matching.unmatched[0].after.size() == 3);
}

TEST_CASE("nodes that are told have the graphs' numbers, in ascending order", "[matching]") {
    Random random(6);
    unsigned told = 0;
    for (int turn = 0; turn < 500; ++turn) {
        CAPTURE(turn);
        const std::uint32_t nodes = 3 + below(10, random);
        const MatchGraph before = random_graph(nodes, random), after = random_graph(nodes, random);
        for (const Matching::Group& group : Matcher(before, after).find().unmatched) {
            ++told;
            CHECK(group.before.size() != group.after.size());
            for (const Partners& list : {group.before, group.after}) {
                CHECK(std::is_sorted(list.begin(), list.end()));
                CHECK((list.empty() || list.back() < nodes));
            }
        }
    }
    CHECK(told > 100);
}

TEST_CASE("the steps of a search count edges as well as nodes", "[matching]") {
    MatchGraph star = parallel(21);
    for (std::uint32_t leaf = 1; leaf <= 20; ++leaf)
        star.edges.push_back({0, leaf});
    const auto refines = [&](std::uint64_t steps) { // of 42 nodes, and 40 edges with two ends each
        return Refinement(star, star, std::vector<std::uint32_t>(42), 1, steps).refine();
    };
    CHECK_FALSE(refines(100));
    CHECK(refines(1000));
}

TEST_CASE("a pair that leads nowhere is taken back", "[matching]") {
    const MatchGraph before = rings({12, 6, 6, 8});
    const MatchGraph after = rings({8, 6, 6, 12}); // neighbours alone cannot tell the rings apart
    const Matching matching = Matcher(before, after).find();
    REQUIRE(matching.result == Result::found);
    CHECK(is_isomorphism(before, after, matching.partner));
}

TEST_CASE("where no pair leads anywhere there is no pairing", "[matching]") {
    const MatchGraph before = rings({6, 6}), after = rings({12});
    CHECK(Matcher(before, after).find().result == Result::other_edges);
}

TEST_CASE("a search that takes too many steps gives up, soon", "[matching][many]") {
    std::vector<std::uint32_t> lengths(20, 8);
    lengths.insert(lengths.end(), {6, 6});
    const MatchGraph before = rings(lengths);
    lengths.resize(20);
    lengths.push_back(12);
    const MatchGraph after = rings(lengths);
    const std::clock_t start = std::clock();
    CHECK(Matcher(before, after).find().result == Result::gave_up);
    CHECK(static_cast<double>(std::clock() - start) < 20.0 * CLOCKS_PER_SEC);
    const MatchGraph other = rings({8, 8, 8});
    CHECK(Matcher(other, other).find(0).result == Result::found);
}

TEST_CASE("graphs without nodes are equal", "[matching]") {
    const MatchGraph none;
    CHECK(Matcher(none, none).is_in_order());
    CHECK(Matcher(none, none).find().result == Result::found);
    CHECK(Matcher(none, parallel(1)).find().result == Result::other_nodes);
}

TEST_CASE("matching takes time in proportion to nodes and edges", "[times]") {
    const std::vector<std::pair<const char*, std::function<MatchGraph(unsigned)>>> shapes{
        {"line", [](unsigned n) { return graph_of(bench::line(n)); }},
        {"parallel", [](unsigned n) { return parallel(n); }},
        {"fan",
         [](unsigned n) {
             return graph_of(bench::layers({1, n, 1}, bench::Between::edges));
         }},
        {"layers", [](unsigned n) { return graph_of(bench::layers(n / 20, 20, bench::Between::edges)); }},
        {"chains", [](unsigned n) { return graph_of(bench::chains(n / 10, 10)); }},
        {"stencil", [](unsigned n) { return graph_of(bench::stencil(n / 50, 50)); }},
        {"tree", [](unsigned n) { return graph_of(bench::reduction_tree(n / 2, 2)); }},
    };
    Random random(5);
    for (const auto& [name, of_size] : shapes) {
        CAPTURE(name);
        // clang++ 14 captures no structured binding
        const auto time_of = [&, &of_size = of_size](unsigned nodes, int times) {
            const MatchGraph before = of_size(nodes);
            const MatchGraph after = shuffled(before, random);
            double shortest = std::numeric_limits<double>::max();
            for (int i = 0; i < times; ++i) {
                const std::clock_t start = std::clock();
                REQUIRE(Matcher(before, after).find().result == Result::found);
                shortest = std::min(shortest, static_cast<double>(std::clock() - start));
            }
            return shortest;
        };
        // Each to each would be a hundred times.
        CHECK(time_of(10'000, 1) < 40 * (time_of(1'000, 3) + CLOCKS_PER_SEC / 5000.0));
    }
}
