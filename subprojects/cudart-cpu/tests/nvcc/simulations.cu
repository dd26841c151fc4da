// Bodies that attract each other, stencils with halos, paths that a random walk takes.
#include "kernel_test.hpp"

namespace {

constexpr float softening = 0.01f;

__global__ void accelerate(const float4* bodies, float3* accelerations, int n) {
    extern __shared__ float4 others[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 body = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0, 0, 0);
    for (int base = 0; base < n; base += blockDim.x) {
        const int other = base + threadIdx.x;
        others[threadIdx.x] = other < n ? bodies[other] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (unsigned k = 0; k < blockDim.x; ++k) {
            const float dx = others[k].x - body.x;
            const float dy = others[k].y - body.y;
            const float dz = others[k].z - body.z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            const float scale = others[k].w * inverse * inverse * inverse;
            sum.x += dx * scale;
            sum.y += dy * scale;
            sum.z += dz * scale;
        }
        __syncthreads();
    }
    if (i < n) accelerations[i] = sum;
}

constexpr int radius = 3;
__constant__ float weights[2 * radius + 1] = {0.05f, 0.1f, 0.2f, 0.3f, 0.2f, 0.1f, 0.05f};

__global__ void stencil(const float* in, float* out, int n) {
    __shared__ float window[128 + 2 * radius];
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    const int local = threadIdx.x + radius;
    window[local] = at < n ? in[at] : 0;
    if (threadIdx.x < radius) {
        window[local - radius] = at >= radius ? in[at - radius] : 0;
        window[local + blockDim.x] = at + blockDim.x < n ? in[at + blockDim.x] : 0;
    }
    __syncthreads();
    if (at >= n) return;
    float sum = 0;
#pragma unroll
    for (int k = -radius; k <= radius; ++k)
        sum = __fmaf_rn(weights[k + radius], window[local + k], sum);
    out[at] = sum;
}

__global__ void heat(const double* in, double* out, int nx, int ny) {
    __shared__ double cell[18][18];
    const int x = blockIdx.x * 16 + threadIdx.x;
    const int y = blockIdx.y * 16 + threadIdx.y;
    const int lx = threadIdx.x + 1;
    const int ly = threadIdx.y + 1;
    const auto at = [=](int column, int row) {
        return column < 0 || row < 0 || column >= nx || row >= ny ? 0.0 : in[row * nx + column];
    };
    cell[ly][lx] = at(x, y);
    if (threadIdx.x == 0) cell[ly][0] = at(x - 1, y);
    if (threadIdx.x == 15) cell[ly][17] = at(x + 1, y);
    if (threadIdx.y == 0) cell[0][lx] = at(x, y - 1);
    if (threadIdx.y == 15) cell[17][lx] = at(x, y + 1);
    __syncthreads();
    if (x < nx && y < ny)
        out[y * nx + x] = 0.25 * ((cell[ly][lx - 1] + cell[ly][lx + 1]) + (cell[ly - 1][lx] + cell[ly + 1][lx]));
}

__device__ __host__ unsigned hash(unsigned x) {
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    return x ^ x >> 16;
}

__global__ void estimate_pi(unsigned long long* hits, int each) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned inside = 0;
    for (int k = 0; k < each; ++k) {
        const unsigned a = hash(i * 7919u + k);
        const unsigned x = a & 0xFFFF;
        const unsigned y = a >> 16;
        inside +=
            static_cast<unsigned long long>(x) * x + static_cast<unsigned long long>(y) * y < 0x100000000ull ? 1 : 0;
    }
    inside = __reduce_add_sync(0xFFFFFFFF, inside);
    if (threadIdx.x % 32 == 0) atomicAdd(hits, static_cast<unsigned long long>(inside));
}

} // namespace

KERNEL_TEST("bodies that attract each other") {
    const int n = 300;
    Numbers numbers(3);
    std::vector<float4> bodies(n);
    for (float4& body : bodies)
        body = make_float4(numbers.fraction(), numbers.fraction(), numbers.fraction(), numbers.fraction());
    const Device<float4> device(bodies);
    const Device<float3> out(n);
    accelerate<<<3, 128, 128 * sizeof(float4)>>>(device.get(), out.get(), n);
    const std::vector<float3> got = out.read();
    std::vector<double> expected;
    std::vector<double> flat;
    for (int i = 0; i < n; ++i) {
        double sum[3] = {0, 0, 0};
        for (const float4& other : bodies) {
            const double d[3] = {other.x - bodies[i].x, other.y - bodies[i].y, other.z - bodies[i].z};
            const double inverse = 1 / std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening);
            for (int k = 0; k < 3; ++k)
                sum[k] += d[k] * other.w * inverse * inverse * inverse;
        }
        expected.insert(expected.end(), {sum[0], sum[1], sum[2]});
        flat.insert(flat.end(), {got[i].x, got[i].y, got[i].z});
    }
    expect_near(flat, expected, 1e-4, "accelerations");
}

KERNEL_TEST("stencil with a halo in shared memory") {
    const int n = 1000;
    std::vector<float> in(n);
    for (int i = 0; i < n; ++i)
        in[i] = static_cast<float>(i % 37) * 0.7f;
    const Device<float> device(in);
    const Device<float> out(n);
    stencil<<<8, 128>>>(device.get(), out.get(), n);
    const float w[] = {0.05f, 0.1f, 0.2f, 0.3f, 0.2f, 0.1f, 0.05f};
    std::vector<float> expected(n);
    for (int i = 0; i < n; ++i)
        for (int k = -radius; k <= radius; ++k)
            expected[i] = std::fma(w[k + radius], i + k < 0 || i + k >= n ? 0.0f : in[i + k], expected[i]);
    expect_same(out.read(), expected, "stencil");
}

KERNEL_TEST("heat in two dimensions, step by step") {
    const int nx = 50;
    const int ny = 40;
    std::vector<double> now(nx * ny);
    for (int i = 0; i < nx * ny; ++i)
        now[i] = i % 91 == 0 ? 100.0 : 0.0;
    const Device<double> a(now);
    const Device<double> b(now.size());
    std::vector<double> next(now.size());
    for (int step = 0; step < 20; ++step) {
        const Device<double>& from = step % 2 == 0 ? a : b;
        const Device<double>& to = step % 2 == 0 ? b : a;
        heat<<<dim3(4, 3), dim3(16, 16)>>>(from.get(), to.get(), nx, ny);
        const auto at = [&](int x, int y) { return x < 0 || y < 0 || x >= nx || y >= ny ? 0.0 : now[y * nx + x]; };
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x)
                next[y * nx + x] = 0.25 * ((at(x - 1, y) + at(x + 1, y)) + (at(x, y - 1) + at(x, y + 1)));
        now.swap(next);
    }
    expect_same(a.read(), now, "heat");
}

KERNEL_TEST("random points in a circle") {
    const Device<unsigned long long> hits(1);
    estimate_pi<<<20, 128>>>(hits.get(), 50);
    unsigned long long expected = 0;
    for (unsigned i = 0; i < 20 * 128; ++i)
        for (unsigned k = 0; k < 50; ++k) {
            const unsigned a = hash(i * 7919u + k);
            const unsigned long long x = a & 0xFFFF;
            const unsigned long long y = a >> 16;
            expected += x * x + y * y < 0x100000000ull ? 1 : 0;
        }
    expect_same<unsigned long long>(hits.read(), {expected}, "hits");
}
