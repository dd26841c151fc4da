// Reads the edges of graphs that were made without cudag.
#pragma once

#include "graph/graph_state.hpp"
#include "graph/node_indices.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// Reads the edges of nodes, one node after the other, which costs CUDA a fraction of listing those of a graph.
class EdgeReader {
  public:
    /// `nodes` are new ones of `graph`, which knows the ones before. Others were added through CUDA's handle, and
    /// remain unknown.
    EdgeReader(GraphState& graph, std::span<const cudaGraphNode_t> nodes) : graph_(graph), nodes_(nodes) {}

    /// The edges to the new nodes, the first of which has the index `first`; by node, and from earlier nodes first.
    [[nodiscard]] std::vector<EdgeRecord> edges(std::uint32_t first);

    /// If `count` new nodes of `graph` are a line, that is, each depends on the one before and on nothing else, the
    /// first one on known nodes at most, and the last one is `last`: these nodes in order. Else none, for other nodes
    /// may have been added in any order.
    [[nodiscard]] static std::vector<cudaGraphNode_t> line_to(GraphState& graph, cudaGraphNode_t last,
                                                              std::size_t count);

  private:
    /// How many nodes `node` depends on, which stand in `from_` then.
    std::size_t read(cudaGraphNode_t node);

    GraphState& graph_;
    std::span<const cudaGraphNode_t> nodes_;
    NodeIndices indices_;
    std::vector<cudaGraphNode_t> from_ = std::vector<cudaGraphNode_t>(8);
    std::vector<CUgraphEdgeData> data_ = std::vector<CUgraphEdgeData>(8);
};

} // namespace cudag::detail
