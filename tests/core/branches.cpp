// The branches into which CUDA divides a graph.
#include "edges/branches.hpp"

#include "catch.hpp"

#include <cstdint>
#include <vector>

using cudag::detail::count_branches;
using cudag::detail::EdgeRecord;

TEST_CASE("a line is one branch, and nodes without edges are one each") {
    CHECK(count_branches(0, {}) == 0);
    CHECK(count_branches(3, {{0, 1}, {1, 2}}) == 1);
    CHECK(count_branches(3, {}) == 3);
}

TEST_CASE("one of several successors continues a branch, the others begin their own") {
    CHECK(count_branches(5, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}}) == 3);
    CHECK(count_branches(4, {{0, 2}, {0, 3}, {1, 2}, {1, 3}}) == 2); // two layers of two
}

TEST_CASE("branches are counted along the edges, also from later nodes to earlier ones") {
    CHECK(count_branches(4, {{3, 2}, {2, 1}, {1, 0}}) == 1);
    CHECK(count_branches(4, {{3, 0}, {3, 1}, {3, 2}}) == 3);
}
