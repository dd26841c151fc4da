// Native edges: the edges of CUDA's graph.
#pragma once

#include "edges/edge_list.hpp"
#include "edges/edge_record.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cudag::detail {

/// The native edges of a graph. They may differ from its logical edges, and in order: CUDA gets edges late and as
/// planned, but has the edges of a capture from the start.
class NativeEdges {
  public:
    [[nodiscard]] const std::vector<EdgeRecord>& list() const noexcept { return list_; }

    /// Makes room for `more` edges: `note` then cannot fail.
    void reserve(std::size_t more) { reserve_more(list_, more); }
    /// Replaces the list by `all`, the edges found in CUDA's graph.
    void take(std::vector<EdgeRecord> all) { list_ = std::move(all); }
    /// Records an edge that CUDA has added.
    void note(const EdgeRecord& edge) { list_.push_back(edge); }
    /// Records the tail `front` of a capture that ended after `nodes` nodes. CUDA made these nodes sinks at that
    /// moment, in this order.
    void note_front(std::size_t nodes, std::vector<std::uint32_t> front) {
        fronts_.push_back({nodes, std::move(front)});
    }
    /// Takes the fronts of `other`, whose nodes CUDA has made again in the same order, without a capture.
    void take_fronts(const NativeEdges& other) {
        fronts_ = other.fronts_;
        have_sinks_moved_ = have_sinks_moved_ || !fronts_.empty();
    }
    /// Records that nodes lost edges to nodes that are gone, unknown here: `restore_sinks` is needed.
    void note_moved_sinks() noexcept { have_sinks_moved_ = true; }
    /// Follows CUDA's removal of the nodes from `first` on.
    void forget_nodes(std::uint32_t first) {
        detail::forget_nodes(list_, first);
        std::erase_if(fronts_, [first](const Front& front) { return front.nodes > first; });
        have_sinks_moved_ = true;
    }

    /// Follows a removal of nodes by CUDA.
    void renumber(const Renumbering& next) noexcept;

    /// Makes CUDA's edges equal to `wanted`, which has each once, in the same order at each node: CUDA pairs nodes by
    /// this order when it updates an exec. The first `same` edges must be equal already. `nodes` are the native nodes
    /// of `graph`, by number. Throws GraphError, and can then be called again.
    void become(std::span<const EdgeRecord> wanted, std::size_t same, cudaGraph_t graph,
                std::span<const cudaGraphNode_t> nodes);
    /// Adds the edges `more`, which CUDA must lack. Throws GraphError, and can then be called again.
    void extend(std::span<const EdgeRecord> more, cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes);

    /// Restores the order of the sinks, nodes without outgoing edges, as if no edge had been removed: CUDA pairs nodes
    /// by the order in which they became sinks, too. Throws GraphError, and can then be called again.
    void restore_sinks(cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes);

  private:
    struct Front {
        std::size_t nodes;
        std::vector<std::uint32_t> list;
    };

    void add(std::span<const EdgeRecord> edges, cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes);
    void remove(std::span<const EdgeRecord> edges, cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes);
    [[nodiscard]] std::vector<std::uint32_t> sinks(std::size_t nodes) const;

    std::vector<EdgeRecord> list_;
    std::vector<Front> fronts_;
    bool have_sinks_moved_ = false; ///< whether the loss of edges made sinks
};

} // namespace cudag::detail
