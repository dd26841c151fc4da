// Matrices: tiled products, transposes, and a product of a matrix and a vector by warps.
#include "kernel_test.hpp"

namespace {

constexpr int tile = 16;

template <int Tile>
__global__ void multiply(const float* a, const float* b, float* c, int n, int k, int m) {
    __shared__ float as[Tile][Tile];
    __shared__ float bs[Tile][Tile];
    const int row = blockIdx.y * Tile + threadIdx.y;
    const int column = blockIdx.x * Tile + threadIdx.x;
    float sum = 0;
    for (int step = 0; step < (k + Tile - 1) / Tile; ++step) {
        const int ak = step * Tile + threadIdx.x;
        const int bk = step * Tile + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < n && ak < k ? a[row * k + ak] : 0;
        bs[threadIdx.y][threadIdx.x] = bk < k && column < m ? b[bk * m + column] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < Tile; ++i)
            sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < m) c[row * m + column] = sum;
}

__global__ void transpose(const int* in, int* out, int width, int height) {
    __shared__ int block[32][33];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += blockDim.y)
        if (x < width && y + j < height) block[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += blockDim.y)
        if (x < height && y + j < width) out[(y + j) * height + x] = block[threadIdx.x][threadIdx.y + j];
}

__global__ void multiply_vector(const double* matrix, const double* vector, double* out, int rows, int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) return;
    double sum = 0;
    for (int i = lane; i < columns; i += 32)
        sum += matrix[row * columns + i] * vector[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xFFFFFFFF, sum, offset);
    if (lane == 0) out[row] = sum;
}

std::vector<float> random_floats(std::size_t count, unsigned seed) {
    Numbers numbers(seed);
    std::vector<float> values(count);
    for (float& value : values)
        value = numbers.fraction() - 0.5f;
    return values;
}

} // namespace

KERNEL_TEST("tiled product of matrices") {
    const int n = 70;
    const int k = 45;
    const int m = 53;
    const std::vector<float> a = random_floats(n * k, 1);
    const std::vector<float> b = random_floats(k * m, 2);
    const Device<float> da(a);
    const Device<float> db(b);
    const Device<float> dc(n * m);
    multiply<tile><<<dim3((m + tile - 1) / tile, (n + tile - 1) / tile), dim3(tile, tile)>>>(da.get(), db.get(),
                                                                                             dc.get(), n, k, m);
    std::vector<float> expected(n * m);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j)
            for (int s = 0; s < k; ++s)
                expected[i * m + j] += a[i * k + s] * b[s * m + j];
    expect_near(dc.read(), expected, 1e-5, "product");
}

KERNEL_TEST("transpose through shared memory") {
    const int width = 100;
    const int height = 75;
    std::vector<int> in(width * height);
    std::vector<int> expected(width * height);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            expected[x * height + y] = in[y * width + x] = y * 1000 + x;
    const Device<int> device(in);
    const Device<int> out(in.size());
    transpose<<<dim3(4, 3), dim3(32, 8)>>>(device.get(), out.get(), width, height);
    expect_same(out.read(), expected, "transposed");
}

KERNEL_TEST("product of a matrix and a vector, a warp a row") {
    const int rows = 37;
    const int columns = 101;
    std::vector<double> matrix(rows * columns);
    std::vector<double> vector(columns);
    for (std::size_t i = 0; i < matrix.size(); ++i)
        matrix[i] = static_cast<double>(i % 17) - 8;
    for (int i = 0; i < columns; ++i)
        vector[i] = i % 5;
    const Device<double> device(matrix);
    const Device<double> device_vector(vector);
    const Device<double> out(rows);
    multiply_vector<<<5, 256>>>(device.get(), device_vector.get(), out.get(), rows, columns);
    std::vector<double> expected(rows);
    for (int row = 0; row < rows; ++row)
        for (int i = 0; i < columns; ++i)
            expected[row] += matrix[row * columns + i] * vector[i];
    expect_same(out.read(), expected, "vector");
}
