// Half precision, both kinds: each result rounded once.
#include "kernel_test.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace {

/// A value of the format, in a double.
template <int Mantissa, int MinExponent>
double rounded_to(double value) {
    if (value == 0 || !std::isfinite(value)) return value;
    int exponent = 0;
    std::frexp(value, &exponent);
    const int unit = std::max(exponent - 1 - Mantissa, MinExponent - Mantissa);
    return std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
}
double to_f16(double value) {
    const double result = rounded_to<10, -14>(value);
    return std::fabs(result) > 65504 ? std::copysign(INFINITY, value) : result;
}
double to_bf16(double value) {
    const double result = rounded_to<7, -126>(value);
    return std::fabs(result) > 3.3895313892515355e38 ? std::copysign(INFINITY, value) : result;
}

const std::vector<float> numbers{0.0f,     1.0f,     -1.0f, 0.1f,  0.333f, -2.7f,   100.5f,
                                 1000.25f, 60000.0f, 1e-4f, 6e-8f, 3e-5f,  -0.0007f};

template <class H>
struct Of;
template <>
struct Of<__half> {
    static __device__ __half from(float x) { return __float2half_rn(x); }
    static __device__ float to(__half x) { return __half2float(x); }
    static double round(double x) { return to_f16(x); }
};
template <>
struct Of<__nv_bfloat16> {
    static __device__ __nv_bfloat16 from(float x) { return __float2bfloat16_rn(x); }
    static __device__ float to(__nv_bfloat16 x) { return __bfloat162float(x); }
    static double round(double x) { return to_bf16(x); }
};

constexpr int results = 8;

template <class H>
__global__ void arithmetic(int n, const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n) return;
    const H a = Of<H>::from(in[i / n]);
    const H b = Of<H>::from(in[i % n]);
    float* const to = out + i * results;
    to[0] = Of<H>::to(a);
    to[1] = Of<H>::to(__hadd(a, b));
    to[2] = Of<H>::to(__hsub(a, b));
    to[3] = Of<H>::to(__hmul(a, b));
    to[4] = Of<H>::to(__hfma(a, b, b));
    to[5] = Of<H>::to(__hmin(a, b));
    to[6] = __hlt(a, b) ? 1.0f : 0.0f;
    to[7] = Of<H>::to(__hneg(a));
}

template <class H>
void check_arithmetic(const char* name) {
    const int n = static_cast<int>(numbers.size());
    const Device<float> in(numbers);
    const Device<float> out(static_cast<std::size_t>(n * n * results));
    arithmetic<H><<<(n * n + 63) / 64, 64>>>(n, in.get(), out.get());
    std::vector<float> expected;
    for (const float x : numbers)
        for (const float y : numbers) {
            const double a = Of<H>::round(x);
            const double b = Of<H>::round(y);
            // fma: a * b is exact in a long double, and its sum nearly so.
            const auto fused = static_cast<double>(static_cast<long double>(a) * b + b);
            for (const double value : {a, Of<H>::round(a + b), Of<H>::round(a - b), Of<H>::round(a * b),
                                       Of<H>::round(fused), a < b ? a : b, a < b ? 1.0 : 0.0, -a})
                expected.push_back(static_cast<float>(value));
        }
    const std::vector<float> got = out.read();
    for (std::size_t i = 0; i < got.size(); ++i)
        if (got[i] != expected[i])
            expect_same<float>({got[i]}, {expected[i]},
                               std::string(name) + " operation " + std::to_string(i % results) + " of pair " +
                                   std::to_string(i / results));
}

__global__ void pairs(float* out) {
    const __half2 a = __floats2half2_rn(1.5f, -2.0f);
    const __half2 b = __floats2half2_rn(0.25f, 3.0f);
    const float2 sum = __half22float2(__hadd2(a, b));
    const float2 product = __half22float2(__hfma2(a, b, a));
    const float2 swapped = __half22float2(__lowhigh2highlow(a));
    const __nv_bfloat162 c = __floats2bfloat162_rn(1.0f, 2.0f);
    const float2 wide = __bfloat1622float2(__hmul2(c, c));
    const float values[] = {sum.x,
                            sum.y,
                            product.x,
                            product.y,
                            swapped.x,
                            swapped.y,
                            wide.x,
                            wide.y,
                            __hgt2(a, b).x == __half(1.0f) ? 1.0f : 0.0f,
                            static_cast<float>(__half2int_rn(a.x))};
    for (int i = 0; i < 10; ++i)
        out[i] = values[i];
}

__global__ void add_halves(__half* sum, __half2* both, __nv_bfloat16* other) {
    atomicAdd(sum, __half(0.5f));
    atomicAdd(both, __floats2half2_rn(1.0f, 2.0f));
    atomicAdd(other, __nv_bfloat16(1.0f));
}

} // namespace

KERNEL_TEST("arithmetic of f16") {
    check_arithmetic<__half>("f16");
}
KERNEL_TEST("arithmetic of bf16") {
    check_arithmetic<__nv_bfloat16>("bf16");
}
KERNEL_TEST("pairs of halves") {
    const Device<float> out(10);
    pairs<<<1, 1>>>(out.get());
    expect_same<float>(out.read(), {1.75f, 1.0f, 1.875f, -8.0f, -2.0f, 1.5f, 1.0f, 4.0f, 1.0f, 2.0f}, "pairs");
}
KERNEL_TEST("atomic sums of halves") {
    const Device<unsigned> memory(std::vector<unsigned>{0, 0, 0});
    add_halves<<<2, 32>>>(reinterpret_cast<__half*>(memory.get()), reinterpret_cast<__half2*>(memory.get() + 1),
                          reinterpret_cast<__nv_bfloat16*>(memory.get() + 2));
    expect_same<unsigned>(memory.read(), {0x5000, 0x58005400, 0x4280}, "sums");
}
