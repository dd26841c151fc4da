// A kernel that tells where it ran.
#pragma once

#include <cuda_runtime_api.h>

/// Raises `*greatest` to the greatest number of a multiprocessor that a block ran on. The blocks last long enough for
/// a grid of many to reach all multiprocessors that it may use.
__global__ void note_multiprocessors(int* greatest);
/// Sets `seen[number]` for each multiprocessor that runs a block; `seen` has a cell for each.
__global__ void mark_multiprocessor(int* seen);
