// Kernels that change the graph that they run in.
#include "graph_kernels.hpp"

__global__ void set_condition(cudaGraphConditionalHandle handle, unsigned value) {
    cudaGraphSetConditional(handle, value);
}

__global__ void count_down(int* p, cudaGraphConditionalHandle handle) {
    --*p;
    cudaGraphSetConditional(handle, *p > 0);
}

__global__ void set_parameter(cudaGraphDeviceNode_t node, unsigned offset, int value, int* codes) {
    codes[0] = cudaGraphKernelNodeSetParam(node, offset, value);
}

__global__ void set_grid(cudaGraphDeviceNode_t node, unsigned blocks, int* codes) {
    codes[0] = cudaGraphKernelNodeSetGridDim(node, dim3(blocks));
}

__global__ void set_enabled(cudaGraphDeviceNode_t node, bool enabled, int* codes) {
    codes[0] = cudaGraphKernelNodeSetEnabled(node, enabled);
}

__global__ void set_all(cudaGraphDeviceNode_t node, unsigned offset, int value, unsigned blocks, bool enabled,
                        int* codes) {
    // The union has no default constructor: each begins with its first member.
    cudaGraphKernelNodeUpdate updates[3] = {{node, cudaGraphKernelNodeFieldGridDim, {dim3(blocks)}},
                                            {node, cudaGraphKernelNodeFieldParam, {dim3(0)}},
                                            {node, cudaGraphKernelNodeFieldEnabled, {dim3(0)}}};
    updates[1].updateData.param.pValue = &value;
    updates[1].updateData.param.offset = offset;
    updates[1].updateData.param.size = sizeof value;
    updates[2].updateData.isEnabled = enabled;
    codes[0] = cudaGraphKernelNodeUpdatesApply(updates, 3);
}

__global__ void launch_graph(cudaGraphExec_t exec, Into stream, int* codes) {
    codes[0] = cudaGraphLaunch(exec, stream == Into::tail     ? cudaStreamGraphTailLaunch
                                     : stream == Into::forget ? cudaStreamGraphFireAndForget
                                                              : cudaStreamGraphFireAndForgetAsSibling);
    codes[1] = cudaGetCurrentGraphExec() != nullptr;
}

__global__ void repeat_graph(int* p, int* codes) {
    if (--*p > 0) codes[0] = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}
