// Which nodes launch a kernel, of all devices and whoever made them.
#include "handles/kernel_match.hpp"

#include "catch.hpp"
#include "kernels.hpp"

#include <cudag/detail/kernel_call.hpp>

using cudag::detail::KernelMatch;
using cudag::detail::KernelParams;
using cudag::detail::NodeParams;

namespace {

const void* symbol_of(void (*kernel)()) {
    return cudag::detail::kernel_symbol(kernel);
}

CUkernel cuda_kernel(void (*kernel)()) {
    cudaKernel_t found = nullptr;
    REQUIRE(cudaGetKernel(&found, symbol_of(kernel)) == cudaSuccess);
    return found;
}

/// Whether a node launches `sought`, of which these are known.
bool matches(CUfunction function, const void* symbol, CUkernel kernel) {
    const KernelParams params{function, symbol, nullptr, {}, nullptr, kernel};
    KernelMatch match(symbol_of(sought), "find ");
    const bool result = match(NodeParams(&params));
    CHECK(match(NodeParams(&params)) == result); // also when it is asked again
    return result;
}

} // namespace

TEST_CASE("a kernel is known by its function, and on other devices by what it is on all") {
    cudaFunction_t function = nullptr;
    REQUIRE(cudaGetFuncBySymbol(&function, symbol_of(sought)) == cudaSuccess);
    CHECK(matches(function, nullptr, nullptr));
    int place = 0;
    const auto elsewhere = reinterpret_cast<CUfunction>(&place); // a function of another device, which is not called
    CHECK(matches(elsewhere, symbol_of(sought), nullptr));       // of a node that cudag made
    CHECK_FALSE(matches(elsewhere, symbol_of(other), nullptr));
    CHECK(matches(elsewhere, nullptr, cuda_kernel(sought))); // of a node that was read
    CHECK_FALSE(matches(elsewhere, nullptr, cuda_kernel(other)));
    KernelMatch match(symbol_of(sought), "find ");
    CHECK_FALSE(match(NodeParams()));
}
