// The kernels of the conjugate gradient method, for a grid of side x side values with zeros around it.
#pragma once

#include <cudag/condition.hpp>

#include <cuda_runtime.h>

namespace cg {

/// Sums are made of this many parts, each by one thread, so that they do not depend on the order of threads.
inline constexpr int parts = 256;

/// The scalars of the method. In device memory.
struct State {
    double square;     ///< of the residual: r * r
    double first;      ///< `square` before the first iteration
    double step;       ///< the length of the last step
    double turn;       ///< the part of the last direction in the next one
    unsigned finished; ///< number of iterations
};

/// residual = direction = right; part[i] = a part of the residual's square.
__global__ void start(int side, const double* right, double* residual, double* direction, double* part);

/// Takes the parts of the residual's square. One thread.
__global__ void begin_solution(const double* part, State* state);

/// product = A * direction, where A is the five-point stencil; part[i] = a part of direction * product.
__global__ void multiply(int side, const double* direction, double* product, double* part);

/// Computes the length of the step. One thread.
__global__ void measure(const double* part, State* state);

/// x += step * direction, residual -= step * product; part[i] = a part of the residual's square.
__global__ void advance(int side, const State* state, const double* direction, const double* product, double* x,
                        double* residual, double* part);

/// Ends the iteration. One thread.
__global__ void end_iteration(const double* part, State* state);

/// Ends the iteration, and sets `again` to 0 if the residual is `tolerance` times its first length, or after `most`
/// iterations. One thread.
__global__ void end_and_decide(const double* part, double tolerance, unsigned most, State* state,
                               cudag::Condition again);

/// direction = residual + turn * direction.
__global__ void turn(int side, const State* state, const double* residual, double* direction);

} // namespace cg
