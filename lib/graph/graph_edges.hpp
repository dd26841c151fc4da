// The edges of a graph, and which of them CUDA has.
#pragma once

#include "native_edges.hpp"
#include "plan/edges.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cudag::detail {

class GraphEdges {
  public:
    [[nodiscard]] const Edges& logical() const noexcept { return logical_; }
    [[nodiscard]] Edges& logical() noexcept { return logical_; }

    /// Room for `more` edges that CUDA has already.
    void reserve_native(std::size_t more) {
        logical_.reserve(more);
        native_.reserve(more);
    }
    /// A full edge that CUDA has already; all others must have been written, and there must be room.
    void add_native(std::uint32_t from, std::uint32_t to) noexcept {
        native_.note({from, to});
        logical_.add_settled(from, to);
        ++written_;
    }
    /// Edges that CUDA has already; there must be room.
    void add_native(const std::vector<EdgeRecord>& edges) noexcept {
        const bool all_written = written_ == logical_.size();
        for (const EdgeRecord& edge : edges) {
            logical_.add(edge);
            native_.note(edge);
        }
        if (all_written) written_ = logical_.size();
    }
    /// All that CUDA has.
    void take_native(std::vector<EdgeRecord>&& edges) {
        native_ = NativeEdges(edges);
        logical_ = Edges(std::move(edges));
        written_ = logical_.size();
    }
    /// Merges repeated edges of `nodes` nodes, keeping the first of each.
    void merge(std::size_t nodes) {
        const std::size_t before = logical_.size();
        logical_.merge(nodes);
        if (logical_.size() != before) written_ = 0;
    }
    void forget_nodes(std::uint32_t first) {
        logical_.forget_nodes(first);
        native_.forget_nodes(first);
        written_ = 0;
    }
    /// Gives CUDA those that it lacks; repeated ones must have been merged. Throws GraphError, and can then be called
    /// again.
    void write(cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes) {
        native_.add_missing(logical_.list(), written_, graph, nodes);
        written_ = logical_.size();
    }

  private:
    Edges logical_;
    NativeEdges native_;
    std::size_t written_ = 0; ///< how many of the first of `logical_` are the first of `native_`
};

} // namespace cudag::detail
