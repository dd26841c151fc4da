// Races and inferred edges: rule by rule, and of random programs, beside an oracle of all pairs and all bytes.
#include "accesses/race_search.hpp"

#include "accesses/inference.hpp"

#include "memory_oracle.hpp"

#include "catch.hpp"

#include <algorithm>
#include <bitset>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

using cudag::EdgeKind;
using namespace cudag::detail;

namespace {

constexpr AccessMode reads = AccessMode::read, writes = AccessMode::write;
constexpr AccessMode atomic = AccessMode::atomic, disjoint = AccessMode::disjoint;

constexpr std::size_t all = 1'000'000;

constexpr MemoryBlock x{0x1000, 64};
constexpr MemoryBlock y{0x2000, 64};

using Edges = std::vector<EdgeRecord>;
using Conflicts = std::vector<Conflict>;
using Accesses = std::vector<MemoryAccess>;

std::size_t node_count(const Accesses& accesses) {
    return accesses.back().node + 1;
}

Conflicts races_of(const Accesses& accesses, const Edges& edges) {
    return find_races(accesses, node_count(accesses), edges, all);
}

Edges edges_for(const Accesses& accesses, const Edges& edges = {}) {
    return inferred_order(accesses, node_count(accesses), edges).edges;
}

} // namespace

TEST_CASE("two nodes race if one writes what the other one touches and nothing orders them", "[races]") {
    for (const AccessMode mode : {reads, writes, atomic, disjoint}) {
        const Accesses accesses{{0, writes, x}, {1, mode, x}};
        CHECK(races_of(accesses, {}) == Conflicts{{0, 1}});
        CHECK(races_of(accesses, {{0, 1}}).empty());
    }
}

TEST_CASE("reads, atomics and disjoint accesses do not race among themselves, but with each other", "[races]") {
    for (const AccessMode mode : {reads, atomic, disjoint}) {
        CHECK(races_of({{0, mode, x}, {1, mode, x}}, {}).empty());
        for (const AccessMode other : {reads, atomic, disjoint})
            if (other != mode) CHECK(races_of({{0, mode, x}, {1, other, x}}, {}) == Conflicts{{0, 1}});
    }
}

TEST_CASE("accesses of one node do not race", "[races]") {
    CHECK(races_of({{0, reads, x}, {0, writes, x}, {0, atomic, x}}, {}).empty());
}

TEST_CASE("accesses to different memory do not race", "[races]") {
    CHECK(races_of({{0, writes, x}, {1, writes, y}}, {}).empty());
    CHECK(races_of({{0, writes, {100, 8}}, {1, writes, {108, 8}}}, {}).empty());
    CHECK(races_of({{0, writes, {100, 9}}, {1, writes, {108, 8}}}, {}) == Conflicts{{0, 1}});
}

TEST_CASE("a range that another one contains is part of it", "[races]") {
    CHECK(races_of({{0, writes, {100, 100}}, {1, reads, {150, 1}}}, {}) == Conflicts{{0, 1}});
    CHECK(races_of({{0, writes, {150, 1}}, {1, writes, {100, 100}}, {2, reads, {150, 1}}}, {{0, 1}}) ==
          Conflicts{{1, 2}});
}

TEST_CASE("a path orders, however long, and an edge against the order of the nodes", "[races]") {
    Edges line;
    for (std::uint32_t node = 0; node < 500; ++node)
        line.push_back({node, node + 1});
    CHECK(races_of({{0, writes, x}, {500, writes, x}}, line).empty());
    line.erase(line.begin() + 250);
    CHECK(races_of({{0, writes, x}, {500, writes, x}}, line) == Conflicts{{0, 1}});
    CHECK(races_of({{0, writes, x}, {1, writes, x}}, {{1, 0}}).empty());
    CHECK(races_of({{0, writes, x}, {1, reads, x}, {2, writes, x}}, {{1, 0}, {2, 1}}).empty());
    CHECK(races_of({{0, writes, x}, {1, reads, x}, {2, writes, x}}, {{2, 1}}) == Conflicts{{0, 2}});
}

TEST_CASE("nodes that touch nothing pass order on", "[races]") {
    CHECK(races_of({{0, writes, x}, {1, writes, x}, {4, reads, x}}, {{0, 1}, {1, 3}, {3, 4}}).empty());
    CHECK(races_of({{0, reads, x}, {1, reads, x}, {3, writes, x}}, {{0, 2}, {1, 2}, {2, 3}}).empty());
}

TEST_CASE("programmatic edges order memory, launch completion does not", "[races]") {
    const Accesses accesses{{0, writes, x}, {1, reads, x}};
    CHECK(races_of(accesses, {{0, 1, EdgeKind::programmatic}}).empty());
    CHECK(races_of(accesses, {{0, 1, EdgeKind::launch_completion}}) == Conflicts{{0, 1}});
    Edges line; // too long to look along it node by node
    for (std::uint32_t node = 0; node < 200; ++node)
        line.push_back({node, node + 1, node == 100 ? EdgeKind::launch_completion : EdgeKind::full});
    CHECK(races_of({{0, writes, x}, {200, reads, x}}, line) == Conflicts{{0, 1}});
}

