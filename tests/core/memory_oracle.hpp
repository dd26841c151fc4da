// Random regions of memory, and their bytes one by one.
#pragma once

#include "accesses/memory_access.hpp"
#include "random.hpp"

#include <algorithm>
#include <bitset>
#include <cstdlib>

using Bytes = std::bitset<384>;

/// By CUDAG_RACE_SEEDS.
inline unsigned long program_count() {
    const char* const given = std::getenv("CUDAG_RACE_SEEDS");
    return given == nullptr ? 2'000 : std::strtoul(given, nullptr, 10);
}

inline Bytes bytes_of(const cudag::detail::MemoryBlock& region) {
    Bytes bytes;
    for (std::size_t slice = 0; slice < region.slices; ++slice)
        for (std::size_t row = 0; row < region.rows; ++row)
            for (std::size_t byte = 0; byte < region.row_bytes; ++byte)
                bytes.set(region.begin + slice * region.slice_pitch + row * region.pitch + byte);
    return bytes;
}

/// Ranges, rows and slices as those of one program.
class RandomMemory {
  public:
    explicit RandomMemory(Random& random) : random_(random), is_matrix_(random.below(3) == 0) {
        if (is_matrix_) pitch_ = 8 + 4 * random.below(2);
    }

    cudag::detail::MemoryBlock region() {
        if (random_.below(40) == 0) return {random_.below(64), 0};
        if (is_matrix_) return part_of_matrix();
        if (random_.below(2) == 0) return {random_.below(64), 1 + random_.below(random_.below(2) == 0 ? 8 : 64)};
        const std::size_t pitch = random_.below(4) == 0 ? 1 + random_.below(24) : pitch_;
        const std::uintptr_t begin = random_.below(3) == 0 ? random_.below(64) : 8 * random_.below(6);
        const std::size_t bytes = 1 + random_.below(pitch + 1);
        if (random_.below(2) == 0) return {begin, bytes, random_.below(6), pitch};
        const std::size_t rows = 1 + random_.below(3);
        std::size_t slice_pitch = rows * pitch;
        if (random_.below(2) == 0) slice_pitch += random_.below(2) == 0 ? pitch : random_.below(16);
        return {begin, bytes, rows, pitch, 1 + random_.below(3), std::max(slice_pitch, (rows - 1) * pitch + bytes)};
    }

  private:
    /// Of a matrix of 24 rows, of which some begin on one row and end on the next.
    cudag::detail::MemoryBlock part_of_matrix() {
        const std::uintptr_t begin = 4 * random_.below(random_.below(2) == 0 ? 4 : 24);
        const std::size_t rows = random_.below(4) == 0 ? 1 : 6 * (1 + random_.below(3));
        if (random_.below(6) == 0) return {begin, 4 * rows};
        return {begin, 1 + random_.below(pitch_), rows, pitch_};
    }

    Random& random_;
    bool is_matrix_;
    std::size_t pitch_ = 16;
};
