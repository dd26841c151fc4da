// Kernels that look at their cluster. Only NVIDIA's runtime has them: the CPU runtime runs block by block.
#pragma once

#include <cuda_runtime.h>

/// Writes how many blocks its cluster has in x.
__global__ void see_cluster(unsigned* blocks);
/// The same, compiled for clusters of 4.
__global__ void see_cluster_of_4(unsigned* blocks);
