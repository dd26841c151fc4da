// Nodes of graphs that were made without cudag, and the edges to them, read one node after the other.
#include "read/edge_reader.hpp"

#include "catch.hpp"
#include "empty_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

using cudag::detail::EdgeReader;
using cudag::detail::EdgeRecord;
using cudag::detail::GraphState;

namespace {

using Nodes = std::vector<cudaGraphNode_t>;

/// A graph that knows `count` nodes, and to which others are added through CUDA's handle.
struct Grown {
    explicit Grown(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i)
            add_node(*graph);
    }
    [[nodiscard]] cudaGraphNode_t known(std::uint32_t index) const { return graph->records().natives()[index]; }
    [[nodiscard]] cudaGraphNode_t add(const Nodes& after) const {
        cudaGraphNode_t node = nullptr;
        REQUIRE(cudaGraphAddEmptyNode(&node, graph->native(), after.data(), after.size()) == cudaSuccess);
        return node;
    }
    [[nodiscard]] Nodes line_to(cudaGraphNode_t last, std::size_t count) const {
        return EdgeReader::line_to(*graph, last, count);
    }

    std::shared_ptr<GraphState> graph = empty_graph();
};

} // namespace

TEST_CASE("new nodes of which each depends on the one before are a line", "[core][read]") {
    const Grown grown(2);
    for (const Nodes& before : {Nodes{}, Nodes{grown.known(1)}, Nodes{grown.known(0), grown.known(1)}}) {
        CAPTURE(before.size());
        const cudaGraphNode_t first = grown.add(before);
        const cudaGraphNode_t second = grown.add({first});
        const cudaGraphNode_t third = grown.add({second});
        CHECK(grown.line_to(first, 1) == Nodes{first});
        CHECK(grown.line_to(third, 3) == Nodes{first, second, third});
    }
}

TEST_CASE("new nodes are no line if one depends on more, or the first one on what the graph does not know",
          "[core][read]") {
    const Grown grown(1);
    const cudaGraphNode_t unknown = grown.add({});
    const cudaGraphNode_t first = grown.add({unknown});
    const cudaGraphNode_t second = grown.add({first});
    CHECK(grown.line_to(second, 2).empty());
    CHECK(grown.line_to(first, 1).empty());
    CHECK(grown.line_to(grown.add({unknown, grown.known(0)}), 1).empty());
    const cudaGraphNode_t start = grown.add({grown.known(0)});
    const cudaGraphNode_t meeting = grown.add({start, grown.known(0)});
    CHECK(grown.line_to(meeting, 2).empty());
    CHECK(grown.line_to(grown.add({meeting}), 3).empty());
    const cudaGraphNode_t short_line = grown.add({grown.known(0)});
    CHECK(grown.line_to(short_line, 2).empty()); // the other one would be a node that is known
    CHECK(grown.line_to(short_line, 1) == Nodes{short_line});
}

TEST_CASE("edges to new nodes are read however many a node has, and none from what is unknown", "[core][read]") {
    const Grown grown(20);
    const cudaGraphNode_t unknown = grown.add({});
    Nodes all = grown.graph->records().natives();
    Nodes fresh{grown.add(all)};
    all.push_back(unknown);
    fresh.push_back(grown.add(all));
    fresh.push_back(grown.add({fresh[0]}));
    fresh.push_back(grown.add({fresh[2], fresh[0], grown.known(3)}));
    std::vector<EdgeRecord> expected;
    for (const std::uint32_t to : {20U, 21U})
        for (std::uint32_t from = 0; from < 20; ++from)
            expected.push_back({from, to});
    expected.insert(expected.end(), {{20, 22}, {3, 23}, {20, 23}, {22, 23}});
    std::vector<EdgeRecord> edges = EdgeReader(*grown.graph, fresh).edges(20);
    std::ranges::sort(
        edges, [](const EdgeRecord& a, const EdgeRecord& b) { return a.to != b.to ? a.to < b.to : a.from < b.from; });
    CHECK(edges == expected);
}
