// CUDA arrays of ints for the tests.
#pragma once

#include "test.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

class IntArray {
  public:
    /// Dimensions that the array does not have are 0.
    explicit IntArray(std::size_t width, std::size_t height = 0, std::size_t depth = 0, unsigned flags = 0)
        : extent_(make_cudaExtent(width, height, depth)) {
        const cudaChannelFormatDesc ints = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
        REQUIRE_CUDA(cudaMalloc3DArray(&array_, &ints, extent_, flags));
    }
    ~IntArray() { CHECK(cudaFreeArray(array_) == cudaSuccess); }
    IntArray(const IntArray&) = delete;
    IntArray& operator=(const IntArray&) = delete;

    operator cudaArray_t() const { return array_; }

    void write(const std::vector<int>& values) const {
        cudaMemcpy3DParms params = whole();
        params.dstArray = array_;
        params.srcPtr = pointer(const_cast<int*>(values.data()));
        params.kind = cudaMemcpyHostToDevice;
        REQUIRE(values.size() == count());
        REQUIRE_CUDA(cudaMemcpy3D(&params));
        REQUIRE_CUDA(cudaDeviceSynchronize());
    }
    std::vector<int> read() const {
        std::vector<int> values(count());
        cudaMemcpy3DParms params = whole();
        params.srcArray = array_;
        params.dstPtr = pointer(values.data());
        params.kind = cudaMemcpyDeviceToHost;
        REQUIRE_CUDA(cudaMemcpy3D(&params));
        return values;
    }

  private:
    std::size_t rows() const { return extent_.height == 0 ? 1 : extent_.height; }
    std::size_t slices() const { return extent_.depth == 0 ? 1 : extent_.depth; }
    std::size_t count() const { return extent_.width * rows() * slices(); }
    cudaPitchedPtr pointer(int* data) const {
        return make_cudaPitchedPtr(data, extent_.width * sizeof(int), extent_.width * sizeof(int), rows());
    }
    cudaMemcpy3DParms whole() const {
        cudaMemcpy3DParms params{};
        params.extent = make_cudaExtent(extent_.width, rows(), slices());
        return params;
    }

    cudaExtent extent_;
    cudaArray_t array_ = nullptr;
};
