// Which bytes regions have in common, beside an oracle that looks at every byte.
#include "accesses/memory_access.hpp"

#include "accesses/access_list.hpp"

#include "memory_oracle.hpp"

#include "catch.hpp"

#include <optional>
#include <string>
#include <vector>

using namespace cudag::detail;

namespace {

constexpr MemoryBlock range(std::uintptr_t begin, std::size_t bytes) {
    return {begin, bytes};
}

std::optional<AddressRange> hull_of(const Bytes& bytes) {
    if (bytes.none()) return std::nullopt;
    std::uintptr_t begin = 0, end = bytes.size();
    while (!bytes[begin])
        ++begin;
    while (!bytes[end - 1])
        --end;
    return AddressRange{begin, end};
}

} // namespace

TEST_CASE("ranges have in common what lies in both", "[accesses]") {
    CHECK(common_bytes(range(100, 10), range(105, 10)) == AddressRange{105, 110});
    CHECK(common_bytes(range(100, 10), range(102, 3)) == AddressRange{102, 105});
    CHECK(common_bytes(range(100, 10), range(100, 10)) == AddressRange{100, 110});
    CHECK_FALSE(common_bytes(range(100, 10), range(110, 10)));
    CHECK_FALSE(common_bytes(range(110, 10), range(100, 10)));
}

TEST_CASE("an empty region has nothing in common with any", "[accesses]") {
    CHECK_FALSE(common_bytes(range(105, 0), range(100, 10)));
    CHECK_FALSE(common_bytes(range(100, 10), {102, 2, 0, 4}));
    CHECK_FALSE(common_bytes(range(100, 10), {102, 2, 2, 4, 0, 8}));
    CHECK(MemoryBlock{102, 2, 0, 4}.end() == 102);
}

TEST_CASE("a region ends with the last row of its last slice", "[accesses]") {
    CHECK(range(100, 10).end() == 110);
    CHECK(MemoryBlock{100, 4, 3, 16}.end() == 136);
    CHECK(MemoryBlock{100, 4, 3, 16, 2, 100}.end() == 236);
}

TEST_CASE("columns of one matrix beside each other have nothing in common", "[accesses]") {
    const MemoryBlock left{0x1000, 32, 1000, 64}, right{0x1020, 32, 1000, 64}, both{0x1010, 32, 1000, 64};
    CHECK_FALSE(common_bytes(left, right));
    CHECK_FALSE(common_bytes(right, left));
    CHECK(common_bytes(left, both) == AddressRange{0x1010, 0x1020 + 999 * 64});
    CHECK(common_bytes(both, right) == AddressRange{0x1020, 0x1030 + 999 * 64});
}

TEST_CASE("a range between two rows has nothing in common with them", "[accesses]") {
    const MemoryBlock rows{100, 4, 3, 16};
    CHECK_FALSE(common_bytes(rows, range(104, 12)));
    CHECK(common_bytes(rows, range(104, 13)) == AddressRange{116, 117});
    CHECK(common_bytes(rows, range(103, 13)) == AddressRange{103, 104});
    CHECK(common_bytes(rows, range(0, 1000)) == AddressRange{100, 136});
}

TEST_CASE("rows without holes are a range", "[accesses]") {
    CHECK(simplified({100, 16, 3, 16}) == range(100, 48));
    CHECK(simplified({100, 16, 3, 8}) == range(100, 32));
    CHECK(simplified({100, 16, 3, 16, 2, 48}) == range(100, 96));
    CHECK(simplified({100, 16, 3, 16, 2, 64}) == MemoryBlock{100, 48, 2, 64});
    CHECK(simplified({100, 8, 3, 16, 2, 48}) == MemoryBlock{100, 8, 6, 16});
    CHECK(simplified({100, 8, 1, 16, 2, 64}) == MemoryBlock{100, 8, 2, 64});
    CHECK(simplified({100, 8, 1, 16, 1, 64}) == range(100, 8));
    CHECK(simplified({100, 8, 3, 16, 1, 64}) == MemoryBlock{100, 8, 3, 16});
    CHECK(simplified({100, 8, 3, 16, 2, 64}) == MemoryBlock{100, 8, 3, 16, 2, 64});
}

