// Launches that CUDA refuses: the limit is named, and nothing is added.
#include <functional>

#include "cuda_version.hpp"
#include "test.hpp"

using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::LaunchConfig;

namespace {

/// Adds a launch of `config` beside one sound node, checks what every such refusal has in common, and hands it out.
GraphError refused_launch(const LaunchConfig& config) {
    const auto cell = device({0});
    GraphBuilder b;
    const auto sound = b.kernel({}, store, cell, 5);
    const auto error = refused<GraphError>([&] { b.kernel(config, store, cell, 6).after(sound); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.operation(), StartsWith("cuGraphAdd")); // "KernelNode", or "Node"
    CHECK(error.log().empty() == !has_log());
    CHECK_THAT(error.what(), ContainsSubstring("kernel store") && ContainsSubstring(__FILE__));
    CHECK(error.location().line == __LINE__ - 5);

    const cudag::Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 1);
    cudag::Exec exec = graph.instantiate();
    run(exec, cudag::Stream());
    CHECK(read(cell) == std::vector{5});
    return error;
}

} // namespace

TEST_CASE("a grid dimension of 0 is refused by name", "[builder][limits]") {
    CHECK_THAT(refused_launch({.grid = 0}).what(), ContainsSubstring("grid.x is 0; every grid dimension"));
    CHECK_THAT(refused_launch({.grid = {1, 0, 1}}).what(), ContainsSubstring("grid.y is 0"));
    CHECK_THAT(refused_launch({.grid = {1, 1, 0}}).what(), ContainsSubstring("grid.z is 0"));
}

TEST_CASE("a block dimension of 0 is refused by name", "[builder][limits]") {
    CHECK_THAT(refused_launch({.block = 0}).what(), ContainsSubstring("block.x is 0; every block dimension"));
    CHECK_THAT(refused_launch({.block = {32, 0, 1}}).what(), ContainsSubstring("block.y is 0"));
    CHECK_THAT(refused_launch({.block = {32, 1, 0}}).what(), ContainsSubstring("block.z is 0"));
}

TEST_CASE("a dimension beyond the device's limit is refused with both values", "[builder][limits]") {
    CHECK_THAT(refused_launch({.block = 2048}).what(),
               ContainsSubstring("block.x is 2048") && ContainsSubstring("1024"));
    CHECK_THAT(refused_launch({.block = {1, 1, 65}}).what(),
               ContainsSubstring("block.z is 65") && ContainsSubstring("64"));
    CHECK_THAT(refused_launch({.grid = {1, 65536, 1}}).what(),
               ContainsSubstring("grid.y is 65536") && ContainsSubstring("65535"));
}

TEST_CASE("a block of too many threads is refused with their number", "[builder][limits]") {
    CHECK_THAT(refused_launch({.block = {32, 33, 1}}).what(),
               ContainsSubstring("32 x 33 x 1") && ContainsSubstring("1056") && ContainsSubstring("1024"));
}

TEST_CASE("too much shared memory is refused with both values", "[builder][limits]") {
    CHECK_THAT(refused_launch({.shared_bytes = 1024 * 1024}).what(),
               ContainsSubstring("1048576 bytes of dynamic shared memory") && ContainsSubstring("49152"));
}

TEST_CASE("the largest allowed launch is accepted", "[builder][limits]") {
    GraphBuilder b;
    CHECK_NOTHROW(b.kernel({.grid = {2147483647, 65535, 65535}}, nothing));
    CHECK_NOTHROW(b.kernel({.block = 1024}, nothing));
    CHECK_NOTHROW(b.kernel({.block = {1, 1024, 1}}, nothing));
    CHECK_NOTHROW(b.kernel({.block = {1, 16, 64}}, nothing));
    CHECK_NOTHROW(b.kernel({.shared_bytes = 48 * 1024}, nothing));
}
