// What nvcc declares for kernels that change nodes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

cudaError_t cudaGraphKernelNodeSetParam(cudaGraphDeviceNode_t node, std::size_t offset, const void* value,
                                        std::size_t size);
cudaError_t cudaGraphKernelNodeSetEnabled(cudaGraphDeviceNode_t node, bool enable);
cudaError_t cudaGraphKernelNodeSetGridDim(cudaGraphDeviceNode_t node, dim3 grid);
