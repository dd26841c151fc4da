// Reads the edges of graphs that were made without cudag.
#pragma once

#include "graph_state.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace cudag::detail {

/// The indices of nodes by CUDA's handles.
class NodeIndices {
  public:
    explicit NodeIndices(std::span<const cudaGraphNode_t> nodes) : nodes_(nodes) {
        while (slots_.size() < 2 * nodes.size())
            slots_.resize(2 * slots_.size(), none);
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            std::size_t slot = first_slot(nodes[i]);
            while (slots_[slot] != none)
                slot = (slot + 1) % slots_.size();
            slots_[slot] = i;
        }
    }

    /// `none` for a node that was not there.
    [[nodiscard]] std::uint32_t find(cudaGraphNode_t node) const noexcept {
        std::size_t slot = first_slot(node);
        while (slots_[slot] != none && nodes_[slots_[slot]] != node)
            slot = (slot + 1) % slots_.size();
        return slots_[slot];
    }

    static constexpr auto none = std::numeric_limits<std::uint32_t>::max();

  private:
    [[nodiscard]] std::size_t first_slot(cudaGraphNode_t node) const noexcept {
        // multiplied, so that the places of neighbours are far apart; the size is a power of two
        return (reinterpret_cast<std::uintptr_t>(node) * std::uint64_t{0x9e3779b97f4a7c15} >> 32U) % slots_.size();
    }

    std::span<const cudaGraphNode_t> nodes_;
    std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(16, none);
};

/// Reads the edges of nodes, one node after the other, which costs CUDA a fraction of listing those of a graph.
class EdgeReader {
  public:
    /// `nodes` are all that there are records of; others were added through CUDA's handle, and remain unknown.
    explicit EdgeReader(std::span<const cudaGraphNode_t> nodes) : nodes_(nodes), indices_(nodes) {}

    /// The edges to nodes from number `first` on, by node, and from earlier nodes first.
    [[nodiscard]] std::vector<EdgeRecord> edges_to(std::size_t first);

  private:
    /// How many nodes `node` depends on, which stand in `from_` then.
    std::size_t read(cudaGraphNode_t node);

    std::span<const cudaGraphNode_t> nodes_;
    NodeIndices indices_;
    std::vector<cudaGraphNode_t> from_ = std::vector<cudaGraphNode_t>(8);
    std::vector<CUgraphEdgeData> data_ = std::vector<CUgraphEdgeData>(8);
};

} // namespace cudag::detail
