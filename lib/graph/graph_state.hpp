// The state behind GraphBuilder and Graph: CUDA's graph, and cudag's knowledge of it.
#pragma once

#include "changes.hpp"
#include "conditions.hpp"
#include "construction.hpp"
#include "cuda/light_mutex.hpp"
#include "exec_count.hpp"
#include "graph_edges.hpp"
#include "graph_identity.hpp"
#include "graph_memos.hpp"
#include "graph_owners.hpp"
#include "graph_records.hpp"
#include "graph_tree.hpp"

#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace cudag::detail {

struct CloneNatives;
struct ReadNodes;

/// The state of one graph: its parts, and the functions that change several of them together.
///
/// Threads: the records, edges and natives of a built graph no longer change once its nodes are read, and execs read
/// them on any thread without a lock. Updates change the effective parameters, the list of changes, the numbers of
/// nodes and the data not yet given to CUDA: `lock()` protects these, and the calls that complete the native graph.
/// Labels are the exception: they are for one thread.
class GraphState {
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
    GraphState(const GraphState&) = delete;
    GraphState& operator=(const GraphState&) = delete;

    [[nodiscard]] const GraphIdentity& identity() const noexcept { return identity_; }
    [[nodiscard]] const GraphTree& tree() const noexcept { return tree_; }
    [[nodiscard]] const GraphRecords& records() const noexcept { return records_; }
    [[nodiscard]] GraphRecords& records() noexcept { return records_; }
    /// Returns the edges, as they are if they are still unread: `edges()` reads them.
    [[nodiscard]] GraphEdges& edge_lists() noexcept { return edges_; }
    [[nodiscard]] const GraphEdges& edge_lists() const { return records_.read_edges(), edges_; }
    [[nodiscard]] const GraphOwners& owners() const noexcept { return owners_; }
    [[nodiscard]] GraphOwners& owners() noexcept { return owners_; }
    [[nodiscard]] const Construction& construction() const noexcept { return construction_; }
    [[nodiscard]] Construction& construction() noexcept { return construction_; }
    /// The conditions of this root.
    [[nodiscard]] const Conditions& conditions() const noexcept { return conditions_; }
    [[nodiscard]] Conditions& conditions() noexcept { return conditions_; }
    /// The changes of the root.
    [[nodiscard]] const ChangeLog& changes() const noexcept { return root().changes_; }
    [[nodiscard]] ChangeLog& changes() noexcept { return root().changes_; }
    /// The live execs of this graph.
    [[nodiscard]] ExecCount& execs() const noexcept { return execs_; }
    /// Results about this graph, kept with it by functions above.
    [[nodiscard]] GraphMemos& memos() const noexcept { return memos_; }

    [[nodiscard]] const GraphState& root() const noexcept { return tree_.root(); }
    [[nodiscard]] GraphState& root() noexcept { return tree_.root(); }
    /// Return the graphs inside nodes of this one, in order: all of them, or those inside node `index`.
    [[nodiscard]] const std::vector<std::shared_ptr<GraphState>>& nested() const {
        return records_.read_nodes(), tree_.nested();
    }
    [[nodiscard]] std::span<const std::shared_ptr<GraphState>> nested_in(std::uint32_t index) const {
        return records_.read_nodes(), tree_.nested_in(index);
    }
    /// Returns the logical edges.
    [[nodiscard]] const std::vector<EdgeRecord>& edges() const { return edge_lists().logical().list(); }

    /// Locks the root. Not recursive: no other function of this class takes the lock. `std::defer_lock` leaves the
    /// locking to the caller.
    template <class... Tag>
    [[nodiscard]] std::unique_lock<LightMutex> lock(Tag... tag) const {
        return std::unique_lock<LightMutex>(root().mutex_, tag...);
    }

