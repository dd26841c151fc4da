// The state behind GraphBuilder and Graph: CUDA's graph, and cudag's knowledge of it.
#pragma once

#include "allocations.hpp"
#include "bindings.hpp"
#include "changes.hpp"
#include "conditions.hpp"
#include "construction.hpp"
#include "cuda/light_mutex.hpp"
#include "graph_edges.hpp"
#include "graph_identity.hpp"
#include "graph_memos.hpp"
#include "graph_records.hpp"
#include "graph_tree.hpp"
#include "node_flags.hpp"
#include "owners/reclaim.hpp"
#include "region_units.hpp"
#include "waiting_owners.hpp"

#include <cudag/detail/owners.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag::detail {

struct CloneNatives;
struct ReadNodes;

/// The state of one graph.
///
/// Threads: the records, edges and natives of a built graph no longer change once its nodes are read, and execs read
/// them on any thread without a lock. Updates change the effective parameters, the list of changes, the numbers of
/// nodes and the data not yet given to CUDA: `lock()` protects these, and the calls that complete the native graph.
/// Labels are the exception: they are for one thread.
class GraphState : public GraphIdentity, public GraphTree, public GraphRecords {
  public:
    /// Takes over `native`, and destroys it at the end.
    explicit GraphState(cudaGraph_t native);
    /// Constructs a built graph with nodes that cudag did not make. Takes over `native`, and reads nothing from it
    /// before it must.
    GraphState(cudaGraph_t native, std::unique_ptr<Unread> unread, const SourceLocation& made_at);
    /// Constructs a clone. Copies the records of `origin`, which must all be read, and counts changes that brought in
    /// owners as its own. Clones the children, too; natives are still those of `origin` until `replace_natives`.
    GraphState(cudaGraph_t native, const GraphState& origin);
    ~GraphState();

    /// Returns the index of a handle of this graph. Throws GraphError, naming `action`, for any other handle.
    [[nodiscard]] std::uint32_t index_of(const Node& node, std::string_view action) const {
        return is_own(node) ? index_unchecked(node) : refuse_foreign(node, action);
    }

    /// Returns the graph around this one, which is inside its node `parent_node()`; null for a root.
    [[nodiscard]] const GraphState* parent() const noexcept { return static_cast<const GraphState*>(outer()); }
    [[nodiscard]] const GraphState& root() const noexcept { return static_cast<const GraphState&>(top()); }
    [[nodiscard]] GraphState& root() noexcept { return static_cast<GraphState&>(top()); }
    /// Throws GraphError, naming `action`, if this graph is inside a node.
    void require_root(std::string_view action) const;
    /// Return the graphs inside nodes of this one, in order: all of them, those inside node `index`, or one of these,
    /// null if there is none.
    [[nodiscard]] const std::vector<std::shared_ptr<GraphState>>& nested() const { return read_nodes(), inner(); }
    [[nodiscard]] std::span<const std::shared_ptr<GraphState>> nested_in(std::uint32_t index) const {
        return read_nodes(), inner_of(index);
    }
    [[nodiscard]] const std::shared_ptr<GraphState>* find_nested(std::uint32_t index, std::size_t number) const;
    /// Puts `inner` inside this graph's node `index`, which owns its CUDA graph from now on; call `reserve_nested`
    /// first. A node's bodies are attached in order. If `inner` was a root, its changes become changes of this root.
    void attach(std::shared_ptr<GraphState> inner, std::uint32_t index, Place place) noexcept;
    void reserve_nested(std::size_t more) { reserve_inner(more); }
    void reserve_nested(const GraphState& graph);
    /// Numbers the nodes of this root, once. Unread nodes are numbered when they are read.
    void number_nodes() noexcept;
    /// Numbers the nodes of this graph, if it is a root, just before they count as read.
    void number_read_nodes() noexcept;

