// Relaxed edges: rule by rule, and of random programs, beside an oracle of all pairs and all bytes.
#include "accesses/relaxation.hpp"

#include "accesses/inference.hpp"
#include "accesses/race_search.hpp"

#include "memory_oracle.hpp"
#include "plan_oracle.hpp"

#include "catch.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

using cudag::EdgeKind;
using namespace cudag::detail;

namespace {

constexpr AccessMode reads = AccessMode::read, writes = AccessMode::write;
constexpr MemoryBlock x{0x1000, 64}, y{0x2000, 64}, z{0x3000, 64};

using Edges = std::vector<EdgeRecord>;
using Accesses = std::vector<MemoryAccess>;

Edges line(std::uint32_t nodes) {
    Edges edges;
    for (std::uint32_t node = 1; node < nodes; ++node)
        edges.push_back({node - 1, node});
    return edges;
}

Edges relaxed_line(std::uint32_t nodes, const Accesses& accesses, const std::vector<std::uint32_t>& staying = {}) {
    std::vector<bool> stays(nodes);
    for (const std::uint32_t node : staying)
        stays[node] = true;
    return relaxed_edges(accesses, nodes, line(nodes), stays);
}

} // namespace

TEST_CASE("of a line only the order of accesses that conflict is left", "[relaxation]") {
    CHECK(relaxed_line(4, {{0, writes, x}, {1, writes, y}, {2, reads, x}, {3, reads, y}}) == Edges{{0, 2}, {1, 3}});
    CHECK(relaxed_line(3, {{0, writes, x}, {1, writes, y}, {2, writes, z}}).empty());
    CHECK(relaxed_line(3, {{0, writes, x}, {1, reads, x}, {2, reads, x}}) == Edges{{0, 1}, {0, 2}});
}

TEST_CASE("an edge that others imply does not come in the place of the line", "[relaxation]") {
    CHECK(relaxed_line(3, {{0, writes, x}, {1, writes, x}, {1, writes, y}, {2, reads, y}, {2, reads, x}}) == line(3));
    CHECK(relaxed_line(3, {{0, writes, x}, {0, writes, y}, {1, writes, x}, {2, reads, y}, {2, reads, x}}) == line(3));
}

TEST_CASE("a node that stays comes after all before it, and before all after it", "[relaxation]") {
    CHECK(relaxed_line(5, {}, {2}) == Edges{{0, 2}, {1, 2}, {2, 3}, {2, 4}});
    CHECK(relaxed_line(4, {}, {0, 1, 2, 3}) == line(4));
    CHECK(relaxed_line(6, {}, {1, 4}) == Edges{{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 5}});
    CHECK(relaxed_line(3, {{0, writes, x}, {2, writes, x}}, {1}) == line(3));
}

TEST_CASE("nodes that nothing orders are not ordered for one that stays", "[relaxation]") {
    const Edges fork{{0, 1}, {1, 2}, {0, 3}, {3, 4}}; // 1 to 2 beside 3 to 4
    CHECK(relaxed_edges({}, 5, fork, {false, true, false, false, false}) == Edges{{0, 1}, {1, 2}});
    CHECK(relaxed_edges({}, 5, fork, {false, true, false, true, false}) == Edges{{0, 1}, {1, 2}, {0, 3}, {3, 4}});
}

TEST_CASE("a node of a region keeps its order with those for which the region declares the same memory",
          "[relaxation]") {
    const std::vector<RegionPart> parts{{1, true}, {1, false}, {1, false}};
    const auto relaxed = [&](const MemoryBlock& own) {
        AccessList accesses;
        accesses.add({0, writes, x, 1, 0});
        accesses.add({1, writes, own, 0, 1});
        accesses.add({2, writes, z, 0, 1});
        return relaxed_edges(accesses, 3, line(3), std::vector<bool>(3), parts);
    };
    CHECK(relaxed(x) == Edges{{0, 1}});
    CHECK(relaxed(y).empty());
}

