// What is known of graph memory, wherever CUDA puts it: side by side, or over memory that is free again.
#include "graph/allocations.hpp"
#include "graph/graph_state.hpp"
#include "order/memory_check.hpp"

#include "catch.hpp"
#include "random.hpp"

#include <cudag/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <optional>
#include <typeinfo>
#include <vector>

using cudag::Node;
using cudag::NodeKind;
using cudag::detail::AllocationIndex;
using cudag::detail::check_graph_memory;
using cudag::detail::CopyParams;
using cudag::detail::GraphAllocation;
using cudag::detail::GraphAllocations;
using cudag::detail::GraphIdentity;
using cudag::detail::GraphState;
using cudag::detail::KernelParams;
using cudag::detail::KernelSignature;
using cudag::detail::NodeParams;
using cudag::detail::Parameter;
using cudag::detail::ParameterType;
using cudag::detail::SetParams;
using cudag::detail::TypeOf;

namespace {

cudaGraph_t new_graph() {
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    return graph;
}

/// A graph whose alloc nodes allocate where they are told to. CUDA has empty nodes in their place.
class Placed {
  public:
    Node alloc(std::uintptr_t address, std::size_t bytes) {
        const Node node = append(NodeKind::alloc);
        graph_.records().allocations().add({address, bytes, GraphIdentity::index_unchecked(node)});
        return node;
    }
    Node free(const Node& alloc) {
        const Node node = append(NodeKind::free);
        graph_.records().allocations().of_node(GraphIdentity::index_unchecked(alloc)).free =
            GraphIdentity::index_unchecked(node);
        return node;
    }
    /// A kernel that is given these pointers, after `nodes`.
    Node kernel(std::initializer_list<std::uintptr_t> pointers, std::initializer_list<Node> nodes = {}) {
        const auto count = static_cast<std::uint32_t>(pointers.size());
        auto* parameters = graph_.records().memory().allocate<Parameter>(count);
        std::byte* values = graph_.records().memory().allocate_bytes(count * sizeof(std::uintptr_t));
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto offset = static_cast<std::uint32_t>(i * sizeof(std::uintptr_t));
            new (parameters + i) Parameter{offset, sizeof(std::uintptr_t), ParameterType::pointer, &TypeOf<int*>::tag};
            std::memcpy(values + offset, pointers.begin() + i, sizeof(std::uintptr_t));
        }
        const auto* signature = graph_.records().memory().store(
            KernelSignature{parameters, count, static_cast<std::uint32_t>(count * sizeof(std::uintptr_t))});
        const auto* params = graph_.records().memory().store(KernelParams{nullptr, nullptr, signature, {}, values});
        const Node node = append(NodeKind::kernel, params);
        order(nodes, node);
        return node;
    }
    /// `height` rows of 4 bytes, a `pitch` apart.
    Node fill(std::uintptr_t address, std::size_t height, std::size_t pitch) {
        const auto* params = graph_.records().memory().store(SetParams{at(address), 2, 2, 0, height, pitch});
        return append(NodeKind::memset, params);
    }
    Node copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) {
        const auto* params =
            graph_.records().memory().store(CopyParams{at(to), at(from), bytes, bytes, 1, cudaMemcpyDeviceToDevice});
        return append(NodeKind::memcpy, params);
    }
    void order(std::initializer_list<Node> before, const Node& after) {
        cudag::detail::add_edges(after, before.begin(), before.size());
    }
    [[nodiscard]] bool is_right() const {
        try {
            check_graph_memory(graph_);
            return true;
        } catch (const cudag::GraphError&) {
            return false;
        }
    }
    [[nodiscard]] GraphState& graph() noexcept { return graph_; }

  private:
    static void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }
    Node append(NodeKind kind, const NodeParams& params = {}) {
        cudaGraphNode_t node = nullptr;
        REQUIRE(cudaGraphAddEmptyNode(&node, graph_.native(), nullptr, 0) == cudaSuccess);
        graph_.reserve_node();
        return graph_.append(node, {kind, params, cudag::detail::Label("node"), {}});
    }

    GraphState graph_{new_graph()};
};

} // namespace

