// The kernels of the conjugate gradient method. None needs shared memory or a barrier, so they run under both runtimes.
#include "kernels.hpp"

namespace cg {
namespace {

__device__ inline int thread_index() {
    return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__device__ inline double sum_of(const double* part) {
    double sum = 0;
    for (int i = 0; i < parts; ++i)
        sum += part[i];
    return sum;
}

__device__ inline void finish(const double* part, State* state) {
    const double square = sum_of(part);
    state->turn = square / state->square;
    state->square = square;
    ++state->finished;
}

} // namespace

__global__ void start(int side, const double* right, double* residual, double* direction, double* part) {
    const int thread = thread_index();
    if (thread >= parts) return;
    double sum = 0;
    for (int i = thread; i < side * side; i += parts) {
        residual[i] = direction[i] = right[i];
        sum += right[i] * right[i];
    }
    part[thread] = sum;
}

__global__ void begin_solution(const double* part, State* state) {
    const double square = sum_of(part);
    *state = {square, square, 0, 0, 0};
}

__global__ void multiply(int side, const double* direction, double* product, double* part) {
    const int thread = thread_index();
    if (thread >= parts) return;
    double sum = 0;
    for (int i = thread; i < side * side; i += parts) {
        const int x = i % side, y = i / side;
        double value = 4 * direction[i];
        if (x > 0) value -= direction[i - 1];
        if (x + 1 < side) value -= direction[i + 1];
        if (y > 0) value -= direction[i - side];
        if (y + 1 < side) value -= direction[i + side];
        product[i] = value;
        sum += direction[i] * value;
    }
    part[thread] = sum;
}

__global__ void measure(const double* part, State* state) {
    state->step = state->square / sum_of(part);
}

__global__ void advance(int side, const State* state, const double* direction, const double* product, double* x,
                        double* residual, double* part) {
    const int thread = thread_index();
    if (thread >= parts) return;
    double sum = 0;
    for (int i = thread; i < side * side; i += parts) {
        x[i] += state->step * direction[i];
        residual[i] -= state->step * product[i];
        sum += residual[i] * residual[i];
    }
    part[thread] = sum;
}

__global__ void end_iteration(const double* part, State* state) {
    finish(part, state);
}

__global__ void end_and_decide(const double* part, double tolerance, unsigned most, State* state,
                               cudag::Condition again) {
    finish(part, state);
    const bool close = state->square <= tolerance * tolerance * state->first;
    again.set(close || state->finished >= most ? 0 : 1);
}

__global__ void turn(int side, const State* state, const double* residual, double* direction) {
    const int thread = thread_index();
    if (thread >= parts) return;
    for (int i = thread; i < side * side; i += parts)
        direction[i] = residual[i] + state->turn * direction[i];
}

} // namespace cg
