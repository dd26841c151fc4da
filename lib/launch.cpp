// Plain stream work.
#include <cudag/format.hpp>
#include <cudag/launch.hpp>

#include "driver.hpp"
#include "failure.hpp"
#include "kernel_attributes.hpp"
#include "kernel_name.hpp"
#include "launch_check.hpp"
#include "operands.hpp"

namespace cudag::detail {

namespace {

Subject subject_of(const char* what, const SourceLocation& where) {
    return {fmt::format("{} at {}", what, where), {}, where};
}

/// Throws what the launch of `call` failed with.
[[noreturn]] void raise(cudaError_t status, const char* operation, const KernelCall& call) {
    raise_launch<Error>(status, operation, {"launch of " + kernel_name(call.symbol)}, Api::runtime, *call.config,
                        call.symbol);
}

void launch_with_attributes(cudaStream_t stream, const KernelCall& call) {
    const LaunchConfig& config = *call.config;
    const auto subject = [&] { return Subject{"launch of " + kernel_name(call.symbol)}; };
    if (config.device_updatable)
        refuse<Error>("device_updatable: only a node of a graph can be updated; leave it out", subject());
    require_attributes<Error>(config, call.symbol, subject);
    const LaunchAttributes attributes(config);
    cudaLaunchConfig_t native{};
    native.gridDim = config.grid;
    native.blockDim = config.block;
    native.dynamicSmemBytes = config.shared_bytes;
    native.stream = stream;
    native.attrs = const_cast<cudaLaunchAttribute*>(attributes.begin()); // read only, but CUDA's type says otherwise
    native.numAttrs = static_cast<unsigned>(attributes.size());
    const cudaError_t status = cudaLaunchKernelExC(&native, call.symbol, const_cast<void**>(call.values));
    if (status != cudaSuccess) raise(status, "cudaLaunchKernelExC", call);
}

} // namespace

void launch_kernel(cudaStream_t stream, const KernelCall& call) {
    if (has_attributes(*call.config)) [[unlikely]]
        return launch_with_attributes(stream, call);
    const cudaError_t status = cudaLaunchKernel(call.symbol, call.config->grid, call.config->block,
                                                const_cast<void**>(call.values), call.config->shared_bytes, stream);
    if (status != cudaSuccess) [[unlikely]]
        raise(status, "cudaLaunchKernel", call);
}

void copy_async(cudaStream_t stream, const CopyParams& copy, const SourceLocation& where) {
    const auto subject = [&] { return subject_of("memcpy_async", where); };
    require_copy(copy, subject);
    const cudaError_t status =
        cudaMemcpyAsync(copy.destination, copy.source, copy.source_size * copy.element_bytes, copy.kind, stream);
    if (status != cudaSuccess) raise_call<Error>(status, "cudaMemcpyAsync", subject());
}

void set_async(cudaStream_t stream, const SetParams& set, const SourceLocation& where) {
    const auto subject = [&] { return subject_of("memset_async", where); };
    require_set(set, subject);
    bind_context();
    const auto destination = reinterpret_cast<CUdeviceptr>(set.destination);
    CUresult result = CUDA_SUCCESS;
    const char* operation = "cuMemsetD8Async";
    if (set.element_bytes == 1) {
        result = driver().memset_d8_async(destination, static_cast<unsigned char>(set.value), set.size, stream);
    } else if (set.element_bytes == 2) {
        operation = "cuMemsetD16Async";
        result = driver().memset_d16_async(destination, static_cast<unsigned short>(set.value), set.size, stream);
    } else {
        operation = "cuMemsetD32Async";
        result = driver().memset_d32_async(destination, set.value, set.size, stream);
    }
    if (result != CUDA_SUCCESS) raise_call<Error>(to_runtime(result), operation, subject(), Api::driver);
}

} // namespace cudag::detail
