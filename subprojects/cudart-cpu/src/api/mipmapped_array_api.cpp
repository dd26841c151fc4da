// cudaMallocMipmappedArray and queries of such arrays.
#include "capture/capture_rules.hpp"
#include "memory/mipmapped_arrays.hpp"
#include "runtime/call.hpp"
#include "runtime/text.hpp"
#include "stream/stream.hpp"

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const cudaChannelFormatDesc* desc,
                                                    cudaExtent extent, unsigned levels, unsigned flags) {
    return api("cudaMallocMipmappedArray", [&] {
        require_pointer(array, "mipmappedArray");
        require_pointer(desc, "desc");
        refuse_unsafe_call();
        *array = register_mipmapped_array(std::make_shared<MipmappedArray>(*desc, extent, levels, flags));
    });
}

CUDART_CPU_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
    return api("cudaFreeMipmappedArray", [&] {
        if (array == nullptr) return;
        mipmapped_array_of(array);
        refuse_unsafe_call();
        wait_for_all_devices();
        destroy_mipmapped_array(array);
    });
}

CUDART_CPU_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level_array, cudaMipmappedArray_const_t array,
                                                      unsigned level) {
    return api("cudaGetMipmappedArrayLevel", [&] {
        require_pointer(level_array, "levelArray");
        const auto& levels = mipmapped_array_of(array)->levels;
        if (level >= levels.size())
            fail(cudaErrorInvalidValue, text("level ", level, " of a mipmapped array of ", levels.size()));
        *level_array = levels[level];
    });
}

CUDART_CPU_API cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements* requirements,
                                                                   cudaMipmappedArray_t array, int device) {
    return api("cudaMipmappedArrayGetMemoryRequirements", [&] {
        require_pointer(requirements, "memoryRequirements");
        require_device(device);
        mipmapped_array_of(array);
        fail(cudaErrorInvalidValue, "the mipmapped array is none of deferred mapping");
    });
}

CUDART_CPU_API cudaError_t cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties* properties,
                                                                 cudaMipmappedArray_t array) {
    return api("cudaMipmappedArrayGetSparseProperties", [&] {
        require_pointer(properties, "sparseProperties");
        mipmapped_array_of(array);
        fail(cudaErrorInvalidValue, "the mipmapped array is not sparse");
    });
}