TEST_CASE("a region's node keeps its order with each access that the region declares", "[relaxation]") {
    for (const AccessMode declared : {reads, AccessMode::atomic}) {
        AccessList accesses;
        accesses.add({0, AccessMode::atomic, x, 1, 0});
        accesses.add({0, reads, x, 1, 0});
        accesses.add({1, declared, x, 0, 1}); // which conflicts with the other one
        CHECK(relaxed_edges(accesses, 2, line(2), std::vector<bool>(2), {{1, true}, {1, false}}) == line(2));
    }
}

TEST_CASE("nodes that a region declares keep their order, also if it declares all of them", "[relaxation]") {
    CHECK(relaxed_edges({}, 3, line(3), std::vector<bool>(3), {{1, true}, {1, true}, {1, true}}) == line(3));
    CHECK(relaxed_edges({}, 3, line(3), std::vector<bool>(3), {{1, true}, {1, false}, {1, true}}) == Edges{{0, 2}});
    CHECK(relaxed_edges({}, 3, line(3), std::vector<bool>(3), {{1, false}, {1, false}, {1, false}}).empty());
}

TEST_CASE("no full edge comes beside several that are not full to one node", "[relaxation]") {
    const Edges edges{{0, 3, EdgeKind::programmatic}, {1, 3, EdgeKind::programmatic}, {2, 3, EdgeKind::programmatic}};
    const Accesses accesses{{0, reads, x}, {1, reads, x}, {2, reads, x}, {3, writes, x}};
    CHECK(relaxed_edges(accesses, 4, edges, std::vector<bool>(4)) == edges);
}

TEST_CASE("edges that are not full stay, and their nodes with them", "[relaxation]") {
    Edges edges = line(4);
    edges[1].kind = EdgeKind::programmatic;
    CHECK(relaxed_edges({}, 4, edges, std::vector<bool>(4)) == edges);
    const Accesses accesses{{1, writes, x}, {2, reads, x}, {3, writes, y}};
    CHECK(relaxed_edges(accesses, 4, edges, std::vector<bool>(4)) == edges);
}

TEST_CASE("the edges of a graph need not lead forward", "[relaxation]") {
    const Edges backward{{3, 2}, {2, 1}, {1, 0}};
    CHECK(relaxed_edges(Accesses{{0, reads, x}, {2, writes, y}, {3, writes, x}}, 4, backward, std::vector<bool>(4)) ==
          Edges{{3, 0}});
}

TEST_CASE("the longest path is counted in nodes", "[relaxation]") {
    CHECK(longest_path(0, {}) == 0);
    CHECK(longest_path(3, {}) == 1);
    CHECK(longest_path(4, line(4)) == 4);
    CHECK(longest_path(4, {{0, 1}, {2, 3}, {3, 1}}) == 3);
}

namespace {

bool is_early(const EdgeRecord& edge) {
    return edge.kind != EdgeKind::full;
}

/// A program without races: a line, or some edges and those that it needs besides.
struct RaceFree {
    std::uint32_t nodes;
    Accesses accesses;
    Edges edges;
    std::vector<bool> stays;

    explicit RaceFree(std::uint64_t seed) {
        Random random(seed);
        RandomMemory memory(random);
        nodes = 1 + random.below(14);
        stays.resize(nodes);
        constexpr AccessMode modes[] = {reads, reads, writes, AccessMode::atomic, AccessMode::disjoint};
        std::vector<MemoryBlock> buffers;
        for (std::uint32_t i = 1 + random.below(6); i > 0; --i)
            buffers.push_back(memory.region());
        const std::uint32_t rarity = 2 + random.below(12);
        for (std::uint32_t node = 0; node < nodes; ++node) {
            stays[node] = random.below(rarity) == 0;
            for (std::uint32_t i = random.below(3); i > 0; --i)
                accesses.push_back({node, modes[random.below(5)], buffers[random.below(buffers.size())]});
        }
        if (random.below(2) == 0) {
            edges = line(nodes);
        } else {
            for (std::uint32_t to = 1; to < nodes; ++to)
                for (std::uint32_t from = 0; from < to; ++from)
                    if (random.below(4) == 0) edges.push_back({from, to});
        }
        const bool has_early = random.below(3) == 0;
        for (EdgeRecord& edge : edges)
            if (has_early && random.below(6) == 0) edge.kind = EdgeKind::programmatic;
        for (const EdgeRecord& edge : inferred_order(accesses, nodes, edges).edges)
            edges.push_back(edge);
    }

