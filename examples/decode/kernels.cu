// The kernels of the decoder. None needs shared memory or a barrier, so they run under both runtimes.
#include "kernels.hpp"

namespace decode {
namespace {

__device__ inline int this_thread() {
    return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__device__ inline int limit(int value) {
    return min(max(value, -127), 127);
}

__device__ inline int dot(const std::int8_t* row, const int* in, int columns) {
    int sum = 0;
    for (int i = 0; i < columns; ++i) {
        sum += row[i] * in[i];
    }
    return sum;
}

} // namespace

__global__ void embed(const int* tokens, const std::int8_t* token_table, const std::int8_t* position_table, int* x,
                      int position) {
    const int i = this_thread();
    if (i < width) {
        x[i] = 2 * token_table[tokens[position] * width + i] + position_table[position * width + i];
    }
}

__global__ void project(const int* x, const std::int8_t* matrix, int* query, int* keys, int* values, int position) {
    const int i = this_thread();
    if (i < 3 * width) {
        int* const out = i < width ? query : (i < 2 * width ? keys : values) + position * width;
        out[i % width] = limit(dot(matrix + i * width, x, width) / 128);
    }
}

__global__ void weigh(const int* query, const int* keys, int* weights, int position) {
    const int i = this_thread();
    const int head = i / max_positions;
    const int at = i % max_positions;
    if (head < heads && at <= position) {
        int fit = 0;
        for (int column = head * head_width; column < (head + 1) * head_width; ++column) {
            fit += query[column] * keys[at * width + column];
        }
        weights[i] = 1 << min(max(fit / 1024 + 6, 0), 12);
    }
}

__global__ void mix(const int* weights, const int* values, int* out, int position) {
    const int i = this_thread();
    if (i < width) {
        const int* const row = weights + i / head_width * max_positions;
        int sum = 0;
        int sum_of_weights = 0;
        for (int at = 0; at <= position; ++at) {
            sum += row[at] * values[at * width + i];
            sum_of_weights += row[at];
        }
        out[i] = sum / sum_of_weights;
    }
}

__global__ void add_product(const int* in, const std::int8_t* matrix, int* x, int columns) {
    const int i = this_thread();
    if (i < width) {
        x[i] = limit((x[i] + limit(dot(matrix + i * columns, in, columns) / 256)) * 3 / 4);
    }
}

__global__ void expand(const int* x, const std::int8_t* matrix, int* out) {
    const int i = this_thread();
    if (i < hidden) {
        out[i] = limit(max(dot(matrix + i * width, x, width), 0) / 512);
    }
}

__global__ void rate(const int* x, const std::int8_t* matrix, unsigned long long* best) {
    const int token = this_thread();
    if (token < vocabulary) {
        // The rating, made positive, then the token, so that the first of equals wins.
        const unsigned rating = static_cast<unsigned>(dot(matrix + token * width, x, width)) + 0x80000000U;
        const auto order = static_cast<unsigned>(vocabulary - 1 - token);
        atomicMax(best, static_cast<unsigned long long>(rating) << 32 | order);
    }
}

__global__ void pick(unsigned long long* best, int* tokens, int position) {
    tokens[position + 1] = vocabulary - 1 - static_cast<int>(*best & 0xFFFFFFFFU);
    *best = 0;
}

} // namespace decode
