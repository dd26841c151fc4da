// Plain launches with attributes.
#include "attributes.hpp"

using cudag::Error;
using cudag::LaunchConfig;
using cudag::Stream;

namespace {

/// How many threads a launch of `config` ran.
unsigned threads_of(const LaunchConfig& config) {
    const auto count = device({0U, 0U});
    const Stream stream;
    cudag::launch(stream, config, count_threads, count.data(), count.data() + 1, 1U);
    stream.synchronize();
    return read(count).at(0);
}

std::string refusal(const LaunchConfig& config, cudaError_t code = cudaErrorInvalidValue) {
    const Stream stream;
    const auto cell = device({5});
    const auto error = refused<Error>([&] { cudag::launch(stream, config, store, cell, 6); });
    CHECK(error.code() == cuda_code(code));
    CHECK_THAT(error.what(), ContainsSubstring("launch of store"));
    stream.synchronize();
    CHECK(read(cell) == std::vector{5});
    return error.what();
}

} // namespace

TEST_CASE("a plain launch honours attributes", "[stream][attributes]") {
    const cudag::DeviceBuffer<int> data(1024);
    CHECK(threads_of({.grid = 4, .block = 32, .cluster = 2}) == 128);
    CHECK(threads_of({.grid = 4, .block = 32, .cooperative = true}) == 128);
    CHECK(threads_of({.grid = 4, .block = 32, .memory_sync_domain = cudag::MemorySyncDomain::remote}) == 128);
    CHECK(threads_of({.grid = 4, .block = 32, .priority = PriorityRange().greatest}) == 128);
    CHECK(threads_of({.grid = 4, .block = 32, .access_policy = cudag::AccessPolicy{.memory = as_bytes(data.span())}}) ==
          128);
}

TEST_CASE("a plain launch refuses attributes by name", "[stream][attributes]") {
    CHECK_THAT(refusal({.grid = 10, .cluster = 4}, cudaErrorInvalidClusterSize), ContainsSubstring("grid.x is 10"));
    CHECK_THAT(refusal({.priority = 1000}), ContainsSubstring("priority is 1000"));
    CHECK_THAT(refusal({.grid = 1'000'000, .cooperative = true}, cudaErrorCooperativeLaunchTooLarge),
               ContainsSubstring("cooperative grid of 1000000"));
}

TEST_CASE("a plain launch cannot be device-updatable", "[stream][attributes]") {
    CHECK_THAT(refusal({.device_updatable = true}), ContainsSubstring("device_updatable: only a node of a graph"));
}
