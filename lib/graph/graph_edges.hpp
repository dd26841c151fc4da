// The edges of a graph, and which of them CUDA has.
#pragma once

#include "edges/edges.hpp"
#include "edges/growing_reduction.hpp"
#include "native_edges.hpp"
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
    /// A full edge that CUDA has already, and all others that it is to have; there must be room.
    void add_native(std::uint32_t from, std::uint32_t to) noexcept {
        const bool all_written = written_ == logical_.size();
        native_.note({from, to});
        logical_.add_settled(from, to);
        if (all_written) ++written_;
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
    /// Gives CUDA those from number `first` on, none of which it has, and each of which is there once. Throws
    /// GraphError.
    void write_from(std::size_t first, cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes) {
        const bool all_written = written_ == first;
        native_.extend(std::span(logical_.list()).subspan(first), graph, nodes);
        if (all_written) written_ = logical_.size();
    }
    /// All that CUDA has.
    void take_native(std::vector<EdgeRecord>&& edges) {
        native_.take(edges);
        logical_ = Edges(std::move(edges));
        written_ = logical_.size();
        planned_to_ = nothing;
        forget_needed();
    }
    /// The same of a capture that has ended when there were so many nodes.
    void note_front(std::size_t nodes, std::vector<std::uint32_t> front) {
        native_.note_front(nodes, std::move(front));
    }
    /// The graph is written with these, each once, instead: CUDA gets them with the next plan.
    void rewrite(std::vector<EdgeRecord>&& edges) noexcept {
        logical_ = Edges(std::move(edges));
        written_ = 0;
        planned_to_ = nothing;
        forget_needed();
    }
    /// Merges repeated edges of `nodes` nodes, keeping the first of each: CUDA's own edges are distinct and stay in
    /// front. Call it before a plan is followed.
    void merge(std::size_t nodes) { logical_.merge(nodes); }
    void forget_nodes(std::uint32_t first) {
        logical_.forget_nodes(first);
        native_.forget_nodes(first);
        forget_written();
    }
    /// CUDA has removed nodes.
    void renumber(const Renumbering& next) noexcept {
        logical_.renumber(next);
        native_.renumber(next);
        forget_written();
    }
    /// Removes the edges between the ends of those in `gone`, which are sorted, and none of which CUDA has.
    void remove(std::span<const EdgeRecord> gone) noexcept {
        forget_written();
        logical_.remove(gone);
    }
    /// Gives CUDA those that it lacks, but for those that others imply by now; repeated ones must have been merged.
    /// Throws GraphError, and can then be called again.
    void write_needed(cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes);
    /// Those that CUDA has.
    [[nodiscard]] const std::vector<EdgeRecord>& native() const noexcept { return native_.list(); }

    /// Whether CUDA's edges follow `plan`, or must stay as they are.
    [[nodiscard]] bool follow(const Plan& plan) const noexcept {
        return planned_to_ == logical_.size() && (is_fixed_ || plan == plan_);
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
    /// They are to follow `plan`, which makes `planned` of them; nothing if they are best as they were written.
    void plan_by(const Plan& plan, std::shared_ptr<const PlannedEdges> planned) {
        if (planned != nullptr || planned_ != nullptr) written_ = 0;
        planned_to_ = nothing;
        plan_ = plan;
        planned_ = std::move(planned);
    }
    /// Gives CUDA those that are planned, and takes away the others. `nodes` are CUDA's nodes and `kernels()`. Throws
    /// GraphError, and can then be called again.
    void become_planned(cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes) {
        native_.become(planned_ ? planned_->edges : logical_.list(), written_, graph, nodes);
        if (!is_fixed_) native_.restore_sinks(graph, nodes);
        if (planned_ == nullptr) written_ = logical_.size();
        planned_to_ = logical_.size();
    }
    /// What was planned may not be what would be now.
    void unplan() noexcept {
        if (!is_fixed_) planned_to_ = nothing;
    }
    /// What is planned stays, whatever the next plan is: CUDA removes no edges of this graph.
    void fix() noexcept { is_fixed_ = true; }
    [[nodiscard]] bool is_fixed() const noexcept { return is_fixed_; }
    /// CUDA has removed the kernels from `first` on, of a graph of `nodes` nodes.
    void forget_kernels(std::size_t nodes, std::size_t first) noexcept {
        native_.forget_nodes(static_cast<std::uint32_t>(nodes + first));
        kernels_.resize(first);
    }

  private:
    /// Which of `logical_` CUDA has is to be found out.
    void forget_written() noexcept {
        written_ = 0;
        planned_to_ = nothing;
        forget_needed();
    }
    void forget_needed() noexcept {
        reduction_.clear();
        native_known_ = 0;
    }

    Edges logical_;
    NativeEdges native_;
    std::size_t written_ = 0; ///< how many of the first of `logical_` are the first of `native_`

    GrowingReduction reduction_;   ///< of the edges that `write_needed` has seen
    std::size_t native_known_ = 0; ///< how many CUDA had then

    static constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();
    Plan plan_;
    std::size_t planned_to_ = nothing; ///< how many edges the plan was made for that CUDA's edges follow
    bool is_fixed_ = false;
    std::shared_ptr<const PlannedEdges> planned_;
    std::vector<cudaGraphNode_t> kernels_;
};

} // namespace cudag::detail
