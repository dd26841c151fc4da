// Numbers that handles keep while nodes go, and the indices of what is left.
#include "graph/removed_nodes.hpp"
#include "lists/renumbering.hpp"

#include "catch.hpp"
#include "empty_graph.hpp"
#include "random.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using cudag::detail::GraphState;
using cudag::detail::Place;
using cudag::detail::RemovedNode;
using cudag::detail::RemovedNodes;
using cudag::detail::Renumbering;
using Numbers = std::vector<std::uint32_t>;

namespace {

/// A graph of so many empty nodes.
std::shared_ptr<GraphState> graph_of(int count) {
    const auto graph = empty_graph();
    for (int i = 0; i < count; ++i)
        add_node(*graph);
    return graph;
}

} // namespace

TEST_CASE("those that stay close up, and keep their order") {
    const Numbers gone{4, 1, 1};
    const Renumbering next(6, gone);
    CHECK(next.kept() == 4);
    CHECK(!next.keeps(1));
    CHECK(!next.keeps(4));
    CHECK(Numbers{next(0), next(2), next(3), next(5)} == Numbers{0, 1, 2, 3});
    std::vector<std::string> list{"a", "b", "c", "d", "e", "f"};
    next.close_up(list);
    CHECK(list == std::vector<std::string>{"a", "c", "d", "f"});
    std::vector<std::size_t> kept;
    for (std::size_t count = 0; count <= 6; ++count)
        kept.push_back(next.kept_of(count));
    CHECK(kept == std::vector<std::size_t>{0, 1, 1, 2, 3, 3, 4});
}

TEST_CASE("nothing is left where all go, and nothing moves where none does") {
    const Numbers all{0, 1, 2};
    std::vector<int> list{1, 2, 3};
    Renumbering(3, {}).close_up(list);
    CHECK(list == std::vector{1, 2, 3});
    CHECK(Renumbering(3, all).kept() == 0);
    Renumbering(3, all).close_up(list);
    CHECK(list.empty());
}

TEST_CASE("changes of graphs inside a node are forgotten with it, and the others keep their places") {
    const auto outer = graph_of(4);
    for (const std::uint32_t node : {1U, 3U}) {
        auto inner = graph_of(1);
        inner->changes().reserve(1);
        inner->changes().count(inner->records().updated(0), {});
        outer->reserve_nested(*inner);
        const cudaGraph_t native = inner->native();
        outer->attach(std::move(inner), node, Place::child);
        REQUIRE(cudaGraphDestroy(native) == cudaSuccess); // of a child, it would be the node's
    }
    CHECK(outer->changes().size() == 2);
    outer->remove(Numbers{0, 1}, {});
    CHECK(outer->changes().size() == 1);
    REQUIRE(outer->nested().size() == 1);
    CHECK(outer->nested()[0]->tree().parent_node() == 1);
    CHECK(outer->nested()[0]->tree().position() == 0);
    CHECK(outer->nested_in(1).size() == 1);
    outer->remove(Numbers{1}, {});
    CHECK(outer->changes().size() == 0);
    CHECK(outer->records().nodes().size() == 1);
}

TEST_CASE("a handle's number and its index find each other, whatever has gone and come") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        RemovedNodes removed;
        Numbers present; // the numbers of what is there, by index
        Numbers gone;
        std::uint32_t next = 0;
        for (int round = 0; round < 20; ++round) {
            for (std::uint64_t more = random.below(6); more != 0; --more) {
                CHECK(removed.number_of(static_cast<std::uint32_t>(present.size())) == next);
                present.push_back(next++);
            }
            std::vector<RemovedNode> now;
            for (const std::uint32_t number : present)
                if (random.below(4) == 0) now.push_back({number, "kernel", {}, {}, {}});
            for (const RemovedNode& node : now) {
                gone.push_back(node.number);
                std::erase(present, node.number);
            }
            removed.reserve(now.size());
            removed.add(std::move(now));
            for (std::uint32_t index = 0; index < present.size(); ++index) {
                CHECK(removed.find(present[index]) == nullptr);
                CHECK(removed.index_of(present[index]) == index);
                CHECK(removed.number_of(index) == present[index]);
            }
            CHECK(std::ranges::all_of(gone, [&](std::uint32_t number) {
                const RemovedNode* node = removed.find(number);
                return node != nullptr && node->number == number;
            }));
        }
    }
}
