// The driver's functions for modules, libraries, kernels and functions. A module is a library under another name.
#include "driver_frame.hpp"
#include "driver_functions.hpp"

#include "kernel/kernel_registry.hpp"
#include "kernel/libraries.hpp"
#include "kernel/node_arguments.hpp"
#include "runtime/device_model.hpp"
#include "runtime/driver_version.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace cudart_cpu::detail::driver {

namespace {

constexpr std::size_t unknown_size = std::numeric_limits<std::size_t>::max();

cudaLibrary_t library_of_module(CUmodule module) noexcept {
    return reinterpret_cast<cudaLibrary_t>(module);
}

CUmodule module_of(cudaLibrary_t library) noexcept {
    return reinterpret_cast<CUmodule>(library);
}

/// The kernel behind a CUfunction or CUkernel, in the form that the runtime's functions take.
const void* runtime_kernel(const void* handle) {
    return &kernel_of(handle);
}

/// Modules are loaded whole: an image without code for this device is refused at once.
cudaLibrary_t load_module_image(const void* image) {
    require_pointer(image, "image");
    const cudaLibrary_t library = load_library(static_cast<const char*>(image), unknown_size);
    try {
        require_code_of_library(library);
        kernel_names_of_library(library); // translates a fat binary
        return library;
    } catch (const Failure&) {
        unload_library(library);
        throw;
    }
}

CUresult load_module_data(const char* name, CUmodule* module, const void* image) {
    return answer_in_context(name, [&] {
        require_pointer(module, "module");
        *module = module_of(load_module_image(image));
    });
}

int attribute_of(const void* kernel, int attribute) {
    cudaFuncAttributes all{};
    through([&] { return cudaFuncGetAttributes(&all, kernel); });
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        return all.maxThreadsPerBlock;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        return static_cast<int>(all.sharedSizeBytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        return static_cast<int>(all.constSizeBytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        return static_cast<int>(all.localSizeBytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        return all.numRegs;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        return all.ptxVersion;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        return all.binaryVersion;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        return all.cacheModeCA;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return all.maxDynamicSharedSizeBytes;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return all.preferredShmemCarveout;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        return all.clusterDimMustBeSet;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
        return all.requiredClusterWidth;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
        return all.requiredClusterHeight;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        return all.requiredClusterDepth;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        return all.nonPortableClusterSizeAllowed;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return all.clusterSchedulingPolicyPreference;
    case 16: // CU_FUNC_ATTRIBUTE_DEVICE_NODE_UPDATE_SUPPORTED
        require_driver(13030);
        return 1;
    default:
        fail(cudaErrorInvalidValue, text("function attribute ", attribute, " cannot be read on cudart-cpu"));
    }
}

void set_attribute_of(const void* kernel, int attribute, int value) {
    through([&] { return cudaFuncSetAttribute(kernel, static_cast<cudaFuncAttribute>(attribute), value); });
}

void require_cache_choice(CUfunc_cache config) {
    const int number = number_in(config);
    if (number < CU_FUNC_CACHE_PREFER_NONE || number > CU_FUNC_CACHE_PREFER_EQUAL)
        fail(cudaErrorInvalidValue, text("cache configuration ", number, " is unknown"));
}

void give_variable(CUdeviceptr* address, std::size_t* bytes, cudaLibrary_t library, const char* name) {
    require_pointer(name, "name");
    if (address == nullptr && bytes == nullptr) fail(cudaErrorInvalidValue, "dptr and bytes are both NULL");
    const LibraryVariable variable = variable_in_library(library, name);
    if (address != nullptr) *address = reinterpret_cast<CUdeviceptr>(variable.address);
    if (bytes != nullptr) *bytes = variable.bytes;
}

void give_name(const void* kernel, const char** name) {
    require_pointer(name, "name");
    *name = kernel_name(kernel_of(kernel)).c_str();
}

void give_parameter_count(const void* kernel, std::size_t* count) {
    const KernelEntry& entry = kernel_of(kernel);
    require_pointer(count, "paramCount");
    *count = entry.params.size();
}

void give_parameter(const void* kernel, std::size_t index, std::size_t* offset, std::size_t* size) {
    const KernelEntry& entry = kernel_of(kernel);
    require_pointer(offset, "paramOffset");
    if (index >= entry.params.size())
        fail(cudaErrorInvalidValue, text("parameter ", index, " of ", entry.params.size()));
    *offset = packed_offsets(entry)[index];
    if (size != nullptr) *size = entry.params[index].size;
}

} // namespace

CUresult module_load(CUmodule* module, const char* path) {
    return answer_in_context("cuModuleLoad", [&] {
        require_pointer(module, "module");
        require_pointer(path, "fname");
        *module = module_of(load_library_from_file(path));
    });
}
CUresult module_load_data(CUmodule* module, const void* image) {
    return load_module_data("cuModuleLoadData", module, image);
}
CUresult module_load_data_ex(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
    return load_module_data("cuModuleLoadDataEx", module, image);
}
CUresult module_load_fat_binary(CUmodule* module, const void* image) {
    return load_module_data("cuModuleLoadFatBinary", module, image);
}
CUresult module_unload(CUmodule module) {
    return answer_in_context("cuModuleUnload", [&] { unload_library(library_of_module(module)); });
}
CUresult module_get_function(CUfunction* function, CUmodule module, const char* name) {
    return answer_in_context("cuModuleGetFunction", [&] {
        require_pointer(function, "hfunc");
        require_pointer(name, "name");
        *function = function_of(kernel_in_library(library_of_module(module), name));
    });
}
CUresult module_get_function_count(unsigned* count, CUmodule module) {
    return answer_in_context("cuModuleGetFunctionCount", [&] {
        require_pointer(count, "count");
        *count = static_cast<unsigned>(kernel_names_of_library(library_of_module(module)).size());
    });
}
CUresult module_enumerate_functions(CUfunction* functions, unsigned count, CUmodule module) {
    return answer_in_context("cuModuleEnumerateFunctions", [&] {
        require_pointer(functions, "functions");
        const std::vector<std::string> names = kernel_names_of_library(library_of_module(module));
        for (std::size_t i = 0; i < std::min<std::size_t>(count, names.size()); ++i)
            functions[i] = function_of(kernel_in_library(library_of_module(module), names[i]));
    });
}
CUresult module_get_global(CUdeviceptr* address, std::size_t* bytes, CUmodule module, const char* name) {
    return answer_in_context("cuModuleGetGlobal_v2",
                             [&] { give_variable(address, bytes, library_of_module(module), name); });
}
CUresult module_get_loading_mode(CUmoduleLoadingMode* mode) {
    return answer("cuModuleGetLoadingMode", [&] {
        require_pointer(mode, "mode");
        *mode = CU_MODULE_LAZY_LOADING;
    });
}

CUresult library_load_data(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned, CUlibraryOption*,
                           void**, unsigned) {
    return answer("cuLibraryLoadData", [&] {
        require_pointer(library, "library");
        require_pointer(code, "code");
        *library = reinterpret_cast<CUlibrary>(load_library(static_cast<const char*>(code), unknown_size));
    });
}
CUresult library_load_from_file(CUlibrary* library, const char* path, CUjit_option*, void**, unsigned, CUlibraryOption*,
                                void**, unsigned) {
    return answer("cuLibraryLoadFromFile", [&] {
        require_pointer(library, "library");
        require_pointer(path, "fileName");
        *library = reinterpret_cast<CUlibrary>(load_library_from_file(path));
    });
}
CUresult library_unload(CUlibrary library) {
    return answer("cuLibraryUnload", [&] { unload_library(reinterpret_cast<cudaLibrary_t>(library)); });
}
CUresult library_get_kernel(CUkernel* kernel, CUlibrary library, const char* name) {
    return answer("cuLibraryGetKernel", [&] {
        require_pointer(kernel, "pKernel");
        require_pointer(name, "name");
        const KernelEntry& entry = kernel_in_library(reinterpret_cast<cudaLibrary_t>(library), name);
        *kernel = reinterpret_cast<CUkernel>(const_cast<KernelEntry*>(&entry));
    });
}
CUresult library_get_kernel_count(unsigned* count, CUlibrary library) {
    return answer("cuLibraryGetKernelCount", [&] {
        require_pointer(count, "count");
        *count = static_cast<unsigned>(kernel_names_of_library(reinterpret_cast<cudaLibrary_t>(library)).size());
    });
}
CUresult library_enumerate_kernels(CUkernel* kernels, unsigned count, CUlibrary library) {
    return answer("cuLibraryEnumerateKernels", [&] {
        require_pointer(kernels, "kernels");
        const auto handle = reinterpret_cast<cudaLibrary_t>(library);
        const std::vector<std::string> names = kernel_names_of_library(handle);
        for (std::size_t i = 0; i < std::min<std::size_t>(count, names.size()); ++i)
            kernels[i] = reinterpret_cast<CUkernel>(const_cast<KernelEntry*>(&kernel_in_library(handle, names[i])));
    });
}
CUresult library_get_module(CUmodule* module, CUlibrary library) {
    return answer_in_context("cuLibraryGetModule", [&] {
        require_pointer(module, "pMod");
        const auto handle = reinterpret_cast<cudaLibrary_t>(library);
        kernel_names_of_library(handle); // throws
        *module = module_of(handle);
    });
}
CUresult library_get_global(CUdeviceptr* address, std::size_t* bytes, CUlibrary library, const char* name) {
    return answer_in_context("cuLibraryGetGlobal",
                             [&] { give_variable(address, bytes, reinterpret_cast<cudaLibrary_t>(library), name); });
}
CUresult library_get_managed(CUdeviceptr* address, std::size_t* bytes, CUlibrary library, const char* name) {
    return answer("cuLibraryGetManaged",
                  [&] { give_variable(address, bytes, reinterpret_cast<cudaLibrary_t>(library), name); });
}

CUresult kernel_get_function(CUfunction* function, CUkernel kernel) {
    return answer_in_context("cuKernelGetFunction", [&] {
        require_pointer(function, "pFunc");
        *function = function_of(kernel_of(kernel));
    });
}
CUresult kernel_get_name(const char** name, CUkernel kernel) {
    return answer("cuKernelGetName", [&] { give_name(kernel, name); });
}
CUresult kernel_get_library(CUlibrary* library, CUkernel kernel) {
    return answer("cuKernelGetLibrary", [&] {
        require_pointer(library, "pLib");
        *library = reinterpret_cast<CUlibrary>(library_of_kernel(kernel_of(kernel)));
    });
}
CUresult kernel_get_attribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
    return answer("cuKernelGetAttribute", [&] {
        require_pointer(value, "pi");
        require_device(device);
        *value = attribute_of(runtime_kernel(kernel), number_in(attribute));
    });
}
CUresult kernel_set_attribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
    return answer("cuKernelSetAttribute", [&] {
        require_device(device);
        set_attribute_of(runtime_kernel(kernel), number_in(attribute), value);
    });
}
CUresult kernel_set_cache_config(CUkernel kernel, CUfunc_cache config, CUdevice device) {
    return answer("cuKernelSetCacheConfig", [&] {
        require_device(device);
        require_cache_choice(config);
        kernel_of(kernel); // throws
    });
}
CUresult kernel_get_param_count(CUkernel kernel, std::size_t* count) {
    return answer("cuKernelGetParamCount", [&] { give_parameter_count(kernel, count); });
}
CUresult kernel_get_param_info(CUkernel kernel, std::size_t index, std::size_t* offset, std::size_t* size) {
    return answer("cuKernelGetParamInfo", [&] { give_parameter(kernel, index, offset, size); });
}