    /// Removes the last node and its inner graphs, from CUDA's graph too: the rollback when its bodies fail.
    void remove_last() noexcept;
    /// Forgets the last nodes, from `first` on, after CUDA removed them, with their edges and inner graphs.
    void forget_from(std::uint32_t first) noexcept;
    /// Removes the nodes in `gone`, each listed once, from this graph and from CUDA's, with their edges, owners and
    /// inner graphs. No other thread may use the graph, and only handles may refer to its nodes. Throws GraphError, and
    /// changes nothing, if CUDA keeps the newest of them; if it keeps another, the graph has an unwanted node.
    void remove(std::span<const std::uint32_t> gone, const SourceLocation& where);
    /// Ends the handles of this graph and of those inside it, because CUDA's graph goes. Other holders of this state
    /// notice it by that: a Graph moved into a node, or the builder of a body.
    void invalidate_handles() noexcept;
    /// Releases all owners of this graph and of those inside it, whoever still holds this state. CUDA's graph must be
    /// gone.
    void drop_owners() noexcept;
    /// Records the loss of this unfinished root's CUDA graph by the failed capture at `where`, and ends its handles.
    void set_destroyed_by(const SourceLocation& where) noexcept;

    /// Reads everything still unread, here and in the graphs inside this one.
    void read_all() const;

    /// Locks the root. Not recursive: no other function of this class takes the lock.
    [[nodiscard]] std::unique_lock<LightMutex> lock() const { return std::unique_lock(root().mutex_); }
    [[nodiscard]] std::unique_lock<LightMutex> deferred_lock() const { return {root().mutex_, std::defer_lock}; }

    /// Makes room for one more node with its owners: `append` then cannot fail after CUDA has made the node.
    void reserve_node(std::size_t owners = 0) {
        table().reserve(1);
        owners_.reserve(owners);
    }
    void reserve_node(const CallEffects& effects) {
        if (effects.empty()) [[likely]]
            return reserve_node();
        reserve_node(effects.owners.size());
        bindings_.reserve(effects.bindings);
        initial_accesses().reserve(static_cast<std::uint32_t>(table().size()), effects.accesses.size());
    }
    /// Appends a node. Its owners live until the graph, its clones and execs are gone and no launch uses them.
    Node append(cudaGraphNode_t native, NodeRecord&& record, CallEffects&& effects = {}) noexcept;
    /// Appends nodes that CUDA already has, with their edges: all or none.
    void append(ReadNodes&& nodes);
    /// Adds to `owners` all owners of this graph and of those inside it, as bundles shared with clones and execs.
    void list_owners(Owners& owners);
    [[nodiscard]] bool may_have_owners() const noexcept {
        return !bundles_.empty() || !owners_.empty() || !inner().empty();
    }
    /// Gives the owners of this graph and of those inside it to CUDA's graphs, too, for copies and execs made by
    /// others. Throws GraphError, and can then be called again.
    void give_owners_to_native();
    [[nodiscard]] bool may_have_given_owners() const noexcept { return given_bundles_ != 0 || !inner().empty(); }
    /// Take these owners out and put them back: clones and execs made by cudag in between keep owners themselves.
    void take_owners_from_native() noexcept;
    void return_owners_to_native() noexcept;
    /// Keeps owners of the graph itself, or of `node`: its removal releases them.
    void keep(std::vector<std::shared_ptr<const void>>&& owners, std::uint32_t node = WaitingOwners::of_graph);

    [[nodiscard]] const std::vector<EdgeRecord>& edges() const { return read_edges(), edges_.logical().list(); }
    [[nodiscard]] const GraphEdges& edge_lists() const { return read_edges(), edges_; }
    [[nodiscard]] GraphEdges& edge_lists() noexcept { return edges_; }

    [[nodiscard]] const Bindings& bindings() const noexcept { return bindings_; }
    [[nodiscard]] Bindings& bindings() noexcept { return bindings_; }
    /// The captured regions and their nodes.
    [[nodiscard]] const RegionUnits& units() const noexcept { return units_; }
    [[nodiscard]] RegionUnits& units() noexcept { return units_; }
    /// Whether updates that make a race are refused, as the root decides for its whole tree.
    [[nodiscard]] bool refuses_races() const noexcept { return root().construction_.options.races == Races::refused; }
    [[nodiscard]] const GraphAllocations& allocations() const { return read_nodes(), allocations_; }
    [[nodiscard]] GraphAllocations& allocations() { return read_nodes(), allocations_; }
    [[nodiscard]] Conditions& conditions() noexcept { return conditions_; }
    [[nodiscard]] const Conditions& conditions() const noexcept { return conditions_; }

    /// The changes of the root.
    [[nodiscard]] const ChangeLog& changes() const noexcept { return root().changes_; }
    [[nodiscard]] ChangeLog& changes() noexcept { return root().changes_; }

