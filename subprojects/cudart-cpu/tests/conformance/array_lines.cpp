// Copies that count bytes along the rows of an array, from one row to the next.
#include "arrays.hpp"
#include "handles.hpp"
#include "memory.hpp"

#include <vector>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // that they are is no reason not to work

namespace {

constexpr std::size_t one = sizeof(int);

std::vector<int> zeros(std::size_t count) {
    return std::vector<int>(count, 0);
}

std::vector<int> ones(std::size_t count) {
    return std::vector<int>(count, 1);
}

} // namespace

TEST_CASE("a line of bytes fills an array row by row", "[array-lines]") {
    const IntArray array(4, 3);
    array.write(zeros(12));
    const std::vector<int> values{1, 2, 3, 4, 5, 6, 7, 8};
    SECTION("from its start") {
        REQUIRE_CUDA(cudaMemcpyToArray(array, 0, 0, values.data(), 8 * one, cudaMemcpyHostToDevice));
        REQUIRE(array.read() == std::vector{1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0});
    }
    SECTION("from within a row to within another") {
        REQUIRE_CUDA(cudaMemcpyToArray(array, 2 * one, 0, values.data(), 8 * one, cudaMemcpyHostToDevice));
        REQUIRE(array.read() == std::vector{0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0});
    }
    SECTION("within one row") {
        REQUIRE_CUDA(cudaMemcpyToArray(array, one, 1, values.data(), 2 * one, cudaMemcpyHostToDevice));
        REQUIRE(array.read() == std::vector{0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0});
    }
    SECTION("in a stream") {
        Stream stream;
        REQUIRE_CUDA(cudaMemcpyToArrayAsync(array, 0, 1, values.data(), 8 * one, cudaMemcpyHostToDevice, stream));
        stream.synchronize();
        REQUIRE(array.read() == std::vector{0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8});
    }
}

TEST_CASE("a line of bytes is read from an array row by row", "[array-lines]") {
    const IntArray array(4, 3);
    array.write({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    std::vector<int> values(7, 0);
    SECTION("at once") {
        REQUIRE_CUDA(cudaMemcpyFromArray(values.data(), array, 3 * one, 0, 7 * one, cudaMemcpyDeviceToHost));
    }
    SECTION("in a stream") {
        Stream stream;
        REQUIRE_CUDA(
            cudaMemcpyFromArrayAsync(values.data(), array, 3 * one, 0, 7 * one, cudaMemcpyDeviceToHost, stream));
        stream.synchronize();
    }
    REQUIRE(values == std::vector{4, 5, 6, 7, 8, 9, 10});
}

TEST_CASE("a line of bytes goes from array to array", "[array-lines]") {
    const IntArray from(4, 3);
    const IntArray to(3, 4);
    from.write({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    to.write(zeros(12));
    REQUIRE_CUDA(cudaMemcpyArrayToArray(to, one, 0, from, 2 * one, 0, 7 * one, cudaMemcpyDeviceToDevice));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(to.read() == std::vector{0, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0});
}

TEST_CASE("a line that leaves the array is refused where it does", "[array-lines]") {
    const IntArray array(4, 2);
    const std::vector<int> values = ones(16);
    array.write(zeros(8));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMemcpyToArray(array, 0, 0, values.data(), 9 * one, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMemcpyToArray(array, one, 1, values.data(), 4 * one, cudaMemcpyHostToDevice));
    REQUIRE(array.read() == ones(8));
}

TEST_CASE("a line of no array, or in no direction, is refused", "[array-lines]") {
    const IntArray array(4, 2);
    std::vector<int> values(16, 1);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle,
                       cudaMemcpyToArray(nullptr, 0, 0, values.data(), one, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidMemcpyDirection,
                       cudaMemcpyToArray(array, 0, 0, values.data(), one, cudaMemcpyDeviceToHost));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidMemcpyDirection,
                       cudaMemcpyFromArray(values.data(), array, 0, 0, one, cudaMemcpyHostToDevice));
}