    [[nodiscard]] bool conflict(std::uint32_t a, std::uint32_t b) const {
        for (const MemoryAccess& first : accesses)
            for (const MemoryAccess& second : accesses)
                if (first.node == a && second.node == b && !commute(first.mode, second.mode) &&
                    (bytes_of(first.block) & bytes_of(second.block)).any())
                    return true;
        return false;
    }

    [[nodiscard]] std::vector<bool> staying() const {
        std::vector<bool> all = stays;
        for (const EdgeRecord& edge : edges)
            if (edge.kind != EdgeKind::full) all[edge.from] = all[edge.to] = true;
        return all;
    }

    /// The fewest edges whose full paths order what must stay ordered, of what was.
    [[nodiscard]] Edges expected() const {
        const std::vector<bool> staying = this->staying();
        Edges needed, early;
        std::ranges::copy_if(edges, std::back_inserter(early), is_early);
        const std::vector<std::uint64_t> before = nodes_before(nodes, edges);
        for (std::uint32_t to = 0; to < nodes; ++to)
            for (std::uint32_t from = 0; from < nodes; ++from)
                if ((before[to] >> from & 1) != 0 && (staying[from] || staying[to] || conflict(from, to)))
                    needed.push_back({from, to});
        const std::vector<std::uint64_t> kept = nodes_before(nodes, needed);
        Edges fewest = early;
        for (std::uint32_t to = 0; to < nodes; ++to)
            for (std::uint32_t from = 0; from < nodes; ++from) {
                bool is_implied = (kept[to] >> from & 1) == 0;
                for (std::uint32_t between = 0; between < nodes; ++between)
                    is_implied = is_implied || ((kept[to] >> between & 1) != 0 && (kept[between] >> from & 1) != 0);
                if (!is_implied) fewest.push_back({from, to});
            }
        std::ranges::sort(fewest, edge_precedes);
        return fewest;
    }
};

std::string problem_of(const RaceFree& program, const Edges& relaxed) {
    if (!find_races(program.accesses, program.nodes, relaxed, 1).empty()) return "a race that was not there";
    const Edges expected = program.expected();
    if (std::ranges::none_of(program.edges, is_early))
        return relaxed == expected ? "" : "other edges than the oracle's";
    // What a path of all kinds of edges orders needs no full one: there are others that are the fewest.
    const std::vector<std::uint64_t> before = nodes_before(program.nodes, program.edges);
    const std::vector<std::uint64_t> after = nodes_before(program.nodes, relaxed);
    const std::vector<bool> staying = program.staying();
    for (const EdgeRecord& edge : relaxed) {
        if (is_early(edge)) continue;
        const bool was_ordered = (before[edge.to] >> edge.from & 1) != 0;
        const bool is_needed = staying[edge.from] || staying[edge.to] || program.conflict(edge.from, edge.to);
        if (!was_ordered || !is_needed) return "an edge that is not needed";
    }
    for (std::uint32_t to = 0; to < program.nodes; ++to)
        for (std::uint32_t from = 0; from < program.nodes; ++from)
            if ((staying[from] || staying[to]) && ((before[to] ^ after[to]) >> from & 1) != 0)
                return "a node that stays is ordered in another way";
    return "";
}

} // namespace

TEST_CASE("random programs: relaxed edges are the fewest that keep what must be kept", "[relaxation]") {
    std::size_t fewer = 0;
    const unsigned long seeds = program_count();
    for (unsigned long seed = 0; seed < seeds; ++seed) {
        const RaceFree program(seed);
        REQUIRE(find_races(program.accesses, program.nodes, program.edges, 1).empty());
        const Edges relaxed = relaxed_edges(program.accesses, program.nodes, program.edges, program.stays);
        if (const std::string problem = problem_of(program, relaxed); !problem.empty())
            FAIL_CHECK("seed " << seed << ": " << problem);
        fewer += longest_path(program.nodes, relaxed) < longest_path(program.nodes, program.edges) ? 1 : 0;
    }
    CHECK(fewer > seeds / 4);
}
