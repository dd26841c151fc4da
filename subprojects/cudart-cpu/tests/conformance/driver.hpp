// The driver's entry points, as the Runtime hands them out.
#pragma once

#include "nodes.hpp"

#include <cudaTypedefs.h>

#include <string>

template <>
struct Catch::StringMaker<CUresult> {
    static std::string convert(CUresult code) { return "CUresult " + std::to_string(static_cast<int>(code)); }
};

template <class Function>
Function entry_point(const char* name, unsigned version) {
    void* function = nullptr;
    auto status = cudaDriverEntryPointSymbolNotFound;
    REQUIRE_CUDA(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &status));
    REQUIRE(status == cudaDriverEntryPointSuccess);
    REQUIRE(function != nullptr);
    return reinterpret_cast<Function>(function);
}

inline CUfunction function_of(const void* symbol) {
    cudaFunction_t function = nullptr;
    REQUIRE_CUDA(cudaGetFuncBySymbol(&function, symbol));
    return function;
}
