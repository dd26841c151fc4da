// Kernel attributes that device or kernel do not allow: refused by name, before CUDA is asked.
#include <limits>

#include "attributes.hpp"

using cudag::AccessPolicy;
using cudag::AccessProperty;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::LaunchConfig;

namespace {

/// Adds a launch of `config` beside one sound node, checks what every such refusal has in common, and hands out its
/// text.
std::string refusal(const LaunchConfig& config, cudaError_t code = cudaErrorInvalidValue) {
    const auto cell = device({0});
    GraphBuilder b;
    const auto sound = b.kernel({}, store, cell, 5);
    const auto error = refused<GraphError>([&] { b.kernel(config, store, cell, 6).after(sound); });
    CHECK(error.code() == cuda_code(code));
    CHECK(error.operation().empty());
    CHECK_THAT(error.what(), ContainsSubstring("kernel store") && ContainsSubstring(__FILE__));
    CHECK(error.location().line == __LINE__ - 4);
    const cudag::Graph graph = std::move(b).build();
    CHECK(native_nodes(graph.native()).size() == 1);
    cudag::Exec exec = graph.instantiate();
    run(exec, cudag::Stream());
    CHECK(read(cell) == std::vector{5});
    return error.what();
}

} // namespace

TEST_CASE("a cluster that does not divide the grid is refused with both numbers", "[builder][attributes]") {
    CHECK_THAT(refusal({.grid = 10, .cluster = 4}, cudaErrorInvalidClusterSize),
               ContainsSubstring("grid.x is 10") && ContainsSubstring("cluster.x, which is 4"));
    CHECK_THAT(refusal({.grid = {4, 3, 2}, .cluster = {2, 2, 1}}, cudaErrorInvalidClusterSize),
               ContainsSubstring("grid.y is 3") && ContainsSubstring("cluster.y, which is 2"));
    CHECK_THAT(refusal({.grid = {4, 4, 3}, .cluster = {1, 1, 2}}, cudaErrorInvalidClusterSize),
               ContainsSubstring("grid.z is 3") && ContainsSubstring("cluster.z, which is 2"));
}

TEST_CASE("a cluster dimension of 0 is refused by name", "[builder][attributes]") {
    CHECK_THAT(refusal({.grid = 4, .cluster = {0, 1, 1}}, cudaErrorInvalidClusterSize),
               ContainsSubstring("cluster.x is 0"));
    CHECK_THAT(refusal({.grid = 4, .cluster = {2, 0, 1}}, cudaErrorInvalidClusterSize),
               ContainsSubstring("cluster.y is 0"));
    CHECK_THAT(refusal({.grid = 4, .cluster = {2, 1, 0}}, cudaErrorInvalidClusterSize),
               ContainsSubstring("cluster.z is 0"));
}

TEST_CASE("a cluster of more blocks than the kernel allows is refused with the limit", "[builder][attributes]") {
    CHECK_THAT(refusal({.grid = {4, 4, 1}, .cluster = {4, 4, 1}}, cudaErrorInvalidClusterSize),
               ContainsSubstring("4 x 4 x 1 has 16 blocks") && ContainsSubstring("allows 8") &&
                   ContainsSubstring("cudaFuncAttributeNonPortableClusterSizeAllowed"));
}

TEST_CASE("a priority outside the device's range is refused with the range", "[builder][attributes]") {
    const PriorityRange range;
    const auto limits = ContainsSubstring("allows " + std::to_string(range.greatest) + ", which goes first, to " +
                                          std::to_string(range.least));
    CHECK_THAT(refusal({.priority = range.greatest - 1}),
               ContainsSubstring("priority is " + std::to_string(range.greatest - 1)) && limits);
    CHECK_THAT(refusal({.priority = range.least + 1}),
               ContainsSubstring("priority is " + std::to_string(range.least + 1)) && limits);
}

TEST_CASE("a cooperative grid that cannot run at once is refused with its size", "[builder][attributes]") {
    CHECK_THAT(refusal({.grid = 1'000'000, .block = 128, .cooperative = true}, cudaErrorCooperativeLaunchTooLarge),
               ContainsSubstring("cooperative grid of 1000000 blocks") && ContainsSubstring("multiprocessors"));
}

