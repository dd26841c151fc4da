// Reads of texture objects by kernels, and accesses to surface objects.
#include "texture_fetch.hpp"

#include <cudart_cpu/detail/ptx/half.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace cudart_cpu::detail {

namespace {

using Channels = std::array<std::uint32_t, 4>;
using Indices = std::array<int, 3>;

int size_of(const Texels& texels, unsigned dimension) {
    const std::size_t size = dimension == 0   ? texels.extent.width
                             : dimension == 1 ? texels.extent.height
                                              : texels.extent.depth;
    return static_cast<int>(std::max<std::size_t>(size, 1));
}

/// The index inside for an index outside; -1 for the border.
int addressed(int index, int size, cudaTextureAddressMode mode) {
    if (index >= 0 && index < size) return index;
    switch (mode) {
    case cudaAddressModeWrap: {
        const int rest = index % size;
        return rest < 0 ? rest + size : rest;
    }
    case cudaAddressModeMirror: {
        int rest = index % (2 * size);
        if (rest < 0) rest += 2 * size;
        return rest < size ? rest : 2 * size - 1 - rest;
    }
    case cudaAddressModeBorder:
        return -1;
    default:
        return std::clamp(index, 0, size - 1);
    }
}

/// The effective mode of a dimension: unnormalised coordinates neither wrap nor mirror.
cudaTextureAddressMode address_mode(const Texture& texture, unsigned dimension) {
    const cudaTextureAddressMode mode = texture.sampling.addressMode[dimension];
    const bool needs_normalized = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
    return needs_normalized && texture.sampling.normalizedCoords == 0 ? cudaAddressModeClamp : mode;
}

std::uint32_t channel_of(const char* from, int bits, const Texture& texture) {
    const cudaChannelFormatKind kind = texture.levels.front().desc.f;
    const bool is_signed = kind == cudaChannelFormatKindSigned;
    std::uint32_t raw = 0;
    std::memcpy(&raw, from, static_cast<std::size_t>(bits) / 8);
    if (kind == cudaChannelFormatKindFloat)
        return bits == 32 ? raw : std::bit_cast<std::uint32_t>(ptx::widen(ptx::f16{static_cast<std::uint16_t>(raw)}));
    const auto value = is_signed && bits < 32 ? static_cast<std::int32_t>(raw << (32 - bits)) >> (32 - bits)
                                              : static_cast<std::int32_t>(raw);
    if (texture.sampling.readMode != cudaReadModeNormalizedFloat || bits > 16) return static_cast<std::uint32_t>(value);
    const float largest = static_cast<float>((1u << (bits - (is_signed ? 1 : 0))) - 1);
    return std::bit_cast<std::uint32_t>(std::max(static_cast<float>(value) / largest, -1.0f));
}

bool gives_floats(const Texture& texture) {
    return texture.levels.front().desc.f == cudaChannelFormatKindFloat ||
           texture.sampling.readMode == cudaReadModeNormalizedFloat;
}

Channels element_at(const Texture& texture, const Texels& texels, const Indices& index, unsigned dimensions,
                    unsigned layer, bool outside_is_border) {
    if (texels.extent.width == 0) return {}; // a texture without memory
    Indices at{};
    for (unsigned d = 0; d < dimensions; ++d) {
        const auto mode = outside_is_border ? cudaAddressModeBorder : address_mode(texture, d);
        at[d] = addressed(index[d], size_of(texels, d), mode);
        if (at[d] < 0) {
            Channels border;
            for (unsigned i = 0; i < 4; ++i)
                border[i] = outside_is_border ? 0 : std::bit_cast<std::uint32_t>(texture.sampling.borderColor[i]);
            return border;
        }
    }
    const std::size_t slice = dimensions == 3
                                  ? static_cast<std::size_t>(at[2])
                                  : std::min<std::size_t>(layer, static_cast<std::size_t>(size_of(texels, 2) - 1));
    // The layers of a line are its rows' slices.
    const char* from = texels.data + slice * texels.slice_bytes + static_cast<std::size_t>(at[1]) * texels.row_bytes +
                       static_cast<std::size_t>(at[0]) * texels.element_bytes;
    Channels channels{0, 0, 0, gives_floats(texture) ? std::bit_cast<std::uint32_t>(1.0f) : 1u};
    const int bits[4] = {texels.desc.x, texels.desc.y, texels.desc.z, texels.desc.w};
    for (unsigned i = 0; i < 4 && bits[i] > 0; ++i) {
        channels[i] = channel_of(from, bits[i], texture);
        from += bits[i] / 8;
    }
    return channels;
}

/// Converts a coordinate into elements of the level.
float unnormalised(const Texture& texture, float at, int size, cudaTextureAddressMode mode) {
    if (texture.sampling.normalizedCoords == 0) return at;
    if (mode == cudaAddressModeWrap) at -= std::floor(at);
    return at * static_cast<float>(size);
}

/// Converts a direction into a face and a place on it.
Fetch on_face(const Fetch& where) {
    const auto [x, y, z] = where.at;
    const float ax = std::fabs(x);
    const float ay = std::fabs(y);
    const float az = std::fabs(z);
    Fetch face = where;
    face.dimensions = 2;
    float s = 0;
    float t = 0;
    float m = 1;
    unsigned number = 0;
    if (ax >= ay && ax >= az) {
        number = x >= 0 ? 0 : 1;
        m = ax;
        s = x >= 0 ? -z : z;
        t = -y;
    } else if (ay >= az) {
        number = y >= 0 ? 2 : 3;
        m = ay;
        s = x;
        t = y >= 0 ? z : -z;
    } else {
        number = z >= 0 ? 4 : 5;
        m = az;
        s = z >= 0 ? x : -x;
        t = -y;
    }
    face.at = {(s / m + 1) / 2, (t / m + 1) / 2, 0};
    face.layer = where.layer * 6 + number;
    face.cube = false;
    return face;
}

/// Fractions have 8 bits, as in a GPU.
float fraction(float value) {
    return std::round((value - std::floor(value)) * 256.0f) / 256.0f;
}

Channels at_level(const Texture& texture, const Fetch& where, const Texels& texels) {
    Indices base{};
    if (where.whole_numbers) {
        return element_at(texture, texels, where.element, where.dimensions, where.layer, true);
    }
    const bool linear = texture.sampling.filterMode == cudaFilterModeLinear && gives_floats(texture);
    std::array<float, 3> part{};
    for (unsigned d = 0; d < where.dimensions; ++d) {
        float at = unnormalised(texture, where.at[d], size_of(texels, d), texture.sampling.addressMode[d]);
        if (linear) at -= 0.5f;
        base[d] = static_cast<int>(std::floor(std::clamp(at, -1e9f, 1e9f)));
        part[d] = fraction(at);
    }
    if (!linear) return element_at(texture, texels, base, where.dimensions, where.layer, false);
    std::array<float, 4> sum{};
    for (unsigned corner = 0; corner < 1u << where.dimensions; ++corner) {
        Indices index = base;
        float weight = 1;
        for (unsigned d = 0; d < where.dimensions; ++d) {
            const bool next = (corner >> d & 1) != 0;
            index[d] += next ? 1 : 0;
            weight *= next ? part[d] : 1 - part[d];
        }
        const Channels channels = element_at(texture, texels, index, where.dimensions, where.layer, false);
        for (unsigned i = 0; i < 4; ++i)
            if (weight != 0) sum[i] += weight * std::bit_cast<float>(channels[i]);
    }
    return std::bit_cast<Channels>(sum);
}

// Plain textures: the same results as above, without libm and with few branches.

int floor_of(float value) {
    const int whole = static_cast<int>(value);
    return static_cast<float>(whole) > value ? whole - 1 : whole;
}

float limited(float at) {
    return at > -1e9f ? (at < 1e9f ? at : 1e9f) : -1e9f; // also NaN
}

int placed(const PlainTexture& texture, unsigned dimension, int index) {
    const int size = texture.size[dimension];
    if (static_cast<unsigned>(index) < static_cast<unsigned>(size)) return index;
    if (texture.mode[dimension] == cudaAddressModeClamp) return index < 0 ? 0 : size - 1;
    const int rest = index % size;
    return rest < 0 ? rest + size : rest;
}

float plain_place(const PlainTexture& texture, unsigned dimension, float at) {
    if (!texture.is_normalized) return at;
    if (texture.mode[dimension] == cudaAddressModeWrap) at -= std::floor(at);
    return at * static_cast<float>(texture.size[dimension]);
}

std::uint32_t plain_channel(const PlainTexture& texture, const char* from, unsigned channel) {
    if (texture.is_byte) {
        const auto value = static_cast<unsigned char>(*from);
        return texture.is_normalized_byte ? std::bit_cast<std::uint32_t>(static_cast<float>(value) / 255.0f) : value;
    }
    std::uint32_t value = 0;
    std::memcpy(&value, from + std::size_t{4} * channel, sizeof value);
    return value;
}

/// Returns the whole part, and the fraction of 8 bits in `part`.
int split_place(float at, float& part) {
    at = limited(at);
    const int whole = floor_of(at);
    const auto rest = static_cast<double>(at - static_cast<float>(whole));
    part = static_cast<float>(static_cast<int>(rest * 256.0 + 0.5)) / 256.0f;
    return whole;
}

} // namespace

