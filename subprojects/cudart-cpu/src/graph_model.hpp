// Graphs and their nodes, and the lock that guards them.
#pragma once

#include "call.hpp"
#include "graph_work.hpp"
#include "live_counts.hpp"
#include "user_object.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace cudart_cpu::detail {

class Graph;

struct Node {
    Graph& graph;
    cudaGraphNode_t handle;
    WorkPointer work;
    std::vector<Node*> dependencies; // in the order in which they were added
    std::vector<Node*> dependents;
    cudaGraphNode_t origin = nullptr; // the node of which it is the clone
    std::uint64_t rooted_at = 0;      // grows with each time that a node of the graph becomes a root
    WorkPointer shown = nullptr;      // a copy of `work` that getters let the caller point into

    void set_work(WorkPointer next) noexcept;
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

    Node& add(WorkPointer work, const std::vector<Node*>& dependencies);
    void remove(Node& node) noexcept;

    /// A graph with the same nodes, edges and user objects.
    std::shared_ptr<Graph> clone() const;
    /// The node that was made from `original` when this was cloned; null if there is none.
    Node* find_clone_of(cudaGraphNode_t original) const noexcept;

    /// Both are nodes of this graph; there must be no such edge yet, or there must be one.
    void add_edge(Node& from, Node& to);
    void remove_edge(Node& from, Node& to) noexcept;

    std::unordered_map<cudaUserObject_t, HeldObject> user_objects;

  private:
    void make_root(Node& node) noexcept { node.rooted_at = ++roots_made_; }

    std::vector<std::shared_ptr<Node>> nodes_;
    std::unordered_map<cudaGraphNode_t, Node*> clones_;
    std::uint64_t roots_made_ = 0;
    Counted<Kind::graph> counted_;
};

bool has_edge(const Node& from, const Node& to) noexcept;

cudaGraph_t register_graph(std::shared_ptr<Graph> graph);
void destroy_graph(cudaGraph_t handle);

/// These throw Failure for handles of what is not alive.
Graph& graph_of(cudaGraph_t handle);
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

/// Guards all graphs, nodes and execs. Never held while a user's code runs.
std::mutex& graph_mutex();

/// One function of the graph API: api() under the lock.
template <class Body>
cudaError_t graph_api(const char* name, Body&& body) noexcept {
    return api(name, [&] {
        const DestructionScope destruction_scope;
        const std::lock_guard lock(graph_mutex());
        return body();
    });
}

} // namespace cudart_cpu::detail
