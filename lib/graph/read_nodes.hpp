// Nodes that cudag did not make, as they were read from CUDA.
#pragma once

#include "allocations.hpp"
#include "edges/edge_record.hpp"
#include "node_record.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace cudag::detail {

class GraphState;

/// What is known of new nodes, before the graph has it.
struct ReadNodes {
    struct Inner {
        std::uint32_t node;
        std::shared_ptr<GraphState> graph;
    };

    std::vector<cudaGraphNode_t> natives = {};
    std::vector<NodeRecord> records = {};
    std::vector<EdgeRecord> edges = {};
    bool has_joins = false;                        ///< whether one of the nodes is empty
    bool has_memory = false;                       ///< whether one of the nodes allocates or frees
    std::vector<GraphAllocation> allocations = {}; ///< all of the graph; none if no node of these has memory
    std::vector<Inner> nested = {};
};

} // namespace cudag::detail
