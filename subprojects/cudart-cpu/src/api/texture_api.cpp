// cudaCreateTextureObject, cudaCreateSurfaceObject, and queries of these objects.
#include "memory/surfaces.hpp"
#include "memory/textures.hpp"
#include "runtime/call.hpp"
#include "stream/stream.hpp"

#include <memory>

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                                   const cudaTextureDesc* sampling, const cudaResourceViewDesc* view) {
    return api("cudaCreateTextureObject", [&] {
        require_pointer(texture, "pTexObject");
        require_pointer(resource, "pResDesc");
        if (sampling == nullptr) fail(cudaErrorInvalidResourceHandle, "pTexDesc is NULL");
        *texture = register_texture(std::make_unique<const Texture>(*resource, *sampling, view));
    });
}

CUDART_CPU_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
    return api("cudaDestroyTextureObject", [&] { destroy_texture(texture, pending_everywhere()); });
}

CUDART_CPU_API cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture) {
    return api("cudaGetTextureObjectResourceDesc", [&] {
        require_pointer(resource, "pResDesc");
        *resource = texture_of(texture).resource;
    });
}

CUDART_CPU_API cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* sampling, cudaTextureObject_t texture) {
    return api("cudaGetTextureObjectTextureDesc", [&] {
        require_pointer(sampling, "pTexDesc");
        *sampling = texture_of(texture).sampling;
    });
}

CUDART_CPU_API cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view,
                                                                cudaTextureObject_t texture) {
    return api("cudaGetTextureObjectResourceViewDesc", [&] {
        require_pointer(view, "pResViewDesc");
        *view = texture_of(texture).view.value_or(cudaResourceViewDesc{});
    });
}

CUDART_CPU_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
    return api("cudaCreateSurfaceObject", [&] {
        require_pointer(surface, "pSurfObject");
        require_pointer(resource, "pResDesc");
        *surface = register_surface(std::make_unique<const Surface>(*resource));
    });
}

CUDART_CPU_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
    return api("cudaDestroySurfaceObject", [&] { destroy_surface(surface, pending_everywhere()); });
}

CUDART_CPU_API cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t surface) {
    return api("cudaGetSurfaceObjectResourceDesc", [&] {
        require_pointer(resource, "pResDesc");
        *resource = surface_of(surface).resource;
    });
}
