// Kinds of edges as CUDA writes them.
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

/// The port says what is waited for: only kernels have one other than 0, which waits for all of the node.
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
