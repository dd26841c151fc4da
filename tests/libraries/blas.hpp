// A handle of cuBLAS, and a product of square matrices.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include <cublas_v2.h>

#include "memory.hpp"

inline void require(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw std::runtime_error(std::string("cuBLAS: ") + cublasGetStatusString(status));
}

struct Blas {
    explicit Blas(const cudag::Stream& stream) {
        require(cublasCreate(&handle));
        require(cublasSetStream(handle, stream.get()));
    }
    ~Blas() { cublasDestroy(handle); }
    Blas(const Blas&) = delete;
    Blas& operator=(const Blas&) = delete;

    cublasHandle_t handle = nullptr;
};

constexpr int side = 96;
constexpr std::size_t cells = std::size_t{side} * side;

/// product = a * b, with `columns` columns of b and of the product.
inline void multiply(const Blas& blas, const float* a, const float* b, float* product, int columns = side) {
    const float one = 1;
    const float zero = 0;
    require(cublasSgemm(blas.handle, CUBLAS_OP_N, CUBLAS_OP_N, side, columns, side, &one, a, side, b, side, &zero,
                        product, side));
}
inline void multiply(const Blas& blas, const cudag::DeviceBuffer<float>& a, const cudag::DeviceBuffer<float>& b,
                     const cudag::DeviceBuffer<float>& product) {
    multiply(blas, a.data(), b.data(), product.data());
}
