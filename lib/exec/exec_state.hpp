// The state behind Exec: CUDA's exec, its source graph, and the effects of updates.
#pragma once

#include "bound_params.hpp"
#include "disabled_memsets.hpp"
#include "effective_params.hpp"
#include "exec_hosts.hpp"
#include "exec_owners.hpp"
#include "exec_plan.hpp"
#include "exec_races.hpp"
#include "exec_turns.hpp"
#include "graph/names.hpp"
#include "graph/node_place.hpp"
#include "host_nodes.hpp"
#include "node/node_params.hpp"
#include "owners/in_flight.hpp"

#include <cudag/exec.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace cudag::detail {

/// The state of one exec: its parts, and the functions that change several of them together.
///
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
        turns_.may_stay = false;
        if (owners_.has_instantiation()) in_flight_.begin_tracking();
    }
    [[nodiscard]] std::uint64_t replays() const noexcept { return replays_; }

    [[nodiscard]] const InstantiateOptions& options() const noexcept { return options_; }
    [[nodiscard]] const ExecPlan& plan() const noexcept { return plan_; }
    /// What update_or_instantiate keeps.
    [[nodiscard]] ExecTurns& turns() noexcept { return turns_; }
    /// Continues the counts and the claim to host failures of `former`, replaced by this exec.
    void continue_counts_of(ExecState& former) noexcept {
        replays_ = former.replays_;
        turns_.counts = former.turns_.counts;
        hosts_.take_claim_of(former.hosts_);
    }

    [[nodiscard]] InFlight& in_flight() noexcept { return in_flight_; }
    [[nodiscard]] ExecHosts& hosts() noexcept { return hosts_; }
    void launch(cudaStream_t stream);
    void upload(cudaStream_t stream);

    /// Whether the device has the current state.
    [[nodiscard]] bool uploaded() const noexcept { return uploaded_; }
    void set_changed() noexcept { uploaded_ = false; }

    /// Returns the node of this exec's graph for a handle. Throws UpdateError for other handles.
    [[nodiscard]] inline NodePlace node_of(const Node& node) const;

    /// The graph that the user made this exec from: `source()`, or the origin of that copy.
    [[nodiscard]] const GraphState& made_from() const noexcept { return made_from_ ? *made_from_ : *source_; }
    /// Accepts the handles of `graph`, of which the source is a copy with the changes of `graph` so far.
    void take_handles_of(std::shared_ptr<GraphState> graph) noexcept;
    /// Returns the user's handle of a node of the source.
    [[nodiscard]] Node handle_of(const NodePlace& node) const;
    /// The graph that CUDA counts this exec for: some graphs can have only one exec.
    [[nodiscard]] const GraphState& exclusive_graph() const noexcept { return *exclusive_graph_; }
    /// The graph that CUDA made this exec from.
    [[nodiscard]] const GraphState& source() const noexcept { return *source_; }
    /// The kinds of its nodes, in CUDA's order; read once. Throws GraphError.
    [[nodiscard]] std::span<const NodeKind> kinds();
    /// Whether the user made this exec from `graph`.
    [[nodiscard]] bool is_of(const GraphState& graph) const noexcept { return &graph == &made_from(); }
    /// The version of `made_from()` that this exec has.
    [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }
    void set_seen(std::uint64_t version) noexcept { seen_ = version; }

    [[nodiscard]] EffectiveParams& effective() noexcept { return effective_; }
    [[nodiscard]] const EffectiveParams& effective() const noexcept { return effective_; }
    [[nodiscard]] ExecRaces& races() noexcept { return races_; }
    /// The owners of graphs. Shadows keep those of single nodes, and `hosts()` those of host tasks.
    [[nodiscard]] ExecOwners& owners() noexcept { return owners_; }

    /// Whether updates have left only the state of the basis.
    [[nodiscard]] bool has_basis_alone() const noexcept { return !effective_.has_shadows() && !owners_.has_matched(); }
    /// Gives a node of CUDA's exec `params`, and `run` if they are a host task.
    [[nodiscard]] NativeResult set_params(const NodePlace& node, const NodeParams& params, HostRun* run);
    /// Gives a node of CUDA's exec `params`. Makes the run of a host task, kept by `owners`.
    [[nodiscard]] NativeResult set_params(const NodePlace& node, const NodeParams& params, OwnerVersions& owners) {
        return set_params(node, params, hosts_.run(node, params, owners));
    }

    /// Makes CUDA call host nodes through `runs`. Call after they took parameters from another graph. If CUDA refuses,
    /// a node runs all the same, and cudag only prints its exceptions.
    void set_host_runs(const std::vector<HostNodeRun>& runs) noexcept;

    /// Enables or disables a node of a kind that permits it. Throws UpdateError, and changes nothing, if CUDA refuses.
    void set_enabled(const NodePlace& node, bool enabled);
    /// Call its `park_inside(graph)` after CUDA has given nodes inside `graph` new parameters.
    [[nodiscard]] DisabledMemsets& disabled_memsets() noexcept { return disabled_memsets_; }

    /// Makes the shadows of an exec with all parameters from `basis`: one for each node updated in `basis`, and for
    /// each with a disabled memset or copy. Null if there are none.
    [[nodiscard]] std::unique_ptr<Shadows> shadows_from(const GraphState& basis) const {
        return effective_.shadows_from(basis, disabled_memsets_.all(), disabled_memsets_.batches());
    }
    /// Records that all parameters come from `basis`, with `shadows` from `shadows_from`. Makes CUDA call `hosts`.
    void rebase(std::shared_ptr<GraphState> basis, std::unique_ptr<Shadows> shadows,
                const std::vector<HostNodeRun>& hosts, OwnerVersions&& host_owners) noexcept;
    /// Records a basis that brings parameters only: the exec `has_basis_alone` before and after.
    void rebase(std::shared_ptr<GraphState> basis) noexcept;
    /// The uses of BufferParams bound so far.
    [[nodiscard]] BoundParams& bound_params() noexcept { return bound_params_; }

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
    /// Writes the nodes into the capture of `stream`, instead of a launch. Returns false if the stream is not captured,
    /// or if it is by other code without `.capturable`: CUDA then refuses the launch. Defined by the builder, which
    /// writes nodes. Throws GraphError, naming a node that cannot be written, and CaptureError.
    [[nodiscard]] bool is_recorded(cudaStream_t stream);
    void launch_native(cudaStream_t stream) const;
    /// Returns the copy of a node of `made_from()`. Throws UpdateError for other nodes.
    [[nodiscard]] NodePlace copy_of(const GraphState& graph, const Node& node) const;
    void replace_owners(Shadow& shadow, OwnerVersions&& next) noexcept;
    /// Parks a disabled memset, or disabled copies of a batch, that has taken `params`.
    [[gnu::noinline]] void park_again(const NodePlace& node, const NodeParams& params) noexcept;

    cudaGraphExec_t native_;
    bool owns_native_ = true;
    std::shared_ptr<GraphState> source_;
    std::shared_ptr<GraphState> made_from_;       ///< null: the source
    std::shared_ptr<GraphState> exclusive_graph_; ///< see exclusive_graph()
    EffectiveParams effective_;
    InFlight in_flight_;
    ExecHosts hosts_;
    ExecOwners owners_;
    InstantiateOptions options_;
    ExecPlan plan_;
    ExecTurns turns_;
    DisabledMemsets disabled_memsets_;
    BoundParams bound_params_;
    std::vector<NodeKind> kinds_; ///< empty before the first use
    ExecRaces races_{*this};
    std::uint64_t replays_ = 0;
    std::uint64_t seen_;
    bool uploaded_;
};

} // namespace cudag::detail
