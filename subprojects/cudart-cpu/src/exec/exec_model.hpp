// Executable graphs: a frozen shape, and per-node states that updates replace.
#pragma once

#include "exec_memory.hpp"
#include "exec_times.hpp"
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

/// The edges of an exec's graph. Nodes are numbered in the order of their addition to the graph.
struct ExecShape {
    std::vector<cudaGraphNode_t> sources; // ascending: later handles are greater
    Adjacency dependencies;               // in the order of their addition
    Adjacency dependents;
    std::vector<std::uint32_t> sinks;                 // in the order of sinks_of()
    std::vector<std::vector<cudaGraphEdgeData>> data; // the data of the edges to `dependencies`, at the same places
    std::vector<std::uint64_t> numbers;               // Node::number of each node
    std::uint64_t nodes_made = 0;
};

struct ExecGraph;

struct NodeState {
    WorkPointer work;
    bool enabled = true;
    std::vector<ExecGraph> bodies;                  // the graphs owned by the node
    bool could_forget_order = false;                // forgets_order() of the instantiated work
    std::shared_ptr<const DeclaredNode> declared{}; // null before a declaration
    std::shared_ptr<const std::string> waits{};     // its name, if it is declared to wait for previous kernels

    /// Whether the node is disabled and no longer orders its dependents behind its dependencies.
    bool forgets_order() const { return !enabled && could_forget_order && work->forgets_order(); }
};

/// One graph as it was when the exec was made: the instantiated graph, or one owned by a node.
struct ExecGraph {
    explicit ExecGraph(const Graph& graph);

    /// Returns null for a node outside this graph itself.
    NodeState* find(cudaGraphNode_t source);

    std::shared_ptr<const ExecShape> shape;
    std::vector<NodeState> states;
};

/// The content of one launch, with all objects that it needs until its end. Immutable: an update changes the exec, not
/// its launches.
struct ExecSnapshot {
    std::shared_ptr<const LaunchGraph> graph;
    std::vector<UserObjectPointer> user_objects;
    MemoryUse memory;
    std::vector<Condition> conditions;
    std::shared_ptr<ConditionValues> condition_values;
    std::shared_ptr<const DeclaredNodes> declared; // null if no node has a declaration
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

    /// The state of a node of the source graph, or of a graph owned by its nodes. Throws Failure for other nodes and
    /// dead ones.
    NodeState& state_of(cudaGraphNode_t source);

    /// Throws Failure, and changes nothing, if CUDA forbids this update of one node.
    void update_work(NodeState& state, WorkPointer next);
    void set_enabled(NodeState& state, bool enabled) noexcept;
    void declare(cudaGraphNode_t source, std::shared_ptr<const DeclaredNode> declared);
    void forget_declarations();
    void declare_wait(cudaGraphNode_t source, std::shared_ptr<const std::string> name);
    /// Replaces the works of nodes of this exec.
    void set_works(std::vector<NewWork> works) noexcept;
    /// Replaces the exec's references to user objects.
    void set_user_objects(std::vector<UserObjectPointer> user_objects) noexcept;

    /// Replaces the conditions with which launches begin.
    void set_conditions(std::vector<Condition> conditions) noexcept;

    /// Whether the device has the state after the last update: only then can kernels launch the exec.
    bool is_uploaded() const noexcept { return is_uploaded_; }
    void set_uploaded();

    /// Returns the current state for a launch; costs time only after an update.
    std::shared_ptr<const ExecSnapshot> snapshot();

    /// The claim on the source graph, see Graph::exec. Expires with the exec, or once it is updated from a graph with
    /// memory nodes.
    std::shared_ptr<const void> claim = std::make_shared<char>();

    cudaGraphExec_t handle = nullptr;

    /// The records of the runs of nodes; null while they are not recorded.
    std::shared_ptr<NodeTimes> times;

    /// The end of the latest launch or upload, behind which the next one queues; null before the first.
    CompletionPtr latest;

  private:
    /// Once an exec was launched, the driver destroys its user objects asynchronously, even if no launch is in flight.
    void release_user_objects() noexcept;

    /// Returns null for a node neither in the graph nor in one owned by its nodes.
    NodeState* find(cudaGraphNode_t source);
    static void index_bodies(ExecGraph& graph, std::unordered_map<cudaGraphNode_t, NodeState*>& all);

    void attach(const ExecGraph& graph) const;
    void detach(const ExecGraph& graph) const noexcept;

    unsigned long long flags_;
    ExecGraph graph_;
    std::optional<OwnDeviceMemory> device_memory_;              ///< null before the first upload
    std::unordered_map<cudaGraphNode_t, NodeState*> in_bodies_; // empty before the first search in the bodies
    bool is_uploaded_ = false;
    std::vector<UserObjectPointer> user_objects_;
    std::vector<Condition> conditions_;
    std::shared_ptr<ConditionValues> condition_values_;
    std::shared_ptr<const ExecSnapshot> snapshot_; // null after an update
    Counted<Kind::graph_exec> counted_;
};

/// The user objects of `graph` and of the graphs owned by its nodes.
std::vector<UserObjectPointer> user_objects_of(const Graph& graph);

cudaGraphExec_t register_exec(std::shared_ptr<Exec> exec);
/// These functions throw Failure for handles of dead objects.
Exec& exec_of(cudaGraphExec_t handle);
void destroy_exec(cudaGraphExec_t handle);

} // namespace cudart_cpu::detail
