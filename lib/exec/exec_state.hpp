// The state behind Exec: CUDA's exec, its source graph, and what updates have set since.
#pragma once

#include "bound_params.hpp"
#include "disabled_memsets.hpp"
#include "exec_hosts.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "graph/node_place.hpp"
#include "graph/planning.hpp"
#include "host_nodes.hpp"
#include "node/node_params.hpp"
#include "owners/in_flight.hpp"
#include "shadows.hpp"

#include <cudag/exec.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace cudag::detail {

class ExecRaces;
class RaceWatch;

class ExecState {
  public:
    /// Takes over `native`, once nothing can fail. `hosts` are the runs of its host nodes; `owners` are all that its
    /// launches use, these runs, too: kept until there is no launch any more.
    ExecState(cudaGraphExec_t native, std::shared_ptr<GraphState> source, const InstantiateOptions& options,
              std::shared_ptr<HostLaunches> launches = nullptr, const std::vector<HostNodeRun>& hosts = {},
              OwnerVersions&& owners = {});
    ~ExecState();
    ExecState(const ExecState&) = delete;
    ExecState& operator=(const ExecState&) = delete;

    [[nodiscard]] cudaGraphExec_t native() const noexcept { return native_; }
    /// The same for others, who may launch it. Kernels do where they can: then CUDA keeps the owners.
    [[nodiscard]] cudaGraphExec_t hand_out() {
        if (owns_native_ && !options_.device_launch) in_flight_.note_handed_out();
        return native_;
    }
    /// This state no longer destroys it, and it may be gone before.
    void give_up_native() noexcept {
        owns_native_ = false;
        if (!owners_.empty()) in_flight_.begin_tracking();
    }
    [[nodiscard]] std::uint64_t replays() const noexcept { return replays_; }

    [[nodiscard]] const InstantiateOptions& options() const noexcept { return options_; }
    /// What the plan has changed in the graphs of this exec.
    [[nodiscard]] const std::vector<PlannedGraph>& planned() const noexcept { return planned_; }
    /// Whether the plan saw the nodes and edges of its graph: not of a captured one of which nobody had asked anything.
    [[nodiscard]] bool was_read() const noexcept { return was_read_; }
    /// Completes CUDA's graph of `next`, with edges planned as those of `mine` were, a graph of this exec: CUDA
    /// compares them.
    void complete_source(const GraphState& mine, GraphState& next) const;
    [[nodiscard]] UpdateCounts& update_counts() noexcept { return update_counts_; }
    /// Counts on from where `former`, which this exec replaces, has stopped.
    void continue_counts_of(ExecState& former) noexcept {
        replays_ = former.replays_;
        update_counts_ = former.update_counts_;
        hosts_.take_claim_of(former.hosts_);
    }

    [[nodiscard]] InFlight& in_flight() noexcept { return in_flight_; }
    [[nodiscard]] ExecHosts& hosts() noexcept { return hosts_; }
    void launch(cudaStream_t stream);
    void upload(cudaStream_t stream);

    /// Whether kernels may launch it.
    [[nodiscard]] bool device_launch() const noexcept { return options_.device_launch; }
    /// Whether the device has it as it is.
    [[nodiscard]] bool uploaded() const noexcept { return uploaded_; }
    void set_changed() noexcept { uploaded_ = false; }

    /// The node of this exec's graph that a handle names. Throws UpdateError for other handles.
    [[nodiscard]] NodePlace node_of(const Node& node) const {
        const GraphState& graph = GraphState::of(node);
        if (&graph != source_.get() && &graph.root() != source_.get()) [[unlikely]]
            refuse_foreign(graph, node);
        return {&graph, GraphState::index_unchecked(node)};
    }

    /// The graph that CUDA counts this exec for, where a graph can have only one.
    [[nodiscard]] const GraphState& exclusive_graph() const noexcept { return *exclusive_graph_; }
    /// The graph that this exec was made from.
    [[nodiscard]] const GraphState& source() const noexcept { return *source_; }
    /// The graph that all parameters came from last: its own, or that of an update of the whole.
    [[nodiscard]] const GraphState& basis() const noexcept { return *basis_; }
    /// The graph of the basis at the place where `graph` stands in the source.
    [[nodiscard]] const GraphState& in_basis(const GraphState& graph) const {
        return graph.parent() == nullptr ? *basis_ : inside_basis(graph);
    }
    /// Whether this exec was made from `graph`.
    [[nodiscard]] bool is_of(const GraphState& graph) const noexcept { return &graph == source_.get(); }
    /// The version of its graph that this exec has.
    [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }
    void set_seen(std::uint64_t version) noexcept { seen_ = version; }

    /// Whether updates have left nothing in it but what `basis()` is.
    [[nodiscard]] bool has_basis_alone() const noexcept { return shadows_->empty() && matched_.empty(); }
    /// Whether nodes may have others than those of the basis as it was made.
    [[nodiscard]] bool has_shadows() const noexcept { return !shadows_->empty(); }
    /// What is in force in a node; made on first use.
    [[nodiscard]] Shadow& shadow(const NodePlace& node) {
        const std::uint32_t number = node.graph->first_number() + node.index;
        if (Shadow* const found = shadows_->find(number)) [[likely]]
            return *found;
        return make_shadow(number, node);
    }

