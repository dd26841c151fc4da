// Texture objects: the state behind a cudaTextureObject_t, for queries of the host and for kernels.
#pragma once

#include "texels.hpp"

#include <cudart_cpu/detail/ptx/thread.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace cudart_cpu::detail {

/// A texture of one level of 32-bit floats or of whole numbers, for fetches that need nothing else: most of them.
struct PlainTexture {
    const char* data = nullptr; ///< null for other textures
    std::size_t row_bytes = 0;
    std::size_t element_bytes = 0;
    int size[2] = {};
    unsigned channels = 0; ///< of 4 bytes, or one of 1 byte if `is_byte`
    bool is_byte = false;
    bool is_normalized_byte = false;
    bool is_linear = false;
    bool is_normalized = false; ///< the coordinates
    cudaTextureAddressMode mode[2] = {};
    std::uint32_t missing = 0; ///< the fourth channel, if the format has none
};

struct Texture {
    /// Throws Failure for textures that CUDA refuses.
    Texture(const cudaResourceDesc& resource, const cudaTextureDesc& sampling, const cudaResourceViewDesc* view);

    // The descriptions as given.
    cudaResourceDesc resource;
    cudaTextureDesc sampling;
    std::optional<cudaResourceViewDesc> view;

    int device;
    unsigned array_flags = 0;   // such as cudaArrayLayered
    std::vector<Texels> levels; // the view's levels, at least one
    PlainTexture plain;
    ptx::TexturePlane plane{}; ///< plain, too
};

const Texture* find_texture(cudaTextureObject_t handle) noexcept; ///< null for other handles
/// Finds the texture for a kernel, even if it was destroyed after the kernel was submitted (`submitted` is
/// object_removals then). Takes no lock: kernels call it for each access.
const Texture* find_texture(cudaTextureObject_t handle, std::uint64_t submitted) noexcept;

/// Throws Failure unless the handle is a live texture object.
const Texture& texture_of(cudaTextureObject_t handle);

cudaTextureObject_t register_texture(std::unique_ptr<const Texture> texture);
/// Destroys the texture. `is_pending` reports, at any later time, whether work pending now has not ended: its kernels
/// may still use the texture.
void destroy_texture(cudaTextureObject_t handle, std::function<bool()> is_pending);
/// Destroys all textures made while this device was current.
void destroy_textures_of(int device, const std::function<bool()>& is_pending);

} // namespace cudart_cpu::detail
