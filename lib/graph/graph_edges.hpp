// The edges of a graph, and which of them CUDA has.
#pragma once

#include "native_edges.hpp"
#include "plan/edges.hpp"
#include "plan/joins.hpp"

#include <cudag/plan.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
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
        planned_to_ = nothing;
    }
    /// Merges repeated edges of `nodes` nodes, keeping the first of each.
    void merge(std::size_t nodes) {
        const std::size_t before = logical_.size();
        logical_.merge(nodes);
        if (logical_.size() != before) written_ = 0;
        planned_to_ = nothing;
    }
    void forget_nodes(std::uint32_t first) {
        logical_.forget_nodes(first);
        native_.forget_nodes(first);
        written_ = 0;
        planned_to_ = nothing;
    }
    /// Gives CUDA all that it lacks, as they are; repeated ones must have been merged. Throws GraphError, and can then
    /// be called again.
    void write(cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes) {
        native_.become(logical_.list(), written_, graph, nodes);
        written_ = logical_.size();
    }

    /// Whether CUDA's edges follow `plan`.
    [[nodiscard]] bool follow(const Plan& plan) const noexcept {
        return planned_to_ == logical_.size() && plan == plan_;
    }
    /// The last one that they were to follow.
    [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
    /// They are to follow `plan`, and stay as they are.
    void stay(const Plan& plan) { plan_ = plan; }
    /// What the plan that is followed has made of the edges; null if they are as they were written.
    [[nodiscard]] const std::shared_ptr<const PlannedEdges>& planned() const noexcept { return planned_; }
    /// CUDA's nodes of the kernels that the plan has added.
    [[nodiscard]] const std::vector<cudaGraphNode_t>& kernels() const noexcept { return kernels_; }
    [[nodiscard]] std::vector<cudaGraphNode_t>& kernels() noexcept { return kernels_; }
    /// Gives CUDA the edges of `planned`, or where that is null, those that were written, and takes away the others.
    /// `nodes` are CUDA's nodes and `kernels()`. Throws GraphError, and can then be called again.
    void become(const Plan& plan, std::shared_ptr<const PlannedEdges> planned, cudaGraph_t graph,
                std::span<const cudaGraphNode_t> nodes) {
        planned_to_ = nothing;
        const std::size_t same = planned == nullptr && planned_ == nullptr ? written_ : 0;
        planned_ = std::move(planned);
        native_.become(planned_ ? planned_->edges : logical_.list(), same, graph, nodes);
        written_ = planned_ ? 0 : logical_.size();
        plan_ = plan;
        planned_to_ = logical_.size();
    }
    /// What was planned may not be what would be now.
    void unplan() noexcept { planned_to_ = nothing; }
    /// CUDA has removed the kernels from `first` on, of a graph of `nodes` nodes.
    void forget_kernels(std::size_t nodes, std::size_t first) noexcept {
        native_.forget_nodes(static_cast<std::uint32_t>(nodes + first));
        kernels_.resize(first);
    }

  private:
    Edges logical_;
    NativeEdges native_;
    std::size_t written_ = 0; ///< how many of the first of `logical_` are the first of `native_`

    static constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();
    Plan plan_;
    std::size_t planned_to_ = nothing; ///< how many edges the plan was made for that CUDA's edges follow
    std::shared_ptr<const PlannedEdges> planned_;
    std::vector<cudaGraphNode_t> kernels_;
};

} // namespace cudag::detail
