// What every conformance test needs: Catch2, the Runtime API, and requirements that speak of CUDA's error codes.
#pragma once

#include "catch.hpp"

#include <cuda_runtime_api.h>

#include <string>

template <>
struct Catch::StringMaker<cudaError_t> {
    static std::string convert(cudaError_t code) { return cudaGetErrorName(code); }
};

#define REQUIRE_CUDA(...) REQUIRE((__VA_ARGS__) == cudaSuccess)

/// The call returns `code` and leaves it as the thread's last error, which is cleared.
#define REQUIRE_CUDA_ERROR(code, ...)                                                                                  \
    do {                                                                                                               \
        REQUIRE((__VA_ARGS__) == (code));                                                                              \
        REQUIRE(cudaGetLastError() == (code));                                                                         \
    } while (false)

/// The call says that work is still pending, which is no error: the last error stays clear.
#define REQUIRE_NOT_READY(...)                                                                                         \
    do {                                                                                                               \
        REQUIRE((__VA_ARGS__) == cudaErrorNotReady);                                                                   \
        REQUIRE(cudaPeekAtLastError() == cudaSuccess);                                                                 \
    } while (false)
