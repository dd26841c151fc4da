// Texture objects: the state behind a cudaTextureObject_t, for queries of the host and for kernels.
#pragma once

#include "texels.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace cudart_cpu::detail {

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
