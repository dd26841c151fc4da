// The attributes of kernel nodes and launches.
#include "kernel_attributes.hpp"

#include "call.hpp"
#include "device_model.hpp"
#include "graph_device_node.hpp"
#include "graph_enum.hpp"
#include "graph_text.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace cudart_cpu::detail {

namespace {

// Numbers, because older toolkits do not name all of them.
constexpr int carveout_id = 14;
constexpr int nvlink_id = 16;

bool is_none(dim3 cluster) {
    return cluster.x == 0 && cluster.y == 0 && cluster.z == 0;
}

void require_at_most(const char* what, int value, int max) {
    if (value < 0 || value > max)
        fail(cudaErrorInvalidValue, text(what, " is ", value, "; it must be within 0 and ", max));
}

dim3 checked_cluster(dim3 cluster) {
    if (!is_none(cluster) && (cluster.x == 0 || cluster.y == 0 || cluster.z == 0))
        fail(cudaErrorInvalidValue, text("Cluster dimensions ", cluster, " include one or more zero values"));
    return cluster;
}

cudaAccessPolicyWindow checked_window(const cudaAccessPolicyWindow& window) {
    require_at_most("hitProp", number_in(window.hitProp), cudaAccessPropertyPersisting);
    require_at_most("missProp", number_in(window.missProp), cudaAccessPropertyStreaming);
    if (!(window.hitRatio >= 0 && window.hitRatio <= 1))
        fail(cudaErrorInvalidValue, text("hitRatio is ", window.hitRatio, "; it must be within 0 and 1"));
    if (window.num_bytes > max_access_policy_window)
        fail(cudaErrorInvalidValue, text("an access policy window of ", window.num_bytes,
                                         " bytes exceeds the maximum of ", max_access_policy_window));
    return window;
}

unsigned checked_carveout(unsigned carveout) {
    if (carveout != static_cast<unsigned>(cudaSharedmemCarveoutDefault) && carveout > 100)
        fail(cudaErrorInvalidValue, text("a carveout of ", carveout, " %; it must be within 0 and 100"));
    return carveout;
}

std::shared_ptr<DeviceNode> device_node(const KernelAttributes& attributes, int updatable) {
    if (updatable != 1)
        fail(cudaErrorInvalidValue, text("deviceUpdatable is ", updatable, "; it can only be set, to 1"));
    return attributes.device_node ? attributes.device_node : make_device_node();
}

} // namespace

void set_attribute(KernelAttributes& attributes, int id, const cudaLaunchAttributeValue& value) {
    switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow:
        attributes.window = checked_window(value.accessPolicyWindow);
        break;
    case cudaLaunchAttributeCooperative:
        attributes.cooperative = value.cooperative != 0;
        break;
    case cudaLaunchAttributeClusterDimension:
        attributes.cluster = checked_cluster({value.clusterDim.x, value.clusterDim.y, value.clusterDim.z});
        break;
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        require_at_most("the cluster scheduling policy", number_in(value.clusterSchedulingPolicyPreference),
                        cudaClusterSchedulingPolicyLoadBalancing);
        attributes.cluster_scheduling = value.clusterSchedulingPolicyPreference;
        break;
    case cudaLaunchAttributePriority:
        attributes.priority = value.priority;
        break;
    case cudaLaunchAttributeMemSyncDomainMap:
        require_at_most("the default domain", value.memSyncDomainMap.default_, mem_sync_domains - 1);
        require_at_most("the remote domain", value.memSyncDomainMap.remote, mem_sync_domains - 1);
        attributes.domain_map = value.memSyncDomainMap;
        break;
    case cudaLaunchAttributeMemSyncDomain:
        require_at_most("the memory synchronisation domain", number_in(value.memSyncDomain),
                        cudaLaunchMemSyncDomainRemote);
        attributes.domain = value.memSyncDomain;
        break;
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        attributes.device_node = device_node(attributes, value.deviceUpdatableKernelNode.deviceUpdatable);
        break;
    case carveout_id:
        std::memcpy(&attributes.carveout, &value, sizeof attributes.carveout);
        attributes.carveout = checked_carveout(attributes.carveout);
        break;
    case nvlink_id:
        std::memcpy(&attributes.nvlink_centric, &value, sizeof attributes.nvlink_centric);
        if (attributes.nvlink_centric > 1) fail(cudaErrorInvalidValue, "nvlinkUtilCentricScheduling must be 0 or 1");
        break;
    default:
        fail(cudaErrorInvalidValue, text("attribute ", id, " is none of a kernel node"));
    }
}

