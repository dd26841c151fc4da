// Attributes of kernel nodes for the tests.
#pragma once

#include "nodes.hpp"

using Value = cudaLaunchAttributeValue;

inline Value cluster_of(unsigned x, unsigned y = 1, unsigned z = 1) {
    Value value{};
    value.clusterDim.x = x;
    value.clusterDim.y = y;
    value.clusterDim.z = z;
    return value;
}

inline Value cooperative_value(int cooperative = 1) {
    Value value{};
    value.cooperative = cooperative;
    return value;
}

inline Value priority_value(int priority) {
    Value value{};
    value.priority = priority;
    return value;
}

/// A number that CUDA 13 gives no attribute, within the range of the enumeration.
constexpr auto unnamed_attribute = static_cast<cudaLaunchAttributeID>(31);

inline cudaError_t set(cudaGraphNode_t node, cudaLaunchAttributeID id, const Value& value) {
    return cudaGraphKernelNodeSetAttribute(node, id, &value);
}

inline Value get(cudaGraphNode_t node, cudaLaunchAttributeID id) {
    Value value{};
    REQUIRE_CUDA(cudaGraphKernelNodeGetAttribute(node, id, &value));
    return value;
}

inline bool is_cluster(const Value& value, unsigned x, unsigned y, unsigned z) {
    return value.clusterDim.x == x && value.clusterDim.y == y && value.clusterDim.z == z;
}

/// How many blocks of one thread the device holds at once.
template <class... P>
unsigned resident_blocks(const Call<P...>& call) {
    int each = 0;
    int multiprocessors = 0;
    REQUIRE_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, call.function(), 1, 0));
    REQUIRE_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    return static_cast<unsigned>(each * multiprocessors);
}
