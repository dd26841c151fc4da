// A cache of the driver's functions for kernels.
#pragma once

#include "failure.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace cudag::detail {

/// Caches the functions of up to `size` kernels; a colliding entry is replaced.
template <std::size_t size>
class FunctionCache {
  public:
    /// The function of the kernel `symbol` in the current context; `context` identifies the context. Throws E if CUDA
    /// does not know the kernel; `subject()` is called only then.
    template <class E, class MakeSubject>
    [[nodiscard]] CUfunction find(const void* symbol, std::uint64_t context, const MakeSubject& subject) {
        Entry& entry = entries_[(reinterpret_cast<std::uintptr_t>(symbol) >> 4U) % size];
        if (entry.symbol == symbol && entry.context == context) [[likely]]
            return entry.function;
        cudaFunction_t function = nullptr;
        const cudaError_t status = cudaGetFuncBySymbol(&function, symbol);
        if (status != cudaSuccess) raise_call<E>(status, "cudaGetFuncBySymbol", subject());
        entry = {symbol, context, function};
        return function;
    }

  private:
    struct Entry {
        const void* symbol = nullptr;
        std::uint64_t context = 0;
        CUfunction function = nullptr;
    };

    std::array<Entry, size> entries_{};
};

} // namespace cudag::detail
