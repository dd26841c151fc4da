// The state behind GraphBuilder and Graph: CUDA's graph, and what cudag knows of it.
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
#include "owners/reclaim.hpp"
#include "region_units.hpp"
#include "special_nodes.hpp"
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

/// Threads: once a graph is built and its nodes are read, its records, edges and natives change no more, and execs read
/// them on any thread without a lock. What does change, by updates of nodes, is read and written under `lock()`, as are
/// the calls that give CUDA the graph: the parameters in force, the list of changes, the numbers of nodes, and what
/// CUDA has not seen yet. Labels are the exception: they are for one thread.
class GraphState : public GraphIdentity, public GraphTree, public GraphRecords {
  public:
    /// Takes over `native`: destroys it at the end.
    explicit GraphState(cudaGraph_t native);
    /// A built graph whose nodes cudag did not make. Takes over `native`; reads nothing from it before it must.
    GraphState(cudaGraph_t native, std::unique_ptr<Unread> unread, const SourceLocation& made_at);
    /// A clone: copies the records of `origin`, which has read all of them, and takes changes that brought in owners
    /// for changes of its own. Its children are cloned with it; natives are still those of `origin` until
    /// `replace_natives`.
    GraphState(cudaGraph_t native, const GraphState& origin);
    ~GraphState();

    /// The index of a handle of this graph. Throws GraphError, saying `action`, for any other handle.
    [[nodiscard]] std::uint32_t index_of(const Node& node, std::string_view action) const {
        return is_own(node) ? index_unchecked(node) : refuse_foreign(node, action);
    }

    /// The graph whose node `parent_node()` this one is inside of; null for a root.
    [[nodiscard]] const GraphState* parent() const noexcept { return static_cast<const GraphState*>(outer()); }
    [[nodiscard]] const GraphState& root() const noexcept { return static_cast<const GraphState&>(top()); }
    [[nodiscard]] GraphState& root() noexcept { return static_cast<GraphState&>(top()); }
    /// Throws GraphError, saying `action`, if this graph is inside a node.
    void require_root(std::string_view action) const;
    /// The graphs inside nodes of this one, in order; those inside node `index`; one of these, or null.
    [[nodiscard]] const std::vector<std::shared_ptr<GraphState>>& nested() const { return read_nodes(), inner(); }
    [[nodiscard]] std::span<const std::shared_ptr<GraphState>> nested_in(std::uint32_t index) const {
        return read_nodes(), inner_of(index);
    }
    [[nodiscard]] const std::shared_ptr<GraphState>* find_nested(std::uint32_t index, std::size_t number) const;
    /// Puts `inner` inside this graph's node `index`, which owns its CUDA graph from now on; call `reserve_nested`
    /// first. A node's bodies are attached in order. Changes of a graph that was a root are changes of this root then.
    void attach(std::shared_ptr<GraphState> inner, std::uint32_t index, Place place) noexcept;
    void reserve_nested(std::size_t more) { reserve_inner(more); }
    void reserve_nested(const GraphState& graph);
    /// Numbers the nodes of this root, once; those that are still to be read when they are.
    void number_nodes() noexcept;

    /// Removes the last node with what is inside it, from CUDA's graph too: the way back when its bodies fail.
    void remove_last() noexcept;
    /// Forgets nodes from `first` on, the last ones, which CUDA has removed, with their edges and what is inside them.
    void forget_from(std::uint32_t first) noexcept;
    /// Removes the nodes that `gone` lists, each once, and what is inside them, from CUDA's graph, too; their edges and
    /// owners go with them. There must be no other thread, and no name of this graph's nodes but handles. Throws
    /// GraphError if CUDA keeps the first of them, and changes nothing; where it keeps a later one, the graph has an
    /// unwanted node.
    void remove(std::span<const std::uint32_t> gone, const SourceLocation& where);
    /// Ends the handles of this graph and of those inside it, because CUDA's graph goes, and tells so whoever still
    /// refers to this state: a Graph that was moved into a node, or the builder of a body.
    void invalidate_handles() noexcept;
    /// CUDA's graph has gone, with those inside it: lets go of all that they keep, whoever still refers to this state.
    void drop_owners() noexcept;
    /// The same for a root under construction, whose CUDA graph is lost because the capture at `where` failed.
    void set_destroyed_by(const SourceLocation& where) noexcept;

    /// Reads what is still to be read here and in the graphs inside this one.
    void read_all() const;

    /// The lock of the root. Not recursive: no other function of this class takes it.
    [[nodiscard]] std::unique_lock<LightMutex> lock() const { return std::unique_lock(root().mutex_); }
    [[nodiscard]] std::unique_lock<LightMutex> deferred_lock() const { return {root().mutex_, std::defer_lock}; }