TEST_CASE("an address is a use of the allocation that it lies in, of no other") {
    Placed sample;
    const Node low = sample.alloc(0x1000, 0x1000);
    const Node high = sample.alloc(0x3000, 0x1000);
    const Node use = sample.kernel({0x3fff}, {low});
    sample.kernel({0x2000, 0x2fff, 0x4000, 0xfff}); // beside them
    CHECK_FALSE(sample.is_right());
    sample.order({high}, use);
    CHECK(sample.is_right());
}

TEST_CASE("a fill and a copy use what they write and read, and nothing beside it") {
    Placed sample;
    sample.alloc(0x1000, 0x1000);
    sample.fill(0xf00, 16, 0x10);       // its last row begins at 0xff0
    sample.fill(0xfcc, 2, 0x30);        // its last row ends at 0x1000
    sample.fill(0x2000, 2, 0x10);       // behind
    sample.copy(0xf00, 0x8000, 0x100);  // to what ends there
    sample.copy(0x8000, 0xf00, 0x100);  // from there
    sample.copy(0x2000, 0x2100, 0x100); // behind
    CHECK(sample.is_right());
    const auto is_use = [](const auto& add) {
        Placed own;
        const Node memory = own.alloc(0x1000, 0x1000);
        const Node node = add(own);
        if (own.is_right()) return false;
        own.order({memory}, node);
        return own.is_right();
    };
    CHECK(is_use([](Placed& own) { return own.fill(0xfcd, 2, 0x30); }));  // the last row's last byte
    CHECK(is_use([](Placed& own) { return own.fill(0x1fff, 2, 0x10); })); // the first row's first one
    CHECK(is_use([](Placed& own) { return own.copy(0xf00, 0x8000, 0x101); }));
    CHECK(is_use([](Placed& own) { return own.copy(0x8000, 0xf00, 0x101); }));
    CHECK(is_use([](Placed& own) { return own.copy(0x1fff, 0x8000, 0x100); }));
}

TEST_CASE("where an allocation ends and the next begins, an address belongs to the one that the kernel works on") {
    Placed sample;
    const Node lower = sample.alloc(0x1000, 0x1000);
    const Node upper = sample.alloc(0x2000, 0x1000);
    sample.kernel({0x1000, 0x2000}, {lower}); // begin and end of the lower one
    sample.kernel({0x2000, 0x1800}, {lower}); // from the middle on
    CHECK(sample.is_right());
    const Node use = sample.kernel({0x2000, 0x9000}, {lower}); // begin of the upper one
    CHECK_FALSE(sample.is_right());
    sample.order({upper}, use);
    CHECK(sample.is_right());
    sample.kernel({0x2000, 0xfff});
    CHECK_FALSE(sample.is_right());
}

TEST_CASE("of allocations that end at one address, the largest tells what is its end") {
    for (const bool larger_first : {false, true}) {
        Placed sample;
        const Node first = larger_first ? sample.alloc(0x1000, 0x1000) : sample.alloc(0x1800, 0x800);
        const Node end = sample.free(first);
        const Node second = larger_first ? sample.alloc(0x1800, 0x800) : sample.alloc(0x1000, 0x1000);
        sample.alloc(0x2000, 0x1000);
        sample.order({first}, end);
        sample.order({end}, second);
        const Node larger = larger_first ? first : second;
        const Node use = sample.kernel({0x1000, 0x2000}, {larger});
        if (larger_first) sample.order({use}, end);
        CHECK(sample.is_right());
    }
}

TEST_CASE("memory that is reused at another place is used between its own alloc and free nodes") {
    Placed sample;
    const Node first = sample.alloc(0x1000, 0x1000);
    const Node end = sample.free(first);
    const Node second = sample.alloc(0x1400, 0x100);
    sample.order({first}, end);
    sample.order({end}, second);
    const Node use = sample.kernel({0x1480}, {end});
    CHECK_FALSE(sample.is_right());
    sample.order({second}, use);
    CHECK(sample.is_right());
    sample.kernel({0x1500}, {second}); // of the first one, too late
    CHECK_FALSE(sample.is_right());
}

TEST_CASE("where memory ended that no longer exists, an address is no end") {
    Placed sample;
    const Node lower = sample.alloc(0x1000, 0x1000);
    const Node end = sample.free(lower);
    const Node again = sample.alloc(0x1000, 0x100);
    const Node upper = sample.alloc(0x2000, 0x1000);
    sample.order({lower}, end);
    sample.order({end}, again);
    const Node use = sample.kernel({0x1000, 0x2000}, {again});
    CHECK_FALSE(sample.is_right());
    sample.order({upper}, use);
    CHECK(sample.is_right());
}

