// cudaDeviceSetLimit and the like, flags of devices, cudaInitDevice, cudaDeviceReset.
#include "capture/capture_rules.hpp"
#include "kernel/kernel_registry.hpp"
#include "memory/allocations.hpp"
#include "memory/arrays.hpp"
#include "memory/mipmapped_arrays.hpp"
#include "memory/surfaces.hpp"
#include "memory/textures.hpp"
#include "runtime/call.hpp"
#include "runtime/contexts.hpp"
#include "runtime/device_model.hpp"
#include "runtime/device_settings.hpp"
#include "runtime/number_in.hpp"
#include "runtime/peer_access.hpp"
#include "runtime/text.hpp"
#include "stream/event.hpp"
#include "stream/stream.hpp"

using namespace cudart_cpu::detail;

namespace {

/// Checks the bank size, which has no effect: shared memory has banks of four bytes on every present device.
void require_bank_size(cudaSharedMemConfig config) {
    const int number = number_in(config);
    if (number < cudaSharedMemBankSizeDefault || number > cudaSharedMemBankSizeEightByte)
        fail(cudaErrorInvalidValue, text("shared memory configuration ", number, " is unknown"));
}

void require_kernel(const void* function) {
    static_cast<void>(kernel_of(function, cudaErrorInvalidResourceHandle, Forms::symbol_or_kernel));
}

} // namespace

CUDART_CPU_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
    return api("cudaDeviceSetLimit", [&] { set_device_limit(current_device(), limit, value); });
}

CUDART_CPU_API cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
    return api("cudaDeviceGetLimit", [&] {
        require_pointer(value, "pValue");
        *value = device_limit(current_device(), limit);
    });
}

CUDART_CPU_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
    return api("cudaDeviceSetCacheConfig", [&] { set_device_cache_config(current_device(), config); });
}

CUDART_CPU_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    return api("cudaDeviceGetCacheConfig", [&] {
        require_pointer(config, "pCacheConfig");
        *config = device_cache_config(current_device());
    });
}

CUDART_CPU_API cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
    return api("cudaFuncSetCacheConfig", [&] {
        require_kernel(function);
        require_cache_config(config); // a preference that cannot be queried
    });
}

CUDART_CPU_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
    return api("cudaDeviceSetSharedMemConfig", [&] { require_bank_size(config); });
}

CUDART_CPU_API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    return api("cudaDeviceGetSharedMemConfig", [&] {
        require_pointer(config, "pConfig");
        *config = cudaSharedMemBankSizeFourByte;
    });
}

CUDART_CPU_API cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig config) {
    return api("cudaFuncSetSharedMemConfig", [&] {
        require_kernel(function);
        require_bank_size(config);
    });
}

CUDART_CPU_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
    return api("cudaSetDeviceFlags", [&] { set_device_flags(current_device(), flags); });
}

CUDART_CPU_API cudaError_t cudaGetDeviceFlags(unsigned* flags) {
    return api("cudaGetDeviceFlags", [&] {
        require_pointer(flags, "flags");
        *flags = device_flags(current_device());
    });
}

CUDART_CPU_API cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    return api("cudaInitDevice", [&] {
        require_device(device);
        if ((flags & cudaInitDeviceFlagsAreValid) != 0) set_device_flags(device, device_flags); // else ignored
    });
}

CUDART_CPU_API cudaError_t cudaCtxResetPersistingL2Cache() {
    return api("cudaCtxResetPersistingL2Cache", [] {}); // no cache line persists here
}

CUDART_CPU_API cudaError_t cudaDeviceReset() {
    return api_without_context("cudaDeviceReset", [] { // permitted after a kernel's failure: it ends with the context
        bind_context();
        refuse_unsafe_call();
        const int device = current_device();
        wait_for_device(device);
        destroy_events_of(device);
        destroy_streams_of(device);
        destroy_textures_of(device, pending_everywhere());
        destroy_surfaces_of(device, pending_everywhere());
        destroy_mipmapped_arrays_of(device);
        destroy_arrays_of(device);
        end_allocations_of(device);
        disable_peer_access_of(device);
        reset_device_settings(device);
        forget_primary_use(device);
        forget_kernel_failure();
    });
}
