// Executable graphs: a frozen shape, and per-node states that updates replace.
#pragma once

#include "graph_model.hpp"
#include "stream.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace cudart_cpu::detail {

/// Lists of node indices, one list for each node.
using Adjacency = std::vector<std::vector<std::uint32_t>>;

/// Nodes are numbered in the order in which they were added to the graph.
struct ExecShape {
    std::vector<cudaGraphNode_t> sources; // ascending: handles are numbered as they are made
    Adjacency dependencies;               // in the order in which they were added
    Adjacency dependents;
};

struct NodeState {
    WorkPointer work;
    bool enabled = true;
};

/// What one launch runs, and what must live until it has. Immutable: an update changes the exec, not its launches.
struct ExecSnapshot {
    std::shared_ptr<const ExecShape> shape;
    std::shared_ptr<const std::vector<NodeState>> states;
    std::vector<std::uint32_t> staged; // the enabled nodes whose work is staged
    std::vector<UserObjectPointer> user_objects;
};

class Exec {
  public:
    Exec(const Graph& graph, unsigned long long flags);
    Exec(const Exec&) = delete;
    Exec& operator=(const Exec&) = delete;
    ~Exec() { release_user_objects(); }

    unsigned long long flags() const noexcept { return flags_; }
    const ExecShape& shape() const noexcept { return *shape_; }
    const std::vector<NodeState>& states() const noexcept { return states_; }

    /// The number of a node of the graph from which this was made. Throws Failure for other nodes and dead ones.
    std::size_t index_of(cudaGraphNode_t source) const;

    /// Throws Failure, and changes nothing, if CUDA's restrictions on updates of one node forbid it.
    void update_work(std::size_t index, WorkPointer next);
    void set_enabled(std::size_t index, bool enabled) noexcept;
    /// Replaces the work of all nodes, and what the exec refers to.
    void set_all(std::vector<WorkPointer> works, std::vector<UserObjectPointer> user_objects) noexcept;

    /// Costs time only after an update.
    std::shared_ptr<const ExecSnapshot> snapshot();

    /// The end of its latest launch or upload, behind which the next one queues; null before the first.
    CompletionPtr latest;

  private:
    /// Once an exec was launched, the driver destroys what it refers to asynchronously, even if no launch is in flight.
    void release_user_objects() noexcept;

    unsigned long long flags_;
    std::shared_ptr<const ExecShape> shape_;
    std::vector<NodeState> states_;
    std::vector<UserObjectPointer> user_objects_;
    std::shared_ptr<const ExecSnapshot> snapshot_; // null after an update
    Counted<Kind::graph_exec> counted_;
};

/// What `graph` refers to.
std::vector<UserObjectPointer> user_objects_of(const Graph& graph);

cudaGraphExec_t register_exec(std::shared_ptr<Exec> exec);
/// These throw Failure for handles of what is not alive.
Exec& exec_of(cudaGraphExec_t handle);
void destroy_exec(cudaGraphExec_t handle);

/// cudaGraphInstantiateWithParams: sets `params`' results, and `exec` if it succeeds; throws Failure if not.
void instantiate_with_params(cudaGraphExec_t& exec, cudaGraph_t graph, cudaGraphInstantiateParams& params);

/// These do not block. Each comes after the exec's earlier launches and uploads.
void enqueue_launch(Exec& exec, Stream& stream);
void enqueue_upload(Exec& exec, Stream& stream);

} // namespace cudart_cpu::detail