TEST_CASE("a node that writes comes after all that read before it, not only after the writer", "[races]") {
    const Accesses accesses{{0, writes, x}, {1, reads, x}, {2, reads, x}, {3, writes, x}};
    CHECK(races_of(accesses, {{0, 1}, {0, 2}, {1, 3}}) == Conflicts{{2, 3}});
    CHECK(races_of(accesses, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}).empty());
}

TEST_CASE("columns of a matrix do not race; a column and a row do", "[races]") {
    const MemoryBlock left{0x1000, 32, 1000, 64}, right{0x1020, 32, 1000, 64}, row{0x1000 + 64 * 7, 64};
    CHECK(races_of({{0, writes, left}, {1, writes, right}}, {}).empty());
    CHECK(races_of({{0, writes, left}, {1, writes, right}, {2, writes, row}}, {}) == Conflicts{{0, 2}, {1, 2}});
    const MemoryBlock between{0x1020 + 64 * 7, 32};
    CHECK(races_of({{0, writes, left}, {1, writes, between}}, {}).empty());
}

TEST_CASE("rows that begin in one row of a matrix and end in the next one are where they are", "[races]") {
    const MemoryBlock matrix{0x1000, 64 * 100}, around{0x1000 + 64 + 48, 32, 90, 64}; // from byte 48 to byte 16
    const auto byte = [](std::size_t row, std::size_t column) { return MemoryBlock{0x1000 + 64 * row + column, 1}; };
    struct Place {
        std::size_t row, column;
        bool is_there;
    };
    for (const auto& [row, column, is_there] :
         {Place{1, 47, false}, Place{1, 48, true}, Place{1, 0, false}, Place{1, 15, false}, Place{2, 0, true},
          Place{2, 15, true}, Place{2, 16, false}, Place{2, 47, false}, Place{90, 48, true}, Place{91, 15, true},
          Place{91, 16, false}, Place{91, 48, false}}) {
        CAPTURE(row, column);
        const Accesses accesses{{0, reads, matrix}, {1, reads, around}, {2, writes, byte(row, column)}};
        CHECK(races_of(accesses, {{0, 2}}).size() == (is_there ? 1 : 0));
    }
}

TEST_CASE("layers that a node ends are in order, except where an edge of that node is missing", "[races]") {
    constexpr std::uint32_t width = 20, layers = 4;
    constexpr MemoryBlock whole[] = {{0x1000, 8 * width}, {0x2000, 8 * width}};
    for (const bool in_parts : {false, true}) {
        Accesses accesses;
        Edges edges;
        for (std::uint32_t layer = 0; layer < layers; ++layer)
            for (std::uint32_t i = 0; i < width; ++i) {
                const std::uint32_t node = layer * (width + 1) + i, end = layer * (width + 1) + width;
                const MemoryBlock& out = whole[layer % 2];
                accesses.push_back({node, reads, whole[(layer + 1) % 2]});
                if (in_parts)
                    accesses.push_back({node, writes, {out.begin + std::uintptr_t{8} * i, 8}});
                else
                    accesses.push_back({node, disjoint, out});
                if (layer > 0) edges.push_back({layer * (width + 1) - 1, node});
                if (layer + 1 < layers) edges.push_back({node, end});
            }
        CHECK(races_of(accesses, edges).empty());
        for (std::size_t missing = 0; missing < edges.size(); ++missing) {
            Edges fewer = edges;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(missing));
            CAPTURE(in_parts, edges[missing].from, edges[missing].to);
            CHECK_FALSE(races_of(accesses, fewer).empty());
        }
    }
}

TEST_CASE("the earliest races are told, by the later node and then by the earlier one", "[races]") {
    const Accesses accesses{{0, reads, x}, {1, writes, y}, {2, reads, x}, {3, reads, y}, {4, writes, x}, {5, reads, y}};
    const Conflicts every{{1, 3}, {0, 4}, {2, 4}, {1, 5}};
    for (std::size_t most = 0; most < 6; ++most)
        CHECK(find_races(accesses, 6, {}, most) ==
              Conflicts(every.begin(), every.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(most, 4))));
}

TEST_CASE("two nodes race once, whatever they have in common", "[races]") {
    const Accesses accesses{{0, writes, x}, {0, writes, y}, {1, reads, x}, {1, writes, y}};
    CHECK(races_of(accesses, {}) == Conflicts{{0, 2}});
}

TEST_CASE("what reads comes after the last writer", "[inference]") {
    CHECK(edges_for({{0, writes, x}, {1, writes, x}, {2, reads, x}, {3, reads, x}}) == Edges{{0, 1}, {1, 2}, {1, 3}});
}

TEST_CASE("what writes comes after all that read since the last writer, or after the last writer", "[inference]") {
    CHECK(edges_for({{0, writes, x}, {1, reads, x}, {2, reads, x}, {3, writes, x}, {4, writes, x}}) ==
          Edges{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}});
}

