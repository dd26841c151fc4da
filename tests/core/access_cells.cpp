// The cells into which accesses cut memory, and the parts and lists that accesses stand in.
#include "accesses/access_cells.hpp"
#include "accesses/access_parts.hpp"

#include "catch.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

using namespace cudag::detail;

namespace {

constexpr AccessMode reads = AccessMode::read, writes = AccessMode::write;

/// Those of accesses to regions, each by a node of its own; the regions are numbered as they come.
AccessCells cells_of(const std::vector<MemoryBlock>& regions, AccessMode mode) {
    AccessList accesses;
    for (std::uint32_t node = 0; node < regions.size(); ++node)
        accesses.add({node, mode, regions[node]});
    return AccessCells(accesses);
}

/// Whether the cells that regions have are all there are, and each region names its own once.
bool are_numbered_without_gaps(const AccessCells& cells, std::uint32_t regions) {
    std::set<std::uint32_t> all;
    for (std::uint32_t region = 0; region < regions; ++region) {
        const auto own = cells.of(region);
        const std::set<std::uint32_t> once(own.begin(), own.end());
        if (once.size() != own.size()) return false;
        all.insert(once.begin(), once.end());
    }
    return all.size() == cells.size() && (all.empty() || *all.rbegin() + 1 == all.size());
}

} // namespace

TEST_CASE("memory in which all accesses commute has no cells", "[accesses]") {
    for (const AccessMode mode : {reads, AccessMode::atomic, AccessMode::disjoint}) {
        CAPTURE(static_cast<int>(mode));
        const AccessCells cells = cells_of({{0x1000, 64}, {0x1020, 64}, {0x2000, 8}}, mode);
        CHECK(cells.size() == 0);
        CHECK(cells.of(1).empty());
    }
    CHECK(cells_of({{0x1000, 64}}, writes).size() == 1);
    CHECK(AccessCells(AccessList({{0, AccessMode::atomic, {0x1000, 8}}, {1, reads, {0x1004, 8}}})).size() == 3);
}

TEST_CASE("regions that overlap are cut where one begins or ends, others are one cell each", "[accesses]") {
    const AccessCells cells = cells_of({{0x1000, 8}, {0x1004, 8}, {0x2000, 8}, {0x3000, 2, 4, 8, 3, 40}}, writes);
    CHECK(cells.size() == 5);
    CHECK(cells.of(0).size() == 2);
    CHECK(cells.of(1).size() == 2);
    CHECK(cells.of(0).back() == cells.of(1).front());
    CHECK(cells.of(2).size() == 1);
    CHECK(cells.of(3).size() == 1); // rows and slices with holes between them, too
    CHECK(are_numbered_without_gaps(cells, 4));
}

TEST_CASE("a tile of a matrix that is cut into tiles is one cell", "[accesses]") {
    constexpr std::uint32_t pitch = 64, tiles = 4, rows = 8;
    std::vector<MemoryBlock> regions;
    for (std::uint32_t y = 0; y < tiles; ++y)
        for (std::uint32_t x = 0; x < tiles; ++x)
            regions.push_back(
                {0x1000 + std::uintptr_t{y * rows} * pitch + x * (pitch / tiles), pitch / tiles, rows, pitch});
    const AccessCells cells = cells_of(regions, writes);
    CHECK(cells.size() == tiles * tiles);
    CHECK(are_numbered_without_gaps(cells, tiles * tiles));

    regions.push_back({0x1000 + std::uintptr_t{rows} * pitch, std::size_t{2} * rows * pitch}); // two rows of tiles
    const AccessCells with_range = cells_of(regions, writes);
    CHECK(with_range.size() == tiles * tiles);
    CHECK(with_range.of(tiles * tiles).size() == 2 * tiles);
    for (std::uint32_t tile = 0; tile < tiles * tiles; ++tile)
        CHECK(with_range.of(tile).size() == 1);

    regions.back() = {0x1000 + std::uintptr_t{(tiles - 1) * rows + 1} * pitch, std::size_t{rows - 1} * pitch};
    const AccessCells with_last_rows = cells_of(regions, writes); // of the last tiles, all but the first
    CHECK(with_last_rows.size() == tiles * tiles + tiles);
    CHECK(with_last_rows.of(tiles * tiles).size() == tiles);
    for (std::uint32_t tile = 0; tile < tiles * tiles; ++tile)
        CHECK(with_last_rows.of(tile).size() == (tile / tiles + 1 < tiles ? 1 : 2));
}

