// Surface objects: the state behind a cudaSurfaceObject_t, for queries of the host and for kernels.
#pragma once

#include "texels.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace cudart_cpu::detail {

struct Surface {
    /// Throws Failure unless the resource is an array with cudaArraySurfaceLoadStore.
    explicit Surface(const cudaResourceDesc& resource);

    cudaResourceDesc resource; // as given
    int device;
    unsigned array_flags = 0;
    Texels texels;
};

const Surface* find_surface(cudaSurfaceObject_t handle) noexcept; ///< null for other handles
/// Finds the surface for a kernel, even if it was destroyed after the kernel was submitted (`submitted` is
/// object_removals then). Takes no lock: kernels call it for each access.
const Surface* find_surface(cudaSurfaceObject_t handle, std::uint64_t submitted) noexcept;

/// Throws Failure unless the handle is a live surface object.
const Surface& surface_of(cudaSurfaceObject_t handle);

cudaSurfaceObject_t register_surface(std::unique_ptr<const Surface> surface);
/// Destroys the surface. `is_pending` reports, at any later time, whether work pending now has not ended: its kernels
/// may still use the surface.
void destroy_surface(cudaSurfaceObject_t handle, std::function<bool()> is_pending);
/// Destroys all surfaces made while this device was current.
void destroy_surfaces_of(int device, const std::function<bool()>& is_pending);

} // namespace cudart_cpu::detail
