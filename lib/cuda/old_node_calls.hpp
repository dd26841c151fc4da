// The functions for nodes of one kind each, which CUDA 13.5 announces as deprecated: for drivers without those for
// nodes of any kind, and behind them.
#pragma once

#include "failure.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace cudag::detail {

struct Driver;

/// The driver's functions for kernel nodes; null unless functions for nodes of any kind are missing.
struct OldKernelCalls {
    CUresult(CUDAAPI* add)(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, const CUDA_KERNEL_NODE_PARAMS*);
    CUresult(CUDAAPI* get)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*);
    CUresult(CUDAAPI* set)(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*);
    CUresult(CUDAAPI* exec_set)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*);
};

/// Puts the functions for one kind in place of missing ones for any kind: before 13.2, of the function that reads
/// nodes. Throws Error if there are neither.
void complete_node_calls(Driver& driver);

/// The function that reads nodes of a kind, for messages.
struct OldGetter {
    const char* name;
    Api api;
};
[[nodiscard]] OldGetter getter_of(CUgraphNodeType type) noexcept;
/// The function of the runtime that reads copies.
[[nodiscard]] const char* copy_getter() noexcept;

} // namespace cudag::detail
