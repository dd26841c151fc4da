// Executable graphs: a frozen shape, and per-node states that updates replace.
#pragma once

#include "exec_memory.hpp"
#include "exec_watch.hpp"
#include "graph/graph_model.hpp"
#include "memory/memory.hpp"
#include "stream/completion.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace cudart_cpu::detail {

struct LaunchGraph;

/// Lists of node indices, one list for each node.
using Adjacency = std::vector<std::vector<std::uint32_t>>;

/// Nodes are numbered in the order in which they were added to the graph.
struct ExecShape {
    std::vector<cudaGraphNode_t> sources; // ascending: handles are numbered as they are made
    Adjacency dependencies;               // in the order in which they were added
    Adjacency dependents;
    std::vector<std::uint32_t> sinks;                 // as sinks_of() has them
    std::vector<std::vector<cudaGraphEdgeData>> data; // of the edges to the dependencies, at the same places
    std::vector<std::uint64_t> numbers;               // as the graph's nodes have them
    std::uint64_t nodes_made = 0;
};

struct ExecGraph;

struct NodeState {
    WorkPointer work;
    bool enabled = true;
    std::vector<ExecGraph> bodies;                  // of the graphs that the node owns
    bool could_forget_order = false;                // as it was instantiated
    std::shared_ptr<const DeclaredNode> declared{}; // null before it has

    /// Whether it is disabled in such a way that it orders nothing.
    bool forgets_order() const { return !enabled && could_forget_order && work->forgets_order(); }
};

/// One graph, as it was when the exec was made: the one that was instantiated, or one that a node owns.
struct ExecGraph {
    explicit ExecGraph(const Graph& graph);

    /// Null for nodes that are not in this graph itself.
    NodeState* find(cudaGraphNode_t source);

    std::shared_ptr<const ExecShape> shape;
    std::vector<NodeState> states;
};

/// What one launch runs, and what must live until it has. Immutable: an update changes the exec, not its launches.
struct ExecSnapshot {
    std::shared_ptr<const LaunchGraph> graph;
    std::vector<UserObjectPointer> user_objects;
    MemoryUse memory;
    std::vector<Condition> conditions;
    std::shared_ptr<ConditionValues> condition_values;
    std::shared_ptr<const DeclaredNodes> declared; // null if no node has
};

struct NewWork {
    NodeState* state;
    WorkPointer work;
};

class Exec {
  public:
    Exec(const Graph& graph, unsigned long long flags);
    Exec(const Exec&) = delete;
    Exec& operator=(const Exec&) = delete;
    ~Exec();

    unsigned long long flags() const noexcept { return flags_; }
    ExecGraph& graph() noexcept { return graph_; }

    /// What stands for a node of the graph from which this was made, or of the graphs that its nodes own. Throws
    /// Failure for other nodes and dead ones.
    NodeState& state_of(cudaGraphNode_t source);

    /// Throws Failure, and changes nothing, if CUDA's restrictions on updates of one node forbid it.
    void update_work(NodeState& state, WorkPointer next);
    void set_enabled(NodeState& state, bool enabled) noexcept;
    void declare(cudaGraphNode_t source, std::shared_ptr<const DeclaredNode> declared);
    void forget_declarations();
    /// Replaces the works of nodes of this.
    void set_works(std::vector<NewWork> works) noexcept;
    /// Replaces what the exec refers to.
    void set_user_objects(std::vector<UserObjectPointer> user_objects) noexcept;

    /// Replaces what launches begin with.
    void set_conditions(std::vector<Condition> conditions) noexcept;

    /// Whether the device has what the last update left: kernels can launch it then.
    bool is_uploaded() const noexcept { return is_uploaded_; }
    void set_uploaded();

    /// Costs time only after an update.
    std::shared_ptr<const ExecSnapshot> snapshot();

    /// On the graph whose nodes it has: lives until the exec does not, or gets those of another graph.
    std::shared_ptr<const void> claim = std::make_shared<char>();

    cudaGraphExec_t handle = nullptr;

    /// The end of its latest launch or upload, behind which the next one queues; null before the first.
    CompletionPtr latest;

  private:
    /// Once an exec was launched, the driver destroys what it refers to asynchronously, even if no launch is in flight.
    void release_user_objects() noexcept;

    /// Null for nodes that are neither in the graph nor in one that its nodes own.
    NodeState* find(cudaGraphNode_t source);
    static void index_bodies(ExecGraph& graph, std::unordered_map<cudaGraphNode_t, NodeState*>& all);

    void attach(const ExecGraph& graph) const;
    void detach(const ExecGraph& graph) const noexcept;

    unsigned long long flags_;
    ExecGraph graph_;
    std::optional<OwnDeviceMemory> device_memory_;              ///< once it was uploaded
    std::unordered_map<cudaGraphNode_t, NodeState*> in_bodies_; // empty before one of them is looked for
    bool is_uploaded_ = false;
    std::vector<UserObjectPointer> user_objects_;
    std::vector<Condition> conditions_;
    std::shared_ptr<ConditionValues> condition_values_;
    std::shared_ptr<const ExecSnapshot> snapshot_; // null after an update
    Counted<Kind::graph_exec> counted_;
};

/// What `graph` and the graphs that its nodes own refer to.
std::vector<UserObjectPointer> user_objects_of(const Graph& graph);

cudaGraphExec_t register_exec(std::shared_ptr<Exec> exec);
/// These throw Failure for handles of what is not alive.
Exec& exec_of(cudaGraphExec_t handle);
void destroy_exec(cudaGraphExec_t handle);

} // namespace cudart_cpu::detail
