// What kernels may do to the graph that they run in.
#pragma once

#include <cuda_runtime_api.h>

extern "C" __attribute__((visibility("default"))) void cudaGraphSetConditional(cudaGraphConditionalHandle handle,
                                                                               unsigned int value);
