// Edges of graphs made without cudag.
#pragma once

#include "edges/edge_record.hpp"
#include "graph/node_indices.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

class GraphState;

/// Reads edges node by node: this costs CUDA a fraction of listing all edges of a graph.
class EdgeReader {
  public:
    /// `nodes` are the new ones of `graph`, which knows the nodes before. Nodes added through CUDA's handle remain
    /// unknown.
    EdgeReader(GraphState& graph, std::span<const cudaGraphNode_t> nodes) : graph_(&graph), nodes_(nodes) {}
    /// `nodes` are of a graph without records; edges to others remain unknown.
    explicit EdgeReader(std::span<const cudaGraphNode_t> nodes) : graph_(nullptr), nodes_(nodes) {}

    /// Returns the edges to the new nodes, by node, from earlier nodes first. The first new node has the index `first`.
    [[nodiscard]] std::vector<EdgeRecord> edges(std::uint32_t first);

    /// Returns the `count` new nodes of `graph` in order, if they are a line that ends with `last`: each depends only
    /// on the one before, and the first one on known nodes at most. Else returns none: other nodes may have come in any
    /// order.
    [[nodiscard]] static std::vector<cudaGraphNode_t> line_to(GraphState& graph, cudaGraphNode_t last,
                                                              std::size_t count);

  private:
    /// Reads the dependencies of `node` into `from_`, and returns their number.
    std::size_t read(cudaGraphNode_t node);

    GraphState* graph_; ///< null if only `nodes_` are known
    std::span<const cudaGraphNode_t> nodes_;
    NodeIndices indices_;
    std::vector<cudaGraphNode_t> from_ = std::vector<cudaGraphNode_t>(8);
    std::vector<CUgraphEdgeData> data_ = std::vector<CUgraphEdgeData>(8);
};

} // namespace cudag::detail
