// Reads of texture objects by kernels, and accesses to surface objects.
#pragma once

#include "memory/surfaces.hpp"
#include "memory/textures.hpp"

#include <array>
#include <cstdint>

namespace cudart_cpu::detail {

/// The place of a kernel's fetch: in the texture's own units, or from 0 to 1 for normalised coordinates.
struct Fetch {
    unsigned dimensions = 1;
    bool cube = false;
    bool whole_numbers = false; ///< the place is `element`: not filtered
    std::array<float, 3> at{};
    std::array<int, 3> element{};
    unsigned layer = 0;
    float level = 0;
};

/// The four channels: floats by their bits, integers as they are.
std::array<std::uint32_t, 4> fetch(const Texture& texture, const Fetch& where);
/// The same for textures with plain.data: `dimensions` are 1 or 2.
void fetch_plain(const PlainTexture& texture, unsigned dimensions, float x, float y, std::uint32_t* channels);
/// Reads the channels of a plain texture's element; those that it lacks stay.
void copy_element(const PlainTexture& texture, const char* from, std::uint32_t* channels);
/// One channel of the four elements around the place, as for a linear fetch.
std::array<std::uint32_t, 4> gather(const Texture& texture, const Fetch& where, unsigned channel);
/// The distance in levels, computed from the derivatives.
float level_of(const Texture& texture, unsigned dimensions, const float* dx, const float* dy);

/// Returns null outside the surface, unless `clamps` moves the place inside. `x` is in bytes.
char* surface_element(const Surface& surface, int x, int y, int z, unsigned bytes, bool clamps);

} // namespace cudart_cpu::detail
