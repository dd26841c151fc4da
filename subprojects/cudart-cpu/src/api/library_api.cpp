// cudaLibrary*: libraries of kernels, loaded from a shared object, PTX text or a fat binary.
#include "kernel/libraries.hpp"
#include "runtime/call.hpp"
#include "runtime/cuda_versions.hpp"

#include <algorithm>
#include <limits>

using namespace cudart_cpu::detail;

namespace {

cudaKernel_t handle_of(const KernelEntry& kernel) {
    return reinterpret_cast<cudaKernel_t>(const_cast<KernelEntry*>(&kernel));
}

} // namespace

// The options concern compilers: they have no effect here.
CUDART_CPU_API cudaError_t CUDARTAPI cudaLibraryLoadData(cudaLibrary_t* library, const void* code, enum cudaJitOption*,
                                                         void**, unsigned int, enum cudaLibraryOption*, void**,
                                                         unsigned int) {
    return api("cudaLibraryLoadData", [&] {
        require_pointer(library, "library");
        require_pointer(code, "code");
        *library = load_library(static_cast<const char*>(code), std::numeric_limits<std::size_t>::max());
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* fileName,
                                                             enum cudaJitOption*, void**, unsigned int,
                                                             enum cudaLibraryOption*, void**, unsigned int) {
    return api("cudaLibraryLoadFromFile", [&] {
        require_pointer(library, "library");
        require_pointer(fileName, "fileName");
        *library = load_library_from_file(fileName);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaLibraryUnload(cudaLibrary_t library) {
    return api("cudaLibraryUnload", [&] { unload_library(library); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaLibraryGetKernel(cudaKernel_t* pKernel, cudaLibrary_t library,
                                                          const char* name) {
    return api("cudaLibraryGetKernel", [&] {
        require_pointer(pKernel, "pKernel");
        require_pointer(name, "name");
        *pKernel = handle_of(kernel_in_library(library, name));
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t lib) {
    return api("cudaLibraryGetKernelCount", [&] {
        require_pointer(count, "count");
        *count = static_cast<unsigned>(kernel_names_of_library(lib).size());
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int numKernels,
                                                                 cudaLibrary_t lib) {
    return api("cudaLibraryEnumerateKernels", [&] {
        require_pointer(kernels, "kernels");
        const std::vector<std::string> names = kernel_names_of_library(lib);
        for (std::size_t i = 0; i < std::min<std::size_t>(numKernels, names.size()); ++i)
            kernels[i] = handle_of(kernel_in_library(lib, names[i]));
    });
}

namespace {

void look_up_variable(void** address, std::size_t* bytes, cudaLibrary_t library, const char* name) {
    require_pointer(name, "name");
    const LibraryVariable found = variable_in_library(library, name);
    if (address != nullptr) *address = found.address;
    if (bytes != nullptr) *bytes = found.bytes;
}

} // namespace

CUDART_CPU_API cudaError_t CUDARTAPI cudaLibraryGetGlobal(void** dptr, std::size_t* bytes, cudaLibrary_t library,
                                                          const char* name) {
    return api("cudaLibraryGetGlobal", [&] { look_up_variable(dptr, bytes, library, name); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaLibraryGetManaged(void** dptr, std::size_t* bytes, cudaLibrary_t library,
                                                           const char* name) {
    return api("cudaLibraryGetManaged", [&] { look_up_variable(dptr, bytes, library, name); });
}
