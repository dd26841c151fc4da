// The driver's description of a copy as the runtime's, and back.
#include "driver_copies.hpp"

#include "arrays.hpp"
#include "memory.hpp"
#include "runtime/call.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

namespace {

/// The side of a copy in the driver's structure.
struct SideOfDriver {
    CUmemorytype type;
    const void* host;
    CUdeviceptr device;
    CUarray array;
    std::size_t x, y, z, pitch, height, level;
};

std::size_t bytes_of_element_at(const SideOfDriver& side) {
    return number_in(side.type) == CU_MEMORYTYPE_ARRAY
               ? array_of(reinterpret_cast<cudaArray_const_t>(side.array))->element_bytes
               : 1;
}

std::size_t whole_elements(std::size_t bytes, std::size_t size) {
    if (bytes % size != 0)
        fail(cudaErrorInvalidValue, text(bytes, " bytes are no multiple of the elements of ", size, " bytes"));
    return bytes / size;
}

struct RuntimeSide {
    cudaArray_t array = nullptr;
    cudaPos position{};
    cudaPitchedPtr memory{};
};

RuntimeSide runtime_side(const SideOfDriver& side, const CUDA_MEMCPY3D& copy) {
    if (side.level != 0) fail(cudaErrorInvalidValue, "the level of detail of a copy must be 0");
    RuntimeSide result;
    const int type = number_in(side.type);
    if (type == CU_MEMORYTYPE_ARRAY) {
        result.array = reinterpret_cast<cudaArray_t>(side.array);
        result.position = {whole_elements(side.x, bytes_of_element_at(side)), side.y, side.z};
        return result;
    }
    if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED)
        fail(cudaErrorInvalidValue, text("memory type ", type, " is unknown"));
    void* const base = type == CU_MEMORYTYPE_HOST ? const_cast<void*>(side.host) : reinterpret_cast<void*>(side.device);
    // A single row needs no pitch, a single slice no height.
    const std::size_t width = side.x + copy.WidthInBytes;
    const std::size_t pitch = side.pitch == 0 && copy.Height * copy.Depth <= 1 ? width : side.pitch;
    const std::size_t height = side.height == 0 && copy.Depth <= 1 ? side.y + copy.Height : side.height;
    result.position = {side.x, side.y, side.z};
    result.memory = {base, pitch, pitch, height};
    return result;
}

} // namespace

cudaMemcpy3DParms runtime_copy(const CUDA_MEMCPY3D& copy) {
    const SideOfDriver from{copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray,  copy.srcXInBytes,
                            copy.srcY,          copy.srcZ,    copy.srcPitch,  copy.srcHeight, copy.srcLOD};
    const SideOfDriver to{copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray,  copy.dstXInBytes,
                          copy.dstY,          copy.dstZ,    copy.dstPitch,  copy.dstHeight, copy.dstLOD};
    const RuntimeSide source = runtime_side(from, copy);
    const RuntimeSide destination = runtime_side(to, copy);
    cudaMemcpy3DParms result{};
    result.srcArray = source.array;
    result.srcPos = source.position;
    result.srcPtr = source.memory;
    result.dstArray = destination.array;
    result.dstPos = destination.position;
    result.dstPtr = destination.memory;
    result.extent = {whole_elements(copy.WidthInBytes, std::max(bytes_of_element_at(from), bytes_of_element_at(to))),
                     copy.Height, copy.Depth};
    result.kind = cudaMemcpyDefault;
    return result;
}

CUDA_MEMCPY3D driver_copy(const cudaMemcpy3DParms& copy) {
    CUDA_MEMCPY3D result{};
    const auto bytes_of = [](cudaArray_t array) { return array == nullptr ? 1 : array_of(array)->element_bytes; };
    const std::size_t source_bytes = bytes_of(copy.srcArray);
    const std::size_t destination_bytes = bytes_of(copy.dstArray);
    const auto memory_type = [](const cudaPitchedPtr& memory) {
        const std::optional<Range> range = find_allocation(memory.ptr);
        const bool is_host = !range || range->type == cudaMemoryTypeHost;
        return is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    };
    result.srcXInBytes = copy.srcPos.x * source_bytes;
    result.srcY = copy.srcPos.y;
    result.srcZ = copy.srcPos.z;
    result.srcMemoryType = copy.srcArray != nullptr ? CU_MEMORYTYPE_ARRAY : memory_type(copy.srcPtr);
    result.srcHost = copy.srcPtr.ptr;
    result.srcDevice = reinterpret_cast<CUdeviceptr>(copy.srcPtr.ptr);
    result.srcArray = reinterpret_cast<CUarray>(copy.srcArray);
    result.srcPitch = copy.srcPtr.pitch;
    result.srcHeight = copy.srcPtr.ysize;
    result.dstXInBytes = copy.dstPos.x * destination_bytes;
    result.dstY = copy.dstPos.y;
    result.dstZ = copy.dstPos.z;
    result.dstMemoryType = copy.dstArray != nullptr ? CU_MEMORYTYPE_ARRAY : memory_type(copy.dstPtr);
    result.dstHost = copy.dstPtr.ptr;
    result.dstDevice = reinterpret_cast<CUdeviceptr>(copy.dstPtr.ptr);
    result.dstArray = reinterpret_cast<CUarray>(copy.dstArray);
    result.dstPitch = copy.dstPtr.pitch;
    result.dstHeight = copy.dstPtr.ysize;
    result.WidthInBytes = copy.extent.width * std::max(source_bytes, destination_bytes);
    result.Height = copy.extent.height;
    result.Depth = copy.extent.depth;
    return result;
}

} // namespace cudart_cpu::detail
