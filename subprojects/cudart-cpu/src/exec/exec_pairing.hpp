// Another graph's parameters for the nodes of an exec.
#pragma once

#include "exec_model.hpp"

namespace cudart_cpu::detail {

/// Why the graph's parameters cannot go into the exec.
struct UpdateFailure {
    cudaGraphExecUpdateResult result;
    std::string reason;
    cudaGraphNode_t node = nullptr;
    cudaGraphNode_t from_node = nullptr;
};

enum class PairedBy { edges, number };

/// The new works of all nodes of `exec`, which is part of an exec that was made with `flags`, and of its bodies. Throws
/// UpdateFailure if `graph` differs in more than what an update may change.
std::vector<NewWork> works_from(const Graph& graph, ExecGraph& exec, PairedBy by, unsigned long long flags);

} // namespace cudart_cpu::detail