TEST_CASE("atomics come after what was there before them, and before what comes after them", "[inference]") {
    for (const AccessMode mode : {atomic, disjoint})
        CHECK(edges_for({{0, writes, x}, {1, mode, x}, {2, mode, x}, {3, reads, x}}) ==
              Edges{{0, 1}, {0, 2}, {1, 3}, {2, 3}});
}

TEST_CASE("nodes with nothing in common get no edges", "[inference]") {
    CHECK(edges_for({{0, writes, x}, {1, writes, y}, {2, reads, {0x1000 + 64, 64}}}).empty());
    CHECK(inferred_order({}, 3, {}).edges.empty());
    CHECK(inferred_order({}, 0, {}).edges.empty());
}

TEST_CASE("parts of a range come from their own writers", "[inference]") {
    const Accesses accesses{{0, writes, {0, 8}}, {1, writes, {8, 8}}, {2, writes, {16, 8}},
                            {3, reads, {0, 16}}, {4, reads, {12, 8}}, {5, writes, {0, 24}}};
    CHECK(edges_for(accesses) == Edges{{0, 3}, {1, 3}, {1, 4}, {2, 4}, {2, 5}, {3, 5}, {4, 5}});
}

TEST_CASE("no edge is inferred beside one that is there, of whatever kind", "[inference]") {
    const Accesses accesses{{0, writes, x}, {1, reads, x}, {2, writes, x}};
    for (const EdgeKind kind : {EdgeKind::full, EdgeKind::programmatic, EdgeKind::launch_completion})
        CHECK(edges_for(accesses, {{1, 2}, {0, 1, kind}}).empty());
    CHECK(edges_for(accesses, {{0, 2}}) == Edges{{0, 1}, {1, 2}});
}

TEST_CASE("writes of one unit need no order among each other, but with all others", "[inference]") {
    const Accesses accesses{{0, writes, x}, {1, writes, x, 7}, {2, writes, x, 7}, {3, reads, x}, {4, writes, x, 8}};
    CHECK(edges_for(accesses) == Edges{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}});
    CHECK(races_of(accesses, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}}).empty());
    CHECK(races_of(accesses, {{0, 1}, {0, 2}, {2, 3}, {3, 4}}) == Conflicts{{1, 3}});
    CHECK(races_of({{0, writes, x, 7}, {1, writes, x, 8}}, {}) == Conflicts{{0, 1}});
}

TEST_CASE("what a region declares races with other nodes, not with those of the region", "[races]") {
    const MemoryAccess own{0, writes, x, 0, 7}, declared{1, writes, x, 7}, reading{1, reads, x, 7};
    CHECK(races_of({own, declared}, {}).empty());
    CHECK(races_of({own, reading}, {}).empty());
    CHECK(races_of({own, {1, writes, x, 0, 7}}, {}) == Conflicts{{0, 1}});
    for (const MemoryAccess& other : {MemoryAccess{1, writes, x, 8}, MemoryAccess{1, writes, x, 0, 8},
                                      MemoryAccess{1, writes, x}, MemoryAccess{1, reads, x, 8}})
        CHECK(races_of({{0, writes, x, 7}, other}, {}) == Conflicts{{0, 1}});
    CHECK(races_of({{0, writes, x, 7}, {1, writes, x, 0, 7}, {2, reads, x}}, {{1, 2}}) == Conflicts{{0, 2}});
    CHECK(races_of({{0, writes, x, 7}, {1, writes, x, 0, 7}, {2, reads, x}}, {{0, 2}}) == Conflicts{{1, 2}});
}

TEST_CASE("nodes of a region that declares nothing race as all others do", "[races]") {
    const Accesses beside{{0, writes, x}, {1, writes, x}, {2, writes, x}};
    Accesses inside = beside;
    inside[1].part_of = 7;
    CHECK(races_of(beside, {}) == Conflicts{{0, 1}, {1, 2}});
    CHECK(races_of(inside, {}) == races_of(beside, {}));
}

TEST_CASE("what races with nodes between two others is told, not the race of those others", "[races]") {
    const Accesses accesses{{0, writes, x}, {1, writes, x, 0, 7}, {2, writes, x, 8}, {3, writes, x}};
    CHECK(races_of(accesses, {}) == Conflicts{{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}});
}

TEST_CASE("accesses of regions race whatever the numbers of the regions are", "[races]") {
    CHECK(races_of({{0, writes, x, 1}, {1, writes, x, 0, 1025}}, {}) == Conflicts{{0, 1}});
    CHECK(races_of({{0, writes, x, 0, 1}, {1, writes, x, 1025}}, {}) == Conflicts{{0, 1}});
}

