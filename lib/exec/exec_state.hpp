// The state behind Exec: CUDA's exec, its source graph, and the effects of updates.
#pragma once

#include "bound_params.hpp"
#include "disabled_memsets.hpp"
#include "exec_hosts.hpp"
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
#include <span>
#include <utility>
#include <vector>

namespace cudag::detail {

class ExecRaceWatch;
class RaceWatch;

/// Threads: as for Exec. The inline functions without a body here are about nodes: exec_nodes.hpp defines them.
class ExecState {
  public:
    /// Takes over `native`, once nothing can fail. `hosts` are the runs of its host nodes. `owners`, with these runs,
    /// are all that its launches use; they stay until the last launch has ended.
    ExecState(cudaGraphExec_t native, std::shared_ptr<GraphState> source, const InstantiateOptions& options,
              std::shared_ptr<HostLaunches> launches = nullptr, const std::vector<HostNodeRun>& hosts = {},
              OwnerVersions&& owners = {});
    ~ExecState();
    ExecState(const ExecState&) = delete;
    ExecState& operator=(const ExecState&) = delete;

    [[nodiscard]] cudaGraphExec_t native() const noexcept { return native_; }
    /// Returns `native` for other code, which may launch it. With `.device_launch` CUDA keeps the owners: kernels
    /// launch it.
    [[nodiscard]] cudaGraphExec_t hand_out() {
        if (owns_native_ && !options_.device_launch) in_flight_.note_handed_out();
        return native_;
    }
    /// Leaves the destruction to other code: CUDA's exec may be gone before this state.
    void give_up_native() noexcept {
        owns_native_ = false;
        if (!owners_.empty()) in_flight_.begin_tracking();
    }
    [[nodiscard]] std::uint64_t replays() const noexcept { return replays_; }

    [[nodiscard]] const InstantiateOptions& options() const noexcept { return options_; }
    /// The changes made by the plan in the graphs of this exec.
    [[nodiscard]] const std::vector<PlannedGraph>& planned() const noexcept { return planned_; }
    /// Whether the plan saw the nodes and edges of its graph. False if the graph was captured and still unread.
    [[nodiscard]] bool was_read() const noexcept { return was_read_; }
    /// Completes CUDA's graph of `next` with edges planned like those of `mine`, a graph of this exec: CUDA compares
    /// them.
    void complete_source(const GraphState& mine, GraphState& next) const;
    [[nodiscard]] UpdateCounts& update_counts() noexcept { return update_counts_; }
    /// Continues the counts and the claim to host failures of `former`, replaced by this exec.
    void continue_counts_of(ExecState& former) noexcept {
        replays_ = former.replays_;
        update_counts_ = former.update_counts_;
        hosts_.take_claim_of(former.hosts_);
    }

    [[nodiscard]] InFlight& in_flight() noexcept { return in_flight_; }
    [[nodiscard]] ExecHosts& hosts() noexcept { return hosts_; }
    void launch(cudaStream_t stream);
    void upload(cudaStream_t stream);

    /// Whether kernels may launch this exec.
    [[nodiscard]] bool device_launch() const noexcept { return options_.device_launch; }
    /// Whether the device has the current state.
    [[nodiscard]] bool uploaded() const noexcept { return uploaded_; }
    void set_changed() noexcept { uploaded_ = false; }

    /// Returns the node of this exec's graph for a handle. Throws UpdateError for other handles.
    [[nodiscard]] inline NodePlace node_of(const Node& node) const;

    /// The graph that CUDA counts this exec for: some graphs can have only one exec.
    [[nodiscard]] const GraphState& exclusive_graph() const noexcept { return *exclusive_graph_; }
    /// The graph that this exec was made from.
    [[nodiscard]] const GraphState& source() const noexcept { return *source_; }
    /// The kinds of its nodes, in CUDA's order; read once. Throws GraphError.
    [[nodiscard]] std::span<const NodeKind> kinds();
    /// The graph that last set all parameters: the source, or the graph of the last whole update.
    [[nodiscard]] const GraphState& basis() const noexcept { return *basis_; }
    /// The graph of the basis at the place of `graph` in the source.
    [[nodiscard]] inline const GraphState& in_basis(const GraphState& graph) const;
    /// Whether this exec was made from `graph`.
    [[nodiscard]] bool is_of(const GraphState& graph) const noexcept { return &graph == source_.get(); }
    /// The version of the source that this exec has.
    [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }
    void set_seen(std::uint64_t version) noexcept { seen_ = version; }

    /// Whether updates have left only the state of `basis()`.
    [[nodiscard]] bool has_basis_alone() const noexcept { return shadows_->empty() && matched_.empty(); }
    /// Whether nodes may differ from the basis as it was made.
    [[nodiscard]] bool has_shadows() const noexcept { return !shadows_->empty(); }
    /// The effective parameters of a node, with their owners; made on first use.
    [[nodiscard]] inline Shadow& shadow(const NodePlace& node);
    /// Returns the node's shadow; null if there is none yet.
    [[nodiscard]] inline Shadow* find_shadow(const NodePlace& node) noexcept;
    [[nodiscard]] inline const Shadow* find_shadow(const NodePlace& node) const noexcept;

    /// Gives a node of CUDA's exec `params`, and `run` if they are a host task.
    [[nodiscard]] NativeResult set_params(const NodePlace& node, const NodeParams& params, HostRun* run);
    /// Gives a node of CUDA's exec `params`. Makes the run of a host task, kept by `owners`.
    [[nodiscard]] NativeResult set_params(const NodePlace& node, const NodeParams& params, OwnerVersions& owners) {
        return set_params(node, params, hosts_.run(node, params, owners));
    }

