// cudaFunc*, cudaGetFuncBySymbol, cudaGetKernel, occupancy.
#include "kernel/kernel_registry.hpp"
#include "kernel/node_arguments.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/driver_version.hpp"
#include "runtime/text.hpp"

#include <algorithm>

using namespace cudart_cpu::detail;

namespace {

constexpr int registers_per_thread = 32;

/// Finds a kernel as most functions do.
const KernelEntry& kernel_of_symbol(const void* function) {
    return kernel_of(function, cudaErrorInvalidResourceHandle, Forms::symbol_or_kernel);
}

/// Finds a kernel as functions that make handles do.
const KernelEntry& kernel_of_symbol_only(const void* symbol) {
    return kernel_of(symbol, cudaErrorInvalidDeviceFunction, Forms::symbol);
}

std::size_t static_shared_bytes(const KernelEntry& kernel) {
    return kernel.translated == nullptr ? 0 : kernel.translated->static_shared;
}

void set_dynamic_shared_limit(const KernelEntry& kernel, int bytes) {
    if (bytes < 0) {
        fail(cudaErrorInvalidValue, text("Requested dynamic shared mem size cannot be negative ", bytes));
    }
    if (bytes > optin_shared_limit) {
        fail(cudaErrorInvalidValue, "Requested dynamic shared memory size is larger than limit");
    }
    kernel.max_dynamic_shared_bytes.store(bytes, std::memory_order_relaxed);
}

void set_function_attribute(const KernelEntry& kernel, cudaFuncAttribute attribute, int value) {
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        return set_dynamic_shared_limit(kernel, value);
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        return; // a hint
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
        kernel.allows_large_clusters.store(value != 0, std::memory_order_relaxed);
        return;
    default:
        fail(cudaErrorInvalidValue,
             text("function attribute ", static_cast<int>(attribute), " cannot be set on cudart-cpu"));
    }
}

} // namespace

int cudart_cpu::detail::active_blocks(int block_size, std::size_t shared_bytes) {
    if (block_size <= 0 || block_size > static_cast<int>(max_threads_per_block)) {
        fail(cudaErrorInvalidValue, text("block size ", block_size, " is not within 1 and ", max_threads_per_block));
    }
    if (shared_bytes > static_cast<std::size_t>(optin_shared_limit)) {
        return 0;
    }
    const int warps = (block_size + warp_size - 1) / warp_size;
    const int by_threads = threads_per_multiprocessor / (warps * warp_size);
    const int by_shared = shared_per_multiprocessor / (static_cast<int>(shared_bytes) + reserved_shared_per_block);
    return std::min({by_threads, by_shared, blocks_per_multiprocessor});
}

CUDART_CPU_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
    return api("cudaFuncGetAttributes", [&] {
        require_pointer(attributes, "attr");
        const KernelEntry& kernel = kernel_of_symbol(function);
        *attributes = {};
        attributes->maxThreadsPerBlock = static_cast<int>(max_threads_per_block);
        attributes->numRegs = registers_per_thread;
        attributes->ptxVersion = compute_major * 10 + compute_minor;
        attributes->binaryVersion = compute_major * 10 + compute_minor;
        attributes->maxDynamicSharedSizeBytes = kernel.max_dynamic_shared_bytes.load(std::memory_order_relaxed);
        attributes->preferredShmemCarveout = -1;
        if (kernel.translated != nullptr) {
            attributes->ptxVersion = static_cast<int>(kernel.module->architecture);
            attributes->sharedSizeBytes = kernel.translated->static_shared;
            attributes->localSizeBytes = kernel.translated->local_bytes;
            if (kernel.translated->max_threads != 0)
                attributes->maxThreadsPerBlock = static_cast<int>(kernel.translated->max_threads);
        }
#if CUDART_VERSION >= 13030
        attributes->deviceNodeUpdateStatus = driver_version() >= 13030 ? 1 : 0;
#endif
        attributes->nonPortableClusterSizeAllowed =
            kernel.allows_large_clusters.load(std::memory_order_relaxed) ? 1 : 0;
    });
}

CUDART_CPU_API cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
    return api("cudaFuncSetAttribute", [&] { set_function_attribute(kernel_of_symbol(function), attribute, value); });
}

CUDART_CPU_API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value,
                                                           int device) {
    return api("cudaKernelSetAttributeForDevice", [&] {
        const KernelEntry& entry = kernel_of(kernel, cudaErrorInvalidResourceHandle, Forms::symbol_or_kernel);
        require_device(device);
        set_function_attribute(entry, attribute, value);
    });
}

CUDART_CPU_API cudaError_t cudaFuncGetName(const char** name, const void* function) {
    return api("cudaFuncGetName", [&] {
        require_pointer(name, "name");
        *name = kernel_name(kernel_of_symbol(function)).c_str();
    });
}

CUDART_CPU_API cudaError_t cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset,
                                                std::size_t* size) {
    return api("cudaFuncGetParamInfo", [&] {
        const KernelEntry& kernel = kernel_of_symbol(function);
        require_pointer(offset, "paramOffset");
        if (index >= kernel.params.size()) {
            fail(cudaErrorInvalidValue, text("parameter ", index, " of ", kernel.params.size()));
        }
        *offset = packed_offsets(kernel)[index];
        if (size != nullptr) {
            *size = kernel.params[index].size;
        }
    });
}

CUDART_CPU_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
    return api("cudaGetFuncBySymbol", [&] {
        const KernelEntry& kernel = kernel_of_symbol_only(symbol);
        if (function != nullptr) {
            *function = function_of(kernel);
        }
    });
}

CUDART_CPU_API cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* symbol) {
    return api("cudaGetKernel", [&] {
        require_pointer(kernel, "kernelPtr");
        *kernel = reinterpret_cast<cudaKernel_t>(const_cast<KernelEntry*>(&kernel_of_symbol_only(symbol)));
    });
}

CUDART_CPU_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                                         int block_size, std::size_t shared_bytes) {
    return api("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&] {
        require_pointer(blocks, "numBlocks");
        *blocks = active_blocks(block_size, shared_bytes + static_shared_bytes(kernel_of_symbol(function)));
    });
}

CUDART_CPU_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                                  int block_size,
                                                                                  std::size_t shared_bytes,
                                                                                  unsigned flags) {
    return api("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [&] {
        require_pointer(blocks, "numBlocks");
        if (flags > cudaOccupancyDisableCachingOverride) {
            fail(cudaErrorInvalidValue,
                 text("flags ", flags, " hold more than cudaOccupancyDisableCachingOverride (1)"));
        }
        *blocks = active_blocks(block_size, shared_bytes + static_shared_bytes(kernel_of_symbol(function)));
    });
}
