// Targets and results of CUDA calls that add nodes and set their parameters.
#pragma once

#include "cuda/failure.hpp"

#include <cuda_runtime_api.h>

namespace cudag::detail {

struct NativeResult {
    cudaError_t status;
    const char* operation;
    Api api = Api::runtime;
};

/// The result for a node with parameters that CUDA cannot set.
inline constexpr NativeResult cannot_be_set{cudaErrorNotSupported, "update"};

/// A node of a graph, or its counterpart in an exec if `exec` is set.
struct NodeTarget {
    cudaGraphNode_t node;
    cudaGraphExec_t exec = nullptr;
};

} // namespace cudag::detail
