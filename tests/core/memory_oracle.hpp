// Random regions of memory, and their bytes one by one.
#pragma once

#include "plan/memory_access.hpp"
#include "random.hpp"

#include <algorithm>
#include <bitset>
#include <cstdlib>

using Bytes = std::bitset<320>;

/// By CUDAG_RACE_SEEDS.
inline unsigned long program_count() {
    const char* const given = std::getenv("CUDAG_RACE_SEEDS");
    return given == nullptr ? 2'000 : std::strtoul(given, nullptr, 10);
}

inline Bytes bytes_of(const cudag::detail::MemoryRegion& region) {
    Bytes bytes;
    for (std::size_t slice = 0; slice < region.slices; ++slice)
        for (std::size_t row = 0; row < region.rows; ++row)
            for (std::size_t byte = 0; byte < region.row_bytes; ++byte)
                bytes.set(region.begin + slice * region.slice_pitch + row * region.pitch + byte);
    return bytes;
}

/// A range, rows, or slices, often of the few pitches that the matrices of a program have, and seldom empty.
inline cudag::detail::MemoryRegion random_region(Random& random) {
    cudag::detail::MemoryRegion region{random.below(64), 1 + random.below(random.below(2) == 0 ? 8 : 64)};
    if (random.below(40) == 0) region.row_bytes = 0;
    if (random.below(2) == 0) return region;
    constexpr std::size_t pitches[] = {8, 16, 16, 16, 24, 32};
    region.begin = random.below(3) == 0 ? random.below(64) : 8 * random.below(6);
    region.pitch = random.below(4) == 0 ? 1 + random.below(24) : pitches[random.below(6)];
    region.row_bytes = 1 + random.below(region.pitch + 1);
    region.rows = 1 + random.below(5);
    if (random.below(40) == 0) region.rows = 0;
    if (random.below(2) == 0 || region.rows == 0) return region;
    region.rows = 1 + random.below(3);
    region.slices = 1 + random.below(2);
    region.slice_pitch = region.rows * region.pitch;
    if (random.below(2) == 0) region.slice_pitch += random.below(2) == 0 ? region.pitch : random.below(16);
    const std::size_t slice = (region.rows - 1) * region.pitch + region.row_bytes;
    region.slice_pitch = std::max(region.slice_pitch, slice);
    return region;
}