CUresult func_get_name(const char** name, CUfunction function) {
    return answer("cuFuncGetName", [&] { give_name(function, name); });
}
CUresult func_get_module(CUmodule* module, CUfunction function) {
    return answer("cuFuncGetModule", [&] {
        require_pointer(module, "hmod");
        const cudaLibrary_t library = library_of_kernel(kernel_of(function));
        if (library == nullptr)
            fail(cudaErrorNotSupported, "cudart-cpu has no modules for kernels compiled into the program");
        *module = module_of(library);
    });
}
CUresult func_get_attribute(int* value, CUfunction_attribute attribute, CUfunction function) {
    return answer("cuFuncGetAttribute", [&] {
        require_pointer(value, "pi");
        *value = attribute_of(runtime_kernel(function), number_in(attribute));
    });
}
CUresult func_set_attribute(CUfunction function, CUfunction_attribute attribute, int value) {
    return answer("cuFuncSetAttribute",
                  [&] { set_attribute_of(runtime_kernel(function), number_in(attribute), value); });
}
CUresult func_set_cache_config(CUfunction function, CUfunc_cache config) {
    return answer("cuFuncSetCacheConfig", [&] {
        require_cache_choice(config);
        kernel_of(function); // throws
    });
}
CUresult func_get_param_count(CUfunction function, std::size_t* count) {
    return answer("cuFuncGetParamCount", [&] { give_parameter_count(function, count); });
}
CUresult func_get_param_info(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* size) {
    return answer("cuFuncGetParamInfo", [&] { give_parameter(function, index, offset, size); });
}
CUresult func_is_loaded(CUfunctionLoadingState* state, CUfunction function) {
    return answer("cuFuncIsLoaded", [&] {
        require_pointer(state, "state");
        kernel_of(function); // throws
        *state = CU_FUNCTION_LOADING_STATE_LOADED;
    });
}
CUresult func_load(CUfunction function) {
    return answer("cuFuncLoad", [&] { kernel_of(function); });
}