    /// The same; null if there is none yet.
    [[nodiscard]] Shadow* find_shadow(const NodePlace& node) noexcept {
        return shadows_->find(node.graph->first_number() + node.index);
    }
    [[nodiscard]] const Shadow* find_shadow(const NodePlace& node) const noexcept {
        return std::as_const(*shadows_).find(node.graph->first_number() + node.index);
    }

    /// Gives a node of CUDA's exec `params`, and `run` if they are a host task.
    [[nodiscard]] NativeResult set_params(const NodePlace& node, const NodeParams& params, HostRun* run);
    /// The same, with a run that is made if they are one, and kept by `owners`.
    [[nodiscard]] NativeResult set_params(const NodePlace& node, const NodeParams& params, OwnerVersions& owners) {
        return set_params(node, params, hosts_.run(node, params, owners));
    }

    /// Makes CUDA call host nodes that have just taken their parameters from another graph through `runs`. Where it
    /// refuses, a node runs all the same, and cudag only prints what it throws.
    void set_host_runs(const std::vector<HostNodeRun>& runs) noexcept;

    /// Room for `params` in a shadow; see Shadows.
    void reserve(Shadow& shadow, const NodeParams& params) { shadows_->reserve(shadow, params); }

    /// Enables or disables a node that is of a kind that can be. Throws UpdateError, and changes nothing.
    void set_enabled(const NodePlace& node, bool enabled);
    /// To be called where CUDA has given nodes inside `graph` new parameters: disabled memsets need them parked again.
    void park_inside(const GraphState& graph) noexcept { disabled_memsets_.park_inside(*this, graph); }

    /// What is in force in a node, without a shadow if there is none yet.
    [[nodiscard]] const NodeParams& params(const NodePlace& node) const;
    /// Those that it has in the graph that this exec last took as a whole.
    [[nodiscard]] const NodeParams& params_in_basis(const NodePlace& node) const;
    /// Whether updates that make a race are refused.
    [[nodiscard]] bool refuses_races() const noexcept { return source_->refuses_races(); }
    /// Made with the first use; forgotten where nodes take what nobody compares.
    [[nodiscard]] RaceWatch& race_watch();
    void forget_races() noexcept;

    /// The shadows that an exec has which took all its parameters from `basis`: of the nodes that were changed in it
    /// since they were made. Null if it has none.
    [[nodiscard]] std::unique_ptr<Shadows> shadows_from(const GraphState& basis) const;
    /// Notes that all parameters are those of `basis` now, whose `shadows_from` are `shadows`.
    void take_all(std::shared_ptr<GraphState> basis, std::unique_ptr<Shadows> shadows,
                  const std::vector<HostNodeRun>& hosts, OwnerVersions&& host_owners) noexcept;
    /// The same where `basis` brings nothing else: the exec `has_basis_alone` before and after.
    void take_basis(std::shared_ptr<GraphState> basis) noexcept;
    /// What the graph that is to become the basis keeps; nothing if that is what this exec has already.
    [[nodiscard]] std::optional<OwnerVersions> owners_brought_by(GraphState& basis) const;
    /// Keeps them in place of those of the last basis.
    void keep_basis_owners(OwnerVersions&& owners) noexcept {
        in_flight_.retire(std::move(basis_owners_));
        if (!owners.empty()) in_flight_.begin_tracking();
        basis_owners_ = std::move(owners);
    }

    /// The BufferParams that were bound.
    [[nodiscard]] BoundParams& bound_params() noexcept { return bound_params_; }

    /// Keeps what an update by structure has brought in beside the owners of single nodes, until the next one.
    void keep_matched(OwnerVersions&& owners) noexcept {
        uploaded_ = false;
        in_flight_.retire(std::move(matched_));
        if (!owners.empty()) in_flight_.begin_tracking();
        matched_ = std::move(owners);
    }

    /// Puts `next` in force: launches to come use it, those in flight may use the previous version.
    void commit(Shadow& shadow, OwnerVersions&& next) noexcept {
        uploaded_ = false;
        if (!shadow.owners.empty() || !next.empty()) replace_owners(shadow, std::move(next));
    }

  private:
    void launch_native(cudaStream_t stream) const;
    [[noreturn]] void refuse_foreign(const GraphState& graph, const Node& node) const;
    [[nodiscard]] const GraphState& inside_basis(const GraphState& graph) const;
    Shadow& make_shadow(std::uint32_t number, const NodePlace& node);
    void replace_owners(Shadow& shadow, OwnerVersions&& next) noexcept;

    cudaGraphExec_t native_;
    bool owns_native_ = true;
    std::shared_ptr<GraphState> source_;
    std::shared_ptr<GraphState> exclusive_graph_; ///< see exclusive_graph()
    std::shared_ptr<GraphState> basis_;           ///< what a node without a shadow has is what it was made with there
    std::unique_ptr<Shadows> shadows_ = std::make_unique<Shadows>();
    InFlight in_flight_;
    ExecHosts hosts_;
    OwnerVersions owners_;       ///< what the exec was made with: stays as long as it does
    OwnerVersions basis_owners_; ///< what the last update of the whole has brought in, where it is something else
    OwnerVersions matched_;      ///< what the last update by structure came from
    InstantiateOptions options_;
    std::vector<PlannedGraph> planned_;
    bool was_read_;
    UpdateCounts update_counts_;
    DisabledMemsets disabled_memsets_;
    BoundParams bound_params_;
    std::unique_ptr<ExecRaces> races_; ///< null before the first use
    std::uint64_t replays_ = 0;
    std::uint64_t seen_;
    bool uploaded_;
};

} // namespace cudag::detail
