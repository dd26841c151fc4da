// Kernels that change the graph that they run in.
#pragma once

#include <cuda_runtime.h>

/// The condition's value = value.
__global__ void set_condition(cudaGraphConditionalHandle handle, unsigned value);
/// --*p, and the condition's value = *p > 0.
__global__ void count_down(int* p, cudaGraphConditionalHandle handle);
/// Sets bytes of the node's parameters; codes[0] is what the call returned.
__global__ void set_parameter(cudaGraphDeviceNode_t node, unsigned offset, int value, int* codes);
__global__ void set_grid(cudaGraphDeviceNode_t node, unsigned blocks, int* codes);
__global__ void set_enabled(cudaGraphDeviceNode_t node, bool enabled, int* codes);
/// All three in one call.
__global__ void set_all(cudaGraphDeviceNode_t node, unsigned offset, int value, unsigned blocks, bool enabled,
                        int* codes);

enum class Into { tail, forget, sibling };
/// Launches the graph; codes[0] is what the call returned, codes[1] whether this graph knows itself.
__global__ void launch_graph(cudaGraphExec_t exec, Into stream, int* codes);
/// --*p, and launches this graph again, as its own tail, while *p > 0.
__global__ void repeat_graph(int* p, int* codes);