    /// Room for one more node with its owners: `append` then cannot fail after CUDA has made the node.
    void reserve_node(std::size_t owners = 0) {
        table().reserve(1);
        owners_.reserve(owners);
    }
    void reserve_node(const CallEffects& effects) {
        if (effects.empty()) [[likely]]
            return reserve_node();
        reserve_node(effects.owners.size());
        bindings_.reserve(effects.bindings);
        declared_as_made().reserve(static_cast<std::uint32_t>(table().size()), effects.accesses.size());
    }
    /// Owners are kept until the graph, its clones and execs are gone and no launch uses them.
    Node append(cudaGraphNode_t native, NodeRecord&& record, CallEffects&& effects = {}) noexcept;
    /// Appends nodes that CUDA has already, with their edges; or all those of a graph that was unread. All or none.
    void append(ReadNodes&& nodes);
    void take_all(ReadNodes&& nodes);
    /// Adds to `owners` all that this graph and those inside it keep: bundles, which clones and execs share.
    void list_owners(Owners& owners);
    [[nodiscard]] bool may_have_owners() const noexcept {
        return !bundles_.empty() || !owners_.empty() || !inner().empty();
    }
    /// Gives the owners of this graph and of those inside it to CUDA's graphs, too, for what others make of them.
    /// Throws GraphError, and can then be called again.
    void give_owners_to_native();
    [[nodiscard]] bool may_have_given_owners() const noexcept { return given_bundles_ != 0 || !inner().empty(); }
    /// Takes them out again, and puts them back: what cudag makes of CUDA's graphs meanwhile keeps owners itself.
    void take_owners_from_native() noexcept;
    void return_owners_to_native() noexcept;
    /// Keeps owners that no node brings in, or that go with `node` if that is removed.
    void keep(std::vector<std::shared_ptr<const void>>&& owners, std::uint32_t node = WaitingOwners::of_graph);

    [[nodiscard]] const std::vector<EdgeRecord>& edges() const { return read_edges(), edges_.logical().list(); }
    [[nodiscard]] const GraphEdges& edge_lists() const { return read_edges(), edges_; }
    [[nodiscard]] GraphEdges& edge_lists() noexcept { return edges_; }

    [[nodiscard]] const Bindings& bindings() const noexcept { return bindings_; }
    [[nodiscard]] Bindings& bindings() noexcept { return bindings_; }
    /// The captured regions that nodes are parts of.
    [[nodiscard]] const RegionUnits& units() const noexcept { return units_; }
    [[nodiscard]] RegionUnits& units() noexcept { return units_; }
    /// Whether updates that make a race are refused; in all graphs of a tree as in the root.
    [[nodiscard]] bool refuses_races() const noexcept { return root().construction_.options.races == Races::refused; }
    [[nodiscard]] const GraphAllocations& allocations() const { return read_nodes(), allocations_; }
    [[nodiscard]] GraphAllocations& allocations() { return read_nodes(), allocations_; }
    [[nodiscard]] Conditions& conditions() noexcept { return conditions_; }
    [[nodiscard]] const Conditions& conditions() const noexcept { return conditions_; }

    /// Of the root.
    [[nodiscard]] const ChangeLog& changes() const noexcept { return root().changes_; }
    [[nodiscard]] ChangeLog& changes() noexcept { return root().changes_; }

    [[nodiscard]] cudaGraph_t native() const noexcept { return native_; }
    /// Gives CUDA the edges as `plan` has them, or where that is null the plan that they followed last: needed before
    /// it instantiates, clones or shows the graph. Bundles the owners that have come since the last time. Throws
    /// GraphError, and can then be called again.
    void complete_native(const Plan* plan = nullptr);
    /// This state no longer destroys CUDA's graph; from now on it does.
    void give_up_native() noexcept { owns_native_ = false; }
    void take_native() noexcept { owns_native_ = true; }
    /// Whether it is somebody else's, though it is inside no other one.
    [[nodiscard]] bool is_borrowed() const noexcept { return !owns_native_ && parent() == nullptr; }
    /// Takes the handles of a clone for its own.
    void replace_natives(CloneNatives&& natives) noexcept;

    [[nodiscard]] const Construction& construction() const noexcept { return construction_; }
    [[nodiscard]] Construction& construction() noexcept { return construction_; }
    [[nodiscard]] bool is_built() const noexcept { return construction_.is_built; }
    [[nodiscard]] const SourceLocation& made_at() const noexcept { return construction_.made_at; }

    /// How many execs of this graph are alive.
    void exec_made() noexcept { ++live_execs_; }
    void exec_gone() noexcept { --live_execs_; }
    [[nodiscard]] bool has_exec() const noexcept { return live_execs_ != 0; }

    [[nodiscard]] const SpecialNodes& special() const noexcept { return special_; }
    [[nodiscard]] SpecialNodes& special() noexcept { return special_; }
    /// Results about this graph that functions above keep with it.
    [[nodiscard]] GraphMemos& memos() const noexcept { return memos_; }
    /// How often nodes have declared accesses, here and inside, since this graph was made.
    [[nodiscard]] std::uint64_t declared_version() const noexcept {
        return declared_version_.load(std::memory_order_relaxed);
    }
    void count_declared() const noexcept { declared_version_.fetch_add(1, std::memory_order_relaxed); }

  private:
    [[noreturn]] std::uint32_t refuse_foreign(const Node& node, std::string_view action) const;
    void keep_effects(std::uint32_t index, CallEffects&& effects) noexcept;
    void bundle_owners();
    void forget_nested(std::uint32_t first) noexcept;
    /// Nodes have gone: there may be none left of a kind on which plans depend.
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
    std::vector<std::shared_ptr<const void>> bundles_; ///< of owners; each is immutable
    std::size_t given_bundles_ = 0;                    ///< how many of them CUDA's graph has, too
    GivenObjects given_;                               ///< by which it has them
    GraphAllocations allocations_;
    Bindings bindings_;
    RegionUnits units_;
    Conditions conditions_; ///< of a root
    Construction construction_;
    SpecialNodes special_;
    mutable std::atomic<std::uint64_t> declared_version_ = 0;
    mutable GraphMemos memos_;
};

/// While it lives, CUDA's graphs of a tree have no owners that cudag gave them: clones, execs and children that are
/// made of them launch at their full speed. Call with the graph's lock.
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
