// The assertion of these tests: ends the program with the place and the text of what is wrong.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
/// The call must give exactly this code.
#define CHECK_CODE(expected, call) check_code((expected), (call), #call, __FILE__, __LINE__)
#define CHECK_OK(call) CHECK_CODE(cudaSuccess, call)

inline void check(bool holds, const char* text, const char* file, int line) {
    if (!holds) {
        std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, text);
        std::_Exit(1);
    }
}

inline void check_code(cudaError_t expected, cudaError_t actual, const char* call, const char* file, int line) {
    if (expected != actual) {
        std::fprintf(stderr, "%s:%d: %s: expected %s, got %s\n", file, line, call, cudaGetErrorName(expected),
                     cudaGetErrorName(actual));
        std::_Exit(1);
    }
}
