// The functions called by nvcc's host code: registration of kernels and variables, and launches.
#include "kernel/fat_binary.hpp"
#include "kernel/symbols.hpp"
#include "runtime/call.hpp"
#include "runtime/text.hpp"

#include <cudart_cpu/detail/stub.hpp>

#include <vector>

using namespace cudart_cpu::detail;

namespace {

/// The configuration handed by `<<<>>>` to the kernel's stub.
struct Configuration {
    dim3 grid;
    dim3 block;
    std::size_t shared_bytes = 0;
    void* stream = nullptr;
};

thread_local std::vector<Configuration> configurations;

FatBinary* binary_of(void** handle) {
    return reinterpret_cast<FatBinary*>(handle);
}

/// Takes the configuration of the `<<<>>>` that calls a stub. This counts as a call of the runtime only if there is
/// none, an error.
cudaError_t take_configuration(Configuration& configuration) {
    if (configurations.empty())
        return api("__cudaPopCallConfiguration", [] {
            fail(cudaErrorMissingConfiguration, "a kernel is called as a function; launch it by <<<>>>");
        });
    configuration = configurations.back();
    configurations.pop_back();
    return cudaSuccess;
}

} // namespace

CUDART_CPU_API void** __cudaRegisterFatBinary(void* binary) {
    return reinterpret_cast<void**>(new FatBinary(binary));
}

CUDART_CPU_API void __cudaRegisterFatBinaryEnd(void**) {}

CUDART_CPU_API void __cudaUnregisterFatBinary(void** handle) {
    delete binary_of(handle);
}

CUDART_CPU_API void __cudaRegisterFunction(void** handle, const char* function, char*, const char* name, int, uint3*,
                                           uint3*, dim3*, dim3*, int*) {
    binary_of(handle)->add_kernel(function, name);
}

CUDART_CPU_API void __cudaRegisterVar(void** handle, char* variable, char*, const char* name, int is_extern,
                                      std::size_t bytes, int, int) {
    if (is_extern != 0)
        note_extern_symbol(*binary_of(handle), variable);
    else
        binary_of(handle)->add_variable(variable, name, bytes);
}

CUDART_CPU_API void __cudaRegisterManagedVar(void** handle, void** pointer, char*, const char* name, int,
                                             std::size_t bytes, int, int) {
    binary_of(handle)->add_managed_variable(pointer, name, bytes);
}

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
    Configuration last;
    if (const cudaError_t error = take_configuration(last); error != cudaSuccess) return error;
    *grid = last.grid;
    *block = last.block;
    *shared_bytes = last.shared_bytes;
    *static_cast<void**>(stream) = last.stream;
    return cudaSuccess;
}

/// Always returns a handle, since a stub asks only once: each launch then reports its error.
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

// The stubs of kernels compiled as C++ call these.

namespace cudart_cpu::detail {

void launch_configured(const void* symbol, void** args, bool per_thread) noexcept {
    Configuration with;
    if (take_configuration(with) != cudaSuccess) return;
    const auto stream = static_cast<cudaStream_t>(with.stream);
    cudaLaunchKernel(symbol, with.grid, with.block, args, with.shared_bytes,
                     stream == nullptr && per_thread ? cudaStreamPerThread : stream);
}

void refuse_host_call(const char* kernel) noexcept {
    Configuration unused;
    if (take_configuration(unused) != cudaSuccess) return;
    api("cudaLaunchKernel", [=] {
        fail(cudaErrorInvalidDeviceFunction,
             text(kernel,
                  " is compiled as C++, and launched from a file that nvcc compiles, which a template cannot be; "
                  "compile its file through nvcc"));
    });
}

} // namespace cudart_cpu::detail
