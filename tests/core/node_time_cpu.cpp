// The record of a node's run, which cudag and the CPU runtime both declare.
#include "profile/node_time.hpp"

#include <cudart_cpu/times.hpp>

#include "catch.hpp"

#include <cstddef>
#include <type_traits>

using Read = cudag::detail::NodeTime;
using Written = cudart_cpu::NodeTime;

static_assert(sizeof(Read) == sizeof(Written) && alignof(Read) == alignof(Written));
static_assert(std::is_standard_layout_v<Read> && std::is_standard_layout_v<Written>);
static_assert(std::is_same_v<decltype(Read::node), decltype(Written::node)>);
static_assert(std::is_same_v<decltype(Read::launch), decltype(Written::launch)>);
static_assert(std::is_same_v<decltype(Read::begin), decltype(Written::begin)>);
static_assert(offsetof(Read, node) == offsetof(Written, node) && offsetof(Read, launch) == offsetof(Written, launch));
static_assert(offsetof(Read, begin) == offsetof(Written, begin) && offsetof(Read, end) == offsetof(Written, end));

TEST_CASE("a time that the CPU runtime writes is the one that cudag reads", "[profile]") {
    const Written written{nullptr, 1, 2, 3};
    const auto& read = reinterpret_cast<const Read&>(written);
    CHECK(read.launch == 1);
    CHECK(read.begin == 2);
    CHECK(read.end == 3);
}
