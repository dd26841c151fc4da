// What kernels read from texture objects, and read and write through surface objects.
#pragma once

#include "memory/surfaces.hpp"
#include "memory/textures.hpp"

#include <array>
#include <cstdint>

namespace cudart_cpu::detail {

/// Where a kernel fetches: in the texture's own units, or from 0 to 1 if its coordinates are normalised.
struct Fetch {
    unsigned dimensions = 1;
    bool cube = false;
    bool whole_numbers = false; ///< of elements: not filtered
    std::array<float, 3> at{};
    std::array<int, 3> element{};
    unsigned layer = 0;
    float level = 0;
};

/// The four channels: floats by their bits, integers as they are.
std::array<std::uint32_t, 4> fetch(const Texture& texture, const Fetch& where);
/// One channel of the four elements between which a linear fetch would be.
std::array<std::uint32_t, 4> gather(const Texture& texture, const Fetch& where, unsigned channel);
/// How many levels further away the derivatives say that this is.
float level_of(const Texture& texture, unsigned dimensions, const float* dx, const float* dy);

/// Null outside of the surface, where `clamps` does not move it inside. `x` is in bytes.
char* surface_element(const Surface& surface, int x, int y, int z, unsigned bytes, bool clamps);

} // namespace cudart_cpu::detail
