// relax: a captured line becomes the order that its nodes need.
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

/// Why `relax` leaves a node where it is.
enum class StayReason : std::uint8_t {
    untracked,  ///< an argument of a kernel may be an address, of memory of which cudag does not know how much is used
    undeclared, ///< nothing tells what it does to memory: libraries' kernels, host functions
    condition,  ///< a conditional, or a kernel that sets a condition
    outside,    ///< an event or a semaphore: it orders work outside the graph
    early_edge, ///< an edge that is not full leads to it, or from it
    updatable,  ///< kernels may change what it does
    join,       ///< one that stands beside a node that stays
    driven,     ///< a DynamicParam drives its size, and at the largest sizes there would be races
};

/// A node that comes after all nodes that it came after before, and before all that it came before.
struct StayingNode {
    Node node;
    StayReason reason;
    Node inside; ///< of which that is true: `node`, or one inside it
    MemoryArgument argument = whole_node;
};

/// What `relax` has made of the edges of a graph.
struct RelaxReport {
    std::vector<StayingNode> staying; ///< also of graphs inside
    std::size_t edges_before;         ///< with those of graphs inside
    std::size_t edges_after;
    std::size_t longest_path_before; ///< in nodes, of the graph itself
    std::size_t longest_path_after;
};

/// Of the order that `graph` has, keeps what its nodes need because of what they do to memory, by as few edges as can
/// be: independent work that a capture has recorded in one stream then runs at once. In graphs inside children and
/// bodies, too. Joins, which do nothing, order nothing. Nodes of which cudag does not know what they do stay where they
/// are, as the report says, until `.reads` and `.writes` tell it; so do nodes at edges that are not full. What kernels
/// find by themselves, in device variables or behind pointers that lie in memory, cudag cannot see: tell it likewise.
/// `races()` of the result is empty as long as no update gives a node other memory.
/// Relax before instantiating. Throws RaceError if there are races, whose order nothing tells, and GraphError if the
/// graph has memory nodes, of which CUDA removes no edges, has an Exec, is inside another one or is a view of somebody
/// else's; the graph is as before then. Reads a captured graph. Threads: excludes all other calls on the Graph.
CUDAG_EXPORT RelaxReport relax(Graph& graph);

/// "kernel \"gemm\" at a.cpp:12: nothing tells what it does to memory; .reads() and .writes() do".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const StayingNode& node);
/// "131 edges became 124; the longest path has 33 nodes, before it had 132", and a line for each node that stays.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const RelaxReport& report);

} // namespace cudag
