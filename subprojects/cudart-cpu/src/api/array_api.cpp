// cudaMallocArray and cudaMalloc3DArray, and queries of arrays.
#include "capture/capture_rules.hpp"
#include "memory/arrays.hpp"
#include "runtime/call.hpp"
#include "runtime/text.hpp"
#include "stream/stream.hpp"

using namespace cudart_cpu::detail;

namespace {

void allocate_array(cudaArray_t* array, const cudaChannelFormatDesc* desc, const cudaExtent& extent, unsigned flags) {
    require_pointer(array, "array");
    require_pointer(desc, "desc");
    refuse_unsafe_call();
    *array = register_array(std::make_shared<Array>(*desc, extent, flags));
}

} // namespace

CUDART_CPU_API cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, std::size_t width,
                                           std::size_t height, unsigned flags) {
    return api("cudaMallocArray", [&] { allocate_array(array, desc, {width, height, 0}, flags); });
}

CUDART_CPU_API cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                                             unsigned flags) {
    return api("cudaMalloc3DArray", [&] { allocate_array(array, desc, extent, flags); });
}

CUDART_CPU_API cudaError_t cudaFreeArray(cudaArray_t array) {
    return api("cudaFreeArray", [&] {
        if (array == nullptr || array_of(array)->is_level) {
            return; // a level is freed with its mipmapped array
        }
        refuse_unsafe_call();
        wait_for_all_devices();
        destroy_array(array);
    });
}

CUDART_CPU_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags,
                                            cudaArray_t array) {
    return api("cudaArrayGetInfo", [&] {
        const auto found = array_of(array);
        if (desc != nullptr) {
            *desc = found->desc;
        }
        if (extent != nullptr) {
            *extent = found->extent;
        }
        if (flags != nullptr) {
            *flags = found->flags;
        }
    });
}

CUDART_CPU_API cudaError_t cudaArrayGetPlane(cudaArray_t* plane, cudaArray_t array, unsigned index) {
    return api("cudaArrayGetPlane", [&] {
        require_pointer(plane, "pPlaneArray");
        array_of(array);
        fail(cudaErrorInvalidValue, text("plane ", index, " asked of an array whose format has no planes"));
    });
}

CUDART_CPU_API cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* requirements, cudaArray_t array,
                                                          int device) {
    return api("cudaArrayGetMemoryRequirements", [&] {
        require_pointer(requirements, "memoryRequirements");
        require_device(device);
        array_of(array);
        fail(cudaErrorInvalidValue, "the array is none of deferred mapping");
    });
}

CUDART_CPU_API cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties* properties, cudaArray_t array) {
    return api("cudaArrayGetSparseProperties", [&] {
        require_pointer(properties, "sparseProperties");
        array_of(array);
        fail(cudaErrorInvalidValue, "the array is not sparse");
    });
}

CUDART_CPU_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
    return api("cudaGetChannelDesc", [&] {
        require_pointer(desc, "desc");
        *desc = array_of(array)->desc;
    });
}

CUDART_CPU_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}