TEST_CASE("what each node of a region reads and writes is written only where it is written", "[races]") {
    constexpr MemoryBlock front{0x1000, 10}, middle{0x1005, 15}, end{0x100f, 5};
    Accesses accesses;
    for (std::uint32_t node = 0; node < 2; ++node)
        for (const MemoryAccess& access : {MemoryAccess{node, writes, end, 7}, MemoryAccess{node, reads, front, 7},
                                           MemoryAccess{node, reads, middle, 7}})
            accesses.push_back(access);
    CHECK(races_of(accesses, {}).empty());
    accesses.push_back({2, reads, {0x1000, 15}});
    CHECK(races_of(accesses, {}).empty());
    accesses.back().block = {0x1000, 16};
    CHECK(races_of(accesses, {}) == Conflicts{{0, 6}, {3, 6}});
}

namespace {

using Pairs = std::set<std::pair<std::uint32_t, std::uint32_t>>; ///< of nodes

struct RandomProgram {
    std::uint32_t nodes;
    Accesses accesses;
    Edges edges;
    std::vector<std::uint32_t> order; ///< that the edges keep
    std::vector<Bytes> bytes;         ///< of the accesses

    enum class Written { in_order, in_any_order, in_regions };

    RandomProgram(unsigned long seed, Written written) {
        Random random(2 * seed + (written == Written::in_order ? 0 : 1));
        const bool in_regions = written == Written::in_regions;
        if (in_regions) written = Written::in_any_order;
        const std::uint32_t layers = random.below(8) == 0 ? 2 + random.below(2) : 0;
        const std::uint32_t width = 8 + random.below(2);
        nodes = layers > 0 ? layers * (width + 1) : 2 + random.below(16);
        order.resize(nodes);
        std::iota(order.begin(), order.end(), 0U);
        if (written == Written::in_any_order)
            for (std::size_t left = nodes; left > 1; --left)
                std::swap(order[left - 1], order[random.below(left)]);
        if (layers > 0)
            add_layers(random, layers, width);
        else
            add_accesses(random);
        Pairs known;
        const auto add = [&](std::uint32_t a, std::uint32_t b) {
            if (a != b && known.emplace(std::min(a, b), std::max(a, b)).second)
                edges.push_back({order[std::min(a, b)], order[std::max(a, b)]});
        };
        std::uint32_t missing = random.below(2) == 0 ? random.below(2 * nodes) : 2 * nodes;
        for (std::uint32_t layer = 0; layer < layers; ++layer)
            for (std::uint32_t i = 0; i < width; ++i) {
                const std::uint32_t first = layer * (width + 1);
                if (missing-- != 0) add(first + i, first + width);
                if (layer > 0 && missing-- != 0) add(first - 1, first + i);
            }
        const std::uint32_t most = layers > 0 ? 3 : random.below(2) == 0 ? nodes : 4 * nodes;
        for (std::uint32_t i = random.below(most); i > 0; --i) {
            add(random.below(nodes), random.below(nodes));
            if (edges.empty()) continue;
            if (random.below(10) == 0) edges.back().kind = EdgeKind::programmatic;
            if (written == Written::in_any_order && random.below(10) == 0)
                edges.back().kind = EdgeKind::launch_completion;
        }
        if (in_regions) add_regions(random);
    }

    /// Whether two accesses must be ordered.
    [[nodiscard]] bool conflict(std::size_t a, std::size_t b) const {
        const MemoryAccess &one = accesses[a], &other = accesses[b];
        const bool is_inside = (one.unit != 0 && (one.unit == other.unit || one.unit == other.part_of)) ||
                               (other.unit != 0 && other.unit == one.part_of);
        return one.node != other.node && !is_inside && !commute(one.mode, other.mode) && (bytes[a] & bytes[b]).any();
    }

  private:
    /// Makes nodes in a row a region, some of which do what the region declares, besides what they do themselves.
    void add_regions(Random& random) {
        RandomMemory memory(random);
        for (std::uint32_t first = 0, count = 0; first < nodes; first += count) {
            count = std::min<std::uint32_t>(1 + random.below(6), nodes - first);
            if (random.below(3) == 0) continue;
            const std::uint32_t unit = 100 + first;
            for (MemoryAccess& access : accesses)
                if (access.node - first < count) access.part_of = unit;
            Accesses declared;
            for (std::uint32_t i = random.below(4); i > 0; --i)
                declared.push_back({0, random.below(2) == 0 ? reads : writes, memory.region(), unit});
            std::ranges::stable_sort(declared, {}, [](const MemoryAccess& access) { return access.mode == reads; });
            for (std::uint32_t node = first; node < first + count; ++node) {
                if (random.below(2) == 0) continue;
                for (MemoryAccess& access : declared)
                    access.node = node;
                const auto after = std::ranges::upper_bound(accesses, node, {}, &MemoryAccess::node);
                accesses.insert(after, declared.begin(), declared.end());
            }
        }
        bytes.clear();
        for (const MemoryAccess& access : accesses)
            bytes.push_back(bytes_of(access.block));
    }

