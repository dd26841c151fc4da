// Flags for the special nodes of a graph.
#pragma once

#include <atomic>

namespace cudag::detail {

class GraphState;

/// The answer to a question that may not have been asked.
enum class Answer : unsigned char { unknown, no, yes };

/// Flags of one graph, without the graphs inside it; the function that adds or notices a node sets them.
struct NodeFlags {
    /// Alloc or free nodes, or a failed attempt to add one: CUDA then deletes no node and no edge of the graph.
    bool memory = false;
    /// Empty nodes.
    bool joins = false;
    /// Nodes with known memory accesses.
    bool accesses = false;
    /// Nodes with owners, or owners of the graph itself.
    bool owners = false;
    /// Kernels that declare to wait for previous ones.
    bool waits = false;
    /// Nodes not made by cudag, with unread attributes.
    bool read = false;
    /// Host nodes with a callable called by cudag.
    mutable std::atomic<bool> host_tasks = false;
    /// Device-updatable nodes.
    mutable std::atomic<bool> device_updatable = false;
    /// Kernels with attributes that an exec update silently ignores, here or inside the graph.
    mutable std::atomic<Answer> silently_ignored = Answer::unknown;
};

// These functions return whether such a node is known in `graph`, or in a graph inside it.

[[nodiscard]] bool has_memory_nodes(const GraphState& graph);
/// Checks without reading the nodes: asks CUDA about unread ones. Throws GraphError.
[[nodiscard]] bool may_have_memory_nodes(const GraphState& graph);
[[nodiscard]] bool has_host_tasks(const GraphState& graph) noexcept;
/// Unlike `find_device_updatable`, does not ask CUDA about the nodes that cudag did not make.
[[nodiscard]] bool has_device_updatable(const GraphState& graph) noexcept;
/// Whether there may be a device-updatable node, known or not.
[[nodiscard]] bool may_have_device_updatable(const GraphState& graph) noexcept;

} // namespace cudag::detail
