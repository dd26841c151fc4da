// Kernel launches in streams.
#include <cudag/launch.hpp>

#include "failure.hpp"
#include "kernel_attributes.hpp"
#include "kernel_name.hpp"
#include "launch_check.hpp"

namespace cudag::detail {

namespace {

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

} // namespace cudag::detail