void get_attribute(const KernelAttributes& attributes, int id, cudaLaunchAttributeValue& value) {
    switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow:
        value.accessPolicyWindow = attributes.window;
        break;
    case cudaLaunchAttributeCooperative:
        value.cooperative = attributes.cooperative;
        break;
    case cudaLaunchAttributeClusterDimension:
        value.clusterDim.x = attributes.cluster.x;
        value.clusterDim.y = attributes.cluster.y;
        value.clusterDim.z = attributes.cluster.z;
        break;
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        value.clusterSchedulingPolicyPreference = attributes.cluster_scheduling;
        break;
    case cudaLaunchAttributePriority:
        value.priority = attributes.priority;
        break;
    case cudaLaunchAttributeMemSyncDomainMap:
        value.memSyncDomainMap = attributes.domain_map;
        break;
    case cudaLaunchAttributeMemSyncDomain:
        value.memSyncDomain = attributes.domain;
        break;
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        value.deviceUpdatableKernelNode.deviceUpdatable = attributes.device_node ? 1 : 0;
        value.deviceUpdatableKernelNode.devNode = attributes.device_node ? attributes.device_node->handle() : nullptr;
        break;
    case carveout_id:
        std::memcpy(&value, &attributes.carveout, sizeof attributes.carveout);
        break;
    case nvlink_id:
        std::memcpy(&value, &attributes.nvlink_centric, sizeof attributes.nvlink_centric);
        break;
    default:
        fail(cudaErrorInvalidValue, text("attribute ", id, " is none of a kernel node"));
    }
}

KernelAttributes attributes_of(const cudaLaunchAttribute* list, unsigned count) {
    if (count > 0) require_pointer(list, "config->attrs");
    // What a program cannot see the effect of: of streams, and hints.
    constexpr int ignored[] = {
        cudaLaunchAttributeIgnore, cudaLaunchAttributeSynchronizationPolicy,
        cudaLaunchAttributeProgrammaticStreamSerialization,
        11, // PreferredClusterDimension
    };
    KernelAttributes attributes;
    for (unsigned i = 0; i < count; ++i) {
        const int id = number_in(list[i].id);
        if (id == cudaLaunchAttributeProgrammaticEvent || id == 12 /* LaunchCompletionEvent */)
            fail(cudaErrorNotSupported, text("cudart-cpu does not support launch attribute ", id));
        if (id == cudaLaunchAttributeDeviceUpdatableKernelNode)
            fail(cudaErrorInvalidValue, "only launches that are captured can be device-updatable");
        if (std::ranges::find(ignored, id) == std::end(ignored)) set_attribute(attributes, id, list[i].val);
    }
    return attributes;
}

void validate_attributes(const KernelEntry& kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                         const KernelAttributes& attributes) {
    const dim3 cluster = attributes.cluster;
    const unsigned max_cluster = kernel.allows_large_clusters ? max_cluster_blocks : max_portable_cluster_blocks;
    if (!is_none(cluster)) {
        if (1ULL * cluster.x * cluster.y * cluster.z > max_cluster)
            fail(cudaErrorInvalidClusterSize,
                 text("Cluster dimensions ", cluster, " exceed the maximum of ", max_cluster, " blocks"));
        if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
            fail(cudaErrorInvalidClusterSize,
                 text("Grid dimensions ", grid, " are not divisible by the cluster dimensions ", cluster));
    }
    if (attributes.cooperative) {
        const int threads = static_cast<int>(block.x * block.y * block.z);
        const auto resident = 1ULL * multiprocessors * static_cast<unsigned>(active_blocks(threads, shared_bytes));
        if (1ULL * grid.x * grid.y * grid.z > resident)
            fail(cudaErrorCooperativeLaunchTooLarge, text("a cooperative grid of ", grid, " blocks exceeds the ",
                                                          resident, " that can be resident at once"));
    }
}

} // namespace cudart_cpu::detail