    /// Puts `inner` inside this graph's node `index`, which owns its CUDA graph from now on; call `reserve_nested`
    /// first. A node's bodies are attached in order, each with the device of its nodes. If `inner` was a root, its
    /// changes become changes of this root.
    void attach(std::shared_ptr<GraphState> inner, std::uint32_t index, Place place, int device = 0) noexcept;
    void reserve_nested(std::size_t more) { tree_.reserve(more); }
    void reserve_nested(const GraphState& graph);
    /// Numbers the nodes of this root, once. Unread nodes are numbered when they are read.
    void number_nodes() noexcept;
    /// Numbers the nodes of this graph, if it is a root, just before they count as read.
    void number_read_nodes() noexcept;

    /// Makes room for one more node with its owners: `append` then cannot fail after CUDA has made the node.
    void reserve_node(const CallEffects& effects = {}) {
        if (effects.empty()) [[likely]]
            return records_.reserve();
        records_.reserve(effects);
        owners_.reserve(effects.owners.size());
    }
    /// Appends a node. Its owners live until the graph, its clones and execs are gone and no launch uses them.
    Node append(cudaGraphNode_t native, NodeRecord&& record, CallEffects&& effects = {}) noexcept;
    /// Appends nodes that CUDA already has, with their edges: all or none.
    void append(ReadNodes&& nodes);

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
    /// Records the loss of this unfinished root's CUDA graph by the failed capture at `where`, and ends its handles.
    void set_destroyed_by(const SourceLocation& where) noexcept;

    [[nodiscard]] cudaGraph_t native() const noexcept { return native_; }
    /// Writes the edges to CUDA as planned by `plan`, or by the last plan if it is null. Call it before CUDA
    /// instantiates, clones or shows the graph. Bundles the owners added since the last call. Throws GraphError, and
    /// can then be called again.
    void complete_native(const Plan* plan = nullptr);
    /// Sets whether this state owns CUDA's graph: only its owner destroys it.
    void set_owns_native(bool owns) noexcept { owns_native_ = owns; }
    /// Whether CUDA's graph belongs to others, although it is inside no node.
    [[nodiscard]] bool is_borrowed() const noexcept { return !owns_native_ && tree_.parent() == nullptr; }
    /// Replaces all native handles by those of a clone.
    void replace_natives(CloneNatives&& natives) noexcept;

  private:
    friend class GraphTree; ///< connects the places of two graphs
    friend bool is_locked(const GraphState& graph) noexcept;
    friend void become_clone(GraphState& copy, const GraphState& origin) noexcept;

    void forget_nested(std::uint32_t first) noexcept;
    void destroy_natives(std::span<const std::uint32_t> nodes);
    void renumber(const Renumbering& next, std::vector<RemovedNode>&& removed,
                  std::vector<std::shared_ptr<GraphState>>& graphs,
                  std::vector<std::shared_ptr<const void>>& owners) noexcept;

    GraphIdentity identity_;
    GraphTree tree_;
    GraphRecords records_;
    cudaGraph_t native_;
    bool owns_native_ = true;
    mutable LightMutex mutex_; ///< of a root: see lock()
    mutable ExecCount execs_;
    GraphEdges edges_;
    ChangeLog changes_; ///< of a root
    GraphOwners owners_;
    Conditions conditions_; ///< of a root
    Construction construction_;
    mutable GraphMemos memos_;
};

/// Whether some thread has locked the root: for assertions.
[[nodiscard]] bool is_locked(const GraphState& graph) noexcept;
/// Makes `copy`, with the same nodes and inner graphs as `origin`, a clone of it for handles.
void become_clone(GraphState& copy, const GraphState& origin) noexcept;
/// Throws GraphError, naming `action`: `node` is a handle of another graph than `graph`.
[[noreturn]] void refuse_other_graph(const GraphState& graph, const Node& node, std::string_view action);
/// Returns the index of a handle of `graph`. Throws GraphError, naming `action`, for any other handle.
[[nodiscard]] inline std::uint32_t index_of(const GraphState& graph, const Node& node, std::string_view action) {
    if (graph.identity().is_own(node)) [[likely]]
        return GraphIdentity::index_unchecked(node);
    refuse_other_graph(graph, node, action);
}
/// Whether updates that make a race are refused, as the root decides for its whole tree.
[[nodiscard]] inline bool refuses_races(const GraphState& graph) noexcept {
    return graph.root().construction().options.races == Races::refused;
}

} // namespace cudag::detail
