// What is said to be wrong with a launch: both sides of each limit, and which failures are explained by one.
#include "node/launch_check.hpp"
#include "kernels.hpp"
#include "node/attribute_check.hpp"
#include "node/launch_attributes.hpp"

#include <cudag/detail/kernel_call.hpp>
#include <cudag/error.hpp>

#include "catch.hpp"

#include <cstddef>
#include <string>
#include <vector>

using namespace cudag::detail;
using cudag::GraphError;
using cudag::LaunchConfig;

namespace {

const int no_kernel = 0; // its address is none that CUDA knows

unsigned limit_of(cudaDeviceAttr name) {
    int value = 0;
    cudag::check(cudaDeviceGetAttribute(&value, name, 0));
    return static_cast<unsigned>(value);
}

template <class Config>
void check_limit(const char* name, cudaDeviceAttr limit, const Config& config_with) {
    CAPTURE(name);
    const unsigned most = limit_of(limit);
    CHECK(broken_limit(config_with(1), nullptr).empty());
    CHECK(broken_limit(config_with(most), nullptr).empty());
    CHECK_THAT(broken_limit(config_with(most + 1), nullptr),
               StartsWith(std::string(name) + " is " + std::to_string(most + 1) + "; this device allows " +
                          std::to_string(most)));
    CHECK_THAT(broken_limit(config_with(0), nullptr), StartsWith(std::string(name) + " is 0; every "));
}

std::string explained(cudaError_t status) {
    try {
        raise_launch<GraphError>(status, "cuLaunch", {"kernel k"}, Api::driver, {.grid = 0}, nullptr);
    } catch (const GraphError& error) {
        CHECK(error.code().value() == status);
        CHECK(error.operation() == "cuLaunch");
        return error.what();
    }
}

} // namespace

TEST_CASE("a launch at a limit of the device is sound, and one above is not", "[core][limits]") {
    check_limit("grid.x", cudaDevAttrMaxGridDimX, [](unsigned n) { return LaunchConfig{.grid = {n, 1, 1}}; });
    check_limit("grid.y", cudaDevAttrMaxGridDimY, [](unsigned n) { return LaunchConfig{.grid = {1, n, 1}}; });
    check_limit("grid.z", cudaDevAttrMaxGridDimZ, [](unsigned n) { return LaunchConfig{.grid = {1, 1, n}}; });
    check_limit("block.x", cudaDevAttrMaxBlockDimX, [](unsigned n) { return LaunchConfig{.block = {n, 1, 1}}; });
    check_limit("block.y", cudaDevAttrMaxBlockDimY, [](unsigned n) { return LaunchConfig{.block = {1, n, 1}}; });
    check_limit("block.z", cudaDevAttrMaxBlockDimZ, [](unsigned n) { return LaunchConfig{.block = {1, 1, n}}; });
}

TEST_CASE("a block of as many threads as are allowed is sound, and a larger one is not", "[core][limits]") {
    const unsigned most = limit_of(cudaDevAttrMaxThreadsPerBlock);
    CHECK(broken_limit({.block = {most / 2, 2, 1}}, nullptr).empty());
    CHECK_THAT(broken_limit({.block = {most / 2 + 1, 2, 1}}, nullptr),
               ContainsSubstring(" threads; this device allows " + std::to_string(most)));
    const void* const kernel = kernel_symbol(sought);
    cudaFuncAttributes attributes{};
    cudag::check(cudaFuncGetAttributes(&attributes, kernel));
    const auto threads = static_cast<unsigned>(attributes.maxThreadsPerBlock);
    CHECK(broken_limit({.block = {1, threads, 1}}, kernel).empty());
    CHECK_THAT(broken_limit({.block = {threads / 2 + 1, 2, 1}}, kernel),
               ContainsSubstring(" threads; this kernel allows " + std::to_string(threads)));
}

TEST_CASE("a kernel has as much shared memory as it allows, and not more", "[core][limits]") {
    const void* const kernel = kernel_symbol(sought);
    cudaFuncAttributes attributes{};
    cudag::check(cudaFuncGetAttributes(&attributes, kernel));
    const auto most = static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes);
    CHECK(broken_limit({.shared_bytes = most}, kernel).empty());
    CHECK_THAT(broken_limit({.shared_bytes = most + 1}, kernel),
               StartsWith(std::to_string(most + 1) + " bytes of dynamic shared memory; this kernel allows " +
                          std::to_string(most)));
}

TEST_CASE("shared memory that is to be portable has a limit, of the device", "[core][limits]") {
    using cudag::SharedMemoryMode;
    const std::size_t most = limit_of(cudaDevAttrMaxSharedMemoryPerBlock);
    const auto problem = [](std::size_t bytes, SharedMemoryMode mode) {
        return broken_shared_memory_mode({.shared_bytes = bytes, .shared_memory_mode = mode}, nullptr);
    };
    CHECK(problem(most, SharedMemoryMode::require_portable).empty());
    CHECK(problem(most + 1, SharedMemoryMode::allow_non_portable).empty());
    CHECK_THAT(problem(most + 1, SharedMemoryMode::require_portable),
               StartsWith(std::to_string(most + 1) + " bytes") &&
                   ContainsSubstring("every device gives " + std::to_string(most)));
}

TEST_CASE("a question about what is no kernel leaves CUDA's last error as it was", "[core][limits]") {
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
    CHECK(broken_limit({}, &no_kernel).empty());
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(broken_cluster({.grid = {16, 1, 1}, .cluster = {16, 1, 1}}, &no_kernel).empty());
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("only what CUDA says of an invalid launch is explained by a limit", "[core][limits]") {
    for (const cudaError_t status : {cudaErrorInvalidValue, cudaErrorInvalidConfiguration})
        CHECK_THAT(explained(status), StartsWith("cudag: kernel k: grid.x is 0"));
    for (const cudaError_t status : {cudaErrorMemoryAllocation, cudaErrorInvalidResourceHandle})
        CHECK_THAT(explained(status), ContainsSubstring("cuLaunch") && !ContainsSubstring("grid.x"));
}
