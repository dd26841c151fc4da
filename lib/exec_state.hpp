// The state behind Exec: CUDA's exec, its source graph, and what updates have set since.
#pragma once

#include "graph_state.hpp"
#include "in_flight.hpp"
#include "shadows.hpp"

#include <cudag/exec.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

namespace cudag::detail {

/// A node of the graph that an exec was made from, or of a graph inside it.
struct ExecNode {
    const GraphState& graph;
    std::uint32_t index;

    [[nodiscard]] const NodeRecord& record() const noexcept { return graph.nodes()[index]; }
    [[nodiscard]] cudaGraphNode_t native() const noexcept { return graph.natives()[index]; }
    [[nodiscard]] Subject subject(std::string_view action) const { return node_subject(graph, index, action); }
};

class ExecState {
  public:
    /// Takes over `native`.
    ExecState(cudaGraphExec_t native, std::shared_ptr<GraphState> source, const InstantiateOptions& options);
    ~ExecState();
    ExecState(const ExecState&) = delete;
    ExecState& operator=(const ExecState&) = delete;

    [[nodiscard]] cudaGraphExec_t native() const noexcept { return native_; }
    [[nodiscard]] std::uint64_t replays() const noexcept { return replays_; }

    [[nodiscard]] const InstantiateOptions& options() const noexcept { return options_; }
    [[nodiscard]] UpdateCounts& update_counts() noexcept { return update_counts_; }
    /// Counts on from where `former`, which this exec replaces, has stopped.
    void continue_counts_of(const ExecState& former) noexcept {
        replays_ = former.replays_;
        update_counts_ = former.update_counts_;
    }

    void launch(cudaStream_t stream);
    void upload(cudaStream_t stream);

    /// Whether kernels may launch it.
    [[nodiscard]] bool device_launch() const noexcept { return options_.device_launch; }
    /// Whether the device has it as it is.
    [[nodiscard]] bool uploaded() const noexcept { return uploaded_; }
    void set_changed() noexcept { uploaded_ = false; }

    /// The node of this exec's graph that a handle names. Throws UpdateError for other handles.
    [[nodiscard]] ExecNode node_of(const Node& node) const;

    /// The graph that this exec was made from.
    [[nodiscard]] const GraphState& claimed() const noexcept { return *claimed_; }
    [[nodiscard]] const GraphState& source() const noexcept { return *source_; }
    /// Whether this exec was made from `graph`.
    [[nodiscard]] bool is_of(const GraphState& graph) const noexcept { return &graph == source_.get(); }
    /// The version of its graph that this exec has.
    [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }
    void set_seen(std::uint64_t version) noexcept { seen_ = version; }

    /// What is in force in a node; made on first use.
    [[nodiscard]] Shadow& shadow(const ExecNode& node);

    /// Room for `params` in a shadow; see Shadows.
    void reserve(Shadow& shadow, const NodeParams& params) { shadows_->reserve(shadow, params); }

    /// What is in force in a node, without a shadow if there is none yet.
    [[nodiscard]] const NodeParams& params(const ExecNode& node) const;
    /// The shadows that an exec has which took all its parameters from `basis`: of the nodes that were changed in it
    /// since they were made.
    [[nodiscard]] std::unique_ptr<Shadows> shadows_from(const GraphState& basis) const;
    /// Notes that all parameters are those of `basis` now, whose `shadows_from` are `shadows`.
    void take_all(std::shared_ptr<GraphState> basis, std::unique_ptr<Shadows> shadows) noexcept;

    /// Puts `next` in force: launches to come use it, those in flight may use the previous version.
    void commit(Shadow& shadow, OwnerVersions&& next) noexcept;

  private:
    void launch_native(cudaStream_t stream) const;
    /// The graph of `basis_` at the place where `graph` stands in the source.
    [[nodiscard]] const GraphState& in_basis(const GraphState& graph) const;

    cudaGraphExec_t native_;
    std::shared_ptr<GraphState> source_;
    std::shared_ptr<GraphState> claimed_; ///< whose exec it is, where a graph can have only one
    std::shared_ptr<GraphState> basis_;   ///< what a node without a shadow has is what it was made with there
    std::unique_ptr<Shadows> shadows_;
    InFlight in_flight_;
    InstantiateOptions options_;
    UpdateCounts update_counts_;
    std::uint64_t replays_ = 0;
    std::uint64_t seen_;
    bool uploaded_;
};

} // namespace cudag::detail
