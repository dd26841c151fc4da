// The functions for nodes of one kind each, which CUDA 13.5 announces as deprecated. Kernels and fills use them while
// the driver has them; the other kinds use them over drivers without functions for nodes of any kind.
#pragma once

#include "failure.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace cudag::detail {

struct Driver;

/// The driver's functions for kernel nodes: those for one kind, which take 30 ns less for each node. On an H100 a graph
/// of kernels takes 0.60 of the runtime's time to build instead of 0.66, and an update 0.57 instead of 0.65
/// (`bench/overhead`). A driver without them has those for any kind in their place.
struct KernelNodeCalls {
    CUresult(CUDAAPI* add)(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, const CUDA_KERNEL_NODE_PARAMS*);
    CUresult(CUDAAPI* get)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*);
    CUresult(CUDAAPI* set)(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*);
    CUresult(CUDAAPI* exec_set)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*);
    const char *add_name, *set_name, *exec_set_name; ///< for messages
};

/// The runtime's functions for fills: those for one kind, which take 0.07 us less for each node of 0.33 us (H100). With
/// a driver without functions for kernels, those for any kind. The driver's own take a context, which costs a call
/// more.
struct FillNodeCalls {
    cudaError_t(CUDARTAPI* add)(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, std::size_t,
                                const cudaMemsetParams*);
    cudaError_t(CUDARTAPI* set)(cudaGraphNode_t, const cudaMemsetParams*);
    cudaError_t(CUDARTAPI* exec_set)(cudaGraphExec_t, cudaGraphNode_t, const cudaMemsetParams*);
    const char *add_name, *set_name, *exec_set_name; ///< for messages
};

/// Puts the functions for one kind in place of missing ones for any kind: before 13.2, of the function that reads
/// nodes. For kernels and fills, the other way round. Throws Error if there are neither.
void complete_node_calls(Driver& driver);

/// The function that reads nodes of a kind, for messages.
struct OldGetter {
    const char* name;
    Api api;
};
/// Throws Error if there is no driver.
[[nodiscard]] OldGetter getter_of(CUgraphNodeType type);
/// The function of the runtime that reads copies. Throws Error if there is no driver.
[[nodiscard]] const char* copy_getter();

} // namespace cudag::detail
