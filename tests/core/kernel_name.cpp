// What kernels are called in texts: as the source has them, without types and parameters.
#include "cuda/kernel_name.hpp"

#include "catch.hpp"
#include "kernels.hpp"

#include <cudag/detail/kernel_call.hpp>

using cudag::detail::kernel_name;
using cudag::detail::same_parameters;

namespace {

template <class... Args>
const void* symbol_of(void (*kernel)(Args...)) {
    return cudag::detail::kernel_symbol(kernel);
}

template <class... Args>
CUfunction function_of(void (*kernel)(Args...)) {
    cudaFunction_t found = nullptr;
    REQUIRE(cudaGetFuncBySymbol(&found, symbol_of(kernel)) == cudaSuccess);
    return found;
}

template <class... Args>
void check_name(void (*kernel)(Args...), const char* name) {
    CHECK(kernel_name(symbol_of(kernel)) == name);
    CHECK(kernel_name(function_of(kernel)) == name);
}

} // namespace

TEST_CASE("a kernel is called by its name alone") {
    check_name(sought, "sought");
    check_name(kernels::scoped, "kernels::scoped");
}

TEST_CASE("a template's kernel is called with its arguments, and without what it returns") {
    check_name(templated_for_int(), "templated<int>");
    check_name(templated_for_function(), "templated<void (*)(int)>");
}

TEST_CASE("what is no kernel is called one") {
    static int place = 0;
    CHECK(kernel_name(static_cast<const void*>(&place)) == "kernel");
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("kernels have the same parameters if their types are spelled alike") {
    CHECK(same_parameters(function_of(sought), function_of(other)));
    CHECK_FALSE(same_parameters(function_of(sought), function_of(kernels::scoped)));
    CHECK_FALSE(same_parameters(function_of(templated_for_int()), function_of(templated_for_function())));
}
