// The attributes of kernel nodes and launches.
#pragma once

#include "kernel_registry.hpp"

#include <memory>
#include <optional>

namespace cudart_cpu::detail {

class DeviceNode;

struct KernelAttributes {
    int priority = 0;
    bool cooperative = false;
    dim3 cluster{0, 0, 0};
    dim3 preferred_cluster{0, 0, 0};                             // not reported by CUDA
    int cluster_scheduling = cudaClusterSchedulingPolicyDefault; // may be invalid: only launches check it
    cudaAccessPolicyWindow window{};
    cudaLaunchMemSyncDomain domain = cudaLaunchMemSyncDomainDefault;
    cudaLaunchMemSyncDomainMap domain_map{0, 1};
    unsigned carveout = 0;
    unsigned nvlink_centric = 0;
    unsigned portable_cluster = 0;
    unsigned shared_memory_mode = 0;
    std::shared_ptr<DeviceNode> device_node{}; // null unless the node can be updated from the device
};

/// These functions throw Failure for attributes foreign to kernel nodes, and for values impossible in any node.
void set_attribute(KernelAttributes& attributes, int id, const cudaLaunchAttributeValue& value);
void get_attribute(const KernelAttributes& attributes, int id, cudaLaunchAttributeValue& value);

struct LaunchAttributes {
    /// An event recorded by the launch, and the edge from the kernel to the waits for it.
    struct Record {
        cudaEvent_t event;
        cudaGraphEdgeData data;
    };

    KernelAttributes kernel{};
    bool has_priority = false;
    bool overlaps_previous = false; // programmatic stream serialization
    std::optional<Record> trigger{};
    std::optional<Record> completion{};
};

/// The attributes of a launch. Throws Failure for attributes impossible in a launch; some are possible in a capture
/// only.
LaunchAttributes attributes_of(const cudaLaunchAttribute* list, unsigned count, bool is_capturing);

/// Throws Failure if a kernel with these attributes could not be launched in this way.
void validate_attributes(const KernelEntry& kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                         const KernelAttributes& attributes);

} // namespace cudart_cpu::detail
