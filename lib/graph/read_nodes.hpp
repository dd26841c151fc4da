// Nodes read from CUDA, not made by cudag.
#pragma once

#include "allocations.hpp"
#include "conditions.hpp"
#include "edges/edge_record.hpp"
#include "graph_tree.hpp"
#include "node_record.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace cudag::detail {

class GraphState;

/// The records of new nodes before their graph takes them.
struct ReadNodes {
    struct Inner {
        std::uint32_t node;
        std::shared_ptr<GraphState> graph;
        Place place = Place::child;
        int device = 0; ///< of the nodes of a body
    };

    std::vector<cudaGraphNode_t> natives = {};
    std::vector<NodeRecord> records = {};
    std::vector<EdgeRecord> edges = {};
    bool has_joins = false;                        ///< whether a node is empty
    bool has_memory = false;                       ///< whether a node allocates or frees
    std::vector<GraphAllocation> allocations = {}; ///< all of the graph; empty if none of these nodes has memory
    std::vector<Inner> nested = {};
    std::vector<ConditionRecord> conditions = {}; ///< of the conditionals among these nodes
};

} // namespace cudag::detail
