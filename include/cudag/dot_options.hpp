// DotOptions: what a picture of a graph shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace cudag {

/// The meaning of a node's colour in a picture.
enum class DotColor : std::uint8_t {
    none,
    kind,     ///< one colour for each kind of node
    device,   ///< one colour for each device
    race,     ///< red for the nodes of a race; a red line connects them
    duration, ///< by `durations`: the longer, the darker, in five steps; the node also shows its duration
};

/// The options of `Graph::dot`.
///
///     std::ofstream("decoder.dot") << graph.dot({.color = cudag::DotColor::kind, .fold = true});
struct DotOptions {
    DotColor color = DotColor::none;
    /// Durations of the nodes in microseconds, in the order of `Graph::nodes()`, as of `Profile::durations`.
    std::vector<double> durations = {};
    /// Draws equal nodes once, with "x 32": nodes one after the other, groups of up to 64 of them, and nodes with the
    /// same predecessors and successors. Nodes are equal if they have the same kind, kernel and sizes, and the same
    /// label except for numbers in it, which appear as "#". Edges implied by other edges are left out.
    bool fold = false;
    /// Adds the values of kernel arguments to the nodes.
    bool parameters = false;
    /// Adds an edge with the number of bytes from each writer of memory to the nodes that use its result. Memory of
    /// unknown size has none, see `Graph::untracked`. Copies in two and three dimensions count as one range.
    bool data = false;
    /// The number of levels of inner graphs to draw; 0: none. A node with more levels shows the number of nodes in it.
    std::size_t depth = std::numeric_limits<std::size_t>::max();
};

} // namespace cudag
