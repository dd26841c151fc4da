// Reads what nodes do that were made without cudag.
#pragma once

#include "graph/graph_state.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cudag::detail {

/// Reads the parameters of new nodes of a graph into its memory; functions are described once each.
class NodeReader {
  public:
    /// Notes in `allocations`, which hold those of the graph, what memory the nodes allocate and free.
    NodeReader(GraphState& graph, std::vector<GraphAllocation>& allocations);

    /// The parameters of `node`, which will have `index`; none for a kind that has none. Throws GraphError.
    [[nodiscard]] NodeParams read(cudaGraphNode_t node, NodeKind kind, std::uint32_t index);

  private:
    [[nodiscard]] NodeParams kernel(cudaGraphNode_t node);
    [[nodiscard]] const KernelSignature& signature_in_graph(CUfunction function);
    [[nodiscard]] NodeParams memcpy(cudaGraphNode_t node);
    [[nodiscard]] NodeParams memset(cudaGraphNode_t node);
    [[nodiscard]] NodeParams host(cudaGraphNode_t node);
    [[nodiscard]] NodeParams recorded_event(cudaGraphNode_t node);
    [[nodiscard]] NodeParams awaited_event(cudaGraphNode_t node);
    template <class Native>
    [[nodiscard]] NodeParams semaphores(const Native& native, bool signals);
    [[nodiscard]] NodeParams alloc(cudaGraphNode_t node, std::uint32_t index);
    [[nodiscard]] NodeParams free(cudaGraphNode_t node, std::uint32_t index);

    GraphState& graph_;
    std::vector<GraphAllocation>& allocations_;
    std::size_t indexed_ = 0;                                ///< how many of them are in `latest_`
    std::unordered_map<std::uintptr_t, std::size_t> latest_; ///< by address
    CUfunction last_function_ = nullptr;
    const KernelSignature* last_signature_ = nullptr;
    std::unordered_map<CUfunction, const KernelSignature*> signatures_;
};

} // namespace cudag::detail
