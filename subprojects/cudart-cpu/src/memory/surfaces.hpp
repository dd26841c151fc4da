// Surface objects: what stands behind a cudaSurfaceObject_t, for the host's questions and for kernels.
#pragma once

#include "texels.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace cudart_cpu::detail {

struct Surface {
    /// Throws Failure for what is no array of cudaArraySurfaceLoadStore.
    explicit Surface(const cudaResourceDesc& resource);

    cudaResourceDesc resource; // as it was given
    int device;
    unsigned array_flags = 0;
    Texels texels;
};

const Surface* find_surface(cudaSurfaceObject_t handle) noexcept; ///< null for what is no surface object
/// For a kernel, which may also use what was destroyed after it was submitted (`submitted` is object_removals then).
/// Takes no lock: kernels call it for each access.
const Surface* find_surface(cudaSurfaceObject_t handle, std::uint64_t submitted) noexcept;

/// Throws Failure if the handle is none of a surface object that is alive.
const Surface& surface_of(cudaSurfaceObject_t handle);

cudaSurfaceObject_t register_surface(std::unique_ptr<const Surface> surface);
/// `is_pending` says, whenever it is called, whether work of now has not ended: kernels of it may still use the
/// surface.
void destroy_surface(cudaSurfaceObject_t handle, std::function<bool()> is_pending);
/// All that were made while this device was current.
void destroy_surfaces_of(int device, const std::function<bool()>& is_pending);

} // namespace cudart_cpu::detail