TEST_CASE("slices that reach into each other count as all bytes from the first to the last", "[accesses]") {
    CHECK(simplified({100, 4, 3, 16, 2, 20}) == range(100, 56));
}

TEST_CASE("accesses conflict unless they are of one node, commute, or have no bytes in common", "[accesses]") {
    constexpr AccessMode modes[] = {AccessMode::read, AccessMode::write, AccessMode::atomic, AccessMode::disjoint};
    const MemoryBlock here = range(100, 10), there = range(200, 10);
    for (const AccessMode a : modes)
        for (const AccessMode b : modes) {
            CAPTURE(static_cast<int>(a), static_cast<int>(b));
            CHECK(conflicts({0, a, here}, {1, b, here}) == (a != b || a == AccessMode::write));
            CHECK_FALSE(conflicts({0, a, here}, {0, b, here}));
            CHECK_FALSE(conflicts({0, a, here}, {1, b, there}));
        }
}

TEST_CASE("accesses of nodes of one region conflict only if both are the nodes' own", "[accesses]") {
    const MemoryBlock here = range(100, 10);
    const MemoryAccess own{0, AccessMode::write, here, 0, 7}, declared{0, AccessMode::write, here, 7};
    struct Inside {
        std::uint32_t unit, part_of;
    };
    const auto conflict = [&](const MemoryAccess& one, const Inside& inside) {
        const MemoryAccess other{1, AccessMode::read, here, inside.unit, inside.part_of};
        CHECK(conflicts(one, other) == conflicts(other, one));
        return conflicts(one, other);
    };
    CHECK(conflict(own, {0, 0}));
    CHECK(conflict(own, {0, 7}));
    CHECK_FALSE(conflict(own, {7, 0}));
    CHECK(conflict(own, {8, 0}));
    CHECK(conflict(declared, {0, 0}));
    CHECK_FALSE(conflict(declared, {0, 7}));
    CHECK_FALSE(conflict(declared, {7, 0}));
    CHECK(conflict(declared, {0, 8}));
    CHECK(conflict(declared, {8, 0}));
}

TEST_CASE("a list of accesses has each region once, and stays as written where nodes get other numbers", "[accesses]") {
    constexpr std::uint32_t count = 1000; // far more than the list has room for at first
    std::vector<MemoryAccess> accesses;
    for (std::uint32_t node = 0; node < count; ++node) {
        accesses.push_back({node, AccessMode::read, range(node / 2 * 16, 16)});
        accesses.push_back({node, AccessMode::write, {node / 4 * 16, 16, 2, 32}, node});
    }
    AccessList list(accesses);
    CHECK(list.blocks().size() == count / 2 + count / 4);
    const auto is_as_written = [&](std::uint32_t place, std::uint32_t first) {
        const MemoryAccess& written = accesses[first];
        return list.blocks()[list.block_of(place)] == written.block && list.order_of(place) == written.order();
    };
    for (std::uint32_t i = 0; i < 2 * count; ++i)
        REQUIRE((list[i].node == i / 2 && is_as_written(i, i)));

    std::vector<std::uint32_t> backward(count);
    for (std::uint32_t node = 0; node < count; ++node)
        backward[node] = count - 1 - node;
    list.renumber(backward);
    for (std::uint32_t i = 0; i < 2 * count; ++i)
        REQUIRE((list[i].node == i / 2 && is_as_written(i, 2 * backward[i / 2] + i % 2)));
}

TEST_CASE("what random regions have in common is found to the byte", "[accesses]") {
    const unsigned long seeds = 10 * program_count();
    for (unsigned long seed = 0; seed < seeds; ++seed) {
        Random random(seed);
        RandomMemory memory(random);
        const MemoryBlock a = memory.region(), b = memory.region();
        const bool right = common_bytes(a, b) == hull_of(bytes_of(a) & bytes_of(b)) &&
                           bytes_of(simplified(a)) == bytes_of(a) && simplified(a).end() == a.end();
        if (!right) FAIL_CHECK("seed " << seed);
    }
}
