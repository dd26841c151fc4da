// Ranges of addresses in which one looks for others.
#include "accesses/address_ranges.hpp"
#include "verify/compared_memory.hpp"

#include "catch.hpp"

#include <vector>

using cudag::detail::AddressRange;
using cudag::detail::AddressRanges;

TEST_CASE("ranges are apart from what only touches them, and from nothing that has one address in common") {
    const AddressRanges ranges({{30, 40}, {10, 20}});
    CHECK(ranges.are_apart_from({0, 10}));
    CHECK_FALSE(ranges.are_apart_from({0, 11}));
    CHECK_FALSE(ranges.are_apart_from({12, 13}));
    CHECK_FALSE(ranges.are_apart_from({19, 25}));
    CHECK(ranges.are_apart_from({20, 30}));
    CHECK_FALSE(ranges.are_apart_from({20, 31}));
    CHECK_FALSE(ranges.are_apart_from({0, 100}));
    CHECK_FALSE(ranges.are_apart_from({39, 100}));
    CHECK(ranges.are_apart_from({40, 100}));
}

TEST_CASE("ranges that overlap, touch or lie in one another are as one") {
    const AddressRanges ranges({{10, 100}, {20, 30}, {90, 110}, {110, 120}});
    CHECK(ranges.are_apart_from({0, 10}));
    CHECK_FALSE(ranges.are_apart_from({50, 60})); // behind the end of one inside
    CHECK_FALSE(ranges.are_apart_from({105, 106}));
    CHECK_FALSE(ranges.are_apart_from({119, 120}));
    CHECK(ranges.are_apart_from({120, 130}));
}

TEST_CASE("everything is apart from no ranges") {
    CHECK(AddressRanges().are_apart_from({0, 100}));
    CHECK(AddressRanges(std::vector<AddressRange>()).are_apart_from({0, 100}));
}

TEST_CASE("memory to compare is joined where it overlaps, and apart where it touches") {
    using cudag::detail::ByteRange;
    const std::vector<ByteRange> joined =
        cudag::detail::joined({{30, 40}, {10, 20}, {20, 30}, {15, 18}, {35, 50}, {60, 60}});
    REQUIRE(joined.size() == 3);
    CHECK((joined[0].begin == 10 && joined[0].end == 20));
    CHECK((joined[1].begin == 20 && joined[1].end == 30));
    CHECK((joined[2].begin == 30 && joined[2].end == 50));
}
