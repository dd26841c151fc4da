// A cache of the driver's functions for kernels.
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace cudag::detail {

/// Caches the functions of up to `size` kernels; a colliding entry is replaced.
template <std::size_t size>
class FunctionCache {
  public:
    /// The function of the kernel `symbol` in the current context, identified by `context`. `look_up()` finds it the
    /// first time.
    template <class LookUp>
    [[nodiscard]] CUfunction find(const void* symbol, std::uint64_t context, const LookUp& look_up) {
        Entry& entry = entries_[(reinterpret_cast<std::uintptr_t>(symbol) >> 4U) % size];
        if (entry.symbol == symbol && entry.context == context) [[likely]]
            return entry.function;
        const CUfunction function = look_up();
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
