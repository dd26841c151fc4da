// The attributes of kernel nodes and launches.
#include "kernel_attributes.hpp"

#include "device_node.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/driver_version.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"
#include "stream/event.hpp"
#include "stream/shared_attributes.hpp"

#include <cstring>
#include <string>

namespace cudart_cpu::detail {

namespace {

// Numbers, because older toolkits do not name all of these attributes.
constexpr int preferred_cluster_id = 11;
constexpr int carveout_id = 14;
constexpr int nvlink_id = 16;
constexpr int portable_cluster_id = 17;
constexpr int shared_memory_mode_id = 18;

constexpr int unknown_id = -1;

/// Whether the driver is new enough for the attribute.
bool is_known(int id) {
    switch (id) {
    case preferred_cluster_id:
        return driver_version() >= 12080;
    case carveout_id:
        return driver_version() >= 12050;
    case nvlink_id:
        return driver_version() >= 13000;
    case portable_cluster_id:
    case shared_memory_mode_id:
        return driver_version() >= 13020;
    default:
        return true;
    }
}

bool is_none(dim3 cluster) {
    return cluster.x == 0 && cluster.y == 0 && cluster.z == 0;
}

dim3 checked_cluster(dim3 cluster) {
    if (!is_none(cluster) && (cluster.x == 0 || cluster.y == 0 || cluster.z == 0))
        fail(cudaErrorInvalidClusterSize,
             text("Ill-formed cluster dimensons ", cluster, ". All or none should be 0")); // the driver's spelling
    return cluster;
}

bool divides(dim3 part, dim3 whole) {
    return whole.x % part.x == 0 && whole.y % part.y == 0 && whole.z % part.z == 0;
}

/// The value of an attribute without a name in older toolkits.
unsigned first_word(const cudaLaunchAttributeValue& value) {
    unsigned word;
    std::memcpy(&word, &value, sizeof word);
    return word;
}

unsigned checked_at_most(unsigned max, unsigned value, const char* field) {
    if (value > max)
        fail(cudaErrorInvalidValue, text("Invalid value ", static_cast<int>(value), " for ", field, " field"));
    return value;
}

std::shared_ptr<DeviceNode> device_node(const KernelAttributes& attributes, const cudaLaunchAttributeValue& value) {
    const int updatable = value.deviceUpdatableKernelNode.deviceUpdatable;
    if (updatable != 0 && updatable != 1)
        fail(cudaErrorInvalidValue, text("Invalid value ", updatable, " for deviceUpdatable field"));
    if (updatable == 0) {
        if (attributes.device_node) fail(cudaErrorNotSupported, "Cannot opt-out of device node update once opted in");
        return nullptr;
    }
    if (value.deviceUpdatableKernelNode.devNode) fail(cudaErrorInvalidValue, "devNode must be initialized to NULL");
    return attributes.device_node ? attributes.device_node : make_device_node();
}

/// The names in the driver's log for an event recorded by a launch.
struct RecordName {
    const char* attribute;
    const char* kind;
};

constexpr RecordName programmatic_event{"CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT", "Programmatic Dependent Launch"};
constexpr RecordName completion_event{"CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT", "Launch Completion"};

LaunchAttributes::Record checked_record(const RecordName& name, cudaEvent_t event, int flags, unsigned char port,
                                        unsigned char type) {
    if (flags == cudaEventRecordExternal)
        fail(cudaErrorNotSupported, text(name.attribute, " does not support external capture"));
    if (flags != cudaEventRecordDefault) fail(cudaErrorInvalidValue, "Invalid event recording flags");
    if (event_of(event).timed())
        fail(cudaErrorNotSupported, text(name.kind, " event recording must be simple local events without timing."));
    cudaGraphEdgeData data{};
    data.from_port = port;
    data.type = type;
    return {event, data};
}

void require_preferred_cluster(dim3 preferred, dim3 cluster, dim3 grid) {
    if (is_none(preferred)) return;
    const auto refuse = [](const std::string& reason) { fail(cudaErrorInvalidClusterSize, reason); };
    if (is_none(cluster)) refuse("Preferred cluster size was specified without a regular cluster size.");
    if (preferred.x == 0 || preferred.y == 0 || preferred.z == 0)
        refuse(text("Preferred cluster dimensions must all be zero or must all be > 0: ", preferred));
    if (cluster.z != preferred.z)
        refuse(text("Cluster dimension Z must match preferred cluster dimension Z. Cluster Z: ", cluster.z,
                    ", Preferred cluster Z: ", preferred.z));
    const unsigned regular = cluster.x * cluster.y * cluster.z;
    const unsigned larger = preferred.x * preferred.y * preferred.z;
    if (regular > larger)
        refuse(text("Cluster size is greater than preferred cluster size. Regular cluster: ", regular,
                    ", preferred cluster: ", larger));
    if (!divides(cluster, preferred))
        refuse(text("Cluster size does not divide preferred cluster size. Cluster size: ", cluster,
                    ", preferred cluster size: ", preferred));
    if (!divides(preferred, grid))
        refuse(text("Preferred cluster size does not divide grid size. Preferred cluster size: ", preferred,
                    ", grid size: ", grid));
}

} // namespace

void set_attribute(KernelAttributes& attributes, int id, const cudaLaunchAttributeValue& value) {
    if (!is_known(id)) fail(cudaErrorInvalidValue, {});
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
        attributes.cluster_scheduling = number_in(value.clusterSchedulingPolicyPreference);
        break;
    case cudaLaunchAttributePriority:
        attributes.priority = clamped_priority(value.priority);
        break;
    case cudaLaunchAttributeMemSyncDomainMap:
        attributes.domain_map = checked_domain_map(value.memSyncDomainMap);
        break;
    case cudaLaunchAttributeMemSyncDomain:
        attributes.domain = checked_domain(value.memSyncDomain);
        break;
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        attributes.device_node = device_node(attributes, value);
        break;
    case carveout_id:
        attributes.carveout = checked_at_most(100, first_word(value), "sharedMemCarveout");
        break;
    case nvlink_id:
        attributes.nvlink_centric = checked_at_most(1, first_word(value), "nvlinkUtilCentricScheduling");
        break;
    case portable_cluster_id:
        attributes.portable_cluster = checked_at_most(2, first_word(value), "portableClusterSizeMode");
        break;
    case shared_memory_mode_id:
        attributes.shared_memory_mode =
            checked_at_most(driver_version() >= 13040 ? 4 : 2, first_word(value), "sharedMemoryMode");
        break;
    default:
        fail(cudaErrorInvalidValue, {});
    }
}

