// The kernels of the solver: side x side values with zeros around them, stored with that border.
#pragma once

#include <cudag/condition.hpp>

#include <cuda_runtime.h>

namespace jacobi {

/// Each thread works on this many neighbours in a row, so that few threads report a change.
inline constexpr int values_per_thread = 4;

/// Where the solver is. In device memory.
struct Progress {
    unsigned sweeps; ///< how many are done
    float change;    ///< the largest change of a value in the last one
    int change_bits; ///< that of the sweep under way; the bits of floats from 0 are ordered as the floats
};

/// One Jacobi sweep: from `even` to `odd` if an even number of sweeps is done, else back.
__global__ void sweep(Progress* progress, const float* right_side, float* even, float* odd, int side);

/// Ends a sweep. One thread.
__global__ void end_sweep(Progress* progress);

/// The same; `again` becomes 1 as long as values change by more than `tolerance` and `limit` sweeps are not done, then
/// 0.
__global__ void end_sweep_and_decide(Progress* progress, float tolerance, unsigned limit, cudag::Condition again);

} // namespace jacobi
