// CUDA 12's own names for the functions with edge data or a location of memory.
#pragma once

#include <cuda_runtime_api.h>

#if CUDART_VERSION < 13000
#define cudaMemAdvise cudaMemAdvise_v2
#define cudaMemPrefetchAsync cudaMemPrefetchAsync_v2
#define cudaGraphAddNode cudaGraphAddNode_v2
#define cudaGraphGetEdges cudaGraphGetEdges_v2
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_v2
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_v2
#define cudaGraphAddDependencies cudaGraphAddDependencies_v2
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_v2
#undef cudaStreamGetCaptureInfo
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v3
#undef cudaStreamUpdateCaptureDependencies
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_v2
#endif
