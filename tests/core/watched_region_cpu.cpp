// The one layout that cudag and the CPU runtime both declare.
#include "exec/watched_region.hpp"

#include <cudart_cpu/watch.hpp>

#include "catch.hpp"

#include <cstddef>
#include <type_traits>

using cudag::detail::MemoryBlock;
using cudag::detail::WatchedRegion;
using cudart_cpu::NodeRegion;

static_assert(sizeof(WatchedRegion) == sizeof(NodeRegion) && alignof(WatchedRegion) == alignof(NodeRegion));
static_assert(std::is_standard_layout_v<WatchedRegion> && std::is_standard_layout_v<NodeRegion>);
static_assert(offsetof(WatchedRegion, region) == 0);
static_assert(offsetof(MemoryBlock, begin) == offsetof(NodeRegion, begin));
static_assert(offsetof(MemoryBlock, row_bytes) == offsetof(NodeRegion, row_bytes));
static_assert(offsetof(MemoryBlock, rows) == offsetof(NodeRegion, rows));
static_assert(offsetof(MemoryBlock, pitch) == offsetof(NodeRegion, pitch));
static_assert(offsetof(MemoryBlock, slices) == offsetof(NodeRegion, slices));
static_assert(offsetof(MemoryBlock, slice_pitch) == offsetof(NodeRegion, slice_pitch));
static_assert(offsetof(WatchedRegion, is_written) == offsetof(NodeRegion, is_written));
static_assert(std::is_same_v<decltype(MemoryBlock::begin), decltype(NodeRegion::begin)>);
static_assert(std::is_same_v<decltype(MemoryBlock::row_bytes), decltype(NodeRegion::row_bytes)>);

TEST_CASE("a region that cudag writes is the one that the CPU runtime reads", "[exec][watched]") {
    const WatchedRegion written{{1, 2, 3, 4, 5, 6}, true};
    const auto& read = reinterpret_cast<const NodeRegion&>(written);
    CHECK(read.begin == 1);
    CHECK(read.row_bytes == 2);
    CHECK(read.rows == 3);
    CHECK(read.pitch == 4);
    CHECK(read.slices == 5);
    CHECK(read.slice_pitch == 6);
    CHECK(read.is_written);
}