void get_attribute(const KernelAttributes& attributes, int id, cudaLaunchAttributeValue& value) {
    if (!is_known(id)) fail(cudaErrorInvalidValue, text("Invalid kernel attribute: ", id));
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
        std::memcpy(&value, &attributes.cluster_scheduling, sizeof attributes.cluster_scheduling);
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
    case portable_cluster_id:
        std::memcpy(&value, &attributes.portable_cluster, sizeof attributes.portable_cluster);
        break;
    case shared_memory_mode_id:
        std::memcpy(&value, &attributes.shared_memory_mode, sizeof attributes.shared_memory_mode);
        break;
    default:
        fail(cudaErrorInvalidValue, text("Invalid kernel attribute: ", id));
    }
}

LaunchAttributes attributes_of(const cudaLaunchAttribute* list, unsigned count, bool is_capturing) {
    if (count > 0) require_pointer(list, "config->attrs");
    LaunchAttributes launch;
    KernelAttributes& attributes = launch.kernel;
    dim3 preferred{0, 0, 0};
    for (unsigned i = 0; i < count; ++i) {
        const cudaLaunchAttributeValue& value = list[i].val;
        const int id = number_in(list[i].id);
        switch (is_known(id) ? id : unknown_id) {
        case cudaLaunchAttributeIgnore:
            break;
        case cudaLaunchAttributeProgrammaticStreamSerialization:
            launch.overlaps_previous = value.programmaticStreamSerializationAllowed != 0;
            break;
        case cudaLaunchAttributeProgrammaticEvent:
            launch.trigger = checked_record(
                programmatic_event, value.programmaticEvent.event, value.programmaticEvent.flags,
                value.programmaticEvent.triggerAtBlockStart != 0 ? cudaGraphKernelNodePortLaunchCompletion
                                                                 : cudaGraphKernelNodePortProgrammatic,
                cudaGraphDependencyTypeProgrammatic);
            break;
        case cudaLaunchAttributeLaunchCompletionEvent:
            launch.completion =
                checked_record(completion_event, value.launchCompletionEvent.event, value.launchCompletionEvent.flags,
                               cudaGraphKernelNodePortLaunchCompletion, cudaGraphDependencyTypeDefault);
            break;
        case cudaLaunchAttributeDeviceUpdatableKernelNode:
            if (!is_capturing)
                fail(cudaErrorNotSupported,
                     "CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE is only supported on capturing streams");
            set_attribute(attributes, id, value);
            break;
        case cudaLaunchAttributePriority:
            set_attribute(attributes, id, value);
            launch.has_priority = true;
            break;
        case preferred_cluster_id:
            preferred = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
            break;
        case cudaLaunchAttributeClusterSchedulingPolicyPreference:
            set_attribute(attributes, id, value);
            if (attributes.cluster_scheduling < 0 ||
                attributes.cluster_scheduling > (driver_version() >= 13040 ? 3 : 2))
                fail(cudaErrorInvalidValue,
                     text("Invalid cluster scheduling policy (", attributes.cluster_scheduling, ")"));
            break;
        case cudaLaunchAttributeAccessPolicyWindow:
        case cudaLaunchAttributeCooperative:
        case cudaLaunchAttributeClusterDimension:
        case cudaLaunchAttributeMemSyncDomainMap:
        case cudaLaunchAttributeMemSyncDomain:
        case carveout_id:
        case nvlink_id:
        case portable_cluster_id:
        case shared_memory_mode_id:
            set_attribute(attributes, id, value);
            break;
        default:
            fail(cudaErrorInvalidValue,
                 text("Kernel launch configuration attribute ", id, " at index ", i, " is invalid"));
        }
    }
    attributes.preferred_cluster = preferred;
    return launch;
}

