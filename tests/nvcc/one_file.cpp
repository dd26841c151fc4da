// cudag's headers in a .cu file through nvcc, on both runtimes.
#include "one_file.hpp"

#include "catch.hpp"

TEST_CASE("a .cu file captures its own <<<>>> with shared memory", "[nvcc]") {
    CHECK(test::captured_launches() == 42);
}

TEST_CASE("a kernel of a .cu file ends a loop by its Condition", "[nvcc][conditionals]") {
    CHECK(test::turns_of_loop(5) == 5);
    CHECK(test::turns_of_loop(1) == 1);
}

TEST_CASE("a kernel that takes CUDA's handle ends a loop by the Condition it is given", "[nvcc][conditionals]") {
    CHECK(test::turns_of_loop_by_handle(5) == 5);
}

TEST_CASE("a .cu file repeats a body, and sets a condition from memory", "[nvcc][conditionals]") {
    CHECK(test::repeated(3, true) == 103);
    CHECK(test::repeated(3, false) == 3);
}

TEST_CASE("a .cu file chooses a plan by a conditional expression", "[nvcc]") {
    CHECK(test::planned(false) == 7);
    CHECK(test::planned(true) == 7);
}
