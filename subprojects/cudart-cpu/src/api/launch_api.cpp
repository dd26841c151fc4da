// cudaLaunchKernel, cudaLaunchKernelExC, cudaLaunchCooperativeKernel.
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "stream/stream.hpp"
#include "submit/launch_submit.hpp"

#include <utility>

using namespace cudart_cpu::detail;

namespace {

void launch(const void* function, dim3 grid, dim3 block, void** args, std::size_t shared_bytes, cudaStream_t stream,
            cudaLaunchAttribute* attributes = nullptr, unsigned attribute_count = 0) {
    const KernelEntry& kernel = kernel_of(function);
    if (!std::in_range<unsigned>(shared_bytes))
        fail(cudaErrorInvalidValue, text(shared_bytes, " bytes of dynamic shared memory requested"));
    const OnDevice device(stream_of(stream).device()); // the runtime launches the function there
    submit_launch({kernel, grid, block, static_cast<unsigned>(shared_bytes), args, nullptr}, stream, attributes,
                  attribute_count);
}

} // namespace

CUDART_CPU_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                                            std::size_t shared_bytes, cudaStream_t stream) {
    return api("cudaLaunchKernel", [&] { launch(function, grid, block, args, shared_bytes, stream); });
}

CUDART_CPU_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** args) {
    return api("cudaLaunchKernelExC", [&] {
        require_pointer(config, "config");
        launch(function, config->gridDim, config->blockDim, args, config->dynamicSmemBytes, config->stream,
               config->attrs, config->numAttrs);
    });
}

CUDART_CPU_API cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** args,
                                                       std::size_t shared_bytes, cudaStream_t stream) {
    return api("cudaLaunchCooperativeKernel", [&] {
        cudaLaunchAttribute cooperative{};
        cooperative.id = cudaLaunchAttributeCooperative;
        cooperative.val.cooperative = 1;
        launch(function, grid, block, args, shared_bytes, stream, &cooperative, 1);
    });
}