    /// All read what the layer before wrote, and some a part of it, or write into their part.
    void add_layers(Random& random, std::uint32_t layers, std::uint32_t width) {
        constexpr AccessMode modes[] = {writes, writes, atomic, disjoint};
        std::vector<Accesses> of_node(nodes);
        for (std::uint32_t layer = 0; layer < layers; ++layer)
            for (std::uint32_t i = 0; i < width; ++i) {
                const std::uint32_t node = order[layer * (width + 1) + i];
                const std::uintptr_t in = (layer + 1) % 2 * 128, out = layer % 2 * 128;
                const AccessMode mode = modes[random.below(4)];
                const bool is_part = mode == writes || random.below(2) == 0;
                of_node[node] = {{node, reads, {in, 8 * width}},
                                 {node, mode, is_part ? MemoryBlock{out + 8 * i, 8} : MemoryBlock{out, 8 * width}}};
                if (random.below(16) == 0) of_node[node].push_back({node, reads, {in + 8 * i, 8}});
                if (random.below(16) == 0) of_node[node].push_back({node, atomic, {in, 8 * width}});
            }
        for (const Accesses& some : of_node)
            for (const MemoryAccess& access : some) {
                accesses.push_back(access);
                bytes.push_back(bytes_of(access.block));
            }
    }

    void add_accesses(Random& random) {
        RandomMemory memory(random);
        std::vector<MemoryBlock> buffers;
        for (std::uint32_t i = 1 + random.below(6); i > 0; --i)
            buffers.push_back(memory.region());
        constexpr AccessMode modes[] = {reads, reads, reads, writes, writes, atomic, disjoint};
        const std::size_t usual = 3 + random.below(5);
        for (std::uint32_t node = 0; node < nodes; ++node)
            for (std::uint32_t i = random.below(4); i > 0; --i) {
                const bool is_buffer = random.below(3) != 0;
                const MemoryBlock region = is_buffer ? buffers[random.below(buffers.size())] : memory.region();
                accesses.push_back({node, modes[random.below(usual)], region});
                bytes.push_back(bytes_of(region));
            }
    }
};

/// For each node, a bit for each that a path leads from along edges that order memory.
std::vector<std::uint32_t> order_by_paths(std::uint32_t nodes, const Edges& edges) {
    std::vector<std::uint32_t> before(nodes);
    for (bool changed = true; changed;) {
        changed = false;
        for (const EdgeRecord& edge : edges) {
            if (edge.kind == EdgeKind::launch_completion) continue;
            const std::uint32_t every = before[edge.to] | before[edge.from] | std::uint32_t{1} << edge.from;
            changed = changed || every != before[edge.to];
            before[edge.to] = every;
        }
    }
    return before;
}

/// All pairs of nodes that must be ordered, the lower number first.
Pairs conflicting_nodes(const RandomProgram& program) {
    Pairs pairs;
    for (std::size_t b = 0; b < program.accesses.size(); ++b)
        for (std::size_t a = 0; a < b; ++a)
            if (program.conflict(a, b)) pairs.emplace(program.accesses[a].node, program.accesses[b].node);
    return pairs;
}

Pairs unordered(const Pairs& pairs, const std::vector<std::uint32_t>& before) {
    Pairs left = pairs;
    std::erase_if(left, [&](const auto& pair) {
        return (before[pair.second] >> pair.first & 1) != 0 || (before[pair.first] >> pair.second & 1) != 0;
    });
    return left;
}

Pairs ends_of(const RandomProgram& program, const Conflicts& conflicts) {
    Pairs pairs;
    for (const Conflict& conflict : conflicts)
        pairs.emplace(program.accesses[conflict.first].node, program.accesses[conflict.second].node);
    return pairs;
}

/// Byte by byte: from all of one run of accesses that commute to all of the next.
Pairs needed_by_rule(const RandomProgram& program) {
    Pairs pairs;
    for (std::size_t byte = 0; byte < Bytes().size(); ++byte) {
        std::vector<std::size_t> before, latest;
        for (std::size_t i = 0; i < program.accesses.size(); ++i) {
            if (!program.bytes[i][byte]) continue;
            const bool is_next =
                !latest.empty() && !commute(program.accesses[latest.back()].mode, program.accesses[i].mode);
            if (is_next) before = std::exchange(latest, {});
            latest.push_back(i);
            for (const std::size_t other : before)
                if (program.conflict(other, i)) pairs.emplace(program.accesses[other].node, program.accesses[i].node);
        }
    }
    return pairs;
}

std::string problem_of_races(const RandomProgram& program) {
    const std::vector<std::uint32_t> before = order_by_paths(program.nodes, program.edges);
    const Pairs expected = unordered(conflicting_nodes(program), before);
    const Conflicts races = find_races(program.accesses, program.nodes, program.edges, all);
    if (races.empty() != expected.empty()) return expected.empty() ? "a false alarm" : "no race is found";
    std::pair<std::uint32_t, std::uint32_t> last{0, 0};
    for (const auto& [first, second] : races) {
        const std::uint32_t a = program.accesses[first].node, b = program.accesses[second].node;
        if (!program.conflict(first, second)) return "the accesses of a race do not conflict";
        if (!expected.contains({a, b})) return "the nodes of a race are ordered, or in the wrong order";
        if (std::pair(b, a) <= last) return "races are not in order";
        last = {b, a};
    }
    for (std::size_t most = 0; most < std::min<std::size_t>(races.size(), 3); ++most)
        if (find_races(program.accesses, program.nodes, program.edges, most) !=
            Conflicts(races.begin(), races.begin() + static_cast<std::ptrdiff_t>(most)))
            return "fewer races are not the first ones";
    return "";
}

std::string problem_of_order(const RandomProgram& program) {
    std::vector<std::uint32_t> place(program.nodes);
    for (std::uint32_t i = 0; i < program.nodes; ++i)
        place[program.order[i]] = i;
    Edges edges;
    for (const auto& [first, second] : needed_order(program.accesses, place)) {
        if (!program.conflict(first, second)) return "what must be ordered does not conflict";
        const std::uint32_t a = program.accesses[first].node, b = program.accesses[second].node;
        if (place[a] >= place[b]) return "the first one does not come first";
        if (!edges.empty() && place[edges.back().to] > place[b]) return "not by the second node in the order";
        if (std::ranges::find(edges, EdgeRecord{a, b}) != edges.end()) return "two nodes are there twice";
        edges.push_back({a, b});
    }
    const Pairs left = unordered(conflicting_nodes(program), order_by_paths(program.nodes, edges));
    return left.empty() ? "" : "paths of what must be ordered do not order all";
}

struct Planted {
    std::size_t edges = 0;
    std::size_t defects = 0;
};

std::string problem_of_inference(const RandomProgram& program, Planted& planted) {
    const Edges inferred = inferred_order(program.accesses, program.nodes, program.edges).edges;
    Pairs expected = needed_by_rule(program);
    for (const EdgeRecord& edge : program.edges)
        expected.erase({edge.from, edge.to});
    Edges by_rule;
    for (const auto& [from, to] : expected)
        by_rule.push_back({from, to});
    std::ranges::sort(by_rule, edge_precedes);
    if (inferred != by_rule) return "other edges than the rule says";

    Edges edges = program.edges;
    edges.insert(edges.end(), inferred.begin(), inferred.end());
    if (!unordered(conflicting_nodes(program), order_by_paths(program.nodes, edges)).empty())
        return "the edges do not order all that conflicts";
    if (!find_races(program.accesses, program.nodes, edges, all).empty()) return "a false alarm beside inferred edges";

    planted.edges += inferred.size();
    for (const EdgeRecord& edge : inferred) {
        Edges fewer = edges;
        std::erase(fewer, edge);
        const bool implied = (order_by_paths(program.nodes, fewer)[edge.to] >> edge.from & 1) != 0;
        const Pairs races = ends_of(program, find_races(program.accesses, program.nodes, fewer, all));
        if (implied && !races.empty()) return "a race without an edge that others imply";
        if (!implied && !races.contains({edge.from, edge.to})) return "no race where an edge is missing";
        planted.defects += implied ? 0 : 1;
    }
    return "";
}

} // namespace

