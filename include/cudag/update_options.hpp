// UpdateOptions: how Exec::update pairs the nodes of a graph with those of an Exec.
#pragma once

#include <cudag/config.hpp>

#include <string_view>

namespace cudag {

/// How a whole update pairs the nodes of the graph with the nodes of the Exec.
enum class Match {
    /// Pairs the first with the first, and so on, in order of creation, as CUDA itself does.
    order,
    /// Pairs nodes by their places among the edges: for graphs of the same work in changing order, such as captures of
    /// several threads. The pairs depend on the graphs alone, by these rules:
    ///   - Paired nodes have the same kind, the same kernel and, if both have one, the same label. If a label is
    ///     equally frequent in both graphs, its nodes pair only with each other.
    ///   - Edges between paired nodes agree, with their kinds, and so do inner graphs.
    ///   - A graph in the same order is paired in order, even if a kernel was replaced by another one; CUDA then
    ///     receives the whole graph.
    ///   - Among nodes that look alike, nodes with equal parameters are paired first, then nodes with the same memory,
    ///     then the earliest.
    structure,
};

/// Returns "order" or "structure".
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(Match match) noexcept;

/// Options of a whole update, `Exec::update(graph, options)`. The defaults cost least.
///
///     cudag::UpdateReport report = exec.update(graph, {.match = cudag::Match::structure});
struct UpdateOptions {
    Match match = Match::order;
    /// Promises that the kernels of a captured graph have the same clusters and shared-memory carveouts as the Exec's
    /// kernels. By default cudag compares them, because CUDA would silently keep the Exec's values and report success
    /// (driver 580). The comparison asks CUDA about each node of a graph given for the first time, some 0.1 us a node.
    bool trust_attributes = false;
};

} // namespace cudag
