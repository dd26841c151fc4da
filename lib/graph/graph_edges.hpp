// The logical and the native edges of a graph.
#pragma once

#include "edges/edges.hpp"
#include "edges/growing_reduction.hpp"
#include "lists/assertion.hpp"
#include "lists/growth.hpp"
#include "native_edges.hpp"
#include "plan_in_force.hpp"

#include <cudag/plan.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace cudag::detail {

class GraphState;

class GraphEdges {
  public:
    [[nodiscard]] const Edges& logical() const noexcept { return logical_; }
    [[nodiscard]] Edges& logical() noexcept { return logical_; }

    /// Makes room for `more` edges that CUDA already has.
    void reserve_native(std::size_t more) {
        logical_.reserve(more);
        native_.reserve(more);
    }
    /// Adds a full edge that CUDA already has, with all other needed edges. Call `reserve_native` first.
    void add_native(std::uint32_t from, std::uint32_t to) noexcept {
        CUDAG_ASSERT(has_room(logical_.list()) && has_room(native_.list()));
        const bool all_written = written_ == logical_.size();
        native_.note({from, to});
        logical_.add_settled(from, to);
        if (all_written) ++written_;
    }
    /// Adds edges that CUDA already has. Call `reserve_native` first.
    void add_native(const std::vector<EdgeRecord>& edges) noexcept {
        CUDAG_ASSERT(has_room(logical_.list(), edges.size()) && has_room(native_.list(), edges.size()));
        const bool all_written = written_ == logical_.size();
        for (const EdgeRecord& edge : edges) {
            logical_.add(edge);
            native_.note(edge);
        }
        if (all_written) written_ = logical_.size();
    }
    /// Writes the logical edges from number `first` on to CUDA; all must be distinct and not yet native. Throws
    /// GraphError.
    void write_from(std::size_t first, cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes) {
        const bool all_written = written_ == first;
        native_.extend(std::span(logical_.list()).subspan(first), graph, nodes);
        if (all_written) written_ = logical_.size();
    }
    /// Takes over all edges of CUDA's graph, as logical edges, too.
    void take_native(std::vector<EdgeRecord>&& edges) {
        native_.take(edges);
        logical_ = Edges(std::move(edges));
        written_ = logical_.size();
        plan_.edges_seen.reset();
        forget_needed();
    }
    /// Records the tail of a capture that ended after `nodes` nodes; see NativeEdges.
    void note_front(std::size_t nodes, std::vector<std::uint32_t> front) {
        native_.note_front(nodes, std::move(front));
    }
    /// Replaces the logical edges by `edges`, each once. CUDA gets them with the next plan.
    void rewrite(std::vector<EdgeRecord>&& edges) noexcept {
        logical_ = Edges(std::move(edges));
        written_ = 0;
        plan_.edges_seen.reset();
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
    /// Follows a removal of nodes by CUDA.
    void renumber(const Renumbering& next) noexcept {
        logical_.renumber(next);
        native_.renumber(next);
        forget_written();
    }
    /// Removes the edges between the ends of those in `gone`, which must be sorted. CUDA's go with the next plan.
    void remove(std::span<const EdgeRecord> gone) noexcept {
        forget_written();
        logical_.remove(gone);
    }
    /// The number of edges that `write_line` should be called for.
    static constexpr std::size_t line_at_once = 512;
    /// Writes the edges of a growing line, from each node to the next, to CUDA; no effect if there are others. CUDA
    /// writes them faster while the nodes are in the processor's cache. A plan removes them only if later edges lead
    /// back to earlier nodes. Throws GraphError, and can then be called again.
    void write_line(cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes);
    /// Writes the missing edges to CUDA, except redundant ones; repeated edges must have been merged. Throws
    /// GraphError, and can then be called again.
    void write_needed(cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes);
    /// The native edges: those of CUDA's graph.
    [[nodiscard]] const std::vector<EdgeRecord>& native() const noexcept { return native_.list(); }

    /// The plan in force.
    [[nodiscard]] const PlanInForce& plan() const noexcept { return plan_; }
    [[nodiscard]] PlanInForce& plan() noexcept { return plan_; }
    /// Whether the native edges follow `plan`, or must stay as they are.
    [[nodiscard]] bool follow(const Plan& plan) const noexcept { return plan_.covers(plan, logical_.size()); }
    /// Puts the plan in force with its result `planned`, which is null if the edges are best as written.
    void plan_by(const Plan& plan, std::shared_ptr<const PlannedEdges> planned) {
        if (planned != nullptr || plan_.planned != nullptr) written_ = 0;
        plan_.edges_seen.reset();
        plan_.plan = plan;
        plan_.planned = std::move(planned);
    }
    /// Writes the planned edges to CUDA, and removes all others. `nodes` are the native nodes, followed by the kernels
    /// of the plan. Throws GraphError, and can then be called again.
    void become_planned(cudaGraph_t graph, std::span<const cudaGraphNode_t> nodes) {
        native_.become(plan_.planned ? plan_.planned->edges : logical_.list(), written_, graph, nodes);
        if (!plan_.is_fixed) native_.restore_sinks(graph, nodes);
        if (plan_.planned == nullptr) written_ = logical_.size();
        plan_.edges_seen = logical_.size();
    }
    /// Invalidates the plan: the graph is planned again before it is used next.
    void unplan() noexcept {
        if (!plan_.is_fixed) plan_.edges_seen.reset();
    }
    /// Takes the order of the sinks of `other`, the same nodes by a capture: the next plan restores it.
    void take_fronts(const GraphEdges& other) { native_.take_fronts(other.native_); }
    /// Follows the removal of nodes added without a record: the graph is planned again, which restores the sinks.
    void note_moved_sinks() noexcept {
        native_.note_moved_sinks();
        unplan();
    }
    /// Follows CUDA's removal of the plan's kernels from `first` on, in a graph of `nodes` nodes.
    void forget_kernels(std::size_t nodes, std::size_t first) noexcept {
        native_.forget_nodes(static_cast<std::uint32_t>(nodes + first));
        plan_.kernels.resize(first);
    }

  private:
    /// Forgets which logical edges are native.
    void forget_written() noexcept {
        written_ = 0;
        plan_.edges_seen.reset();
        forget_needed();
    }
    void forget_needed() noexcept {
        reduction_.clear();
        native_known_ = 0;
    }

    Edges logical_;
    NativeEdges native_;
    std::size_t written_ = 0; ///< length of the common beginning of `logical_` and `native_`

    GrowingReduction reduction_;   ///< of the edges seen by `write_needed`
    std::size_t native_known_ = 0; ///< number of native edges at that time

    PlanInForce plan_;
};

/// Returns the edges, as they are if they are still unread.
[[nodiscard]] GraphEdges& edge_lists_of(GraphState& graph) noexcept;
/// Return the edges, or the logical ones. Read a captured graph.
[[nodiscard]] const GraphEdges& edge_lists_of(const GraphState& graph);
[[nodiscard]] const std::vector<EdgeRecord>& edges_of(const GraphState& graph);

} // namespace cudag::detail