TEST_CASE("random programs: races are found if and only if two accesses that conflict are not ordered", "[races]") {
    const unsigned long seeds = program_count();
    std::size_t racing = 0;
    for (unsigned long seed = 0; seed < seeds; ++seed) {
        const RandomProgram program(seed, RandomProgram::Written::in_any_order);
        racing += find_races(program.accesses, program.nodes, program.edges, 1).size();
        if (const std::string problem = problem_of_races(program); !problem.empty())
            FAIL_CHECK("seed " << seed << ": " << problem);
        if (const std::string problem = problem_of_order(program); !problem.empty())
            FAIL_CHECK("seed " << seed << ": " << problem);
    }
    CHECK(racing > seeds / 10);
    CHECK(racing < seeds - seeds / 10);
}

TEST_CASE("random programs with regions: races are found if and only if two accesses conflict", "[races]") {
    const unsigned long seeds = program_count();
    std::size_t racing = 0, with_units = 0;
    for (unsigned long seed = 0; seed < seeds; ++seed) {
        const RandomProgram program(seed, RandomProgram::Written::in_regions);
        with_units += AccessList(program.accesses).has_units() ? 1 : 0;
        racing += find_races(program.accesses, program.nodes, program.edges, 1).size();
        if (const std::string problem = problem_of_races(program); !problem.empty())
            FAIL_CHECK("seed " << seed << ": " << problem);
    }
    CHECK(with_units > seeds / 4);
    CHECK(racing > seeds / 10);
    CHECK(racing < seeds - seeds / 20);
}

TEST_CASE("random programs: inferred edges are those of the rule, and without one there is a race", "[inference]") {
    const unsigned long seeds = program_count();
    Planted planted;
    for (unsigned long seed = 0; seed < seeds; ++seed)
        if (const std::string problem =
                problem_of_inference(RandomProgram(seed, RandomProgram::Written::in_order), planted);
            !problem.empty())
            FAIL_CHECK("seed " << seed << ": " << problem);
    WARN(seeds << " programs, " << planted.edges << " inferred edges, " << planted.defects << " found to be missing");
    CHECK(planted.defects > seeds);
}

