// What nvcc's host code calls. The CPU runtime cannot run what nvcc compiles: it notes the kernels, to refuse them by
// name where they are launched.
#include "kernel/kernel_registry.hpp"
#include "runtime/call.hpp"

#include <utility>

using namespace cudart_cpu::detail;

namespace {

/// What `<<<>>>` hands to the kernel's stub.
struct Configuration {
    dim3 grid;
    dim3 block;
    std::size_t shared_bytes = 0;
    void* stream = nullptr;
};

thread_local std::vector<Configuration> configurations;

} // namespace

CUDART_CPU_API void** __cudaRegisterFatBinary(void* binary) {
    return new void*(binary);
}

CUDART_CPU_API void __cudaRegisterFatBinaryEnd(void**) {}

CUDART_CPU_API void __cudaUnregisterFatBinary(void** handle) {
    forget_nvcc_kernels(handle);
    delete handle;
}

CUDART_CPU_API void __cudaRegisterFunction(void** handle, const char* function, char*, const char* name, int, uint3*,
                                           uint3*, dim3*, dim3*, int*) {
    note_nvcc_kernel(handle, function, name);
}

CUDART_CPU_API void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}

CUDART_CPU_API void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t, int, int) {}

CUDART_CPU_API void __cudaRegisterHostVar(void**, const char*, char*, std::size_t) {}

CUDART_CPU_API char __cudaInitModule(void**) {
    return 1;
}

CUDART_CPU_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, void* stream) {
    configurations.push_back({grid, block, shared_bytes, stream});
    return 0;
}

CUDART_CPU_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                                      void* stream) {
    if (configurations.empty()) {
        return cudaErrorMissingConfiguration;
    }
    const Configuration last = configurations.back();
    configurations.pop_back();
    *grid = last.grid;
    *block = last.block;
    *shared_bytes = last.shared_bytes;
    *static_cast<void**>(stream) = last.stream;
    return cudaSuccess;
}

/// Answers with a handle, since a stub asks only once: its launches say what is wrong, each time.
CUDART_CPU_API cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
    return cudaSuccess;
}

CUDART_CPU_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                                              std::size_t shared_bytes, cudaStream_t stream) {
    return cudaLaunchKernel(kernel, grid, block, args, shared_bytes, stream);
}

CUDART_CPU_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                                                   std::size_t shared_bytes, cudaStream_t stream) {
    return cudaLaunchKernel(kernel, grid, block, args, shared_bytes, stream == nullptr ? cudaStreamPerThread : stream);
}
