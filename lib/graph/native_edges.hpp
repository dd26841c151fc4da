// The edges that CUDA has in a graph.
#pragma once

#include "plan/edge_list.hpp"
#include "plan/edge_record.hpp"

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
    NativeEdges() = default;
    explicit NativeEdges(std::vector<EdgeRecord> list) : list_(std::move(list)) {}

    [[nodiscard]] const std::vector<EdgeRecord>& list() const noexcept { return list_; }

    /// Room for `more`: `note` then cannot fail.
    void reserve(std::size_t more) { reserve_more(list_, more); }
    /// CUDA has this one, and had it not before.
    void note(const EdgeRecord& edge) { list_.push_back(edge); }
    /// CUDA has removed nodes from `first` on.
    void forget_nodes(std::uint32_t first) {
        detail::forget_nodes(list_, first);
        have_sinks_moved_ = true;
    }

    /// Makes CUDA have those of `wanted`, each once. When it updates an exec by a graph, it pairs nodes in the orders
    /// in which they got their edges and in which those without outgoing ones, the sinks, became so: both are then as
    /// if it had never had others. The first `same` are known to be the first that it has. `nodes` are CUDA's nodes of
    /// `graph`, by number. Throws GraphError, and can then be called again.
    void become(std::span<const EdgeRecord> wanted, std::size_t same, cudaGraph_t graph,
                std::span<const cudaGraphNode_t> nodes);
    /// The same, of what it has and `more`, which it has not.
    void extend(std::span<const EdgeRecord> more, cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes);

  private:
    void add(std::span<const EdgeRecord> edges, cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes);
    void remove(std::span<const EdgeRecord> edges, cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes);

    void order_sinks(cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes);

    std::vector<EdgeRecord> list_;
    bool have_sinks_moved_ = false; ///< whether nodes have become sinks by losing edges
};

} // namespace cudag::detail