TEST_CASE("a node that keeps its place comes after all before it, and before all after it", "[inference]") {
    const Accesses accesses{{0, writes, x}, {1, reads, x}, {2, writes, y}, {4, writes, x}, {5, writes, y}};
    const auto edges_around = [&](std::uint32_t node, std::size_t nodes, const Edges& written) {
        InferenceRules rules{std::vector<bool>(nodes)};
        rules.keeps_place[node] = true;
        return inferred_order(accesses, nodes, written, rules).edges;
    };
    CHECK(edges_around(3, 6, {}) == Edges{{0, 1}, {1, 3}, {2, 3}, {3, 4}, {3, 5}});
    CHECK(edges_around(3, 6, {{2, 3}, {3, 5}}) == Edges{{0, 1}, {1, 3}, {3, 4}});
    CHECK(edges_around(0, 6, {}) == Edges{{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 5}});
    CHECK(edges_around(5, 6, {}) == Edges{{0, 1}, {1, 4}, {2, 5}, {3, 5}, {4, 5}});
}

TEST_CASE("nodes that are left out get no edges to what keeps its place", "[inference]") {
    const Accesses accesses{{0, writes, x}, {2, reads, x}};
    InferenceRules rules{{false, false, false, true, false, false}};
    rules.left_out = {false, true, false, false, true, false};
    CHECK(inferred_order(accesses, 6, {}, rules).edges == Edges{{0, 2}, {2, 3}, {3, 5}});
}

TEST_CASE("what follows only a kept place or what stands after it needs no edge from it", "[inference]") {
    const auto edges_of = [](const Accesses& accesses, std::size_t nodes, const Edges& written, std::uint32_t kept) {
        InferenceRules rules{std::vector<bool>(nodes)};
        rules.keeps_place[kept] = true;
        return inferred_order(accesses, nodes, written, rules).edges;
    };
    // what an edge that was written leads from is followed, unless the edge is not full
    CHECK(edges_of({}, 3, {{0, 1}}, 2) == Edges{{1, 2}});
    CHECK(edges_of({}, 3, {{0, 1, EdgeKind::programmatic}}, 2) == Edges{{0, 2}, {1, 2}});
    CHECK(edges_of({}, 3, {{1, 2}}, 0) == Edges{{0, 1}});
    CHECK(edges_of({}, 3, {{1, 2, EdgeKind::programmatic}}, 0) == Edges{{0, 1}, {0, 2}});
    CHECK(edges_of({{1, writes, x}, {2, reads, x}}, 3, {}, 0) == Edges{{0, 1}, {1, 2}});
}

namespace {

/// `before` nodes from `first` on read x, each twice, and so many after these use it by atomics.
Accesses readers_and_atomics(std::uint32_t first, std::uint32_t before, std::uint32_t after) {
    Accesses accesses;
    for (std::uint32_t node = first; node < first + before; ++node)
        accesses.insert(accesses.end(), {{node, reads, x}, {node, reads, x}});
    for (std::uint32_t node = first + before; node < first + before + after; ++node)
        accesses.push_back({node, atomic, x});
    return accesses;
}

} // namespace

TEST_CASE("a join stands where as many nodes as are asked for are on either side", "[inference]") {
    InferenceRules rules;
    rules.joins_from = 3;
    const auto join_count = [&](std::uint32_t before, std::uint32_t after) {
        return inferred_order(readers_and_atomics(0, before, after), before + after, {}, rules).joins.size();
    };
    CHECK(join_count(3, 3) == 1);
    CHECK(join_count(3, 2) == 0);
    CHECK(join_count(1, 3) == 0);
    CHECK(inferred_order(readers_and_atomics(0, 3, 3), 6, {}, rules).edges ==
          Edges{{6, 3}, {6, 4}, {6, 5}, {0, 6}, {1, 6}, {2, 6}}); // each once
    rules.joins_from = 1;
    CHECK(inferred_order(Accesses{{0, writes, x}, {1, reads, x}}, 2, {}, rules).joins == std::vector<std::uint32_t>{1});
}

TEST_CASE("a join counts only nodes that it may lead to: up to the next kept place", "[inference]") {
    InferenceRules rules;
    rules.joins_from = 3;
    rules.keeps_place = {false, true, false, false, false, false, false, false, true};
    const InferredOrder behind = inferred_order(readers_and_atomics(2, 3, 3), 9, {}, rules);
    CHECK(behind.joins == std::vector<std::uint32_t>{5}); // after the first kept place
    CHECK(
        behind.edges ==
        Edges{{0, 1}, {1, 2}, {1, 3}, {1, 4}, {9, 5}, {9, 6}, {9, 7}, {5, 8}, {6, 8}, {7, 8}, {2, 9}, {3, 9}, {4, 9}});

    rules.keeps_place = {false, false, false, false, false, true, false, false, false}; // after two of the atomics
    Accesses accesses = readers_and_atomics(0, 3, 2);
    for (std::uint32_t node = 6; node < 9; ++node)
        accesses.push_back({node, atomic, x});
    CHECK(inferred_order(accesses, 9, {}, rules).joins.empty());
}