CUresult occupancy_blocks(int* blocks, CUfunction function, int block_size, std::size_t shared_bytes) {
    return answer("cuOccupancyMaxActiveBlocksPerMultiprocessor", [&] {
        const void* const kernel = runtime_kernel(function);
        through(
            [&] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_size, shared_bytes); });
    });
}
CUresult occupancy_blocks_with_flags(int* blocks, CUfunction function, int block_size, std::size_t shared_bytes,
                                     unsigned flags) {
    return answer("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [&] {
        const void* const kernel = runtime_kernel(function);
        through([&] {
            return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, block_size, shared_bytes,
                                                                          flags);
        });
    });
}
CUresult occupancy_available_shared(std::size_t* bytes, CUfunction function, int blocks, int block_size) {
    return answer("cuOccupancyAvailableDynamicSMemPerBlock", [&] {
        const void* const kernel = runtime_kernel(function);
        through([&] { return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, kernel, blocks, block_size); });
    });
}

namespace {

void find_block_size(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of, std::size_t shared_bytes,
                     int limit) {
    require_pointer(grid, "minGridSize");
    require_pointer(block, "blockSize");
    const void* const kernel = runtime_kernel(function);
    const int largest = attribute_of(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    int best_threads = 0;
    const int first = limit > 0 ? std::min(limit, largest) : largest;
    for (int size = (first + warp_size - 1) / warp_size * warp_size; size > 0; size -= warp_size) {
        const int threads = std::min(size, first);
        const std::size_t shared = shared_of != nullptr ? shared_of(threads) : shared_bytes;
        int blocks = 0;
        through([&] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared); });
        if (blocks * threads <= best_threads) continue;
        best_threads = blocks * threads;
        *block = threads;
        *grid = blocks * multiprocessors();
    }
    if (best_threads == 0) fail(cudaErrorInvalidValue, "no block of the kernel fits on a multiprocessor");
}

} // namespace

