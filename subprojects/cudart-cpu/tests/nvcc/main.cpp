// Runs the tests of the .cu files as sections of one test case.
#include "catch.hpp"
#include "kernel_test.hpp"

std::vector<KernelTest>& kernel_tests() {
    static std::vector<KernelTest> tests;
    return tests;
}

TEST_CASE("kernels that nvcc compiles compute what C++ does", "[nvcc]") {
    REQUIRE_FALSE(kernel_tests().empty());
    for (const KernelTest& test : kernel_tests()) {
        DYNAMIC_SECTION(test.name) {
            REQUIRE_NOTHROW(test.run());
        }
    }
}
