// Kernels of relocatable device code: functions, variables, constants, shared memory and classes of another file.
#include "parts.cuh"

#include <cstdio>

static __device__ int own = 1;

__global__ void all(int* out) {
    __shared__ int mine[64];
    mine[threadIdx.x] = 1000 + threadIdx.x;
    __syncthreads();
    const int sum = sum_of_block(static_cast<int>(threadIdx.x)); // must not touch `mine`
    const Square square(4);
    const Shape* shape = &square;
    if (threadIdx.x == 0) {
        out[0] = sum;
        out[1] = mine[63];
        out[2] = weighted(3) + twice(2) + own;
        out[3] = shape->area();
        out[4] = total + weights[0];
        total += 1;
    }
    out[5 + threadIdx.x % 2] = ended_early(32);
}

int main() {
    int* out = nullptr;
    cudaMallocManaged(&out, 8 * sizeof(int));
    const int increased = 200;
    cudaError_t error = cudaMemcpyToSymbol(total, &increased, sizeof increased);
    all<<<2, 64>>>(out);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    int last = 0;
    if (error == cudaSuccess) error = cudaMemcpyFromSymbol(&last, total, sizeof last);
    const int expected[] = {2016, 1063, 23 + 4 + 1, 16};
    bool right = error == cudaSuccess && last == 202 && out[4] >= 205;
    for (int i = 0; i < 4; ++i)
        right = right && out[i] == expected[i];
    std::printf("%s %d %d %d %d %d, %d\n", cudaGetErrorName(error), out[0], out[1], out[2], out[3], out[4], last);
    return right ? 0 : 1;
}
