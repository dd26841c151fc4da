// Texture objects: what stands behind a cudaTextureObject_t, for the host's questions and for kernels.
#pragma once

#include "texels.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace cudart_cpu::detail {

struct Texture {
    /// Throws Failure for what CUDA does not make.
    Texture(const cudaResourceDesc& resource, const cudaTextureDesc& sampling, const cudaResourceViewDesc* view);

    // As they were given.
    cudaResourceDesc resource;
    cudaTextureDesc sampling;
    std::optional<cudaResourceViewDesc> view;

    int device;
    unsigned array_flags = 0;   // such as cudaArrayLayered
    std::vector<Texels> levels; // at least one; those of the view
};

const Texture* find_texture(cudaTextureObject_t handle) noexcept; ///< null for what is no texture object
/// For a kernel, which may also use what was destroyed after it was submitted (`submitted` is object_removals then).
/// Takes no lock: kernels call it for each access.
const Texture* find_texture(cudaTextureObject_t handle, std::uint64_t submitted) noexcept;

/// Throws Failure if the handle is none of a texture object that is alive.
const Texture& texture_of(cudaTextureObject_t handle);

cudaTextureObject_t register_texture(std::unique_ptr<const Texture> texture);
/// `is_pending` says, whenever it is called, whether work of now has not ended: kernels of it may still use the
/// texture.
void destroy_texture(cudaTextureObject_t handle, std::function<bool()> is_pending);
/// All that were made while this device was current.
void destroy_textures_of(int device, const std::function<bool()>& is_pending);

} // namespace cudart_cpu::detail