void validate_attributes(const KernelEntry& kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                         const KernelAttributes& attributes) {
    const dim3 cluster = attributes.cluster;
    const bool allows_large_clusters =
        attributes.portable_cluster == 0 ? kernel.allows_large_clusters.load() : attributes.portable_cluster == 2;
    const unsigned max_cluster = allows_large_clusters ? max_cluster_blocks : max_portable_cluster_blocks;
    if (!is_none(cluster)) {
        if (!divides(cluster, grid))
            fail(cudaErrorInvalidClusterSize,
                 text("Cluster dimensions of ", cluster, " blocks does not evenly divide Grid dimensions of ", grid));
        const unsigned long long blocks = 1ULL * cluster.x * cluster.y * cluster.z;
        if (blocks > max_cluster)
            fail(cudaErrorInvalidClusterSize,
                 allows_large_clusters
                     ? text("Requested cluster size of ", blocks, " blocks exceeds the maximum ", max_cluster)
                     : text("Requested cluster size of ", blocks, " blocks exceeds portable size ", max_cluster,
                            " and non-portable sizes are not enabled on the function"));
    }
    require_preferred_cluster(attributes.preferred_cluster, cluster, grid);
    if (attributes.cooperative) {
        const int threads = static_cast<int>(block.x * block.y * block.z);
        const auto resident = 1ULL * static_cast<unsigned>(multiprocessors()) *
                              static_cast<unsigned>(active_blocks(threads, shared_bytes));
        if (1ULL * grid.x * grid.y * grid.z > resident)
            fail(cudaErrorCooperativeLaunchTooLarge,
                 text("Requested cooperative grid dimensions ", grid,
                      " exceed occupancy limit for this kernel on this device of ", resident, " blocks"));
    }
}

} // namespace cudart_cpu::detail