void copy_element(const PlainTexture& texture, const char* from, std::uint32_t* channels) {
    for (unsigned i = 0; i < texture.channels; ++i)
        channels[i] = plain_channel(texture, from, i);
}

void fetch_plain(const PlainTexture& texture, unsigned dimensions, float x, float y, std::uint32_t* channels) {
    x = plain_place(texture, 0, x);
    y = dimensions == 2 ? plain_place(texture, 1, y) : 0;
    channels[1] = channels[2] = 0;
    channels[3] = texture.missing;
    const auto element = [&](int row, int column) {
        return texture.data + static_cast<std::size_t>(row) * texture.row_bytes +
               static_cast<std::size_t>(column) * texture.element_bytes;
    };
    if (!texture.is_linear) {
        const char* const from = element(dimensions == 2 ? placed(texture, 1, floor_of(limited(y))) : 0,
                                         placed(texture, 0, floor_of(limited(x))));
        return copy_element(texture, from, channels);
    }
    float px = 0;
    float py = 0;
    const int left = split_place(x - 0.5f, px);
    const int top = dimensions == 2 ? split_place(y - 0.5f, py) : 0;
    const int columns[2] = {placed(texture, 0, left), placed(texture, 0, left + 1)};
    const int rows[2] = {dimensions == 2 ? placed(texture, 1, top) : 0,
                         dimensions == 2 ? placed(texture, 1, top + 1) : 0};
    const float weights[4] = {(1 - px) * (1 - py), px * (1 - py), (1 - px) * py, px * py};
    const char* const from[4] = {element(rows[0], columns[0]), element(rows[0], columns[1]),
                                 element(rows[1], columns[0]), element(rows[1], columns[1])};
    for (unsigned i = 0; i < texture.channels; ++i) {
        float sum = 0;
        for (unsigned corner = 0; corner < 4; ++corner)
            if (weights[corner] != 0) // else the element may be infinite
                sum += weights[corner] * std::bit_cast<float>(plain_channel(texture, from[corner], i));
        channels[i] = std::bit_cast<std::uint32_t>(sum);
    }
}

