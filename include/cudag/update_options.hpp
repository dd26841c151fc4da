// UpdateOptions: how Exec::update pairs the nodes of a graph with those of an Exec.
#pragma once

#include <cudag/config.hpp>

#include <string_view>

namespace cudag {

/// Which node of a graph gives its parameters to which node of an Exec.
enum class Match {
    /// The first to the first, and so on, in the order in which they were made, as CUDA itself pairs them.
    order,
    /// Whichever stands at the same place among the edges: for graphs of the same work that come in another order each
    /// time, such as captures of several threads. Paired nodes are of one kind, launch one kernel, and have one label
    /// where both have one; a label that equally many nodes have in both graphs pairs those. Edges agree with their
    /// kinds, and so does all that is inside children and bodies. A graph in the same order is paired in order, also if
    /// a kernel became another one there, which CUDA then gets with the whole graph. Where
    /// nodes look alike, those with the same parameters are paired first, then those that touch the same memory, then
    /// those that were made first. Which pairs come out depends on the graphs alone.
    structure,
};

/// "order", "structure"
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(Match match) noexcept;

/// How a graph updates an Exec; the default is what costs least.
struct UpdateOptions {
    Match match = Match::order;
    /// Whether the kernels of a captured graph are known to have the clusters and shared-memory carveouts that those of
    /// the Exec have. By default they are compared: CUDA would keep the Exec's, and say that it has updated it (driver
    /// 580). That asks CUDA about each node of a graph that is given for the first time, some 0.1 us a node.
    bool trust_attributes = false;
};

} // namespace cudag