CUresult occupancy_block_size(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of,
                              std::size_t shared_bytes, int limit) {
    return answer("cuOccupancyMaxPotentialBlockSize",
                  [&] { find_block_size(grid, block, function, shared_of, shared_bytes, limit); });
}
CUresult occupancy_block_size_with_flags(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of,
                                         std::size_t shared_bytes, int limit, unsigned flags) {
    return answer("cuOccupancyMaxPotentialBlockSizeWithFlags", [&] {
        if (flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
            fail(cudaErrorInvalidValue, text("flags ", flags, " are unknown"));
        find_block_size(grid, block, function, shared_of, shared_bytes, limit);
    });
}

namespace {

cudaLaunchConfig_t runtime_config(const CUlaunchConfig* config) {
    require_pointer(config, "config");
    static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
    cudaLaunchConfig_t result{};
    result.gridDim = {config->gridDimX, config->gridDimY, config->gridDimZ};
    result.blockDim = {config->blockDimX, config->blockDimY, config->blockDimZ};
    result.dynamicSmemBytes = config->sharedMemBytes;
    result.stream = config->hStream;
    result.attrs = reinterpret_cast<cudaLaunchAttribute*>(config->attrs);
    result.numAttrs = config->numAttrs;
    return result;
}

} // namespace

CUresult occupancy_active_clusters(int* clusters, CUfunction function, const CUlaunchConfig* config) {
    return answer("cuOccupancyMaxActiveClusters", [&] {
        const void* const kernel = runtime_kernel(function);
        const cudaLaunchConfig_t runtime = runtime_config(config);
        through([&] { return cudaOccupancyMaxActiveClusters(clusters, kernel, &runtime); });
    });
}
CUresult occupancy_cluster_size(int* size, CUfunction function, const CUlaunchConfig* config) {
    return answer("cuOccupancyMaxPotentialClusterSize", [&] {
        const void* const kernel = runtime_kernel(function);
        const cudaLaunchConfig_t runtime = runtime_config(config);
        through([&] { return cudaOccupancyMaxPotentialClusterSize(size, kernel, &runtime); });
    });
}

} // namespace cudart_cpu::detail::driver