TEST_CASE("a matrix whose rows are all cut elsewhere is not cut into all their columns", "[accesses]") {
    constexpr std::uint32_t pitch = 64, size = 32;
    for (const std::uintptr_t base : {std::uintptr_t{pitch}, std::uintptr_t{0x10040}}) {
        std::vector<MemoryBlock> regions{{base, size, size, pitch}};
        for (std::uint32_t i = 0; i < size; ++i)
            regions.push_back({base + i * (pitch + 1), 1}); // the diagonal
        const AccessCells cells = cells_of(regions, writes);
        CHECK(cells.size() < 6 * size);
        for (std::uint32_t i = 1; i <= size; ++i) {
            REQUIRE(cells.of(i).size() == 1);
            CHECK(std::ranges::count(cells.of(0), cells.of(i).front()) == 1);
        }
    }
}

TEST_CASE("a list tells what captured regions declare, until nodes get other numbers", "[accesses]") {
    AccessList accesses;
    CHECK_FALSE(accesses.has_units());
    CHECK_FALSE(AccessList({{0, writes, {0x1000, 8}}, {1, reads, {0x1000, 8}, 0, 7}}).has_units());
    CHECK_FALSE(AccessList({{0, writes, {0x1000, 8}}}).has_units());
    accesses.add({0, writes, {0x1000, 8}});
    accesses.add({1, writes, {0x1000, 8}, 0, 1});
    CHECK_FALSE(accesses.has_units());
    accesses.add({2, writes, {0x1000, 8}, 1});
    CHECK(accesses.has_units());
    accesses.add({3, writes, {0x1000, 8}, 0, 7});
    accesses.add({4, writes, {0x1000, 8}});
    CHECK(accesses.has_units());
    constexpr std::uint32_t unit[] = {0, 0, 1, 0, 0}, part_of[] = {0, 1, 0, 7, 0};
    for (std::size_t i = 0; i < 5; ++i)
        CHECK(accesses[i] == MemoryAccess{static_cast<std::uint32_t>(i), writes, {0x1000, 8}, unit[i], part_of[i]});

    const std::uint32_t numbers[] = {0, 1, 2, 3, 4};
    accesses.renumber(numbers);
    CHECK_FALSE(accesses.has_units());
    for (std::size_t i = 0; i < 5; ++i)
        CHECK(accesses[i] == MemoryAccess{static_cast<std::uint32_t>(i), writes, {0x1000, 8}, unit[i], 0});
    accesses.add({5, reads, {0x1000, 8}, 9});
    CHECK(accesses.has_units());
    CHECK(accesses[5] == MemoryAccess{5, reads, {0x1000, 8}, 9});
    CHECK(accesses[4] == MemoryAccess{4, writes, {0x1000, 8}});
}

TEST_CASE("each two accesses that conflict are in one part", "[accesses]") {
    // of nodes beside regions, of regions as a whole, and of their nodes; the numbers have few bits apart
    std::vector<MemoryAccess> all;
    for (const std::uint32_t region : {0U, 1U, 1025U, 3U, 1024U, 0x80000001U}) {
        const auto node = static_cast<std::uint32_t>(all.size());
        all.push_back({node, writes, {0x1000, 8}, region, 0});
        all.push_back({node + 1, writes, {0x1000, 8}, 0, region});
    }
    const AccessList accesses(all);
    std::set<std::pair<std::uint32_t, std::uint32_t>> together;
    AccessParts(accesses).for_each([&](const AccessList& part, const std::vector<std::uint32_t>& places) {
        REQUIRE(part.size() == places.size());
        for (std::size_t i = 0; i < places.size(); ++i) {
            CHECK(part[i].node == accesses[places[i]].node);
            for (std::size_t k = 0; k < i; ++k)
                together.emplace(places[k], places[i]);
        }
    });
    for (std::uint32_t b = 0; b < all.size(); ++b)
        for (std::uint32_t a = 0; a < b; ++a) {
            CAPTURE(a, b);
            const bool is_inside = are_inside_region(all[a], all[b]);
            CHECK(together.contains({a, b}) ==
                  (!is_inside || (all[a].unit == all[b].unit && all[a].part_of == all[b].part_of)));
        }
}
