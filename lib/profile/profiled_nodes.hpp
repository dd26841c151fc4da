// The nodes of an exec, for a profile.
#pragma once

#include "profile_summary.hpp"

#include <cuda_runtime_api.h>

#include <vector>

namespace cudag::detail {

class ExecState;

/// The nodes of an exec, with their handles in the graph that it was made from, and in the graphs inside.
struct ExecNodes {
    cudaGraphExec_t exec;
    std::vector<cudaGraphNode_t> natives{};
    ProfiledNodes profiled{}; ///< in the same order
};

/// Describes the nodes of `exec`, nodes inside others included. Reads a captured graph. Takes the graph's lock.
[[nodiscard]] ExecNodes nodes_of(const ExecState& exec);

} // namespace cudag::detail
