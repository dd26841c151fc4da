// CUDA 13's pools by location: only a device's pool of pinned memory, none of the host or of managed memory.
#include "capture/capture_rules.hpp"
#include "memory/memory_pools.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

#if CUDART_VERSION >= 13000

using namespace cudart_cpu::detail;

namespace {

int device_of(const cudaMemLocation* location, const cudaMemAllocationType& type) {
    require_pointer(location, "location");
    const int kind = number_in(type);
    if (kind != cudaMemAllocationTypePinned && kind != cudaMemAllocationTypeManaged)
        fail(cudaErrorInvalidValue, text("allocation type ", kind, " of a memory pool is neither pinned nor managed"));
    if (number_in(location->type) != cudaMemLocationTypeDevice || kind != cudaMemAllocationTypePinned)
        fail(cudaErrorNotSupported, "cudart-cpu has pools of a device's pinned memory alone");
    require_device(location->id);
    return location->id;
}

} // namespace

CUDART_CPU_API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                                    cudaMemAllocationType type) {
    return api("cudaMemGetDefaultMemPool", [&] {
        require_pointer(pool, "memPool");
        *pool = default_pool(device_of(location, type));
    });
}

CUDART_CPU_API cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location,
                                             cudaMemAllocationType type) {
    return api("cudaMemGetMemPool", [&] {
        require_pointer(pool, "memPool");
        *pool = current_pool(device_of(location, type));
    });
}

CUDART_CPU_API cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                                             cudaMemPool_t pool) {
    return api("cudaMemSetMemPool", [&] {
        const int device = device_of(location, type);
        refuse_unsafe_call();
        set_current_pool(device, pool);
    });
}

#endif
