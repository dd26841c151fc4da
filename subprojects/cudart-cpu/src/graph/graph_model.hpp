// Graphs and their nodes, and the lock that guards them.
#pragma once

#include "graph_work.hpp"
#include "kernel/condition.hpp"
#include "runtime/call.hpp"
#include "runtime/live_counts.hpp"
#include "runtime/node_functions.hpp"
#include "user_object.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudart_cpu::detail {

class Graph;

/// The graphs owned by a node: its child graph, or the bodies of a conditional node.
using Bodies = std::vector<std::shared_ptr<Graph>>;

/// The content of a new node, or the new content of a node.
struct NodeContent {
    template <class Kind>
    NodeContent(std::shared_ptr<Kind> its_work, Bodies its_bodies = {})
        : work(std::move(its_work)), bodies(std::move(its_bodies)) {}

    WorkPointer work;
    Bodies bodies;
};

struct Node {
    Graph& graph;
    cudaGraphNode_t handle;
    WorkPointer work;
    std::vector<Node*> dependencies; // in the order of their addition
    std::vector<Node*> dependents;
    std::vector<cudaGraphEdgeData> dependency_data{}; // the data of the edges, at the same places
    std::vector<cudaGraphEdgeData> dependent_data{};
    cudaGraphNode_t origin = nullptr; // the original of a clone
    std::uint64_t number = 0;         // the count of nodes added before it, including removed ones
    std::uint64_t rooted_at = 0;      // the graph's count of new roots when the node became one
    std::uint64_t sunk_at = 0;        // the graph's count of new sinks (without dependents) when the node became one
    WorkPointer shown = nullptr;      // a copy of `work` into which getters let the caller point
    Bodies bodies{};
    std::vector<cudaGraph_t> body_handles{}; // the handles of `bodies`, visible to callers for a conditional node

    void set_work(WorkPointer next) noexcept;
    void set_content(NodeContent next);
};

/// A graph's references to one user object.
struct HeldObject {
    UserObjectPointer object;
    std::size_t references;
};

class Graph {
  public:
    Graph() = default;
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph();

    /// The number of graphs made before it in the process, plus one.
    std::uint32_t id() const noexcept { return id_; }
    /// The nodes in the order of their addition.
    const std::vector<std::shared_ptr<Node>>& nodes() const noexcept { return nodes_; }

    /// Adds a node, which becomes the owner of the content's bodies. A null `data` stands for ordinary edges.
    Node& add(NodeContent content, const std::vector<Node*>& dependencies, const cudaGraphEdgeData* data = nullptr);
    void remove(Node& node) noexcept;
    /// The number of nodes added so far, including removed ones.
    std::uint64_t nodes_made() const noexcept { return nodes_made_; }

    /// Null before registration: until then nobody else may refer to the graph. Graphs owned by nodes have handles too.
    cudaGraph_t handle() const noexcept { return handle_; }
    /// The node owning this graph; null if the user owns it.
    const Node* owner() const noexcept { return owner_; }

    /// Whether the graph has alloc or free nodes, or a node owning such a graph. Then no node and no edge can be
    /// removed.
    bool holds_memory() const noexcept { return holds_memory_; }
    /// Makes holds_memory() true, because there was no memory for an alloc node (seen on driver 580).
    void note_want_of_memory() const noexcept { holds_memory_ = true; }
    /// The life of the graph: weak pointers to it expire with the graph.
    std::shared_ptr<const void> life() const noexcept { return life_; }
    /// The latest exec made of the graph: while it lives, a graph with alloc or free nodes can have no other.
    mutable std::weak_ptr<const void> exec; // the exec's claim

    /// Returns a graph with the same nodes, edges, bodies and user objects. Throws Failure if a node cannot be cloned.
    std::shared_ptr<Graph> clone() const;
    /// Clones for a child graph, without the checks of clone(): the caller asks Work::refuse_as_child instead.
    std::shared_ptr<Graph> clone_as_child() const;
    /// Returns the clone of `original` in this graph; null if there is none.
    Node* find_clone_of(cudaGraphNode_t original) const noexcept;

    /// Both nodes are in this graph. The edge must not exist when it is added, and must exist when it is removed.
    void add_edge(Node& from, Node& to, const cudaGraphEdgeData& data = {});
    void remove_edge(Node& from, Node& to) noexcept;
    /// Makes the sinks among these nodes the latest ones, as if a node after them had come and gone: a capture's end
    /// does so.
    void make_sinks(const std::vector<Node*>& nodes) noexcept;
    /// Reserves room, so that adding these edges cannot fail.
    static void make_room_for_edges(const std::vector<std::pair<Node*, Node*>>& edges);

