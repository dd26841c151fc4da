// Mipmapped arrays and their levels.
#include "test.hpp"

#include <cuda_runtime.h>

#include <array>
#include <vector>

namespace {

const cudaChannelFormatDesc floats{32, 0, 0, 0, cudaChannelFormatKindFloat};

class Mipmapped {
  public:
    Mipmapped(cudaExtent extent, unsigned levels, unsigned flags = 0) {
        REQUIRE_CUDA(cudaMallocMipmappedArray(&array_, &floats, extent, levels, flags));
    }
    ~Mipmapped() { CHECK(cudaFreeMipmappedArray(array_) == cudaSuccess); }
    Mipmapped(const Mipmapped&) = delete;
    Mipmapped& operator=(const Mipmapped&) = delete;

    operator cudaMipmappedArray_t() const { return array_; }
    cudaArray_t level(unsigned number) const {
        cudaArray_t array = nullptr;
        REQUIRE_CUDA(cudaGetMipmappedArrayLevel(&array, array_, number));
        return array;
    }

  private:
    cudaMipmappedArray_t array_ = nullptr;
};

cudaExtent extent_of(cudaArray_t array) {
    cudaExtent extent{};
    REQUIRE_CUDA(cudaArrayGetInfo(nullptr, &extent, nullptr, array));
    return extent;
}

} // namespace

TEST_CASE("each level is half as large as the one before", "[mipmapped]") {
    const Mipmapped array(make_cudaExtent(16, 4, 0), 5);
    const std::array<std::array<std::size_t, 2>, 5> sizes{{{16, 4}, {8, 2}, {4, 1}, {2, 1}, {1, 1}}};
    for (unsigned level = 0; level < sizes.size(); ++level) {
        const cudaExtent extent = extent_of(array.level(level));
        REQUIRE(extent.width == sizes[level][0]);
        REQUIRE(extent.height == sizes[level][1]);
        REQUIRE(extent.depth == 0);
    }
}

TEST_CASE("levels have memory of their own", "[mipmapped]") {
    const Mipmapped array(make_cudaExtent(4, 2, 0), 2);
    const std::vector<float> large{1, 2, 3, 4, 5, 6, 7, 8};
    const std::vector<float> small{9, 10};
    REQUIRE_CUDA(cudaMemcpy2DToArray(array.level(0), 0, 0, large.data(), 16, 16, 2, cudaMemcpyHostToDevice));
    REQUIRE_CUDA(cudaMemcpy2DToArray(array.level(1), 0, 0, small.data(), 8, 8, 1, cudaMemcpyHostToDevice));
    std::vector<float> back(8);
    REQUIRE_CUDA(cudaMemcpy2DFromArray(back.data(), 16, array.level(0), 0, 0, 16, 2, cudaMemcpyDeviceToHost));
    REQUIRE(back == large);
    back.resize(2);
    REQUIRE_CUDA(cudaMemcpy2DFromArray(back.data(), 8, array.level(1), 0, 0, 8, 1, cudaMemcpyDeviceToHost));
    REQUIRE(back == small);
}

TEST_CASE("a level that there is not is refused", "[mipmapped]") {
    const Mipmapped array(make_cudaExtent(16, 0, 0), 3);
    cudaArray_t level = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&level, array, 3));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(nullptr, array, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaGetMipmappedArrayLevel(&level, nullptr, 0));
    REQUIRE(level == nullptr);
}

TEST_CASE("there are no more levels than sizes", "[mipmapped]") {
    const Mipmapped array(make_cudaExtent(4, 0, 0), 9);
    REQUIRE(extent_of(array.level(2)).width == 1);
    cudaArray_t level = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&level, array, 3));
}

TEST_CASE("layers are in all levels", "[mipmapped]") {
    const Mipmapped array(make_cudaExtent(8, 8, 3), 2, cudaArrayLayered);
    REQUIRE(extent_of(array.level(1)).width == 4);
    REQUIRE(extent_of(array.level(1)).depth == 3);
}

TEST_CASE("slices become fewer from level to level", "[mipmapped]") {
    const Mipmapped array(make_cudaExtent(8, 8, 4), 2);
    REQUIRE(extent_of(array.level(1)).depth == 2);
}

TEST_CASE("a mipmapped array that cannot be made is refused", "[mipmapped]") {
    cudaMipmappedArray_t array = nullptr;
    const cudaChannelFormatDesc none{7, 0, 0, 0, cudaChannelFormatKindFloat};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMallocMipmappedArray(nullptr, &floats, make_cudaExtent(4, 0, 0), 1, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMallocMipmappedArray(&array, nullptr, make_cudaExtent(4, 0, 0), 1, 0));
    REQUIRE(cudaMallocMipmappedArray(&array, &none, make_cudaExtent(4, 0, 0), 1, 0) != cudaSuccess);
    static_cast<void>(cudaGetLastError());
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMallocMipmappedArray(&array, &floats, make_cudaExtent(0, 0, 0), 1, 0));
    REQUIRE(array == nullptr);
}

TEST_CASE("a mipmapped array has at least one level", "[mipmapped]") {
    const Mipmapped array(make_cudaExtent(4, 0, 0), 0);
    REQUIRE(extent_of(array.level(0)).width == 4);
}

TEST_CASE("no mipmapped array may be freed", "[mipmapped]") {
    REQUIRE_CUDA(cudaFreeMipmappedArray(nullptr));
}

TEST_CASE("a level that is freed leaves its mipmapped array to be freed", "[mipmapped]") {
    const Mipmapped array(make_cudaExtent(4, 0, 0), 1);
    REQUIRE_CUDA(cudaFreeArray(array.level(0)));
}