    [[nodiscard]] cudaGraph_t native() const noexcept { return native_; }
    /// Writes the edges to CUDA as planned by `plan`, or by the last plan if it is null. Call it before CUDA
    /// instantiates, clones or shows the graph. Bundles the owners added since the last call. Throws GraphError, and
    /// can then be called again.
    void complete_native(const Plan* plan = nullptr);
    /// Release and take ownership of CUDA's graph: only its owner destroys it.
    void give_up_native() noexcept { owns_native_ = false; }
    void take_native() noexcept { owns_native_ = true; }
    /// Whether CUDA's graph belongs to others, although it is inside no node.
    [[nodiscard]] bool is_borrowed() const noexcept { return !owns_native_ && parent() == nullptr; }
    /// Replaces all native handles by those of a clone.
    void replace_natives(CloneNatives&& natives) noexcept;

    [[nodiscard]] const Construction& construction() const noexcept { return construction_; }
    [[nodiscard]] Construction& construction() noexcept { return construction_; }
    [[nodiscard]] bool is_built() const noexcept { return construction_.is_built; }
    [[nodiscard]] const SourceLocation& made_at() const noexcept { return construction_.made_at; }

    /// Count the live execs of this graph.
    void exec_made() noexcept { ++live_execs_; }
    void exec_gone() noexcept { --live_execs_; }
    [[nodiscard]] bool has_exec() const noexcept { return live_execs_ != 0; }

    [[nodiscard]] const NodeFlags& special() const noexcept { return special_; }
    [[nodiscard]] NodeFlags& special() noexcept { return special_; }
    /// Results about this graph, kept with it by functions above.
    [[nodiscard]] GraphMemos& memos() const noexcept { return memos_; }
    /// Number of declarations of accesses by nodes, here and inside, since this graph was made.
    [[nodiscard]] std::uint64_t declared_version() const noexcept {
        return declared_version_.load(std::memory_order_relaxed);
    }
    void count_declared() const noexcept { declared_version_.fetch_add(1, std::memory_order_relaxed); }

  private:
    [[noreturn]] std::uint32_t refuse_foreign(const Node& node, std::string_view action) const;
    void keep_effects(std::uint32_t index, CallEffects&& effects) noexcept;
    void bundle_owners();
    void forget_nested(std::uint32_t first) noexcept;
    /// Updates `special().joins` after a removal, which may have left no empty node.
    void look_for_joins() noexcept;
    void destroy_natives(std::span<const std::uint32_t> nodes);
    void renumber(const Renumbering& next, std::vector<RemovedNode>&& removed,
                  std::vector<std::shared_ptr<GraphState>>& graphs,
                  std::vector<std::shared_ptr<const void>>& owners) noexcept;

    cudaGraph_t native_;
    bool owns_native_ = true;
    mutable LightMutex mutex_; ///< of a root: see lock()
    std::atomic<std::uint32_t> live_execs_ = 0;
    GraphEdges edges_;
    ChangeLog changes_; ///< of a root
    WaitingOwners owners_;
    std::vector<std::shared_ptr<const void>> bundles_; ///< bundles of owners, each immutable
    std::size_t given_bundles_ = 0;                    ///< number of bundles that CUDA's graph has, too
    GivenObjects given_;                               ///< CUDA's references to them
    GraphAllocations allocations_;
    Bindings bindings_;
    RegionUnits units_;
    Conditions conditions_; ///< of a root
    Construction construction_;
    NodeFlags special_;
    mutable std::atomic<std::uint64_t> declared_version_ = 0;
    mutable GraphMemos memos_;
};

/// Takes the owners given by cudag out of the CUDA graphs of a tree for its lifetime: clones, execs and children made
/// of them then launch at full speed. Requires the graph's lock.
class WithoutUserObjects {
  public:
    explicit WithoutUserObjects(GraphState& graph) noexcept : graph_(graph), may_have_(graph.may_have_given_owners()) {
        if (may_have_) graph.take_owners_from_native();
    }
    ~WithoutUserObjects() {
        if (may_have_) graph_.return_owners_to_native();
    }
    WithoutUserObjects(const WithoutUserObjects&) = delete;
    WithoutUserObjects& operator=(const WithoutUserObjects&) = delete;

  private:
    GraphState& graph_;
    bool may_have_;
};

} // namespace cudag::detail
