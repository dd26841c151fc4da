// Kernel attributes: compared, given to CUDA, read back, described.
#include "kernel_attributes.hpp"

#include "cuda/driver.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace cudag::detail {

namespace {

const char* name_of(AccessProperty property) {
    switch (property) {
    case AccessProperty::normal:
        return "normal";
    case AccessProperty::streaming:
        return "streaming";
    case AccessProperty::persisting:
        return "persisting";
    }
    return "unknown";
}

std::string yes_or_no(bool value) {
    return value ? "yes" : "no";
}

std::string cluster_text(const LaunchConfig& config) {
    return fmt::format("({}, {}, {})", config.cluster.x, config.cluster.y, config.cluster.z);
}

std::string policy_text(const LaunchConfig& config) {
    if (!config.access_policy) return "none";
    const AccessPolicy& policy = *config.access_policy;
    return fmt::format("{:g} {} else {} of {} bytes at {}", policy.hit_ratio, name_of(policy.hit), name_of(policy.miss),
                       policy.memory.size(), static_cast<const void*>(policy.memory.data()));
}

constexpr std::array attributes{
    AttributeText{"cluster",
                  [](const LaunchConfig& c) { return c.cluster.x != 1 || c.cluster.y != 1 || c.cluster.z != 1; },
                  cluster_text, false},
    AttributeText{"cooperative", [](const LaunchConfig& c) { return c.cooperative; },
                  [](const LaunchConfig& c) { return yes_or_no(c.cooperative); }, true},
    AttributeText{"device_updatable", [](const LaunchConfig& c) { return c.device_updatable; },
                  [](const LaunchConfig& c) { return yes_or_no(c.device_updatable); }, true},
    AttributeText{"memory_sync_domain",
                  [](const LaunchConfig& c) { return c.memory_sync_domain != MemorySyncDomain::default_domain; },
                  [](const LaunchConfig& c) -> std::string {
                      return c.memory_sync_domain == MemorySyncDomain::remote ? "remote" : "default";
                  },
                  false},
    AttributeText{"priority", [](const LaunchConfig& c) { return c.priority.has_value(); },
                  [](const LaunchConfig& c) { return fmt::format("{}", c.priority.value_or(0)); }, false},
    AttributeText{"access_policy", [](const LaunchConfig& c) { return c.access_policy.has_value(); }, policy_text,
                  false},
};

static_assert(sizeof(CUkernelNodeAttrValue) == sizeof(cudaLaunchAttributeValue)); // the driver's and the runtime's

/// False if CUDA is too old to know the attribute.
bool read(cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue& value) {
    value = {};
    const cudaError_t status = to_runtime(driver().graph_kernel_node_get_attribute(
        node, static_cast<CUkernelNodeAttrID>(id), reinterpret_cast<CUkernelNodeAttrValue*>(&value)));
    if (status == cudaErrorInvalidValue || status == cudaErrorNotSupported) return false;
    if (status != cudaSuccess) raise_call<GraphError>(status, "cuGraphKernelNodeGetAttribute", {}, Api::driver);
    return true;
}

} // namespace

std::span<const AttributeText> attribute_texts() noexcept {
    return attributes;
}

std::string differing_attribute(const LaunchConfig& before, const LaunchConfig& after) {
    for (const AttributeText& attribute : attributes) {
        if (!attribute.is_given(after)) continue;
        const std::string old_text = attribute.text(before);
        const std::string new_text = attribute.text(after);
        if (old_text != new_text)
            return fmt::format("{} is {}, the update's is {}", attribute.name, old_text, new_text);
    }
    return {};
}

LaunchAttributes::LaunchAttributes(const LaunchConfig& config) noexcept {
    if (const dim3& cluster = config.cluster; cluster.x != 1 || cluster.y != 1 || cluster.z != 1) {
        auto& dimensions = add(cudaLaunchAttributeClusterDimension).clusterDim;
        dimensions.x = cluster.x;
        dimensions.y = cluster.y;
        dimensions.z = cluster.z;
    }
    if (config.cooperative) add(cudaLaunchAttributeCooperative).cooperative = 1;
    if (config.memory_sync_domain != MemorySyncDomain::default_domain)
        add(cudaLaunchAttributeMemSyncDomain).memSyncDomain = cudaLaunchMemSyncDomainRemote;
    if (config.priority) add(cudaLaunchAttributePriority).priority = *config.priority;
    if (config.access_policy) {
        const AccessPolicy& policy = *config.access_policy;
        cudaAccessPolicyWindow& window = add(cudaLaunchAttributeAccessPolicyWindow).accessPolicyWindow;
        window.base_ptr = const_cast<std::byte*>(policy.memory.data());
        window.num_bytes = policy.memory.size();
        window.hitRatio = policy.hit_ratio;
        window.hitProp = static_cast<cudaAccessProperty>(policy.hit);
        window.missProp = static_cast<cudaAccessProperty>(policy.miss);
    }
    // Last: a node that has it cannot be destroyed again.
    if (config.device_updatable)
        add(cudaLaunchAttributeDeviceUpdatableKernelNode).deviceUpdatableKernelNode.deviceUpdatable = 1;
}

