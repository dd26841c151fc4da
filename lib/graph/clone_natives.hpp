// Native nodes in clones of graphs.
#pragma once

#include "node/node_params.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace cudag::detail {

class GraphState;

/// The native handles of a graph and of the child graphs inside it.
struct CloneNatives {
    cudaGraph_t graph = nullptr;
    std::vector<cudaGraphNode_t> nodes = {};
    std::vector<cudaGraphNode_t> kernels = {};                              ///< kernels added by its plan
    std::vector<std::pair<std::uint32_t, const KernelParams*>> unread = {}; ///< kernel parameters still to be read
    std::vector<CloneNatives> nested = {};
};

/// Finds the native nodes of `clone`, which CUDA cloned from the native graph of `graph`, in the order of its nodes.
[[nodiscard]] CloneNatives natives_in(GraphState& graph, cudaGraph_t clone);

} // namespace cudag::detail
