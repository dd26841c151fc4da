// Folding of repeated parts of a graph.
#include "pictures/folding.hpp"

#include "catch.hpp"

#include <cstdint>
#include <string>
#include <vector>

using cudag::EdgeKind;
using cudag::detail::Block;
using cudag::detail::EdgeRecord;
using cudag::detail::folded;
using cudag::detail::FoldedGraph;
using cudag::detail::RepeatedBlock;

namespace {

/// A part as text: a node by its look, "[...]" for a row, "(...)" for parts side by side, "*n" after equal ones.
std::string text_of(const FoldedGraph& graph, const RepeatedBlock& part, const std::vector<std::uint32_t>& looks) {
    const Block& block = graph.blocks[part.block];
    std::string text;
    if (block.form == Block::Form::node) {
        text = std::to_string(looks[block.node]);
    } else {
        for (const RepeatedBlock& each : block.parts)
            text += (text.empty() ? "" : " ") + text_of(graph, each, looks);
        text = block.form == Block::Form::row ? "[" + text + "]" : "(" + text + ")";
    }
    if (part.times != 1) text += "*" + std::to_string(part.times);
    return part.between == EdgeKind::full ? text : text + ",early";
}

std::string fold(const std::vector<std::uint32_t>& looks, const std::vector<EdgeRecord>& edges) {
    const FoldedGraph graph = folded(looks, edges);
    std::string text;
    for (const std::uint32_t top : graph.tops)
        text += (text.empty() ? "" : " ") + text_of(graph, {top, 1}, looks);
    return text;
}

std::vector<EdgeRecord> chain(std::uint32_t nodes) {
    std::vector<EdgeRecord> edges;
    for (std::uint32_t i = 1; i < nodes; ++i)
        edges.push_back({i - 1, i});
    return edges;
}

} // namespace

TEST_CASE("a graph without nodes folds to nothing", "[folding]") {
    CHECK(fold({}, {}).empty());
}

TEST_CASE("equal neighbours in a chain fold to one, different ones stay", "[folding]") {
    CHECK(fold({7, 7, 7, 7}, chain(4)) == "[7*4]");
    CHECK(fold({1, 2, 2, 3}, chain(4)) == "[1 2*2 3]");
    CHECK(fold({1, 2, 3}, chain(3)) == "[1 2 3]");
}

TEST_CASE("groups of neighbours fold, the longest stretch first", "[folding]") {
    CHECK(fold({1, 2, 1, 2, 1, 2}, chain(6)) == "[[1 2]*3]");
    CHECK(fold({9, 1, 1, 2, 1, 1, 2, 8}, chain(8)) == "[9 [1*2 2]*2 8]");
    CHECK(fold({1, 2, 1, 2, 1}, chain(5)) == "[[1 2]*2 1]");
}

TEST_CASE("a group of 64 neighbours folds, one of 65 does not", "[folding]") {
    for (const std::uint32_t length : {64U, 65U}) {
        std::vector<std::uint32_t> looks;
        for (std::uint32_t i = 0; i < 2 * length; ++i)
            looks.push_back(i % length);
        CHECK((fold(looks, chain(2 * length)).find("*2") != std::string::npos) == (length == 64));
    }
}

TEST_CASE("nodes with the same predecessors and successors fold by their looks", "[folding]") {
    CHECK(fold({1, 5, 6, 5, 2}, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}}) == "[1 (5*2 6) 2]");
    CHECK(fold({5, 5, 5}, {}) == "(5*3)");
}

TEST_CASE("layers of forks fold to one layer", "[folding]") {
    std::vector<std::uint32_t> looks;
    std::vector<EdgeRecord> edges;
    for (std::uint32_t layer = 0; layer < 32; ++layer) {
        const std::uint32_t first = layer * 4;
        looks.insert(looks.end(), {1, 2, 3, 4});
        if (layer != 0) edges.push_back({first - 1, first});
        edges.insert(edges.end(),
                     {{first, first + 1}, {first, first + 2}, {first + 1, first + 3}, {first + 2, first + 3}});
    }
    CHECK(fold(looks, edges) == "[[1 (2 3) 4]*32]");
}

TEST_CASE("each layer joined to the next folds to one node", "[folding]") {
    std::vector<EdgeRecord> edges;
    for (std::uint32_t from = 0; from < 30; ++from)
        for (std::uint32_t to = 0; to < 30; ++to)
            if (to / 10 == from / 10 + 1) edges.push_back({from, to});
    CHECK(fold(std::vector<std::uint32_t>(30, 1), edges) == "[(1*10)*3]");
}

TEST_CASE("chains side by side fold to one chain", "[folding]") {
    std::vector<EdgeRecord> edges;
    for (std::uint32_t i = 0; i < 24; ++i)
        if (i % 3 != 2) edges.push_back({i, i + 1});
    std::vector<std::uint32_t> looks;
    for (std::uint32_t i = 0; i < 24; ++i)
        looks.push_back(i % 3);
    CHECK(fold(looks, edges) == "([0 1 2]*8)");
}

TEST_CASE("edges of different kinds keep neighbours and branches apart", "[folding]") {
    const EdgeKind early = EdgeKind::programmatic;
    CHECK(fold({1, 1, 1}, {{0, 1, early}, {1, 2}}) == "[1 1*2]");
    CHECK(fold({1, 1, 1}, {{0, 1, early}, {1, 2, early}}) == "[1*3,early]");
    CHECK(fold({1, 2, 1, 2}, {{0, 1, early}, {1, 2}, {2, 3, early}}) == "[[1 2]*2]");
    CHECK(fold({1, 2, 1, 2}, {{0, 1, early}, {1, 2}, {2, 3}}) == "[1 2 1 2]");
    CHECK(fold({1, 5, 5}, {{0, 1, early}, {0, 2}}).find('*') == std::string::npos);
}

TEST_CASE("edges that no fold covers stay, between the remaining parts", "[folding]") {
    // 0 -> 2, 0 -> 3, 1 -> 3: no chain, and no two nodes have the same neighbours
    const FoldedGraph graph = folded({1, 1, 1, 1}, {{0, 2}, {0, 3}, {1, 3}});
    CHECK(graph.tops == std::vector<std::uint32_t>{0, 1, 2, 3});
    CHECK(graph.edges == std::vector<EdgeRecord>{{0, 2}, {0, 3}, {1, 3}});
}

TEST_CASE("every node is in one part of a folded graph, as often as it repeats", "[folding]") {
    std::vector<std::uint32_t> looks;
    std::vector<EdgeRecord> edges;
    for (std::uint32_t i = 0; i < 300; ++i) {
        looks.push_back(i % 3);
        for (const std::uint32_t step : {1U, 7U, 31U})
            if (i % (step + 2) == 0 && i + step < 300) edges.push_back({i, i + step});
    }
    const FoldedGraph graph = folded(looks, edges);
    const auto count = [&](const auto& self, const RepeatedBlock& part) -> std::size_t {
        const Block& block = graph.blocks[part.block];
        if (block.form == Block::Form::node) return part.times;
        std::size_t nodes = 0;
        for (const RepeatedBlock& each : block.parts)
            nodes += self(self, each);
        return nodes * part.times;
    };
    std::size_t nodes = 0;
    for (const std::uint32_t top : graph.tops)
        nodes += count(count, {top, 1});
    CHECK(nodes == 300);
}
