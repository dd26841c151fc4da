// diff: the differences of two graphs, node by node.
#pragma once

#include <cudag/config.hpp>
#include <cudag/node.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace cudag {

class Exec;
class Graph;

/// The subject of a Difference.
enum class DifferenceKind {
    node,      ///< only one of the graphs has it
    edge,      ///< only one of the graphs has it, or its kind differs
    node_kind, ///< such as a memcpy in one graph and a memset in the other
    function,  ///< another kernel
    parameter, ///< arguments, grid, operands, ...
    attribute, ///< a kernel attribute: cluster, priority, ...
};

/// Returns the name of the enumerator: "node", "edge", ...
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(DifferenceKind kind) noexcept;

/// One difference between two graphs. Nodes are paired in order of creation, or by `Match::structure` in the report of
/// such an update. The texts stay valid after the graphs are destroyed; the handles do not.
struct Difference {
    DifferenceKind kind;
    Node before;            ///< in the first graph; empty if only the second has it
    Node after;             ///< in the second graph; empty if only the first has it
    std::string node;       ///< the description of `before`, and of `after` if it differs
    std::string field;      ///< "argument 2", "grid", "destination", "edge from kernel \"a\"", ...
    std::string old_value;  ///< "" if there is none
    std::string new_value;  ///< "" if there is none
    bool needs_instantiate; ///< whether CUDA refuses it in an update of an instantiated graph
};

/// Returns "kernel \"scale\" at a.cpp:12: argument 1: 2 -> 3".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Difference& difference);

/// Returns all differences of `b` from `a`: nodes, edges and parameters, in inner graphs, too; empty if the graphs are
/// equal. Labels and locations are no difference. Parameters unknown to cudag, such as those of adopted nodes of rare
/// kinds, are not compared.
///
///     cudag::Graph other = std::move(b).build();
///     for (const cudag::Difference& difference : cudag::diff(graph, other))
///         std::puts(to_string(difference).c_str());
[[nodiscard]] CUDAG_EXPORT std::vector<Difference> diff(const Graph& a, const Graph& b);
std::vector<Difference> diff(const Exec&, const Exec&) = delete; // cudag: diff(graph, graph) compares Graphs

} // namespace cudag
