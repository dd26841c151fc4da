// Edges as a value: merged, and searched for cycles and contradictions.
#include "edges/edges.hpp"

#include "catch.hpp"

#include <algorithm>
#include <vector>

using cudag::EdgeKind;
using cudag::detail::EdgeRecord;
using cudag::detail::Edges;
using List = std::vector<EdgeRecord>;
using Nodes = std::vector<std::uint32_t>;

TEST_CASE("merging keeps the first of repeated edges, and the order of the others") {
    Edges edges(List{{1, 2}, {0, 2}, {1, 2}, {0, 1}, {0, 2}});
    edges.merge(3);
    CHECK(edges.list() == List{{1, 2}, {0, 2}, {0, 1}});
}

TEST_CASE("merging finds repeated edges wherever they stand") {
    Edges apart(List{{0, 3}, {1, 2}, {0, 3}});
    apart.merge(4);
    CHECK(apart.list() == List{{0, 3}, {1, 2}});
    Edges sorted(List{{0, 1}, {0, 2}, {0, 2}, {1, 2}});
    sorted.merge(3);
    CHECK(sorted.list() == List{{0, 1}, {0, 2}, {1, 2}});
}

TEST_CASE("two edges of different kinds between the same nodes contradict each other") {
    const Edges edges(List{{0, 1}, {0, 2}, {0, 1, EdgeKind::programmatic}});
    CHECK(edges.find_contradiction(3) == List{{0, 1}, {0, 1, EdgeKind::programmatic}});
}

TEST_CASE("edges of one kind are no contradiction, however often they are there") {
    CHECK(Edges(List{{0, 1}, {0, 1}}).find_contradiction(2).empty());
    CHECK(Edges(List{{0, 1, EdgeKind::programmatic}, {0, 1, EdgeKind::programmatic}, {0, 2}})
              .find_contradiction(3)
              .empty());
}

TEST_CASE("a cycle is found as its nodes in order") {
    const Nodes cycle = Edges(List{{3, 0}, {0, 1}, {1, 2}, {2, 0}}).find_cycle(4);
    REQUIRE(cycle.size() == 3);
    for (std::size_t i = 0; i < cycle.size(); ++i)
        CHECK(cycle[(i + 1) % 3] == (cycle[i] + 1) % 3);
    CHECK(Edges(List{{0, 1}, {1, 1}}).find_cycle(2) == Nodes{1});
}

TEST_CASE("edges that lead back to earlier nodes are no cycle by themselves") {
    CHECK(Edges(List{{2, 1}, {1, 0}, {3, 0}, {2, 0}}).find_cycle(4).empty());
    CHECK(Edges().find_cycle(0).empty());
}

TEST_CASE("whether an edge may be early is known from the first one that is") {
    CHECK_FALSE(Edges(List{{0, 1}}).has_early());
    CHECK(Edges(List{{0, 1}, {1, 2, EdgeKind::launch_completion}}).has_early());
    Edges edges;
    edges.add({0, 1});
    CHECK_FALSE(edges.has_early());
    edges.add({1, 2, EdgeKind::programmatic});
    CHECK(edges.has_early());
}

TEST_CASE("edges only extend settled ones if they lead forward to nodes that no settled one leads to, each once") {
    Edges edges(List{{0, 1}, {1, 2}});
    CHECK(edges.only_extend());
    edges.settle();
    CHECK(edges.only_extend());
    const auto with = [&](const List& more) {
        Edges longer = edges;
        for (const EdgeRecord& edge : more)
            longer.add(edge);
        return longer.only_extend();
    };
    CHECK(with({{0, 3}, {2, 3}}));
    CHECK_FALSE(with({{0, 2}}));
    CHECK_FALSE(with({{4, 3}}));
    CHECK_FALSE(with({{0, 3}, {2, 3}, {0, 3}}));
}

TEST_CASE("after backward edges were settled, nothing only extends them") {
    Edges edges(List{{2, 1}});
    CHECK_FALSE(edges.only_extend());
    edges.settle();
    edges.add({2, 3});
    CHECK_FALSE(edges.only_extend());
}

TEST_CASE("after repeated edges were merged, one more repetition does not only extend the others") {
    Edges edges(List{{0, 1}, {1, 2}});
    edges.settle();
    edges.add({0, 1});
    edges.merge(3);
    CHECK(edges.only_extend());
    edges.add({0, 1});
    CHECK_FALSE(edges.only_extend());
}

TEST_CASE("an edge that is known to be right settles with the ones before it, if those were settled") {
    Edges edges(List{{0, 1}});
    edges.settle();
    edges.add_settled(1, 2);
    edges.add({0, 2});
    CHECK_FALSE(edges.only_extend()); // which it would, had {1, 2} not been settled
    Edges open(List{{0, 1}});
    open.add_settled(1, 2);
    open.add({0, 2});
    CHECK(open.only_extend());
}

TEST_CASE("after edges were forgotten, new ones to the same nodes only extend the others") {
    Edges edges(List{{0, 1}, {1, 3}});
    edges.settle();
    edges.forget_nodes(2);
    edges.settle();
    edges.add({1, 2});
    edges.add({2, 3});
    CHECK(edges.only_extend());
}

TEST_CASE("after edges were removed, a repetition does not only extend the others") {
    Edges edges(List{{0, 1}, {1, 2}});
    edges.settle();
    edges.remove(List{{1, 2}});
    CHECK(edges.list() == List{{0, 1}});
    edges.add({0, 1});
    CHECK_FALSE(edges.only_extend());
}

TEST_CASE("after backward edges were forgotten, forward ones only extend the others") {
    Edges edges(List{{0, 1}, {3, 2}});
    edges.settle();
    edges.forget_nodes(2);
    edges.add({1, 2});
    CHECK(edges.only_extend());
    edges.settle();
    edges.add({1, 3});
    CHECK(edges.only_extend());
}

TEST_CASE("the edges of forgotten nodes go, at whichever end these stand") {
    Edges edges(List{{0, 1}, {1, 3}, {3, 2}, {0, 2}});
    edges.settle();
    edges.forget_nodes(3);
    CHECK(edges.list() == List{{0, 1}, {0, 2}});
    edges.take_back(1);
    CHECK(edges.list() == List{{0, 1}});
}
