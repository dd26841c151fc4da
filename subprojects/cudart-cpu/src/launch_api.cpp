// cudaLaunchKernel, cudaLaunchKernelExC.
#include "call.hpp"
#include "device_model.hpp"
#include "graph_text.hpp"
#include "kernel_args.hpp"
#include "kernel_registry.hpp"
#include "stream.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

using namespace cudart_cpu::detail;

namespace {

void launch(const void* function, dim3 grid, dim3 block, void** args, std::size_t shared_bytes, cudaStream_t stream) {
    const KernelEntry& kernel = kernel_of(function);
    Stream& target = stream_of(stream);
    if (target.device() != current_device())
        fail(cudaErrorInvalidResourceHandle, text("the stream belongs to device ", target.device(),
                                                  ", the thread's current device is ", current_device()));
    validate_launch(kernel, grid, block, shared_bytes);
    const auto copied = std::make_shared<KernelArgs>(kernel, args);
    enqueue(target, [&kernel, grid, block, copied] { run_kernel(kernel, grid, block, copied->pointers()); });
}

struct Attribute {
    /// A number, because older toolkits do not name all of them.
    int id;
    const char* name;
    /// A hint, which nothing that a program can see depends on.
    bool hint;
};

constexpr Attribute attributes[] = {
    {0, "Ignore", true},
    {1, "AccessPolicyWindow", true},
    {2, "Cooperative", false},
    {3, "SynchronizationPolicy", true},
    {4, "ClusterDimension", false},
    {5, "ClusterSchedulingPolicyPreference", true},
    {6, "ProgrammaticStreamSerialization", true},
    {7, "ProgrammaticEvent", false},
    {8, "Priority", true},
    {9, "MemSyncDomainMap", true},
    {10, "MemSyncDomain", true},
    {11, "PreferredClusterDimension", true},
    {12, "LaunchCompletionEvent", false},
    {13, "DeviceUpdatableKernelNode", false},
    {14, "PreferredSharedMemoryCarveout", true},
    {16, "NvlinkUtilCentricScheduling", true},
};

void validate_attribute(const cudaLaunchAttribute& attribute) {
    const int id = static_cast<int>(attribute.id);
    const auto* known = std::ranges::find(attributes, id, &Attribute::id);
    if (known == std::end(attributes)) {
        fail(cudaErrorInvalidValue, text("launch attribute ", id, " is unknown"));
    }
    const bool switched_off = attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative == 0;
    if (!known->hint && !switched_off) {
        fail(cudaErrorNotSupported, text("cudart-cpu does not support cudaLaunchAttribute", known->name));
    }
}

} // namespace

CUDART_CPU_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                                            std::size_t shared_bytes, cudaStream_t stream) {
    return api("cudaLaunchKernel", [&] { launch(function, grid, block, args, shared_bytes, stream); });
}

CUDART_CPU_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** args) {
    return api("cudaLaunchKernelExC", [&] {
        require_pointer(config, "config");
        if (config->numAttrs > 0) {
            require_pointer(config->attrs, "config->attrs");
        }
        for (unsigned i = 0; i < config->numAttrs; ++i) {
            validate_attribute(config->attrs[i]);
        }
        launch(function, config->gridDim, config->blockDim, args, config->dynamicSmemBytes, config->stream);
    });
}
