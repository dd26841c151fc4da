// The order in which a program adds nodes, as far as edges allow.
#include "edges/program_order.hpp"

#include "catch.hpp"

#include <cstdint>
#include <vector>

using cudag::detail::program_order;

namespace {

using Order = std::vector<std::uint32_t>;

} // namespace

TEST_CASE("nodes stand in the order of their numbers where edges lead forward", "[core][edges]") {
    CHECK(program_order(0, {}).empty());
    CHECK(program_order(3, {{0, 2}, {1, 2}}) == Order{0, 1, 2});
}

TEST_CASE("a node that must wait for a later one comes right after it, and all others stay", "[core][edges]") {
    CHECK(program_order(4, {{2, 1}}) == Order{0, 2, 1, 3});
    CHECK(program_order(4, {{3, 0}}) == Order{1, 2, 3, 0});
    CHECK(program_order(3, {{2, 1}, {1, 0}}) == Order{2, 1, 0});
}
