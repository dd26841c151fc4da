// Surface objects: the state behind a cudaSurfaceObject_t, for queries of the host and for kernels.
#include "surfaces.hpp"

#include "arrays.hpp"
#include "object_slots.hpp"
#include "runtime/call.hpp"
#include "runtime/cuda_versions.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

namespace cudart_cpu::detail {

namespace {

// The table is never destroyed: surfaces may be destroyed after main().
ObjectSlots<Surface>& surfaces() {
    static auto& slots = *new ObjectSlots<Surface>;
    return slots;
}

std::shared_ptr<Array> array_below(const cudaResourceDesc& resource) {
    try {
        return array_of(resource.res.array.array);
    } catch (const Failure& failure) {
        fail(cudaErrorInvalidValue, failure.text);
    }
}

} // namespace

Surface::Surface(const cudaResourceDesc& resource_) : resource(resource_), device(current_device()) {
    if (number_in(resource.resType) != cudaResourceTypeArray)
        fail(cudaErrorInvalidValue,
             text("a surface is of an array, not of resource type ", number_in(resource.resType)));
    if (compat::flags_of(resource) != 0) fail(cudaErrorInvalidValue, "the flags of a resource are not 0");
    const auto array = array_below(resource);
    array_flags = array->flags;
    texels = texels_of(*array);
}

const Surface* find_surface(cudaSurfaceObject_t handle) noexcept {
    return surfaces().find(handle);
}

const Surface* find_surface(cudaSurfaceObject_t handle, std::uint64_t submitted) noexcept {
    return surfaces().find(handle, submitted);
}

const Surface& surface_of(cudaSurfaceObject_t handle) {
    const Surface* const surface = find_surface(handle);
    if (surface == nullptr) fail(cudaErrorInvalidValue, text("surface object ", handle, " is not alive"));
    return *surface;
}

cudaSurfaceObject_t register_surface(std::unique_ptr<const Surface> surface) {
    const cudaSurfaceObject_t handle = surfaces().add(std::move(surface));
    if (handle == 0) fail(cudaErrorMemoryAllocation, "there are too many surface objects");
    return handle;
}

void destroy_surface(cudaSurfaceObject_t handle, std::function<bool()> is_pending) {
    if (!surfaces().remove(handle, std::move(is_pending)))
        fail(cudaErrorInvalidValue, text("surface object ", handle, " is not alive"));
}

void destroy_surfaces_of(int device, const std::function<bool()>& is_pending) {
    surfaces().remove_if([=](const Surface& surface) { return surface.device == device; }, is_pending);
}

} // namespace cudart_cpu::detail
