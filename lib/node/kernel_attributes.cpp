// The attributes of kernel nodes: passing them to CUDA, and reading them.
#include "kernel_attributes.hpp"

#include "cuda/compute_capability.hpp"
#include "cuda/driver.hpp"
#include "cuda/handles.hpp"
#include "launch_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cudag::detail {

namespace {

static_assert(sizeof(CUkernelNodeAttrValue) == sizeof(cudaLaunchAttributeValue)); // the driver's and the runtime's

/// Reads an attribute; all zero if CUDA is too old for it, or if the node is no kernel.
cudaLaunchAttributeValue read(cudaGraphNode_t node, unsigned id) {
    cudaLaunchAttributeValue value{};
    const cudaError_t status = to_runtime(driver().graph_kernel_node_get_attribute(
        node, static_cast<CUkernelNodeAttrID>(id), reinterpret_cast<CUkernelNodeAttrValue*>(&value)));
    if (status == cudaErrorInvalidValue || status == cudaErrorNotSupported || status == cudaErrorInvalidResourceHandle)
        return {};
    if (status != cudaSuccess) raise_call<GraphError>(status, "cuGraphKernelNodeGetAttribute", {}, Api::driver);
    return value;
}

/// `version` is CUDA's: asking for it costs as much as reading an attribute.
LaunchConfig read_kept_attributes(cudaGraphNode_t node, int version) {
    LaunchConfig config;
    for (const LaunchAttribute& attribute : launch_attributes())
        if (attribute.rules.is_silently_ignored && attribute.rules.is_of_nodes && version >= attribute.rules.since)
            attribute.read(read(node, attribute.id), config);
    return config;
}

bool has_kept_attributes(const LaunchConfig& config) noexcept {
    return std::ranges::any_of(launch_attributes(), [&](const LaunchAttribute& attribute) {
        return attribute.rules.is_silently_ignored && attribute.is_given(config);
    });
}

/// The attributes that execs silently keep.
LaunchConfig kept_attributes(const KernelParams& kernel, int version) {
    LaunchConfig config = config_of(kernel);
    if (kernel.unread != nullptr) {
        const bool waits = config.waits_for_previous;
        config = read_kept_attributes(kernel.unread, version);
        config.waits_for_previous = waits;
    }
    if (config.waits_for_previous) {
        bind_context();
        config.waits_for_previous = has_code_for_early_launch(kernel.function);
    }
    return config;
}

/// Adds the cluster of a kernel compiled with __cluster_dims__, which has one without an attribute.
void complete_cluster(LaunchConfig& config, CUfunction function) {
    if (is_given(config.cluster) != 0) return;
    bind_context();
    const auto required = [&](CUfunction_attribute name) {
        int blocks = 0;
        checked_driver<GraphError>(driver().func_get_attribute(&blocks, name, function), "cuFuncGetAttribute");
        return static_cast<unsigned>(std::max(blocks, 1));
    };
    config.cluster = {required(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH),
                      required(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
                      required(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)};
}

} // namespace

CUDA_KERNEL_NODE_PARAMS without_attributes(const CUDA_KERNEL_NODE_PARAMS& launch, const LaunchConfig& config) noexcept {
    CUDA_KERNEL_NODE_PARAMS bare = launch;
    if (is_given(config.shared_memory_mode) != 0) bare.sharedMemBytes = 0;
    return bare;
}

void set_attributes(cudaGraphNode_t node, const CUDA_KERNEL_NODE_PARAMS& launch, const LaunchConfig& config,
                    const void* symbol, Subject&& subject) {
    try {
        for (const cudaLaunchAttribute& attribute : NativeAttributes(config, LaunchUse::node))
            if (const cudaError_t status = cudaGraphKernelNodeSetAttribute(node, attribute.id, &attribute.val);
                status != cudaSuccess)
                raise_call<GraphError>(status, "cudaGraphKernelNodeSetAttribute", std::move(subject));
        if (is_given(config.shared_memory_mode) == 0) return;
        const cudaError_t status = to_runtime(driver().kernels.set(node, &launch));
        if (status == cudaSuccess) return;
        raise_launch<GraphError>(status, driver().kernels.set_name, std::move(subject), Api::driver, config, symbol);
    } catch (...) {
        ignore(cudaGraphDestroyNode(node));
        throw;
    }
}

void try_attributes(const CUDA_KERNEL_NODE_PARAMS& launch, const LaunchConfig& config, const void* symbol,
                    Subject&& subject) {
    cudaGraph_t graph = nullptr;
    if (const cudaError_t status = cudaGraphCreate(&graph, 0); status != cudaSuccess)
        raise_call<GraphError>(status, "cudaGraphCreate", std::move(subject));
    const UniqueGraph scratch(graph);
    cudaGraphNode_t node = nullptr;
    // Problems of the launch itself show when the node is added to its graph.
    const CUDA_KERNEL_NODE_PARAMS bare = without_attributes(launch, config);
    if (driver().kernels.add(&node, graph, nullptr, 0, &bare) == CUDA_SUCCESS)
        set_attributes(node, launch, config, symbol, std::move(subject));
}

LaunchConfig full_config(const KernelParams& kernel) {
    return kernel.unread == nullptr ? config_of(kernel) : full_config(kernel, cuda_version());
}

LaunchConfig full_config(const KernelParams& kernel, int version) {
    LaunchConfig config = config_of(kernel);
    if (kernel.unread == nullptr) return config;
    for (const LaunchAttribute& attribute : launch_attributes()) {
        const AttributeRules& rules = attribute.rules;
        if (rules.is_reported && rules.only_launches == nullptr && version >= rules.since)
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

std::string silently_ignored(const KernelParams& before, const KernelParams& after) {
    const auto is_plain = [](const KernelParams& kernel) {
        return kernel.unread == nullptr && kernel.attributes == nullptr;
    };
    if (before.function == after.function && is_plain(before) && is_plain(after)) return {};
    const int version = cuda_version();
    LaunchConfig old_config = kept_attributes(before, version);
    LaunchConfig new_config = kept_attributes(after, version);
    if (before.function == after.function && !has_kept_attributes(old_config) && !has_kept_attributes(new_config))
        return {};
    if (before.function != after.function || is_given(old_config.cluster) != is_given(new_config.cluster)) {
        complete_cluster(old_config, before.function);
        complete_cluster(new_config, after.function);
    }
    for (const LaunchAttribute& attribute : launch_attributes()) {
        if (!attribute.rules.is_silently_ignored) continue;
        const std::string old_text = attribute.text(old_config);
        const std::string new_text = attribute.text(new_config);
        if (old_text != new_text)
            return fmt::format("{} is {}, the update's is {}", attribute.name, old_text, new_text);
    }
    return {};
}

bool may_keep_attributes(const KernelParams& kernel, std::unordered_set<CUfunction>& plain, int version) {
    LaunchConfig config = kept_attributes(kernel, version);
    if (has_kept_attributes(config)) return true;
    if (plain.contains(kernel.function)) return false;
    complete_cluster(config, kernel.function);
    if (is_given(config.cluster) != 0) return true;
    plain.insert(kernel.function);
    return false;
}

bool may_keep_attributes(cudaGraphNode_t node, int version) {
    return has_kept_attributes(read_kept_attributes(node, version));
}

bool has_code_for_early_launch(CUfunction function) {
    int version = 0; // 10 times the compute capability for which it was compiled
    checked_driver<GraphError>(driver().func_get_attribute(&version, CU_FUNC_ATTRIBUTE_PTX_VERSION, function),
                               "cuFuncGetAttribute");
    return version >= 10 * early_launch_major;
}

bool is_device_updatable(const KernelParams& kernel) {
    if (kernel.unread == nullptr) return kernel.attributes != nullptr && kernel.attributes->device_updatable;
    return read(kernel.unread, cudaLaunchAttributeDeviceUpdatableKernelNode)
               .deviceUpdatableKernelNode.deviceUpdatable != 0;
}

} // namespace cudag::detail
