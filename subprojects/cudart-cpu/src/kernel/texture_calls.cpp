// Calls by translated kernels for textures and surfaces.
#include "grid_run.hpp"
#include "runtime/call.hpp"
#include "texture_fetch.hpp"

#include <cudart_cpu/detail/ptx/texture.hpp>

#include <cstring>

using namespace cudart_cpu;
using namespace cudart_cpu::detail;
using cudart_cpu::ptx::u32;
using cudart_cpu::ptx::u64;

CUDART_CPU_API void cudart_cpu_fetch(ptx::Thread& thread, u64 handle, const ptx::TextureCall& call, u32* channels,
                                     u32 location) {
    const Texture* const texture = find_texture(handle, current_worker()->grid.removals_at_submission());
    if (texture == nullptr)
        fail_thread(thread, cudaErrorIllegalAddress, "fetches from an invalid texture object", location);
    Fetch where;
    where.dimensions = call.dimensions;
    where.cube = call.cube;
    where.whole_numbers = call.whole_numbers;
    where.layer = call.layer;
    for (u32 d = 0; d < 3; ++d) {
        where.at[d] = call.at[d];
        where.element[d] = call.element[d];
    }
    where.level = call.has_gradient ? level_of(*texture, call.dimensions, call.dx, call.dy) : call.level;
    const auto result = call.gathers ? gather(*texture, where, call.channel) : fetch(*texture, where);
    std::memcpy(channels, result.data(), sizeof result);
}

CUDART_CPU_API const ptx::TexturePlane* cudart_cpu_texture_plane(u64 handle) {
    static constexpr ptx::TexturePlane none{};
    const Texture* const texture = find_texture(handle);
    return texture == nullptr ? &none : &texture->plane;
}

CUDART_CPU_API void cudart_cpu_fetch_plane(ptx::Thread& thread, u64 handle, u32 dimensions, float x, float y,
                                           u32* channels, u32 location) {
    const Texture* const texture = find_texture(handle);
    if (texture != nullptr && texture->plain.data != nullptr)
        return fetch_plain(texture->plain, dimensions, x, y, channels);
    ptx::TextureCall call;
    call.dimensions = dimensions;
    call.at[0] = x;
    call.at[1] = y;
    cudart_cpu_fetch(thread, handle, call, channels, location);
}

CUDART_CPU_API void cudart_cpu_fetch_element(ptx::Thread& thread, u64 handle, ptx::i32 at, u32* channels,
                                             u32 location) {
    const Texture* const texture = find_texture(handle);
    if (texture != nullptr && texture->plain.data != nullptr && at >= 0 && at < texture->plain.size[0]) {
        const PlainTexture& plain = texture->plain;
        channels[1] = channels[2] = 0;
        channels[3] = plain.missing;
        return copy_element(plain, plain.data + static_cast<std::size_t>(at) * plain.element_bytes, channels);
    }
    ptx::TextureCall call;
    call.whole_numbers = true;
    call.element[0] = at;
    cudart_cpu_fetch(thread, handle, call, channels, location);
}

CUDART_CPU_API char* cudart_cpu_surface(ptx::Thread& thread, u64 handle, ptx::i32 x, ptx::i32 y, ptx::i32 z, u32 bytes,
                                        ptx::Outside outside, u32 location) {
    const Surface* const surface = find_surface(handle, current_worker()->grid.removals_at_submission());
    if (surface == nullptr) fail_thread(thread, cudaErrorIllegalAddress, "uses an invalid surface object", location);
    char* const element = surface_element(*surface, x, y, z, bytes, outside == ptx::Outside::clamp);
    if (element == nullptr && outside == ptx::Outside::trap)
        fail_thread(thread, cudaErrorLaunchFailure, "accesses a surface outside of it", location);
    return element;
}