    /// Makes CUDA call host nodes through `runs`. Call after they took parameters from another graph. If CUDA refuses,
    /// a node runs all the same, and cudag only prints its exceptions.
    void set_host_runs(const std::vector<HostNodeRun>& runs) noexcept;

    /// Makes room for `params` in a shadow; see Shadows.
    void reserve(Shadow& shadow, const NodeParams& params) { shadows_->reserve(shadow, params); }

    /// Enables or disables a node of a kind that permits it. Throws UpdateError, and changes nothing, if CUDA refuses.
    void set_enabled(const NodePlace& node, bool enabled);
    /// Parks disabled memsets again. Call after CUDA has given nodes inside `graph` new parameters.
    void park_inside(const GraphState& graph) noexcept { disabled_memsets_.park_inside(*this, graph); }

    /// The effective parameters of a node. Makes no shadow.
    [[nodiscard]] const NodeParams& params(const NodePlace& node) const;
    /// The node's parameters in the basis as it was made.
    [[nodiscard]] const NodeParams& params_in_basis(const NodePlace& node) const;
    /// Whether this exec refuses updates that make a race.
    [[nodiscard]] inline bool refuses_races() const noexcept;
    /// The watch for races, made on first use. `forget_races` drops it after updates that are not staged in it.
    [[nodiscard]] RaceWatch& race_watch();
    void forget_races() noexcept;
    /// Notes a node whose accesses have changed without the watch: it learns them before it is next used.
    void note_unwatched(const NodePlace& node) noexcept;
    /// Grows with each change of accesses.
    [[nodiscard]] std::uint64_t access_changes() const noexcept { return access_changes_; }

    /// Makes the shadows of an exec with all parameters from `basis`: one for each node updated in `basis`, and for
    /// each disabled memset. Null if there are none.
    [[nodiscard]] std::unique_ptr<Shadows> shadows_from(const GraphState& basis) const;
    /// Records that all parameters come from `basis`, with `shadows` from `shadows_from`. Makes CUDA call `hosts`.
    void rebase(std::shared_ptr<GraphState> basis, std::unique_ptr<Shadows> shadows,
                const std::vector<HostNodeRun>& hosts, OwnerVersions&& host_owners) noexcept;
    /// Records a basis that brings parameters only: the exec `has_basis_alone` before and after.
    void rebase(std::shared_ptr<GraphState> basis) noexcept;
    /// Returns the owners brought by a graph about to become the basis; nothing if this exec already has the same.
    [[nodiscard]] std::optional<OwnerVersions> owners_brought_by(GraphState& basis) const;
    /// Keeps the owners of the new basis instead of the last one's.
    void keep_basis_owners(OwnerVersions&& owners) noexcept;

    /// The uses of BufferParams bound so far.
    [[nodiscard]] BoundParams& bound_params() noexcept { return bound_params_; }

    /// Keeps the owners brought by an update by structure, in addition to those of single nodes, until the next such
    /// update or a whole one.
    void keep_matched(OwnerVersions&& owners) noexcept {
        uploaded_ = false;
        in_flight_.retire(std::move(matched_));
        if (!owners.empty()) in_flight_.begin_tracking();
        matched_ = std::move(owners);
    }

    /// Puts the owners `next` in force for later launches; those in flight may use the former version.
    void commit(Shadow& shadow, OwnerVersions&& next) noexcept {
        uploaded_ = false;
        if (!shadow.owners.empty() || !next.empty()) replace_owners(shadow, std::move(next));
    }
    /// Puts parameters without owners in force.
    void commit(Shadow& shadow) noexcept {
        uploaded_ = false;
        if (!shadow.owners.empty()) [[unlikely]]
            replace_owners(shadow, {});
    }

  private:
    [[nodiscard]] bool keeps_owners() const noexcept;
    void launch_native(cudaStream_t stream) const;
    [[noreturn]] void refuse_foreign(const GraphState& graph, const Node& node) const;
    [[nodiscard]] const GraphState& inside_basis(const GraphState& graph) const;
    Shadow& make_shadow(std::uint32_t number, const NodePlace& node);
    void replace_owners(Shadow& shadow, OwnerVersions&& next) noexcept;
    void watch_unwatched();

    cudaGraphExec_t native_;
    bool owns_native_ = true;
    std::shared_ptr<GraphState> source_;
    std::shared_ptr<GraphState> exclusive_graph_; ///< see exclusive_graph()
    std::shared_ptr<GraphState> basis_;           ///< the origin of the parameters of nodes without a shadow
    std::unique_ptr<Shadows> shadows_ = std::make_unique<Shadows>();
    InFlight in_flight_;
    ExecHosts hosts_;
    OwnerVersions owners_;       ///< of the instantiation: they stay as long as the exec
    OwnerVersions basis_owners_; ///< of the last whole update, where different
    OwnerVersions matched_;      ///< of the last update by structure
    InstantiateOptions options_;
    std::vector<PlannedGraph> planned_;
    bool was_read_;
    UpdateCounts update_counts_;
    DisabledMemsets disabled_memsets_;
    BoundParams bound_params_;
    std::vector<NodeKind> kinds_;          ///< empty before the first use
    std::unique_ptr<ExecRaceWatch> races_; ///< null before the first use
    std::vector<NodePlace> unwatched_;     ///< nodes whose accesses it does not know
    std::uint64_t access_changes_ = 0;
    std::uint64_t replays_ = 0;
    std::uint64_t seen_;
    bool uploaded_;
};

} // namespace cudag::detail