TEST_CASE("of allocations that overlap, a use is of whichever it comes after") {
    for (const std::uintptr_t inner : {0x1000U, 0x1400U}) {
        const auto is_right = [&](std::uintptr_t place, bool after_outer, bool after_inner) {
            Placed sample;
            const Node outer = sample.alloc(0x1000, 0x1000);
            const Node second = sample.alloc(inner, 0x100);
            const Node use = sample.kernel({place});
            if (after_outer) sample.order({outer}, use);
            if (after_inner) sample.order({second}, use);
            return sample.is_right();
        };
        CHECK(is_right(inner + 0x80, true, false));
        CHECK(is_right(inner + 0x80, false, true));
        CHECK_FALSE(is_right(inner + 0x80, false, false));
        CHECK(is_right(inner + 0x100, true, false));
        CHECK_FALSE(is_right(inner + 0x100, false, true));
    }
}

TEST_CASE("memory exists on where other memory at its address has ended") {
    for (const std::uintptr_t inner : {0x1000U, 0x1400U}) {
        Placed sample;
        const Node outer = sample.alloc(0x1000, 0x1000);
        const Node second = sample.alloc(inner, 0x100);
        const Node end = sample.free(second);
        sample.order({second}, end);
        sample.kernel({0x1800}, {outer, end});
        sample.kernel({inner + 0x80}, {outer, end});
        CHECK(sample.is_right());
        sample.kernel({inner + 0x80}, {end}); // of the second one, too late
        CHECK_FALSE(sample.is_right());
    }
}

TEST_CASE("graph memory is right if and only if paths lead from allocs through all uses to frees") {
    struct Memory {
        std::uintptr_t address, bytes;
        std::size_t alloc;
        std::optional<std::size_t> free;
    };
    struct Use {
        std::uintptr_t address, bytes;
        std::size_t node;
    };
    Random random(11);
    std::size_t right = 0;
    constexpr std::size_t rounds = 400;
    for (std::size_t round = 0; round < rounds; ++round) {
        Placed sample;
        std::vector<Node> nodes;
        std::vector<Memory> memory;
        std::vector<Use> uses;
        const std::size_t most = 4 + random.below(10);
        while (nodes.size() < most) {
            const std::size_t kind = random.below(4);
            const auto open = std::ranges::find_if(memory, [](const Memory& m) { return !m.free; });
            if (kind == 0 || memory.empty()) {
                const std::uintptr_t address = 0x1000 * (1 + random.below(3)), bytes = 0x1000 * (1 + random.below(2));
                memory.push_back({address, bytes, nodes.size(), std::nullopt});
                nodes.push_back(sample.alloc(address, bytes));
            } else if (kind == 1 && open != memory.end()) {
                open->free = nodes.size();
                nodes.push_back(sample.free(nodes[open->alloc]));
            } else {
                const std::uintptr_t address = 0x1800 + 0x1000 * random.below(4), bytes = 1 + 0x800 * random.below(3);
                uses.push_back({address, bytes, nodes.size()});
                nodes.push_back(sample.copy(address, 0x10000, bytes));
            }
        }
        std::vector<std::vector<bool>> comes_after(most, std::vector<bool>(most)); // [node][other]
        const std::size_t odds = 1 + random.below(4);
        for (std::size_t node = 1; node < most; ++node)
            for (std::size_t other = node; other-- > 0;) {
                if (comes_after[node][other] || (other + 1 != node && random.below(odds) != 0)) continue;
                if (other + 1 == node && random.below(8) == 0) continue;
                sample.order({nodes[other]}, nodes[node]);
                comes_after[node][other] = true;
                for (std::size_t before = 0; before < other; ++before)
                    if (comes_after[other][before]) comes_after[node][before] = true;
            }
        const auto is_of = [&](const Use& use, const Memory& m) {
            return use.address < m.address + m.bytes && m.address < use.address + use.bytes;
        };
        const bool expected =
            std::ranges::all_of(memory, [&](const Memory& m) { return !m.free || comes_after[*m.free][m.alloc]; }) &&
            std::ranges::all_of(uses, [&](const Use& use) {
                const auto is_in_lifetime = [&](const Memory& m) {
                    return is_of(use, m) && comes_after[use.node][m.alloc] &&
                           (!m.free || comes_after[*m.free][use.node]);
                };
                return std::ranges::none_of(memory, [&](const Memory& m) { return is_of(use, m); }) ||
                       std::ranges::any_of(memory, is_in_lifetime);
            });
        CAPTURE(round);
        REQUIRE(sample.is_right() == expected);
        right += expected ? 1 : 0;
    }
    CHECK(right > rounds / 20);
    CHECK(right < rounds - rounds / 20);
}

