// Fills: their checks and their execution.
#include "memory.hpp"
#include "runtime/call.hpp"
#include "runtime/text.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace cudart_cpu::detail {

void validate_set_shape(const cudaMemsetParams& set) {
    const unsigned size = set.elementSize;
    if (size != 1 && size != 2 && size != 4) {
        fail(cudaErrorInvalidValue, text("element size ", size, " is not 1, 2 or 4"));
    }
    if (set.width == 0 || set.height == 0) {
        return;
    }
    std::size_t row = 0;
    if (__builtin_mul_overflow(set.width, size, &row) || (set.height > 1 && row > set.pitch)) {
        fail(cudaErrorInvalidValue, "Pitch must be greater than width (in bytes) of fill");
    }
    if (reinterpret_cast<std::uintptr_t>(set.dst) % size != 0 || (set.height > 1 && set.pitch % size != 0)) {
        fail(cudaErrorInvalidValue,
             text("destination ", set.dst, " or pitch ", set.pitch, " is not aligned to ", size));
    }
}

std::string refuse_set_range(const cudaMemsetParams& set) {
    if (set.width == 0 || set.height == 0) {
        return {};
    }
    const std::optional<Range> range = find_allocation(set.dst);
    if (!range) {
        return "invalid memset range - no allocation found and cudaDevAttrPageableMemoryAccess is false";
    }
    const auto offset = static_cast<std::size_t>(static_cast<char*>(set.dst) - range->base);
    const std::size_t bytes = (set.height - 1) * set.pitch + set.width * set.elementSize;
    if (bytes > range->bytes - offset) {
        return text("Memset extends beyond allocation range: bytes ", offset, " to ", offset + bytes, " of ",
                    range->bytes);
    }
    return {};
}

void validate_set(const cudaMemsetParams& set) {
    validate_set_shape(set);
    if (std::string reason = refuse_set_range(set); !reason.empty()) {
        fail(cudaErrorInvalidValue, std::move(reason));
    }
}

void perform_set(const cudaMemsetParams& set) {
    if (set.width == 0) {
        return;
    }
    for (std::size_t y = 0; y < set.height; ++y) {
        char* row = static_cast<char*>(set.dst) + y * set.pitch;
        if (set.elementSize == 1) {
            std::memset(row, static_cast<int>(set.value & 0xFF), set.width);
            continue;
        }
        // Little-endian: the low bytes of the value are the element.
        for (std::size_t x = 0; x < set.width; ++x) {
            std::memcpy(row + x * set.elementSize, &set.value, set.elementSize);
        }
    }
}

} // namespace cudart_cpu::detail
