// Stands for code that knows nothing of cudag: it only gets a stream.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// out[i] = weight * (in[i - 1] + in[i] + in[i + 1]), with 0 beyond both ends.
__global__ void blur(int n, float weight, const float* in, float* out);

void blurred(cudaStream_t stream, int n, const float* in, float* out);

/// What `sum` needs beside its input, in bytes.
std::size_t scratch_for(int n);
void sum(cudaStream_t stream, int n, const float* in, float* out, void* scratch, std::size_t scratch_bytes);
