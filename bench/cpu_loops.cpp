// What the kernels of cpu_kernels.cu do, as loops.
#include "cpu_kernels.hpp"

void add_scaled_in_loops(int n, float a, const float* x, float* y) {
    for (int i = 0; i < n; ++i)
        y[i] = a * x[i] + y[i];
}

void multiply_in_loops(int n, const float* a, const float* b, float* c) {
    for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; ++column) {
            float sum = 0;
            for (int i = 0; i < n; ++i)
                sum += a[row * n + i] * b[i * n + column];
            c[row * n + column] = sum;
        }
}

void escape_in_loops(int n, int limit, int* steps) {
    for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; ++column) {
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
}
