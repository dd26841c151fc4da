// Device-side graph functions: a kernel's access to its own graph and to others.
#pragma once

#include <cuda_runtime_api.h>

#define cudaStreamGraphTailLaunch ((cudaStream_t)0x0100000000000000)
#define cudaStreamGraphFireAndForget ((cudaStream_t)0x0200000000000000)
#define cudaStreamGraphFireAndForgetAsSibling ((cudaStream_t)0x0300000000000000)

#pragma GCC visibility push(default)

extern "C" {

// cudaGraphLaunch is a host function; it detects calls from kernels.
cudaGraphExec_t cudaGetCurrentGraphExec();

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

cudaError_t cudaGraphKernelNodeSetParam(cudaGraphDeviceNode_t node, size_t offset, const void* value, size_t size);
cudaError_t cudaGraphKernelNodeSetEnabled(cudaGraphDeviceNode_t node, bool enable);
cudaError_t cudaGraphKernelNodeSetGridDim(cudaGraphDeviceNode_t node, dim3 gridDim);
cudaError_t cudaGraphKernelNodeUpdatesApply(const cudaGraphKernelNodeUpdate* updates, size_t updateCount);

} // extern "C"

#pragma GCC visibility pop

template <typename Value>
cudaError_t cudaGraphKernelNodeSetParam(cudaGraphDeviceNode_t node, size_t offset, const Value& value) {
    return cudaGraphKernelNodeSetParam(node, offset, &value, sizeof(Value));
}