TEST_CASE("one node that comes after a list many times needs no join", "[inference]") {
    Accesses accesses;
    for (std::uint32_t i = 0; i < 4; ++i)
        accesses.push_back({i, writes, {0x1000 + std::uintptr_t{8} * i, 8}});
    for (int i = 0; i < 4; ++i)
        accesses.push_back({4, reads, {0x1000, 32}});
    InferenceRules rules;
    rules.joins_from = 3;
    CHECK(inferred_order(accesses, 5, {}, rules).joins.empty());
}

TEST_CASE("a join stands between many nodes and many that come after them", "[inference]") {
    constexpr std::uint32_t n = 40;
    Accesses accesses;
    for (std::uint32_t i = 0; i < n; ++i)
        accesses.push_back({i, reads, {0x1000, 8 * n}});
    for (std::uint32_t i = 0; i < n; ++i)
        accesses.push_back({n + i, writes, {0x1000 + std::uintptr_t{8} * i, 8}});
    const auto order_with = [&](std::uint32_t joins_from, std::vector<bool> has_early = {}) {
        return inferred_order(accesses, std::size_t{2} * n, {}, {{}, std::move(has_early), {}, joins_from});
    };
    CHECK(order_with(n + 1).edges.size() == std::size_t{n} * n);
    CHECK(order_with(n + 1).joins.empty());
    const InferredOrder order = order_with(n);
    CHECK(order.edges.size() == 2 * n);
    CHECK(order.joins == std::vector<std::uint32_t>{n});
    std::vector<bool> has_early(2 * n); // where an edge that is not full leads to a node, a join would order too much
    has_early[n + 5] = true;
    CHECK(order_with(8, has_early).edges.size() == n + (n - 1) + n);
}

namespace {

/// For each node and join, those that a path leads from.
std::vector<std::bitset<128>> reach_of(std::size_t count, const Edges& edges) {
    std::vector<std::bitset<128>> before(count);
    for (bool changed = true; changed;) {
        changed = false;
        for (const EdgeRecord& edge : edges) {
            std::bitset<128> every = before[edge.to] | before[edge.from];
            every.set(edge.from);
            changed = changed || every != before[edge.to];
            before[edge.to] = every;
        }
    }
    return before;
}

/// What a program with nodes that keep their places, and with joins, has in common with all that it needs, pair by
/// pair.
std::string problem_of_rules(const RandomProgram& program, Random& random, std::size_t& joins) {
    InferenceRules rules;
    rules.joins_from = 2 + static_cast<std::uint32_t>(random.below(3));
    if (random.below(2) == 0) {
        rules.keeps_place.resize(program.nodes);
        for (std::uint32_t i = 1 + random.below(3); i > 0; --i)
            rules.keeps_place[random.below(program.nodes)] = true;
    }
    rules.has_early.resize(program.nodes);
    Edges needed = program.edges;
    for (const EdgeRecord& edge : program.edges)
        if (edge.kind != EdgeKind::full) rules.has_early[edge.to] = true;
    for (const auto& [from, to] : conflicting_nodes(program))
        needed.push_back({from, to});
    for (std::uint32_t node = 0; node < rules.keeps_place.size(); ++node)
        for (std::uint32_t other = 0; rules.keeps_place[node] && other < program.nodes; ++other)
            if (other != node) needed.push_back({std::min(node, other), std::max(node, other)});

    const InferredOrder order = inferred_order(program.accesses, program.nodes, program.edges, rules);
    joins += order.joins.size();
    Edges edges = program.edges;
    edges.insert(edges.end(), order.edges.begin(), order.edges.end());
    const auto expected = reach_of(program.nodes, needed);
    const auto found = reach_of(program.nodes + order.joins.size(), edges);
    const std::bitset<128> of_nodes = ~std::bitset<128>() >> (128 - program.nodes);
    for (std::uint32_t node = 0; node < program.nodes; ++node)
        if ((found[node] & of_nodes) != expected[node]) return "another order than is needed";
    for (const EdgeRecord& edge : order.edges)
        if (find_ends(program.edges, edge) != nullptr) return "an edge beside a written one";
    return "";
}

} // namespace

TEST_CASE("random programs: joins and kept places give exactly the order that is needed", "[inference]") {
    const unsigned long seeds = program_count();
    std::size_t joins = 0;
    for (unsigned long seed = 0; seed < seeds; ++seed) {
        RandomProgram program(seed, RandomProgram::Written::in_order);
        std::ranges::sort(program.edges, edge_precedes);
        Random random(seed);
        if (const std::string problem = problem_of_rules(program, random, joins); !problem.empty())
            FAIL_CHECK("seed " << seed << ": " << problem);
    }
    CHECK(joins > seeds / 10);
}