Channels fetch(const Texture& texture, const Fetch& where) {
    if (where.cube) return fetch(texture, on_face(where));
    const auto last = static_cast<float>(texture.levels.size() - 1);
    float level = where.level + (texture.levels.size() > 1 ? texture.sampling.mipmapLevelBias : 0);
    level = std::clamp(level, 0.0f, last);
    if (texture.sampling.mipmapFilterMode != cudaFilterModeLinear || !gives_floats(texture) ||
        level == std::floor(level))
        return at_level(texture, where, texture.levels[static_cast<std::size_t>(std::floor(level + 0.5f))]);
    const auto near = static_cast<std::size_t>(level);
    const float part = fraction(level);
    const auto a = std::bit_cast<std::array<float, 4>>(at_level(texture, where, texture.levels[near]));
    const auto b = std::bit_cast<std::array<float, 4>>(at_level(texture, where, texture.levels[near + 1]));
    std::array<float, 4> sum{};
    for (unsigned i = 0; i < 4; ++i)
        sum[i] = (1 - part) * a[i] + part * b[i];
    return std::bit_cast<Channels>(sum);
}

Channels gather(const Texture& texture, const Fetch& where, unsigned channel) {
    const Texels& texels = texture.levels.front();
    Indices base{};
    for (unsigned d = 0; d < 2; ++d)
        base[d] = static_cast<int>(
            std::floor(unnormalised(texture, where.at[d], size_of(texels, d), texture.sampling.addressMode[d]) - 0.5f));
    const auto one = [&](int dx, int dy) {
        return element_at(texture, texels, {base[0] + dx, base[1] + dy, 0}, 2, where.layer, false)[channel];
    };
    return {one(0, 1), one(1, 1), one(1, 0), one(0, 0)};
}

float level_of(const Texture& texture, unsigned dimensions, const float* dx, const float* dy) {
    const auto length = [&](const float* derivatives) {
        float sum = 0;
        for (unsigned d = 0; d < dimensions; ++d) {
            const float size =
                texture.sampling.normalizedCoords != 0 ? static_cast<float>(size_of(texture.levels.front(), d)) : 1.0f;
            sum += derivatives[d] * size * derivatives[d] * size;
        }
        return std::sqrt(sum);
    };
    const float most = std::max(length(dx), length(dy));
    return most > 0 ? std::log2(most) : 0;
}

char* surface_element(const Surface& surface, int x, int y, int z, unsigned bytes, bool clamps) {
    const Texels& texels = surface.texels;
    const int width = size_of(texels, 0) * static_cast<int>(texels.element_bytes) - static_cast<int>(bytes);
    const int limits[3] = {width, size_of(texels, 1) - 1, size_of(texels, 2) - 1};
    int at[3] = {x, y, z};
    for (int d = 0; d < 3; ++d) {
        if (at[d] >= 0 && at[d] <= limits[d]) continue;
        if (!clamps) return nullptr;
        at[d] = std::clamp(at[d], 0, limits[d]);
    }
    return texels.data + static_cast<std::size_t>(at[2]) * texels.slice_bytes +
           static_cast<std::size_t>(at[1]) * texels.row_bytes + at[0];
}

} // namespace cudart_cpu::detail
