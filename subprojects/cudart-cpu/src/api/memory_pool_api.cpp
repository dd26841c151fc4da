// cudaMallocAsync and its like, and the pools behind them.
#include "capture/capture.hpp"
#include "capture/capture_rules.hpp"
#include "graph/graph_alloc_work.hpp"
#include "memory/allocations.hpp"
#include "memory/memory_pools.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"
#include "stream/stream.hpp"

#include <algorithm>

using namespace cudart_cpu::detail;

namespace {

bool is_device(int id) {
    return id >= 0 && static_cast<std::size_t>(id) < device_count();
}

void allocate_from(const std::shared_ptr<MemoryPool>& pool, void** pointer, std::size_t bytes) {
    *pointer = nullptr;
    if (bytes == 0) {
        return;
    }
    pool->take(bytes);
    try {
        *pointer = allocate(bytes, {.type = cudaMemoryTypeDevice, .pool = pool, .device = pool->device()});
    } catch (...) {
        pool->free(bytes);
        pool->release();
        throw;
    }
}

/// Allocates in the stream's order; adds a node if the stream captures.
void allocate_in(Stream& stream, const std::shared_ptr<MemoryPool>& pool, void** pointer, std::size_t bytes) {
    if (is_capturing(stream)) {
        *pointer = nullptr;
        if (bytes == 0) {
            return;
        }
        cudaMemAllocNodeParams params{};
        params.poolProps.allocType = cudaMemAllocationTypePinned;
        params.poolProps.location = {cudaMemLocationTypeDevice, pool->device()};
        params.bytesize = bytes;
        captured(stream, [&](const Graph& target, const std::vector<Node*>& before) {
            const auto work = make_alloc_work(params, target, before, true);
            *pointer = work->address();
            return work;
        });
        return;
    }
    refuse_unsafe_call();
    allocate_from(pool, pointer, bytes);
}

void validate(const cudaMemPoolProps& props) {
    const auto refuse_unless = [](bool condition, const std::string& reason) {
        if (!condition) {
            fail(cudaErrorInvalidValue, reason);
        }
    };
    refuse_unless(number_in(props.allocType) == cudaMemAllocationTypePinned,
                  text("allocation type ", number_in(props.allocType), " of a memory pool is not pinned"));
    refuse_unless(number_in(props.handleTypes) == cudaMemHandleTypeNone, "memory pools cannot be shared");
    refuse_unless(number_in(props.location.type) == cudaMemLocationTypeDevice,
                  text("location type ", number_in(props.location.type), " of a memory pool is not a device"));
    refuse_unless(is_device(props.location.id), text("poolProps: Invalid location id (", props.location.id, ')'));
    refuse_unless(std::all_of(std::begin(props.reserved), std::end(props.reserved), [](auto b) { return b == 0; }),
                  "reserved bytes of the properties of a memory pool are not zero");
}

} // namespace

CUDART_CPU_API cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
    return api("cudaMallocAsync", [&] {
        Stream& target = stream_of(stream);
        require_pointer(pointer, "devPtr");
        allocate_in(target, pool_of(current_pool(current_device())), pointer, bytes);
    });
}

CUDART_CPU_API cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                                   cudaStream_t stream) {
    return api("cudaMallocFromPoolAsync", [&] {
        Stream& target = stream_of(stream);
        require_pointer(pointer, "ptr");
        allocate_in(target, pool_of(pool), pointer, bytes);
    });
}

CUDART_CPU_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    return api("cudaFreeAsync", [&] {
        Stream& freeing = stream_of(stream);
        if (pointer != nullptr &&
            captured(freeing, [&](const Graph& target, auto&&) { return make_free_work(pointer, target, true); })) {
            return;
        }
        if (!is_capturing(freeing)) {
            refuse_unsafe_call();
        }
        if (pointer == nullptr) {
            return;
        }
        enqueue(freeing, [dead = end_allocation(pointer, AllocatedOn::device)] { release(dead); });
    });
}

CUDART_CPU_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props) {
    return api("cudaMemPoolCreate", [&] {
        require_pointer(pool, "memPool");
        require_pointer(props, "poolProps");
        refuse_unsafe_call();
        validate(*props);
        *pool = register_pool(std::make_shared<MemoryPool>(props->location.id, props->maxSize));
    });
}

CUDART_CPU_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    return api("cudaMemPoolDestroy", [&] {
        refuse_unsafe_call();
        destroy_pool(pool);
    });
}

CUDART_CPU_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return api("cudaMemPoolSetAttribute", [&] {
        require_pointer(value, "value");
        refuse_unsafe_call();
        pool_of(pool)->set(attribute, value);
    });
}

CUDART_CPU_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return api("cudaMemPoolGetAttribute", [&] {
        require_pointer(value, "value");
        refuse_unsafe_call();
        pool_of(pool)->get(attribute, value);
    });
}

CUDART_CPU_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes) {
    return api("cudaMemPoolTrimTo", [&] {
        refuse_unsafe_call();
        pool_of(pool)->trim_to(bytes);
    });
}

CUDART_CPU_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descriptors,
                                                std::size_t count) {
    return api("cudaMemPoolSetAccess", [&] {
        refuse_unsafe_call();
        const auto target = pool_of(pool);
        if (count > 0) {
            require_pointer(descriptors, "descList");
        }
        for (std::size_t i = 0; i < count; ++i) {
            const cudaMemAccessDesc& one = descriptors[i];
            if (number_in(one.location.type) != cudaMemLocationTypeDevice) {
                fail(cudaErrorNotSupported, text("access descriptor ", i, " is of no device"));
            }
            require_device(one.location.id);
            target->set_access(one.location.id, one.flags);
        }
    });
}

CUDART_CPU_API cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                                cudaMemLocation* location) {
    return api("cudaMemPoolGetAccess", [&] {
        require_pointer(flags, "flags");
        require_pointer(location, "location");
        const auto target = pool_of(pool);
        if (number_in(location->type) == cudaMemLocationTypeHost) {
            *flags = cudaMemAccessFlagsProtNone;
            return;
        }
        if (number_in(location->type) != cudaMemLocationTypeDevice || !is_device(location->id)) {
            fail(cudaErrorInvalidValue, text("Specified invalid device ordinal(", location->id, ") in location->id"));
        }
        *flags = target->access(location->id);
    });
}

CUDART_CPU_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    return api("cudaDeviceGetDefaultMemPool", [&] {
        require_pointer(pool, "memPool");
        require_device(device);
        *pool = default_pool(device);
    });
}

CUDART_CPU_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
    return api("cudaDeviceGetMemPool", [&] {
        require_pointer(pool, "memPool");
        if (!is_device(device)) {
            fail(cudaErrorInvalidValue, text("device ", device, " does not exist"));
        }
        *pool = current_pool(device);
    });
}

CUDART_CPU_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    return api("cudaDeviceSetMemPool", [&] {
        require_device(device);
        refuse_unsafe_call();
        set_current_pool(device, pool);
    });
}
