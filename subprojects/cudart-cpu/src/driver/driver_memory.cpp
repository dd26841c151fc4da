// The driver's functions for memory: allocations, copies, fills, and attributes of pointers.
#include "driver_frame.hpp"
#include "driver_functions.hpp"

#include "memory/allocation_number.hpp"
#include "memory/allocations.hpp"
#include "memory/driver_copies.hpp"
#include "memory/memory_pools.hpp"
#include "runtime/device_model.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"
#include "submit/copy_batch.hpp"

#include <optional>

namespace cudart_cpu::detail::driver {

namespace {

void require_size(std::size_t bytes) {
    if (bytes == 0) fail(cudaErrorInvalidValue, "the size must not be 0");
}

void* address_of(CUdeviceptr pointer) noexcept {
    return reinterpret_cast<void*>(pointer);
}

} // namespace

CUresult mem_alloc(CUdeviceptr* pointer, std::size_t bytes) {
    return answer_in_context("cuMemAlloc_v2", [&] {
        require_pointer(pointer, "dptr");
        require_size(bytes);
        through([&] { return cudaMalloc(reinterpret_cast<void**>(pointer), bytes); });
    });
}
CUresult mem_alloc_pitch(CUdeviceptr* pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                         unsigned element_bytes) {
    return answer_in_context("cuMemAllocPitch_v2", [&] {
        require_pointer(pointer, "dptr");
        require_pointer(pitch, "pPitch");
        if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16)
            fail(cudaErrorInvalidValue, text("ElementSizeBytes is ", element_bytes, "; it may be 4, 8 or 16"));
        require_size(width);
        require_size(height);
        through([&] { return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height); });
    });
}
CUresult mem_alloc_host(void** pointer, std::size_t bytes) {
    return answer_in_context("cuMemAllocHost_v2", [&] {
        require_pointer(pointer, "pp");
        require_size(bytes);
        through([&] { return cudaMallocHost(pointer, bytes); });
    });
}
CUresult mem_host_alloc(void** pointer, std::size_t bytes, unsigned flags) {
    return answer_in_context("cuMemHostAlloc", [&] {
        require_pointer(pointer, "pp");
        require_size(bytes);
        through([&] { return cudaHostAlloc(pointer, bytes, flags); });
    });
}
CUresult mem_get_address_range(CUdeviceptr* base, std::size_t* size, CUdeviceptr address) {
    return answer("cuMemGetAddressRange_v2", [&] {
        const std::optional<Range> range = find_live_allocation(address_of(address));
        if (!range) fail(cudaErrorSymbolNotFound, text("no allocation has address ", address));
        if (base) *base = reinterpret_cast<CUdeviceptr>(range->base);
        if (size) *size = range->bytes;
    });
}

// Copies of bytes.

namespace {

CUresult copy(const char* name, CUdeviceptr to, CUdeviceptr from, std::size_t bytes, cudaMemcpyKind kind) {
    return answer_in_context(
        name, [&] { through([&] { return cudaMemcpy(address_of(to), address_of(from), bytes, kind); }); });
}
CUresult copy_async(const char* name, CUdeviceptr to, CUdeviceptr from, std::size_t bytes, cudaMemcpyKind kind,
                    CUstream stream) {
    return answer(name, [&] {
        require_context_of(stream);
        through([&] { return cudaMemcpyAsync(address_of(to), address_of(from), bytes, kind, stream); });
    });
}
CUdeviceptr number_of(const void* pointer) noexcept {
    return reinterpret_cast<CUdeviceptr>(pointer);
}

} // namespace

