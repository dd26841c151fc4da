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
/// Returns the address of an element; null if the access is outside and reads zeros. `x` is in bytes.
char* cudart_cpu_surface(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u64 surface, cudart_cpu::ptx::i32 x,
                         cudart_cpu::ptx::i32 y, cudart_cpu::ptx::i32 z, cudart_cpu::ptx::u32 bytes,
                         cudart_cpu::ptx::Outside outside, cudart_cpu::ptx::u32 location);
}
#pragma GCC visibility pop
