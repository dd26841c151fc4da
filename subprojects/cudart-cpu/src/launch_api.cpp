// cudaLaunchKernel, cudaLaunchKernelExC.
#include "call.hpp"
#include "capture.hpp"
#include "device_model.hpp"
#include "graph_kernel_work.hpp"
#include "graph_text.hpp"
#include "kernel_args.hpp"
#include "kernel_attributes.hpp"
#include "kernel_registry.hpp"
#include "stream.hpp"

#include <memory>

using namespace cudart_cpu::detail;

namespace {

void launch(const void* function, dim3 grid, dim3 block, void** args, std::size_t shared_bytes, cudaStream_t stream,
            const KernelAttributes& attributes = {}) {
    const KernelEntry& kernel = kernel_of(function);
    Stream& target = stream_of(stream);
    if (target.device() != current_device())
        fail(cudaErrorInvalidResourceHandle, text("the stream belongs to device ", target.device(),
                                                  ", the thread's current device is ", current_device()));
    validate_launch(kernel, grid, block, shared_bytes);
    validate_attributes(kernel, grid, block, shared_bytes, attributes);
    const bool in_capture = captured(target, [&](auto&&...) {
        return std::make_shared<KernelWork>(
            KernelParams{kernel, grid, block, static_cast<unsigned>(shared_bytes), args, nullptr}, attributes);
    });
    if (in_capture) return;
    const auto copied = std::make_shared<KernelArgs>(kernel, args);
    enqueue(target, [&kernel, grid, block, copied] { run_kernel(kernel, grid, block, copied->pointers()); });
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
               attributes_of(config->attrs, config->numAttrs));
    });
}
