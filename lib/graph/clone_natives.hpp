// CUDA's nodes in clones of graphs.
#pragma once

#include "node/node_params.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace cudag::detail {

class GraphState;

/// CUDA's handles of a graph and of the child graphs inside it.
struct CloneNatives {
    cudaGraph_t graph = nullptr;
    std::vector<cudaGraphNode_t> nodes = {};
    std::vector<cudaGraphNode_t> kernels = {};                              ///< that its plan has added
    std::vector<std::pair<std::uint32_t, const KernelParams*>> unread = {}; ///< parameters that are read from a node
    std::vector<CloneNatives> nested = {};
};

/// Those of `clone`, which CUDA has made of `graph`'s native graph, in the order of its nodes.
[[nodiscard]] CloneNatives natives_in(GraphState& graph, cudaGraph_t clone);

} // namespace cudag::detail
