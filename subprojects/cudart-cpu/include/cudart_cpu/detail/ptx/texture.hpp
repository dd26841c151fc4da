// Texture fetches and surface accesses.
#pragma once

#include "memory.hpp"

namespace cudart_cpu::ptx {

struct TextureCall {
    u32 dimensions = 1;
    bool cube = false;
    bool whole_numbers = false;
    bool gathers = false;
    bool has_gradient = false;
    u32 channel = 0; ///< taken by a gather
    u32 layer = 0;
    f32 at[3] = {};
    i32 element[3] = {};
    f32 level = 0;
    f32 dx[3] = {};
    f32 dy[3] = {};
};

/// The effect of an access outside of a surface.
enum class Outside : u32 { trap, clamp, zero };

} // namespace cudart_cpu::ptx

#pragma GCC visibility push(default)
extern "C" {
void cudart_cpu_fetch(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u64 texture,
                      const cudart_cpu::ptx::TextureCall& call, cudart_cpu::ptx::u32* channels,
                      cudart_cpu::ptx::u32 location);
/// Returns the texture as a plane, with null data if it is none. Lives as long as the kernel runs.
const cudart_cpu::ptx::TexturePlane* cudart_cpu_texture_plane(cudart_cpu::ptx::u64 texture);
/// The fetches that most kernels make: a line or plane, without levels and layers, at a place or an element.
void cudart_cpu_fetch_plane(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u64 texture,
                            cudart_cpu::ptx::u32 dimensions, cudart_cpu::ptx::f32 x, cudart_cpu::ptx::f32 y,
                            cudart_cpu::ptx::u32* channels, cudart_cpu::ptx::u32 location);
void cudart_cpu_fetch_element(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u64 texture, cudart_cpu::ptx::i32 at,
                              cudart_cpu::ptx::u32* channels, cudart_cpu::ptx::u32 location);
/// Returns the address of an element; null if the access is outside and reads zeros. `x` is in bytes.
char* cudart_cpu_surface(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u64 surface, cudart_cpu::ptx::i32 x,
                         cudart_cpu::ptx::i32 y, cudart_cpu::ptx::i32 z, cudart_cpu::ptx::u32 bytes,
                         cudart_cpu::ptx::Outside outside, cudart_cpu::ptx::u32 location);
}
#pragma GCC visibility pop

namespace cudart_cpu::ptx {

inline i32 clamped_element(f32 at, i32 size) {
    return at >= 0 ? (at < static_cast<f32>(size) ? static_cast<i32>(at) : size - 1) : 0; // 0 for NaN, too
}

/// A fetch of a line or plane.
template <u32 Dimensions>
inline void fetch_plane(Thread& t, u64 texture, f32 x, f32 y, u32* channels, u32 location) {
    KnownTexture& known = t.block->textures[texture & 1];
    if (known.handle != texture) [[unlikely]]
        known = {texture, cudart_cpu_texture_plane(texture)};
    const TexturePlane& plane = *known.plane;
    if (plane.data == nullptr) return cudart_cpu_fetch_plane(t, texture, Dimensions, x, y, channels, location);
    const auto row = static_cast<u64>(Dimensions == 2 ? clamped_element(y, plane.height) : 0);
    const auto column = static_cast<u64>(clamped_element(x, plane.width));
    channels[0] = *reinterpret_cast<const u32*>(plane.data + row * plane.row_bytes + column * 4);
    channels[1] = channels[2] = 0;
    channels[3] = plane.missing;
}

} // namespace cudart_cpu::ptx
