// cudaMalloc*, cudaFree*, cudaHostAlloc and queries of pointers.
#include "capture/capture_rules.hpp"
#include "memory/allocations.hpp"
#include "memory/managed_hints.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/round_up.hpp"
#include "runtime/text.hpp"
#include "stream/stream.hpp"

using namespace cudart_cpu::detail;

namespace {

/// Allocates and writes the result, even if there is not enough memory: null then.
void allocate_into(void** pointer, std::size_t bytes, const AllocationKind& kind) {
    require_pointer(pointer, kind.type == cudaMemoryTypeHost ? "pHost" : "devPtr");
    if (bytes > 0) {
        refuse_unsafe_call();
    }
    *pointer = nullptr;
    *pointer = allocate(bytes, kind);
}

AllocationKind require_pinned(const void* pointer) {
    const std::optional<AllocationKind> kind = kind_of(pointer);
    if (!kind || kind->type != cudaMemoryTypeHost) {
        fail(cudaErrorInvalidValue, text(pointer, " is not pinned host memory"));
    }
    return *kind;
}

/// Allocates pitched rows; returns the pitch.
std::size_t allocate_rows(void** pointer, std::size_t width, std::size_t rows) {
    if (width > max_pitch) {
        fail(cudaErrorInvalidValue, text("width ", width, " is more than the largest pitch, ", max_pitch));
    }
    const std::size_t pitch = round_up(width, pitch_alignment);
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(pitch, rows, &bytes)) {
        fail(cudaErrorMemoryAllocation, text(rows, " rows of ", pitch, " bytes requested"));
    }
    allocate_into(pointer, bytes, {cudaMemoryTypeDevice});
    return pitch;
}

} // namespace

CUDART_CPU_API cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
    return api("cudaMalloc", [&] { allocate_into(pointer, bytes, {cudaMemoryTypeDevice}); });
}

CUDART_CPU_API cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
    return api("cudaMallocPitch", [&] {
        require_pointer(pointer, "devPtr");
        require_pointer(pitch, "pitch");
        *pitch = allocate_rows(pointer, width, height);
    });
}

CUDART_CPU_API cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
    return api("cudaMalloc3D", [&] {
        require_pointer(pointer, "pitchedDevPtr");
        std::size_t rows = 0;
        if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) {
            fail(cudaErrorMemoryAllocation, text(extent.depth, " slices of ", extent.height, " rows requested"));
        }
        void* memory = nullptr;
        const std::size_t pitch = allocate_rows(&memory, extent.width, rows);
        *pointer = {memory, pitch, extent.width, extent.height};
    });
}

CUDART_CPU_API cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
    return api("cudaMallocManaged", [&] {
        require_pointer(pointer, "devPtr");
        if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) {
            fail(cudaErrorInvalidValue, text("attach flags ", flags, " are neither global nor host"));
        }
        if (bytes == 0) {
            fail(cudaErrorInvalidValue, "size must not be 0");
        }
        allocate_into(pointer, bytes,
                      {.type = cudaMemoryTypeManaged, .managed = std::make_shared<ManagedHints>(bytes)});
    });
}

CUDART_CPU_API cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
    return api("cudaMallocHost", [&] { allocate_into(pointer, bytes, {cudaMemoryTypeHost}); });
}

CUDART_CPU_API cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
    constexpr unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    return api("cudaHostAlloc", [&] {
        if ((flags & ~known) != 0) {
            fail(cudaErrorInvalidValue, text("host allocation flags ", flags, " are unknown"));
        }
        allocate_into(pointer, bytes, {.type = cudaMemoryTypeHost, .host_flags = flags});
    });
}

CUDART_CPU_API cudaError_t cudaFree(void* pointer) {
    return api("cudaFree", [&] {
        refuse_unsafe_call();
        if (pointer == nullptr) {
            return;
        }
        const DeadAllocation dead = end_allocation(pointer, AllocatedOn::device);
        // Stream-ordered memory is freed without a wait: its user must know that its use has ended.
        if (!dead.stream_ordered()) {
            wait_for_all_devices();
        }
        release(dead);
    });
}

CUDART_CPU_API cudaError_t cudaFreeHost(void* pointer) {
    return api("cudaFreeHost", [&] {
        refuse_unsafe_call();
        if (pointer == nullptr) {
            return;
        }
        const DeadAllocation dead = end_allocation(pointer, AllocatedOn::host);
        wait_for_all_devices();
        release(dead);
    });
}

CUDART_CPU_API cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
    return api("cudaHostGetFlags", [&] {
        require_pointer(flags, "pFlags");
        *flags = require_pinned(pointer).host_flags;
    });
}

CUDART_CPU_API cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* pointer, unsigned) {
    return api("cudaHostGetDevicePointer", [&] {
        require_pointer(device_pointer, "pDevice");
        require_pinned(pointer);
        *device_pointer = pointer;
    });
}

CUDART_CPU_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    return api("cudaPointerGetAttributes", [&] {
        require_pointer(attributes, "attributes");
        void* address = const_cast<void*>(pointer);
        const std::optional<Range> range = find_live_allocation(pointer);
        *attributes = {};
        attributes->type = range ? range->type : cudaMemoryTypeUnregistered;
        attributes->device = range ? range->device : cudaInvalidDeviceId;
        attributes->devicePointer = range ? address : nullptr;
        attributes->hostPointer = attributes->type == cudaMemoryTypeDevice ? nullptr : address;
    });
}
