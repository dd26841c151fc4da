// Addresses of device variables.
#include <cudag/symbol.hpp>

#include "cuda/failure.hpp"

#include <fmt/format.h>

namespace cudag::detail {

void* symbol_address(const void* variable) {
    void* address = nullptr;
    const cudaError_t status = cudaGetSymbolAddress(&address, variable);
    if (status == cudaErrorInvalidSymbol) {
        ignore(status);
        refuse<Error>(
            fmt::format("symbol: CUDA knows no __device__ or __constant__ variable at {}; the variable itself "
                        "is passed, not a pointer or a copy of it",
                        variable),
            {}, status);
    }
    checked(status, "cudaGetSymbolAddress");
    return address;
}

} // namespace cudag::detail