cudaLaunchAttributeValue& LaunchAttributes::add(cudaLaunchAttributeID id) noexcept {
    cudaLaunchAttribute& attribute = list_[count_++];
    attribute.id = id;
    return attribute.val;
}

void set_attributes(cudaGraphNode_t node, const LaunchConfig& config, Subject&& subject) {
    for (const cudaLaunchAttribute& attribute : LaunchAttributes(config)) {
        const cudaError_t status = cudaGraphKernelNodeSetAttribute(node, attribute.id, &attribute.val);
        if (status == cudaSuccess) continue;
        CallFailure failure =
            describe_failure(status, "cudaGraphKernelNodeSetAttribute", std::move(subject), Api::runtime);
        ignore(cudaGraphDestroyNode(node));
        throw GraphError(status, failure.text, std::move(failure.details));
    }
}

void try_attributes(const CUDA_KERNEL_NODE_PARAMS& launch, const LaunchConfig& config, Subject&& subject) {
    cudaGraph_t graph = nullptr;
    if (const cudaError_t status = cudaGraphCreate(&graph, 0); status != cudaSuccess)
        raise_call<GraphError>(status, "cudaGraphCreate", std::move(subject));
    const std::unique_ptr<CUgraph_st, void (*)(cudaGraph_t)> owner(
        graph, [](cudaGraph_t scratch) { ignore(cudaGraphDestroy(scratch)); });
    cudaGraphNode_t node = nullptr;
    // What is wrong with the launch itself shows when the node is added to its graph.
    if (driver().graph_add_kernel_node(&node, graph, nullptr, 0, &launch) == CUDA_SUCCESS)
        set_attributes(node, config, std::move(subject));
}

LaunchConfig full_config(const KernelParams& kernel) {
    LaunchConfig config = kernel.config;
    if (kernel.unread == nullptr) return config;
    const cudaGraphNode_t node = kernel.unread;
    cudaLaunchAttributeValue value{};
    if (read(node, cudaLaunchAttributeClusterDimension, value) && value.clusterDim.x != 0)
        config.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
    if (read(node, cudaLaunchAttributeCooperative, value)) config.cooperative = value.cooperative != 0;
    if (read(node, cudaLaunchAttributeMemSyncDomain, value))
        config.memory_sync_domain = static_cast<MemorySyncDomain>(value.memSyncDomain);
    if (read(node, cudaLaunchAttributePriority, value) && value.priority != 0) config.priority = value.priority;
    if (read(node, cudaLaunchAttributeAccessPolicyWindow, value) && value.accessPolicyWindow.num_bytes != 0) {
        const cudaAccessPolicyWindow& window = value.accessPolicyWindow;
        config.access_policy = AccessPolicy{{static_cast<const std::byte*>(window.base_ptr), window.num_bytes},
                                            window.hitRatio,
                                            static_cast<AccessProperty>(window.hitProp),
                                            static_cast<AccessProperty>(window.missProp)};
    }
    if (read(node, cudaLaunchAttributeDeviceUpdatableKernelNode, value))
        config.device_updatable = value.deviceUpdatableKernelNode.deviceUpdatable != 0;
    return config;
}

void complete_config(KernelParams& kernel) {
    if (kernel.unread == nullptr) return;
    kernel.config = full_config(kernel);
    kernel.unread = nullptr;
}

bool is_device_updatable(const KernelParams& kernel) {
    if (kernel.unread == nullptr) return kernel.config.device_updatable;
    cudaLaunchAttributeValue value{};
    return read(kernel.unread, cudaLaunchAttributeDeviceUpdatableKernelNode, value) &&
           value.deviceUpdatableKernelNode.deviceUpdatable != 0;
}

std::string describe_attributes(const LaunchConfig& config, const char* separator) {
    std::string text;
    if (!has_attributes(config)) return text;
    for (const AttributeText& attribute : attributes) {
        if (!attribute.is_given(config)) continue;
        text += fmt::format("{}{}", separator, attribute.name);
        if (const std::string value = attribute.text(config); value != "yes") text += fmt::format(" {}", value);
    }
    return text;
}

} // namespace cudag::detail