CUresult memcpy_any(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return copy("cuMemcpy", to, from, bytes, cudaMemcpyDefault);
}
CUresult memcpy_any_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy_async("cuMemcpyAsync", to, from, bytes, cudaMemcpyDefault, stream);
}
CUresult memcpy_h_to_d(CUdeviceptr to, const void* from, std::size_t bytes) {
    return copy("cuMemcpyHtoD_v2", to, number_of(from), bytes, cudaMemcpyHostToDevice);
}
CUresult memcpy_h_to_d_async(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
    return copy_async("cuMemcpyHtoDAsync_v2", to, number_of(from), bytes, cudaMemcpyHostToDevice, stream);
}
CUresult memcpy_d_to_h(void* to, CUdeviceptr from, std::size_t bytes) {
    return copy("cuMemcpyDtoH_v2", number_of(to), from, bytes, cudaMemcpyDeviceToHost);
}
CUresult memcpy_d_to_h_async(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy_async("cuMemcpyDtoHAsync_v2", number_of(to), from, bytes, cudaMemcpyDeviceToHost, stream);
}
CUresult memcpy_d_to_d(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return copy("cuMemcpyDtoD_v2", to, from, bytes, cudaMemcpyDeviceToDevice);
}
CUresult memcpy_d_to_d_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy_async("cuMemcpyDtoDAsync_v2", to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
CUresult memcpy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                     std::size_t bytes) {
    return answer_in_context("cuMemcpyPeer", [&] {
        const int to_device = context_of(to_context).device;
        const int from_device = context_of(from_context).device;
        through([&] { return cudaMemcpyPeer(address_of(to), to_device, address_of(from), from_device, bytes); });
    });
}
CUresult memcpy_peer_async(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                           std::size_t bytes, CUstream stream) {
    return answer("cuMemcpyPeerAsync", [&] {
        require_context_of(stream);
        const int to_device = context_of(to_context).device;
        const int from_device = context_of(from_context).device;
        through([&] {
            return cudaMemcpyPeerAsync(address_of(to), to_device, address_of(from), from_device, bytes, stream);
        });
    });
}

// Copies of boxes, also in arrays.

namespace {

CUDA_MEMCPY3D box_of(const CUDA_MEMCPY2D& copy) {
    CUDA_MEMCPY3D box{};
    box.srcXInBytes = copy.srcXInBytes;
    box.srcY = copy.srcY;
    box.srcMemoryType = copy.srcMemoryType;
    box.srcHost = copy.srcHost;
    box.srcDevice = copy.srcDevice;
    box.srcArray = copy.srcArray;
    box.srcPitch = copy.srcPitch;
    box.dstXInBytes = copy.dstXInBytes;
    box.dstY = copy.dstY;
    box.dstMemoryType = copy.dstMemoryType;
    box.dstHost = copy.dstHost;
    box.dstDevice = copy.dstDevice;
    box.dstArray = copy.dstArray;
    box.dstPitch = copy.dstPitch;
    box.WidthInBytes = copy.WidthInBytes;
    box.Height = copy.Height;
    box.Depth = 1;
    return box;
}

CUresult copy_box(const char* name, const CUDA_MEMCPY3D* copy) {
    return answer_in_context(name, [&] {
        require_pointer(copy, "pCopy");
        const cudaMemcpy3DParms params = runtime_copy(*copy);
        through([&] { return cudaMemcpy3D(&params); });
    });
}
CUresult copy_box_async(const char* name, const CUDA_MEMCPY3D* copy, CUstream stream) {
    return answer(name, [&] {
        require_pointer(copy, "pCopy");
        require_context_of(stream);
        const cudaMemcpy3DParms params = runtime_copy(*copy);
        through([&] { return cudaMemcpy3DAsync(&params, stream); });
    });
}
CUresult copy_rows(const char* name, const CUDA_MEMCPY2D* copy) {
    if (copy == nullptr) return copy_box(name, nullptr);
    const CUDA_MEMCPY3D box = box_of(*copy);
    return copy_box(name, &box);
}

/// The bytes of an array's row from one to another position.
CUDA_MEMCPY3D line(std::size_t bytes) {
    CUDA_MEMCPY3D copy{};
    copy.WidthInBytes = bytes;
    copy.Height = copy.Depth = 1;
    return copy;
}
void from_array(CUDA_MEMCPY3D& copy, CUarray array, std::size_t offset) {
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.srcXInBytes = offset;
}
void to_array(CUDA_MEMCPY3D& copy, CUarray array, std::size_t offset) {
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.dstXInBytes = offset;
}
void from_memory(CUDA_MEMCPY3D& copy, CUdeviceptr from) {
    copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = from;
}
void to_memory(CUDA_MEMCPY3D& copy, CUdeviceptr to) {
    copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.dstDevice = to;
}

} // namespace

