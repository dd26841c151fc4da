// Conversion between kinds of edges and CUDA's edge data.
#pragma once

#include <cudag/edge.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace cudag::detail {

[[nodiscard]] inline cudaGraphEdgeData native_data(EdgeKind kind) noexcept {
    cudaGraphEdgeData data{};
    if (kind == EdgeKind::full) return data;
    data.type = cudaGraphDependencyTypeProgrammatic;
    data.from_port =
        kind == EdgeKind::programmatic ? cudaGraphKernelNodePortProgrammatic : cudaGraphKernelNodePortLaunchCompletion;
    return data;
}

/// The kind of an edge by its source port: only kernels have ports other than 0, the end of the node.
[[nodiscard]] inline EdgeKind edge_kind(const CUgraphEdgeData& data) noexcept {
    switch (data.from_port) {
    case cudaGraphKernelNodePortProgrammatic:
        return EdgeKind::programmatic;
    case cudaGraphKernelNodePortLaunchCompletion:
        return EdgeKind::launch_completion;
    default:
        return EdgeKind::full;
    }
}

} // namespace cudag::detail
