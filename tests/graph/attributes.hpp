// What CUDA itself has as a kernel node's attributes.
#pragma once

#include "native.hpp"

inline cudaLaunchAttributeValue attribute(const cudag::Node& node, cudaLaunchAttributeID id) {
    cudaLaunchAttributeValue value{};
    cudag::check(cudaGraphKernelNodeGetAttribute(node.native(), id, &value));
    return value;
}

inline std::vector<unsigned> cluster_of(const cudag::Node& node) {
    const auto cluster = attribute(node, cudaLaunchAttributeClusterDimension).clusterDim;
    return {cluster.x, cluster.y, cluster.z};
}

inline bool is_cooperative(const cudag::Node& node) {
    return attribute(node, cudaLaunchAttributeCooperative).cooperative != 0;
}

inline int priority_of(const cudag::Node& node) {
    return attribute(node, cudaLaunchAttributePriority).priority;
}

inline cudaLaunchMemSyncDomain domain_of(const cudag::Node& node) {
    return attribute(node, cudaLaunchAttributeMemSyncDomain).memSyncDomain;
}

inline cudaAccessPolicyWindow policy_of(const cudag::Node& node) {
    return attribute(node, cudaLaunchAttributeAccessPolicyWindow).accessPolicyWindow;
}

/// The highest and the lowest priority of the device: a smaller number goes first.
struct PriorityRange {
    int least = 0;
    int greatest = 0;
    PriorityRange() { cudag::check(cudaDeviceGetStreamPriorityRange(&least, &greatest)); }
};