CUresult memcpy_2d(const CUDA_MEMCPY2D* copy) {
    return copy_rows("cuMemcpy2D_v2", copy);
}
CUresult memcpy_2d_unaligned(const CUDA_MEMCPY2D* copy) {
    return copy_rows("cuMemcpy2DUnaligned_v2", copy);
}
CUresult memcpy_2d_async(const CUDA_MEMCPY2D* copy, CUstream stream) {
    if (copy == nullptr) return copy_box_async("cuMemcpy2DAsync_v2", nullptr, stream);
    const CUDA_MEMCPY3D box = box_of(*copy);
    return copy_box_async("cuMemcpy2DAsync_v2", &box, stream);
}
CUresult memcpy_3d(const CUDA_MEMCPY3D* copy) {
    return copy_box("cuMemcpy3D_v2", copy);
}
CUresult memcpy_3d_async(const CUDA_MEMCPY3D* copy, CUstream stream) {
    return copy_box_async("cuMemcpy3DAsync_v2", copy, stream);
}
// The contexts are of no importance: all devices have one memory.
static_assert(sizeof(CUDA_MEMCPY3D_PEER) == sizeof(CUDA_MEMCPY3D));
CUresult memcpy_3d_peer(const CUDA_MEMCPY3D_PEER* copy) {
    return copy_box("cuMemcpy3DPeer", reinterpret_cast<const CUDA_MEMCPY3D*>(copy));
}
CUresult memcpy_3d_peer_async(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
    return copy_box_async("cuMemcpy3DPeerAsync", reinterpret_cast<const CUDA_MEMCPY3D*>(copy), stream);
}
CUresult memcpy_d_to_a(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes) {
    CUDA_MEMCPY3D copy = line(bytes);
    to_array(copy, to, offset);
    from_memory(copy, from);
    return copy_box("cuMemcpyDtoA_v2", &copy);
}
CUresult memcpy_a_to_d(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes) {
    CUDA_MEMCPY3D copy = line(bytes);
    to_memory(copy, to);
    from_array(copy, from, offset);
    return copy_box("cuMemcpyAtoD_v2", &copy);
}
CUresult memcpy_h_to_a(CUarray to, std::size_t offset, const void* from, std::size_t bytes) {
    CUDA_MEMCPY3D copy = line(bytes);
    to_array(copy, to, offset);
    from_memory(copy, number_of(from));
    return copy_box("cuMemcpyHtoA_v2", &copy);
}
CUresult memcpy_a_to_h(void* to, CUarray from, std::size_t offset, std::size_t bytes) {
    CUDA_MEMCPY3D copy = line(bytes);
    to_memory(copy, number_of(to));
    from_array(copy, from, offset);
    return copy_box("cuMemcpyAtoH_v2", &copy);
}
CUresult memcpy_a_to_a(CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset, std::size_t bytes) {
    CUDA_MEMCPY3D copy = line(bytes);
    to_array(copy, to, to_offset);
    from_array(copy, from, from_offset);
    return copy_box("cuMemcpyAtoA_v2", &copy);
}
CUresult memcpy_h_to_a_async(CUarray to, std::size_t offset, const void* from, std::size_t bytes, CUstream stream) {
    CUDA_MEMCPY3D copy = line(bytes);
    to_array(copy, to, offset);
    from_memory(copy, number_of(from));
    return copy_box_async("cuMemcpyHtoAAsync_v2", &copy, stream);
}
CUresult memcpy_a_to_h_async(void* to, CUarray from, std::size_t offset, std::size_t bytes, CUstream stream) {
    CUDA_MEMCPY3D copy = line(bytes);
    to_memory(copy, number_of(to));
    from_array(copy, from, offset);
    return copy_box_async("cuMemcpyAtoHAsync_v2", &copy, stream);
}

#if CUDA_VERSION >= 13000
CUresult memcpy_batch_v1(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes, std::size_t count,
                         CUmemcpyAttributes* attributes, std::size_t* first_of_attributes, std::size_t attribute_count,
                         std::size_t* failed, CUstream stream) {
    return answer("cuMemcpyBatchAsync", [&] {
        require_context_of(stream);
        static_assert(sizeof(CUmemcpyAttributes) == sizeof(cudaMemcpyAttributes));
        submit_copies({reinterpret_cast<void* const*>(to), reinterpret_cast<const void* const*>(from), sizes, count,
                       reinterpret_cast<const cudaMemcpyAttributes*>(attributes), first_of_attributes, attribute_count},
                      stream, failed);
    });
}
CUresult memcpy_3d_batch_v1(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, std::size_t* failed,
                            unsigned long long flags, CUstream stream) {
    return answer("cuMemcpy3DBatchAsync", [&] {
        require_context_of(stream);
        static_assert(sizeof(CUDA_MEMCPY3D_BATCH_OP) == sizeof(cudaMemcpy3DBatchOp));
        submit_copies(reinterpret_cast<const cudaMemcpy3DBatchOp*>(operations), count, flags, stream, failed);
    });
}
#endif

