// grid_1d, grid_2d, grid_3d: as many blocks as cover the elements, or a refusal that names the number.
#include <cudag/error.hpp>
#include <cudag/launch_config.hpp>

#include "thrown.hpp"

#include <catch.hpp>

#include <cstddef>
#include <limits>
#include <string>

namespace {

constexpr std::size_t max_x = 2147483647;
constexpr std::size_t max_yz = 65535;

void check_dim(const dim3& actual, unsigned x, unsigned y, unsigned z) {
    CHECK(actual.x == x);
    CHECK(actual.y == y);
    CHECK(actual.z == z);
}

template <class F>
std::string refusal(F&& call) {
    const auto error = thrown<cudag::GraphError>(call);
    CHECK(error.code().value() == cudaErrorInvalidValue);
    CHECK(error.operation().empty());
    return error.what();
}

} // namespace

TEST_CASE("a default launch is one block of one thread without shared memory", "[unit][grid]") {
    const cudag::LaunchConfig config;
    check_dim(config.grid, 1, 1, 1);
    check_dim(config.block, 1, 1, 1);
    CHECK(config.shared_bytes == 0);
}

TEST_CASE("a 1D grid rounds up to whole blocks", "[unit][grid]") {
    struct Case {
        std::size_t n;
        unsigned block, blocks;
    };
    const auto c = GENERATE(Case{1, 1, 1}, Case{1, 256, 1}, Case{255, 256, 1}, Case{256, 256, 1}, Case{257, 256, 2},
                            Case{512, 256, 2}, Case{1000000, 128, 7813}, Case{max_x, 1, 2147483647},
                            Case{max_x * 1024, 1024, 2147483647});
    const cudag::LaunchConfig config = cudag::grid_1d(c.n, c.block);
    check_dim(config.grid, c.blocks, 1, 1);
    check_dim(config.block, c.block, 1, 1);
    CHECK(config.shared_bytes == 0);
}

TEST_CASE("2D and 3D grids round up in every dimension", "[unit][grid]") {
    const cudag::LaunchConfig flat = cudag::grid_2d(1920, 1081, {32, 8});
    check_dim(flat.grid, 60, 136, 1);
    check_dim(flat.block, 32, 8, 1);

    const cudag::LaunchConfig deep = cudag::grid_3d(9, 8, 7, {8, 4, 2});
    check_dim(deep.grid, 2, 2, 4);
    check_dim(deep.block, 8, 4, 2);

    check_dim(cudag::grid_3d(1, max_yz, max_yz * 2, {1, 1, 2}).grid, 1, 65535, 65535);
}

TEST_CASE("a grid over nothing is refused, naming the axis", "[unit][grid]") {
    CHECK(refusal([] { static_cast<void>(cudag::grid_1d(0, 256)); }) ==
          "cudag: grid: 0 elements in x; a grid covers at least 1");
    CHECK_THAT(refusal([] { static_cast<void>(cudag::grid_2d(4, 0, {8, 8})); }), ContainsSubstring("0 elements in y"));
    CHECK_THAT(refusal([] {
                   static_cast<void>(cudag::grid_3d(4, 4, 0, {8, 8, 1}));
               }),
               ContainsSubstring("0 elements in z"));
}

TEST_CASE("a block without threads is refused, naming the dimension", "[unit][grid]") {
    CHECK(refusal([] { static_cast<void>(cudag::grid_1d(16, 0)); }) ==
          "cudag: grid: block.x is 0; every block dimension must be at least 1");
    CHECK_THAT(refusal([] { static_cast<void>(cudag::grid_2d(4, 4, {8, 0})); }), ContainsSubstring("block.y is 0"));
    CHECK_THAT(refusal([] {
                   static_cast<void>(cudag::grid_3d(4, 4, 4, {8, 8, 0}));
               }),
               ContainsSubstring("block.z is 0"));
}

TEST_CASE("a grid beyond CUDA's limit is refused with both numbers and the way out", "[unit][grid]") {
    CHECK(
        refusal([] { static_cast<void>(cudag::grid_1d(max_x + 1, 1)); }) ==
        "cudag: grid: 2147483648 elements in x with block.x = 1 need 2147483648 blocks; CUDA allows 2147483647: use a "
        "larger block or a grid-stride loop");
    CHECK_THAT(refusal([] {
                   static_cast<void>(cudag::grid_2d(1, max_yz * 8 + 1, {8, 8}));
               }),
               ContainsSubstring("in y with block.y = 8 need 65536 blocks; CUDA allows 65535"));
    CHECK_THAT(refusal([] {
                   static_cast<void>(cudag::grid_3d(1, 1, max_yz + 1, {1, 1, 1}));
               }),
               ContainsSubstring("in z with block.z = 1 need 65536 blocks; CUDA allows 65535"));
    CHECK_THAT(refusal([] { static_cast<void>(cudag::grid_1d(std::numeric_limits<std::size_t>::max(), 1024)); }),
               ContainsSubstring("need 18014398509481984 blocks"));
}
