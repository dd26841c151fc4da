// Calls that add nodes and set their parameters: to what, and what CUDA answered.
#pragma once

#include "cuda/failure.hpp"

#include <cuda_runtime_api.h>

namespace cudag::detail {

struct NativeResult {
    cudaError_t status;
    const char* operation;
    Api api = Api::runtime;
};

/// A node that has parameters, but none that CUDA can set.
inline constexpr NativeResult cannot_be_set{cudaErrorNotSupported, "update"};

/// A node of a graph; that of an exec, if there is one.
struct NodeTarget {
    cudaGraphNode_t node;
    cudaGraphExec_t exec = nullptr;
};

} // namespace cudag::detail
