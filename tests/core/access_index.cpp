// Accesses that come and go, and the order of nodes as far as memory goes, beside what looking at all pairs finds.
#include "accesses/access_index.hpp"
#include "accesses/memory_order.hpp"

#include "catch.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

using cudag::EdgeKind;
using cudag::detail::AccessIndex;
using cudag::detail::AccessMode;
using cudag::detail::EdgeRecord;
using cudag::detail::is_line;
using cudag::detail::MemoryAccess;
using cudag::detail::MemoryOrder;

namespace {

struct Entry : MemoryAccess {
    int number;
};
using Index = AccessIndex<Entry>;

std::uint32_t drawn(std::mt19937& chance, std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(0, most)(chance);
}

bool overlap(const MemoryAccess& a, const MemoryAccess& b) {
    const bool are_reads = a.mode == AccessMode::read && b.mode == AccessMode::read;
    return !are_reads && a.block.begin < b.block.end() && b.block.begin < a.block.end();
}

} // namespace

TEST_CASE("an index finds what overlaps an access and does not wait, and no reads for a read", "[core][races]") {
    std::mt19937 chance(7);
    Index index;
    std::vector<Index::Place> places, waiting;
    int next = 0;
    for (int step = 0; step < 3000; ++step) {
        const std::uint32_t widest = std::uint32_t{1} << drawn(chance, 9);
        const MemoryAccess access{0,
                                  drawn(chance, 1) == 0 ? AccessMode::read : AccessMode::write,
                                  {drawn(chance, 700), 1 + drawn(chance, widest)}};
        std::vector<int> expected, found;
        for (const Index::Place& place : places)
            if (overlap(access, *place)) expected.push_back((*place).number);
        index.for_each_overlapping(access, [&](const Entry& entry) {
            found.push_back(entry.number);
            return true;
        });
        bool is_first = true;
        index.for_each_overlapping(access, [&](const Entry&) {
            CHECK(is_first);
            return is_first = false;
        });
        std::ranges::sort(expected);
        std::ranges::sort(found);
        REQUIRE(found == expected);
        if (!waiting.empty() && drawn(chance, 1) == 0) {
            if (drawn(chance, 1) == 0) {
                index.put(waiting.back());
                places.push_back(waiting.back());
            } else {
                index.remove_waiting(waiting.back());
            }
            waiting.pop_back();
        } else if (drawn(chance, 4) == 0) {
            waiting.push_back(index.add_waiting({access, next++}));
        } else if (!places.empty() && drawn(chance, 2) == 0) {
            const auto gone = places.begin() + drawn(chance, static_cast<std::uint32_t>(places.size() - 1));
            Index::remove(*gone);
            places.erase(gone);
        } else {
            places.push_back(index.add({access, next++}));
        }
        std::size_t all = 0;
        index.for_each([&](const Entry&) { ++all; });
        REQUIRE(all == places.size() + waiting.size());
    }
}

TEST_CASE("an index finds an access to more than half of all addresses", "[core][races]") {
    constexpr std::uintptr_t half = std::uintptr_t{1} << 63;
    Index index;
    index.add({{0, AccessMode::write, {64, half + 64}}, 1});
    for (const std::uintptr_t begin : {std::uintptr_t{0}, std::uintptr_t{100}, half / 2, half + 127, half + 128}) {
        std::vector<int> found;
        index.for_each_overlapping({1, AccessMode::read, {begin, 65}}, [&](const Entry& entry) {
            found.push_back(entry.number);
            return true;
        });
        CHECK(found.size() == (begin < half + 128 ? 1 : 0));
    }
}

TEST_CASE("nodes are a line where edges that order memory lead from each to the next", "[core][races]") {
    CHECK(is_line(0, {}));
    CHECK(is_line(1, {}));
    CHECK_FALSE(is_line(2, {}));
    CHECK(is_line(3, {{0, 1}, {1, 2}}));
    CHECK(is_line(3, {{1, 2}, {0, 2}, {0, 1, EdgeKind::programmatic}}));
    CHECK_FALSE(is_line(3, {{0, 1}, {0, 1}}));
    CHECK_FALSE(is_line(3, {{0, 1}, {0, 2}}));
    CHECK_FALSE(is_line(3, {{0, 2}, {1, 2}}));
    CHECK_FALSE(is_line(3, {{0, 1}, {1, 2, EdgeKind::launch_completion}}));
}

TEST_CASE("nodes are ordered for memory where a path of edges that order it leads", "[core][races]") {
    std::mt19937 chance(11);
    for (int round = 0; round < 200; ++round) {
        const std::uint32_t nodes = 2 + drawn(chance, 12);
        std::vector<std::uint32_t> place(nodes);
        for (std::uint32_t i = 0; i < nodes; ++i)
            place[i] = i;
        std::ranges::shuffle(place, chance);
        std::vector<EdgeRecord> edges;
        std::vector<std::vector<bool>> reaches(nodes, std::vector<bool>(nodes));
        for (std::uint32_t to = 1; to < nodes; ++to)
            for (std::uint32_t from = 0; from < to; ++from) {
                if (drawn(chance, 3) != 0) continue;
                const EdgeKind kind = drawn(chance, 5) == 0 ? EdgeKind::launch_completion : EdgeKind::full;
                edges.push_back({place[from], place[to], kind});
                if (kind == EdgeKind::full) reaches[from][to] = true;
            }
        for (std::uint32_t via = 0; via < nodes; ++via)
            for (std::uint32_t from = 0; from < via; ++from)
                for (std::uint32_t to = via + 1; to < nodes; ++to)
                    if (reaches[from][via] && reaches[via][to]) reaches[from][to] = true;
        MemoryOrder order(nodes, edges);
        bool is_line = true;
        for (std::uint32_t from = 0; from < nodes; ++from)
            for (std::uint32_t to = from + 1; to < nodes; ++to) {
                is_line = is_line && reaches[from][to];
                REQUIRE(order.are_ordered(place[from], place[to]) == reaches[from][to]);
                REQUIRE(order.are_ordered(place[to], place[from]) == reaches[from][to]);
            }
        REQUIRE(order.is_line() == is_line);
    }
}
