// Pairs of an exec's nodes and another graph's nodes, for updates.
#pragma once

#include "exec_model.hpp"

namespace cudart_cpu::detail {

/// The reason why the graph's parameters cannot go into the exec.
struct UpdateFailure {
    cudaGraphExecUpdateResult result;
    std::string reason;
    cudaGraphNode_t node = nullptr;
    cudaGraphNode_t from_node = nullptr;
};

enum class PairedBy { edges, number };

/// The new works of all nodes of `exec` and of its bodies. `exec` is part of an exec made with `flags`. Throws
/// UpdateFailure if `graph` differs in more than an update may change.
std::vector<NewWork> works_from(const Graph& graph, ExecGraph& exec, PairedBy by, unsigned long long flags);

} // namespace cudart_cpu::detail
