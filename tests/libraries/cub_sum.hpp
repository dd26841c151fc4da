// CUB's sum of an array.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

/// With a null `temporary`, only says how many bytes that needs.
cudaError_t cub_sum(void* temporary, std::size_t& bytes, const float* in, float* out, int count, cudaStream_t stream);
