// The kernels of the MPI example.
#pragma once

#include <cudag/condition.hpp>

#include <cuda_runtime.h>

namespace mpi_example {

/// x[i] = value, one element per thread.
__global__ void fill(int n, float value, float* x);

/// sum[i] = x[i] + y[i], one element per thread.
__global__ void add(int n, const float* x, const float* y, float* sum);

/// One step of Newton's method for x[i] = sqrt(a[i]); counts `*steps` up. `*change` becomes the largest change, as the
/// bits of a float. One thread.
__global__ void newton(int n, const float* a, float* x, int* change, int* steps);

/// `again` becomes whether `*change`, the bits of a float, is above `tolerance`. One thread.
__global__ void decide(cudag::Condition again, const int* change, float tolerance);

} // namespace mpi_example