// Attributes of pointers.

namespace {

template <class T>
void give(void* data, const T& value) {
    *static_cast<T*>(data) = value;
}

/// Returns the pool of stream-ordered memory; null for other memory.
cudaMemPool_t pool_handle_of(const void* pointer) {
    const std::optional<AllocationKind> kind = kind_of(pointer);
    if (!kind || !kind->pool) return nullptr;
    for (const cudaMemPool_t pool : {default_pool(kind->device), current_pool(kind->device)})
        if (pool_of(pool) == kind->pool) return pool;
    fail(cudaErrorNotSupported, "cudart-cpu tells only a device's default and current pool of memory");
}

/// Writes the attribute. Unknown pointers have the value 0, as the driver gives in lists.
void write_attribute(void* data, int attribute, CUdeviceptr pointer, const std::optional<Range>& range) {
    const bool is_managed = range && range->type == cudaMemoryTypeManaged;
    const bool is_host = range && range->type == cudaMemoryTypeHost;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return give(data, range ? primary_context(range->device) : nullptr);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return give(data, !range ? 0u : is_host ? unsigned{CU_MEMORYTYPE_HOST} : unsigned{CU_MEMORYTYPE_DEVICE});
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return give(data, range ? pointer : CUdeviceptr{0});
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return give(data, is_host || is_managed ? address_of(pointer) : nullptr);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return give(data, 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        if (const std::uint64_t number = number_of_allocation(address_of(pointer)); range && number != 0)
            return give(data, static_cast<unsigned long long>(number));
        [[fallthrough]]; // variables
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return give(data, range ? static_cast<unsigned long long>(number_of(range->base)) : 0ull);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return give(data, is_managed ? 1u : 0u);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return give(data, range ? range->device : static_cast<int>(CU_DEVICE_INVALID));
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        return give(data, range ? number_of(range->base) : CUdeviceptr{0});
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        return give(data, range ? range->bytes : std::size_t{0});
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return give(data, range ? 1u : 0u);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return give(data, 0u);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return give(data, 0ull);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return give(data, range ? unsigned{CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE}
                                : unsigned{CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE});
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return give(data, pool_handle_of(address_of(pointer)));
    default:
        fail(cudaErrorInvalidValue, text("pointer attribute ", attribute, " is unknown or not in cudart-cpu"));
    }
}

} // namespace

CUresult pointer_get_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
    return answer("cuPointerGetAttribute", [&] {
        require_pointer(data, "data");
        const std::optional<Range> range = find_live_allocation(address_of(pointer));
        if (!range) fail(cudaErrorInvalidValue, text(address_of(pointer), " is not in memory known to CUDA"));
        write_attribute(data, number_in(attribute), pointer, range);
    });
}
CUresult pointer_get_attributes(unsigned count, CUpointer_attribute* attributes, void** data, CUdeviceptr pointer) {
    return answer("cuPointerGetAttributes", [&] {
        require_pointer(attributes, "attributes");
        require_pointer(data, "data");
        const std::optional<Range> range = find_live_allocation(address_of(pointer));
        for (unsigned i = 0; i < count; ++i)
            write_attribute(data[i], number_in(attributes[i]), pointer, range);
    });
}
CUresult pointer_set_attribute(const void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
    return answer("cuPointerSetAttribute", [&] {
        require_pointer(value, "value");
        if (number_in(attribute) != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
            fail(cudaErrorInvalidValue, text("pointer attribute ", number_in(attribute), " cannot be set"));
        if (!find_live_allocation(address_of(pointer)))
            fail(cudaErrorInvalidValue, text(address_of(pointer), " is not in memory known to CUDA"));
    });
}

} // namespace cudart_cpu::detail::driver