    /// Whether the graph was lost to a failed capture; only for a graph owned by a node.
    bool is_lost = false;
    /// The id of the captures into this graph; 0 before the first.
    unsigned long long capture_id = 0;
    /// Whether a capture into this graph goes on.
    bool is_captured_to = false;

    std::unordered_map<cudaUserObject_t, HeldObject> user_objects;
    /// Handle n is at n - 1. Empty in a conditional node's body: its conditions belong to the user's graph.
    std::vector<Condition> conditions;
    /// The number of memories freed and not allocated again, by device and size in bytes.
    mutable std::map<std::pair<int, std::size_t>, std::size_t> freed_memory;

  private:
    void require_clonable() const;
    void make_root(Node& node) noexcept { node.rooted_at = ++roots_made_; }
    /// Reports the removal to the work of the node, and to the works of all nodes inside it.
    static void tell_removed(const Node& node) noexcept;
    /// Takes the handles of the node and its bodies from the user.
    static void retire(Node& node) noexcept;
    friend cudaGraph_t register_graph(std::shared_ptr<Graph> graph);
    friend void own_bodies(Node& owner, Bodies bodies);
    friend void disown(Graph& body) noexcept;

    static inline std::atomic<std::uint32_t> graphs_made = 0;
    std::uint32_t id_ = ++graphs_made;
    cudaGraph_t handle_ = nullptr;
    const Node* owner_ = nullptr;
    mutable bool holds_memory_ = false;
    std::shared_ptr<const void> life_ = std::make_shared<char>();
    std::vector<std::shared_ptr<Node>> nodes_;
    std::unordered_map<cudaGraphNode_t, Node*> clones_;
    std::uint64_t nodes_made_ = 0;
    std::uint64_t roots_made_ = 0;
    std::uint64_t sinks_made_ = 0;
    std::optional<Counted<Kind::graph>> counted_; // set while the user owns the graph
};

/// The nodes without dependents, in the order in which they became sinks.
std::vector<Node*> sinks_of(const Graph& graph);
/// The data of an edge; null if there is no such edge.
const cudaGraphEdgeData* find_edge(const Node& from, const Node& to) noexcept;
bool same(const cudaGraphEdgeData& a, const cudaGraphEdgeData& b) noexcept;
/// Whether the dependent waits for all of its dependency over such an edge.
bool is_ordinary(const cudaGraphEdgeData& data) noexcept;

/// Makes the user the graph's owner.
cudaGraph_t register_graph(std::shared_ptr<Graph> graph);
void destroy_graph(cudaGraph_t handle);
/// Destroys the graph, even one owned by a node: this node is useless afterwards.
void lose_graph(Graph& graph) noexcept;
/// Makes the node the owner of `bodies`, in place of its present ones.
void own_bodies(Node& owner, Bodies bodies);

/// These functions throw Failure for handles of dead objects.
Graph& graph_of(cudaGraph_t handle);
std::shared_ptr<Graph> shared_graph_of(cudaGraph_t handle);
Node& node_of(cudaGraphNode_t handle);
/// Throws Failure also for nodes of other graphs, and for a node given twice.
std::vector<Node*> dependencies_of(const Graph& graph, const cudaGraphNode_t* handles, std::size_t count);

/// Returns the work as the class of its kind; throws Failure if it is of another kind.
template <class Kind>
const Kind& work_as(const Work& work) {
    if (work.type() != Kind::node_type)
        fail(cudaErrorInvalidValue,
             text("the node is a ", type_name(work.type()), " node, not a ", type_name(Kind::node_type), " node"));
    return static_cast<const Kind&>(work);
}

template <class Kind>
const Kind& work_of(const Node& node) {
    return work_as<Kind>(*node.work);
}

/// Throws Failure if a node cannot get `next` in place of `current`; a null `current` means a new node.
inline void require_operands(const Work& next, const Work* current) {
    if (std::string reason = next.refuse_operands(current); !reason.empty())
        fail(cudaErrorInvalidValue, std::move(reason));
}

/// Guards all graphs, nodes and execs. Never held while a user's code runs.
std::mutex& graph_mutex();

template <class Body>
decltype(auto) under_graph_lock(Body&& body) {
    const DestructionScope destruction_scope;
    const std::lock_guard lock(graph_mutex());
    return body();
}

/// Runs one function of the graph API: api() under the lock.
template <class Body>
cudaError_t graph_api(const char* name, Body&& body) noexcept {
    return api(name, [&] {
        refuse_missing(name);
        return under_graph_lock(body);
    });
}

} // namespace cudart_cpu::detail
