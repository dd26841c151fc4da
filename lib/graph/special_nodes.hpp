// Nodes that rules ask for.
#pragma once

#include <atomic>

namespace cudag::detail {

class GraphState;

/// To a question that may not have been asked.
enum class Answer : unsigned char { unknown, no, yes };

/// Which there are in one graph, not in those inside it; told by whoever adds or notices one.
struct SpecialNodes {
    /// Alloc or free nodes, or one that could not be had: CUDA deletes no node and no edge of the graph then.
    bool memory = false;
    /// Empty nodes.
    bool joins = false;
    /// Nodes of which it is known what they do to memory.
    bool accesses = false;
    /// Nodes that brought in owners, or owners that no node brought in.
    bool owners = false;
    /// Nodes that cudag did not make, whose attributes it has not asked for.
    bool read = false;
    /// Host nodes with a callable that cudag calls.
    mutable std::atomic<bool> host_tasks = false;
    /// Nodes that kernels may change.
    mutable std::atomic<bool> device_updatable = false;
    /// Kernels with attributes that execs keep silently, also inside the graph.
    mutable std::atomic<Answer> kept_silently = Answer::unknown;
};

// Whether one is known in `graph`, or in a graph inside it.

[[nodiscard]] bool has_memory_nodes(const GraphState& graph);
/// The same without reading the nodes: asks CUDA where they are not. Throws GraphError.
[[nodiscard]] bool may_have_memory_nodes(const GraphState& graph);
[[nodiscard]] bool has_host_tasks(const GraphState& graph) noexcept;
/// What `find_device_updatable` finds is more: it asks CUDA about the nodes that cudag did not make.
[[nodiscard]] bool has_device_updatable(const GraphState& graph) noexcept;
/// Whether there may be one that is not known.
[[nodiscard]] bool may_have_device_updatable(const GraphState& graph) noexcept;

} // namespace cudag::detail