TEST_CASE("a cooperative grid of blocks that no multiprocessor takes is refused for its blocks",
          "[builder][attributes]") {
    GraphBuilder b;
    const auto error = refused<GraphError>(
        [&] { b.kernel({.grid = 2, .shared_bytes = std::size_t{1} << 20U, .cooperative = true}, nothing); });
    CHECK_THAT(error.what(),
               ContainsSubstring("1048576 bytes of dynamic shared memory") && !ContainsSubstring("cooperative grid"));
}

TEST_CASE("the largest cooperative grid is accepted", "[builder][attributes]") {
    int multiprocessors = 0;
    cudag::check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    int blocks_each = 0;
    cudag::check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, cudag::detail::kernel_symbol(nothing), 128, 0));
    const auto resident = static_cast<unsigned>(blocks_each * multiprocessors);
    GraphBuilder b;
    CHECK_NOTHROW(b.kernel({.grid = resident, .block = 128, .cooperative = true}, nothing));
    CHECK_THROWS_AS(b.kernel({.grid = resident + 1, .block = 128, .cooperative = true}, nothing), GraphError);
    run(std::move(b));
}

TEST_CASE("an access policy without memory is refused", "[builder][attributes]") {
    const cudag::DeviceBuffer<int> data(1);
    const std::vector<cudag::DeviceSpan<int>> empty{{}, data.span().subspan(1, 0), {nullptr, 4}};
    for (const auto& memory : empty)
        CHECK_THAT(refusal({.access_policy = AccessPolicy{.memory = as_bytes(memory)}}),
                   ContainsSubstring("access_policy: the memory is empty"));
}

TEST_CASE("an access policy with a ratio outside 0 to 1 is refused with the ratio", "[builder][attributes]") {
    const cudag::DeviceBuffer<int> data(1024);
    const auto with_ratio = [&](float ratio) {
        return refusal({.access_policy = AccessPolicy{.memory = as_bytes(data.span()), .hit_ratio = ratio}});
    };
    CHECK_THAT(with_ratio(1.5F), ContainsSubstring("hit_ratio is 1.5"));
    CHECK_THAT(with_ratio(-0.5F), ContainsSubstring("hit_ratio is -0.5"));
    CHECK_THAT(with_ratio(std::numeric_limits<float>::quiet_NaN()), ContainsSubstring("hit_ratio is nan"));
}

TEST_CASE("an access policy whose misses persist is refused", "[builder][attributes]") {
    const cudag::DeviceBuffer<int> data(1024);
    CHECK_THAT(
        refusal({.access_policy = AccessPolicy{.memory = as_bytes(data.span()), .miss = AccessProperty::persisting}}),
        ContainsSubstring("miss is persisting"));
}

TEST_CASE("an access policy takes ratios of 0 and 1", "[builder][attributes]") {
    const cudag::DeviceBuffer<int> data(1024);
    GraphBuilder b;
    for (const float ratio : {0.0F, 1.0F})
        b.kernel({.access_policy = AccessPolicy{.memory = as_bytes(data.span()), .hit_ratio = ratio}}, nothing);
    CHECK(std::move(b).build().node_count() == 2);
}

TEST_CASE("an access policy of more memory than the device allows is refused with the limit", "[builder][attributes]") {
    int limit = 0;
    cudag::check(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxAccessPolicyWindowSize, 0));
    const std::size_t bytes = static_cast<std::size_t>(limit) + 1;
    const cudag::DeviceBuffer<std::byte> data(bytes);
    CHECK_THAT(refusal({.access_policy = AccessPolicy{.memory = as_bytes(data.span())}}),
               ContainsSubstring(std::to_string(bytes) + " bytes") && ContainsSubstring(std::to_string(limit)));
    GraphBuilder b;
    b.kernel({.access_policy = AccessPolicy{.memory = as_bytes(data.span()).subspan(0, bytes - 1)}}, nothing);
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("a broken grid is named also if there are attributes", "[builder][limits]") {
    GraphBuilder b;
    const auto grid = refused<GraphError>([&] { b.kernel({.grid = 0, .cluster = 2}, nothing); });
    CHECK_THAT(grid.what(), ContainsSubstring("grid.x is 0"));
    const auto block = refused<GraphError>([&] { b.kernel({.block = 2048, .cooperative = true}, nothing); });
    CHECK_THAT(block.what(), ContainsSubstring("block.x is 2048"));
    CHECK(std::move(b).build().node_count() == 0);
}
