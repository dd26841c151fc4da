// diff: in what two graphs differ, node by node.
#pragma once

#include <cudag/config.hpp>
#include <cudag/node.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace cudag {

class Exec;
class Graph;

/// What a Difference is about.
enum class DifferenceKind {
    node,      ///< only one of the graphs has it
    edge,      ///< only one of the graphs has it, or its kind differs
    node_kind, ///< such as a memcpy here and a memset there
    function,  ///< another kernel
    parameter, ///< arguments, grid, operands, ...
    attribute, ///< of a kernel: cluster, priority, ...
};

/// "node", "edge", ... as in the enumerators.
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(DifferenceKind kind) noexcept;

/// One difference between two graphs, whose nodes are paired in the order in which they were made, or as
/// `Match::structure` says in the report of such an update.
/// Texts stay valid when the graphs are gone; the handles do not.
struct Difference {
    DifferenceKind kind;
    Node before;            ///< in the first graph; empty if only the second has it
    Node after;             ///< in the second graph; empty if only the first has it
    std::string node;       ///< what `before` is called, and `after` if that differs
    std::string field;      ///< "argument 2", "grid", "destination", "edge from kernel \"a\"", ...
    std::string old_value;  ///< "" where there is none
    std::string new_value;  ///< "" where there is none
    bool needs_instantiate; ///< whether CUDA refuses it in an update of an instantiated graph
};

/// "kernel \"scale\" at a.cpp:12: argument 1: 2 -> 3"
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Difference& difference);

/// Everything in which `b` differs from `a`: nodes, edges and parameters, in children and bodies, too. Labels and
/// locations are no difference. Empty if they are equal. Parameters that cudag does not describe, such as those of
/// adopted nodes of rare kinds, are not compared.
[[nodiscard]] CUDAG_EXPORT std::vector<Difference> diff(const Graph& a, const Graph& b);
std::vector<Difference> diff(const Exec&, const Exec&) = delete; // cudag: diff(graph, graph) compares Graphs

} // namespace cudag