TEST_CASE("an allocation has all addresses from its first byte to its last") {
    const GraphAllocation memory{0x1000, 0x10};
    CHECK(memory.contains(0x1000));
    CHECK(memory.contains(0x100f));
    CHECK_FALSE(memory.contains(0x1010));
    CHECK_FALSE(memory.contains(0xfff));
    CHECK(memory.overlaps(0x100f, 1));
    CHECK(memory.overlaps(0xff0, 0x11));
    CHECK_FALSE(memory.overlaps(0x1010, 1));
    CHECK_FALSE(memory.overlaps(0xff0, 0x10));
}

TEST_CASE("the last allocation at an address is found, whatever was there before") {
    std::vector<GraphAllocation> all{{0x1000, 0x1000, 0U}, {0x1400, 0x100, 1U}};
    AllocationIndex index;
    using Found = std::optional<std::size_t>;
    CHECK(index.latest(all, 0x13ff) == Found(0));
    CHECK(index.latest(all, 0x1400) == Found(1));
    CHECK(index.latest(all, 0x14ff) == Found(1));
    CHECK(index.latest(all, 0x1500) == Found(0));
    CHECK(index.latest(all, 0x1fff) == Found(0));
    CHECK_FALSE(index.latest(all, 0x2000));
    CHECK_FALSE(index.latest(all, 0xfff));
    all.push_back({0x1200, 0x400, 2U}); // the index catches up
    CHECK(index.latest(all, 0x11ff) == Found(0));
    CHECK(index.latest(all, 0x1200) == Found(2));
    CHECK(index.latest(all, 0x1480) == Found(2));
    CHECK(index.latest(all, 0x15ff) == Found(2));
    CHECK(index.latest(all, 0x1600) == Found(0));
    all.push_back({0x8000, 0x100});
    all.push_back({0x8000, 0x200});
    CHECK(index.foreign(all, 0x8000) == Found(3));
    CHECK_FALSE(index.latest(all, 0x8000));
    all.resize(1);
    index.clear();
    CHECK(index.latest(all, 0x1480) == Found(0));
    CHECK_FALSE(index.foreign(all, 0x8000));
}

TEST_CASE("of nodes that are gone nothing is known, and of the others what they were before") {
    Placed sample;
    const Node elsewhere = sample.alloc(0x9000, 0x1000); // any node
    GraphAllocations all({{0x1000, 0x1000, 0U, 2U},
                          {0x2000, 0x1000, 1U, 3U},
                          {0x5000, 0x1000, std::nullopt, 4U},
                          {0x6000, 0x1000, std::nullopt, 5U, elsewhere},
                          {0x3000, 0x1000, 6U}});
    const auto is_known = [&](std::uintptr_t place) { return all.find(place) != nullptr; };
    CHECK((is_known(0x1000) && is_known(0x2000) && is_known(0x3000)));
    CHECK(all.find_foreign(0x5000) != nullptr);
    all.forget_nodes(6);
    CHECK(all.list().size() == 4);
    CHECK_FALSE(is_known(0x3000));
    all.forget_nodes(5);
    CHECK(all.list().size() == 4); // another graph frees it, too
    CHECK(all.list()[3].free == std::nullopt);
    all.forget_nodes(4);
    CHECK(all.list().size() == 3);
    CHECK(all.find_foreign(0x5000) == nullptr);
    CHECK(all.find_foreign(0x6000) != nullptr);
    all.forget_nodes(3);
    CHECK(all.list()[0].free == 2U);
    CHECK(all.list()[1].free == std::nullopt);
    all.forget_nodes(1);
    CHECK(is_known(0x1000));
    CHECK_FALSE(is_known(0x2000));
    all.add({0x4000, 0x1000, 1U});
    CHECK(all.find(0x4000) == &all.list().back());
}
