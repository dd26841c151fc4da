// The edges that CUDA has in a graph.
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

/// What CUDA has may be other edges than those that a graph is written with, and in another order: it gets edges late,
/// and as they are planned, but has those that it recorded itself from the start.
class NativeEdges {
  public:
    [[nodiscard]] const std::vector<EdgeRecord>& list() const noexcept { return list_; }

    /// Room for `more`: `note` then cannot fail.
    void reserve(std::size_t more) { reserve_more(list_, more); }
    /// CUDA has these, and no others.
    void take(std::vector<EdgeRecord> all) { list_ = std::move(all); }
    /// CUDA has this one, and had it not before.
    void note(const EdgeRecord& edge) { list_.push_back(edge); }
    /// A capture has ended when there were so many nodes, and `front` was what its stream's next node would have come
    /// after: these have become sinks then, in this order.
    void note_front(std::size_t nodes, std::vector<std::uint32_t> front) {
        fronts_.push_back({nodes, std::move(front)});
    }
    /// CUDA has removed nodes from `first` on.
    void forget_nodes(std::uint32_t first) {
        detail::forget_nodes(list_, first);
        std::erase_if(fronts_, [first](const Front& front) { return front.nodes > first; });
        have_sinks_moved_ = true;
    }

    /// CUDA has removed nodes.
    void renumber(const Renumbering& next) noexcept;

    /// Makes CUDA have those of `wanted`, each once, and in this order at each node: when CUDA updates an exec by a
    /// graph, it pairs nodes by it. The first `same` are known to be the first that it has. `nodes` are CUDA's nodes of
    /// `graph`, by number. Throws GraphError, and can then be called again.
    void become(std::span<const EdgeRecord> wanted, std::size_t same, cudaGraph_t graph,
                std::span<const cudaGraphNode_t> nodes);
    /// The same, of what it has and `more`, which it has not.
    void extend(std::span<const EdgeRecord> more, cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes);

    /// CUDA also pairs nodes by the order in which those without outgoing edges, the sinks, became so: it is then as if
    /// nothing had been taken away. Throws GraphError, and can then be called again.
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
    bool have_sinks_moved_ = false; ///< whether nodes have become sinks by losing edges
};

} // namespace cudag::detail
