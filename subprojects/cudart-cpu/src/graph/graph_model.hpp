// Graphs and their nodes, and the lock that guards them.
#pragma once

#include "graph_work.hpp"
#include "kernel/condition.hpp"
#include "runtime/call.hpp"
#include "runtime/live_counts.hpp"
#include "user_object.hpp"

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

/// The graphs that a node owns: its child graph, or the bodies of a conditional node.
using Bodies = std::vector<std::shared_ptr<Graph>>;

/// What a new node is made of, or what a node gets in the place of what it has.
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
    std::vector<Node*> dependencies; // in the order in which they were added
    std::vector<Node*> dependents;
    std::vector<cudaGraphEdgeData> dependency_data{}; // of the edges, at the same places
    std::vector<cudaGraphEdgeData> dependent_data{};
    cudaGraphNode_t origin = nullptr; // the node of which it is the clone
    std::uint64_t number = 0;         // how many had been added before it, those that are gone included
    std::uint64_t rooted_at = 0;      // grows with each time that a node of the graph becomes a root
    std::uint64_t sunk_at = 0;        // grows with each time that a node of the graph becomes one without dependents
    WorkPointer shown = nullptr;      // a copy of `work` that getters let the caller point into
    Bodies bodies{};
    std::vector<cudaGraph_t> body_handles{}; // as callers see those of a conditional node

    void set_work(WorkPointer next) noexcept;
    void set_content(NodeContent next);
};

/// What a graph refers to.
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

    /// In the order in which they were added.
    const std::vector<std::shared_ptr<Node>>& nodes() const noexcept { return nodes_; }

    /// The node becomes the owner of the content's bodies.
    /// `data` may be null: the edges are ordinary ones.
    Node& add(NodeContent content, const std::vector<Node*>& dependencies, const cudaGraphEdgeData* data = nullptr);
    void remove(Node& node) noexcept;
    /// How many have been added, those that are gone included.
    std::uint64_t nodes_made() const noexcept { return nodes_made_; }

    /// What a node owns has its handle too. Only then may anybody else refer to the graph.
    cudaGraph_t handle() const noexcept { return handle_; }
    /// The node that owns this graph; null if it is the user's.
    const Node* owner() const noexcept { return owner_; }

    /// Whether it has alloc or free nodes, or a node that owns such a graph. Then no node and no edge can be removed.
    bool holds_memory() const noexcept { return holds_memory_; }
    /// The same from now on, because there was no memory for an alloc node (seen on driver 580).
    void note_want_of_memory() const noexcept { holds_memory_ = true; }
    /// Lives as long as the graph.
    std::shared_ptr<const void> life() const noexcept { return life_; }
    /// The exec that was made of it last: while it lives, a graph that holds memory can have no other.
    mutable std::weak_ptr<const void> exec; // its claim

    /// A graph with the same nodes, edges, bodies and user objects. Throws Failure if a node cannot be cloned.
    std::shared_ptr<Graph> clone() const;
    /// The same for a child graph, for which other nodes are refused: by Work::refuse_as_child.
    std::shared_ptr<Graph> clone_as_child() const;
    /// The node that was made from `original` when this was cloned; null if there is none.
    Node* find_clone_of(cudaGraphNode_t original) const noexcept;

    /// Both are nodes of this graph; there must be no such edge yet, or there must be one.
    void add_edge(Node& from, Node& to, const cudaGraphEdgeData& data = {});
    void remove_edge(Node& from, Node& to) noexcept;
    /// As if a node after them had come and gone, which is what the end of a capture does.
    void make_sinks(const std::vector<Node*>& nodes) noexcept;
    /// Then adding these edges cannot fail.
    static void make_room_for_edges(const std::vector<std::pair<Node*, Node*>>& edges);

    /// Whether it was lost to a failed capture; only of a graph that a node owns.
    bool is_lost = false;
    /// Of the captures into this; 0 before the first.
    unsigned long long capture_id = 0;
    /// Whether a capture into it goes on.
    bool is_captured_to = false;

    std::unordered_map<cudaUserObject_t, HeldObject> user_objects;
    /// Handle n is at n - 1. A graph that a conditional node owns has none: they belong to the user's graph.
    std::vector<Condition> conditions;
    /// How much memory of each device and size it has freed and not allocated again.
    mutable std::map<std::pair<int, std::size_t>, std::size_t> freed_memory;

  private:
    void require_clonable() const;
    void make_root(Node& node) noexcept { node.rooted_at = ++roots_made_; }
    /// Tells the work of the node, and of all that it owns.
    static void tell_removed(const Node& node) noexcept;
    /// Takes the handles of the node and of what it owns from the user.
    static void retire(Node& node) noexcept;
    friend cudaGraph_t register_graph(std::shared_ptr<Graph> graph);
    friend void own_bodies(Node& owner, Bodies bodies);
    friend void disown(Graph& body) noexcept;

    cudaGraph_t handle_ = nullptr;
    const Node* owner_ = nullptr;
    mutable bool holds_memory_ = false;
    std::shared_ptr<const void> life_ = std::make_shared<char>();
    std::vector<std::shared_ptr<Node>> nodes_;
    std::unordered_map<cudaGraphNode_t, Node*> clones_;
    std::uint64_t nodes_made_ = 0;
    std::uint64_t roots_made_ = 0;
    std::uint64_t sinks_made_ = 0;
    std::optional<Counted<Kind::graph>> counted_; // while it is the user's
};

/// The nodes without dependents, in the order in which they became so.
std::vector<Node*> sinks_of(const Graph& graph);
/// The data of an edge; null if there is no such edge.
const cudaGraphEdgeData* find_edge(const Node& from, const Node& to) noexcept;
bool same(const cudaGraphEdgeData& a, const cudaGraphEdgeData& b) noexcept;
/// An edge over which `to` waits for all of `from`.
bool is_ordinary(const cudaGraphEdgeData& data) noexcept;

/// The user becomes the graph's owner.
cudaGraph_t register_graph(std::shared_ptr<Graph> graph);
void destroy_graph(cudaGraph_t handle);
/// Also of a graph that a node owns: that node is of no use any more.
void lose_graph(Graph& graph) noexcept;
/// The node becomes the owner of `bodies`, in the place of those that it has.
void own_bodies(Node& owner, Bodies bodies);

/// These throw Failure for handles of what is not alive.
Graph& graph_of(cudaGraph_t handle);
std::shared_ptr<Graph> shared_graph_of(cudaGraph_t handle);
Node& node_of(cudaGraphNode_t handle);
/// Also for nodes of other graphs, and for a node that is given twice.
std::vector<Node*> dependencies_of(const Graph& graph, const cudaGraphNode_t* handles, std::size_t count);

/// The work as the class of its kind; throws Failure if it is of another kind.
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

/// Throws Failure if a node cannot get `next` in the place of `current`, or of nothing.
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

/// One function of the graph API: api() under the lock.
template <class Body>
cudaError_t graph_api(const char* name, Body&& body) noexcept {
    return api(name, [&] { return under_graph_lock(body); });
}

} // namespace cudart_cpu::detail
