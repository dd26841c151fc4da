// What is kept of changes of nodes, for execs that catch up.
#include "graph/changes.hpp"

#include "catch.hpp"
#include "empty_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using cudag::detail::ChangeLog;
using cudag::detail::UpdatedNode;

namespace {

void change(ChangeLog& log, UpdatedNode& node) {
    log.reserve(1);
    log.count(node, {});
}

std::vector<std::uint32_t> since(const ChangeLog& log, std::uint64_t version) {
    std::vector<std::uint32_t> nodes;
    log.for_each_since(version, [&](const UpdatedNode& node) { nodes.push_back(node.index); });
    return nodes;
}

using Indices = std::vector<std::uint32_t>;

} // namespace

TEST_CASE("the last change of each node is known, in order", "[graph][changes]") {
    ChangeLog log;
    UpdatedNode nodes[]{{nullptr, 0, {}}, {nullptr, 1, {}}, {nullptr, 2, {}}};
    for (const int i : {2, 0, 1, 0})
        change(log, nodes[i]);
    CHECK(log.version() == 4);
    CHECK(since(log, 0) == Indices{2, 1, 0});
    CHECK(since(log, 1) == Indices{1, 0});
    CHECK(since(log, 4).empty());
}

TEST_CASE("changes of few nodes take little memory, however many there are", "[graph][changes]") {
    const auto first = empty_graph(), second = empty_graph();
    ChangeLog log;
    UpdatedNode kept{first.get(), 0, {}}, gone{second.get(), 1, {}};
    change(log, kept);
    change(log, gone);
    log.forget([&](const auto& graph) { return &graph == second.get(); });
    CHECK(since(log, 0) == Indices{0});
    std::size_t most = 0;
    for (int i = 0; i < 1000; ++i) {
        change(log, kept);
        most = std::max(most, log.size());
    }
    CHECK(most < 66); // 64, and two for each node
    CHECK(since(log, 0) == Indices{0});
    CHECK(log.version() == 1002);
}

TEST_CASE("changes of a graph that is put inside another count once for each node", "[graph][changes]") {
    ChangeLog outer, inner;
    UpdatedNode own{nullptr, 0, {}}, nodes[]{{nullptr, 1, {}}, {nullptr, 2, {}}};
    change(outer, own);
    for (const int i : {0, 1, 0, 1, 0})
        change(inner, nodes[i]);
    outer.reserve(inner.size());
    outer.take(inner);
    CHECK(inner.size() == 0);
    CHECK(since(outer, 0) == Indices{0, 2, 1});
    std::size_t most = 0;
    for (int i = 0; i < 1000; ++i) {
        change(outer, nodes[i % 2]);
        most = std::max(most, outer.size());
    }
    CHECK(most < 70);
}

TEST_CASE("the changes of many nodes are not gone through at each change", "[graph][changes]") {
    ChangeLog log;
    std::vector<UpdatedNode> nodes;
    for (std::uint32_t i = 0; i < 100; ++i)
        nodes.push_back({nullptr, i, {}});
    for (int times = 0; times < 2; ++times)
        for (UpdatedNode& node : nodes)
            change(log, node);
    CHECK(log.size() == 200);
    CHECK(since(log, 0).size() == 100);
}
