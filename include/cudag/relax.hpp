// relax: reduces the order of a graph, such as a captured line, to the order that its nodes need.
#pragma once

#include <cudag/access.hpp>
#include <cudag/config.hpp>
#include <cudag/graph.hpp>
#include <cudag/node.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudag {

/// The reason why `relax` keeps the whole order of a node.
enum class StayReason : std::uint8_t {
    untracked,  ///< an argument of a kernel may be an address, of memory of unknown extent
    undeclared, ///< the accesses are unknown: kernels of libraries, host functions
    condition,  ///< a conditional, or a kernel that sets a condition
    outside,    ///< an event or a semaphore: it orders work outside the graph
    early_edge, ///< an edge to or from the node is not full
    updatable,  ///< the node is device-updatable: kernels may change it
    join,       ///< the join is next to a staying node
    driven,     ///< a DynamicParam drives its size, and the largest sizes would race
};

/// A staying node: its predecessors still precede it, and its successors still follow it.
struct StayingNode {
    Node node;
    StayReason reason;
    Node inside;                          ///< the node with this reason: `node`, or one inside it
    MemoryArgument argument = whole_node; ///< the argument, for `untracked`
};

/// A report of the changes that `relax` made to the edges of a graph.
struct RelaxReport {
    std::vector<StayingNode> staying; ///< including nodes of inner graphs
    std::size_t edges_before;         ///< including edges of inner graphs
    std::size_t edges_after;          ///< including edges of inner graphs
    std::size_t longest_path_before;  ///< in nodes, of the graph itself
    std::size_t longest_path_after;   ///< in nodes, of the graph itself
};

/// Reduces the order of `graph` to the needs of its nodes' memory accesses, expressed by the fewest edges. Independent
/// work that a capture recorded in one stream then runs concurrently. Inner graphs are relaxed, too. Call it before
/// `instantiate()`.
///
///     cudag::Graph captured = cudag::capture(stream, [&](cudaStream_t s) { library_call(s, x.data(), n); });
///     captured.find_one(scale).reads(x).writes(y);
///     cudag::RelaxReport report = cudag::relax(captured);
///     exec = captured.instantiate();
///
/// - Joins order nothing by themselves.
/// - Nodes with unknown accesses stay in place, and are reported, until `.reads` and `.writes` declare their accesses.
/// - Nodes at edges of other kinds than `full` stay in place. A programmatic edge to a kernel that declares its wait
///   counts as a full one.
/// - cudag cannot see memory that kernels find by themselves, in device variables or behind pointers in memory: declare
///   it likewise.
/// - `races()` of the result is empty as long as no update gives a node other memory.
///
/// Throws RaceError if there are races, since they have no order to keep. Throws GraphError for a graph with graph
/// memory nodes (CUDA removes no edges from it) or a live Exec, an inner graph, and a Graph::view. The graph is then
/// unchanged. If the graph was captured, its nodes are read first. Threads: excludes all other calls on the Graph.
CUDAG_EXPORT RelaxReport relax(Graph& graph);

/// Describes a staying node and its reason: "kernel \"gemm\" at a.cpp:12: kernels may change ...".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const StayingNode& node);
/// Summarises the report: "131 edges became 124; the longest path has 33 nodes, before it had 132", then one line for
/// each staying node.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const RelaxReport& report);

} // namespace cudag
