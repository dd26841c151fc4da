// The attributes of kernel nodes: given to CUDA, and read back.
#include "kernel_attributes.hpp"

#include "cuda/driver.hpp"
#include "cuda/handles.hpp"
#include "launch_check.hpp"

#include <utility>

namespace cudag::detail {

namespace {

static_assert(sizeof(CUkernelNodeAttrValue) == sizeof(cudaLaunchAttributeValue)); // the driver's and the runtime's

/// All zero if CUDA is too old to know the attribute.
cudaLaunchAttributeValue read(cudaGraphNode_t node, unsigned id) {
    cudaLaunchAttributeValue value{};
    const cudaError_t status = to_runtime(driver().graph_kernel_node_get_attribute(
        node, static_cast<CUkernelNodeAttrID>(id), reinterpret_cast<CUkernelNodeAttrValue*>(&value)));
    if (status == cudaErrorInvalidValue || status == cudaErrorNotSupported) return {};
    if (status != cudaSuccess) raise_call<GraphError>(status, "cuGraphKernelNodeGetAttribute", {}, Api::driver);
    return value;
}

} // namespace

CUDA_KERNEL_NODE_PARAMS without_attributes(const CUDA_KERNEL_NODE_PARAMS& launch, const LaunchConfig& config) noexcept {
    CUDA_KERNEL_NODE_PARAMS bare = launch;
    if (is_given(config.shared_memory_mode) != 0) bare.sharedMemBytes = 0;
    return bare;
}

void set_attributes(cudaGraphNode_t node, const CUDA_KERNEL_NODE_PARAMS& launch, const LaunchConfig& config,
                    const void* symbol, Subject&& subject) {
    for (const cudaLaunchAttribute& attribute : NativeAttributes(config)) {
        const cudaError_t status = cudaGraphKernelNodeSetAttribute(node, attribute.id, &attribute.val);
        if (status == cudaSuccess) continue;
        CallFailure failure =
            describe_failure(status, "cudaGraphKernelNodeSetAttribute", std::move(subject), Api::runtime);
        ignore(cudaGraphDestroyNode(node));
        throw GraphError(status, failure.text, std::move(failure.details));
    }
    if (is_given(config.shared_memory_mode) == 0) return;
    const cudaError_t status = to_runtime(driver().graph_kernel_node_set_params(node, &launch));
    if (status == cudaSuccess) return;
    ignore(cudaGraphDestroyNode(node));
    raise_launch<GraphError>(status, "cuGraphKernelNodeSetParams", std::move(subject), Api::driver, config, symbol);
}

void try_attributes(const CUDA_KERNEL_NODE_PARAMS& launch, const LaunchConfig& config, const void* symbol,
                    Subject&& subject) {
    cudaGraph_t graph = nullptr;
    if (const cudaError_t status = cudaGraphCreate(&graph, 0); status != cudaSuccess)
        raise_call<GraphError>(status, "cudaGraphCreate", std::move(subject));
    const UniqueGraph scratch(graph);
    cudaGraphNode_t node = nullptr;
    // What is wrong with the launch itself shows when the node is added to its graph.
    const CUDA_KERNEL_NODE_PARAMS bare = without_attributes(launch, config);
    if (driver().graph_add_kernel_node(&node, graph, nullptr, 0, &bare) == CUDA_SUCCESS)
        set_attributes(node, launch, config, symbol, std::move(subject));
}

LaunchConfig full_config(const KernelParams& kernel) {
    LaunchConfig config = config_of(kernel);
    if (kernel.unread == nullptr) return config;
    const int version = cuda_version();
    for (const LaunchAttribute& attribute : launch_attributes()) {
        const AttributeRules& rules = attribute.rules;
        if (rules.is_told && rules.only_launches == nullptr && version >= rules.since)
            attribute.read(read(kernel.unread, attribute.id), config);
    }
    return config;
}

void complete_config(KernelParams& kernel) {
    if (kernel.unread == nullptr) return;
    const LaunchConfig config = full_config(kernel);
    if (has_attributes(config)) store_attributes(kernel, config);
    kernel.unread = nullptr;
}

dim3 cluster_of(const KernelParams& kernel) {
    if (kernel.unread == nullptr) return kernel.attributes != nullptr ? kernel.attributes->cluster : dim3(1, 1, 1);
    const auto told = read(kernel.unread, cudaLaunchAttributeClusterDimension).clusterDim;
    return told.x == 0 ? dim3(1, 1, 1) : dim3(told.x, told.y, told.z);
}

bool is_device_updatable(const KernelParams& kernel) {
    if (kernel.unread == nullptr) return kernel.attributes != nullptr && kernel.attributes->device_updatable;
    return read(kernel.unread, cudaLaunchAttributeDeviceUpdatableKernelNode)
               .deviceUpdatableKernelNode.deviceUpdatable != 0;
}

} // namespace cudag::detail
