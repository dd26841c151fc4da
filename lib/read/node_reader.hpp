// Parameters of nodes made without cudag.
#pragma once

#include "graph/allocations.hpp"
#include "node/kernel_reader.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cudag::detail {

class GraphState;

/// Reads the parameters of new nodes of a graph into its memory.
class NodeReader {
  public:
    /// Records memory allocated and freed by the nodes in `allocations`, which start as those of the graph.
    NodeReader(GraphState& graph, std::vector<GraphAllocation>& allocations);

    /// Returns the parameters of `node`, later number `index`; none for a kind without parameters. Throws GraphError.
    [[nodiscard]] NodeParams read(cudaGraphNode_t node, NodeKind kind, std::uint32_t index);

  private:
    void note(const AllocParams& alloc, std::uint32_t index);
    void note(const FreeParams& free, std::uint32_t index);

    GraphState& graph_;
    KernelReader kernels_;
    std::vector<GraphAllocation>& allocations_;
    std::size_t indexed_ = 0;                                ///< how many of `allocations_` are in `latest_`
    std::unordered_map<std::uintptr_t, std::size_t> latest_; ///< by address
};

} // namespace cudag::detail
