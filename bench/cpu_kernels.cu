// Kernels for the speed of nvcc's kernels on the CPU runtime.
#include "cpu_kernels.hpp"

__global__ void add_scaled(int n, float a, const float* x, float* y) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void multiply(int n, const float* a, const float* b, float* c) {
    const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int row = static_cast<int>(blockIdx.y);
    if (column >= n) return;
    float sum = 0;
    for (int i = 0; i < n; ++i)
        sum += a[row * n + i] * b[i * n + column];
    c[row * n + column] = sum;
}

__global__ void escape(int n, int limit, int* steps) {
    const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int row = static_cast<int>(blockIdx.y);
    if (column >= n) return;
    const float cx = 3.0f * static_cast<float>(column) / static_cast<float>(n) - 2.0f;
    const float cy = 2.0f * static_cast<float>(row) / static_cast<float>(n) - 1.0f;
    float x = 0;
    float y = 0;
    int step = 0;
    while (step < limit && x * x + y * y < 4.0f) {
        const float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        ++step;
    }
    steps[row * n + column] = step;
}

__global__ void meet(int count, int* out) {
    __shared__ int turn;
    for (int i = 0; i < count; ++i) {
        if (static_cast<int>(threadIdx.x) == i % static_cast<int>(blockDim.x)) turn = i;
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = count > 0 ? turn : 0;
}
