// Half precision, both kinds: each result rounded once.
#include "kernel_test.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

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

/// The value of a code; NaN for those that have none.
double value_of(unsigned code, bool e5m2) {
    const int mantissa_bits = e5m2 ? 2 : 3;
    const int exponent = static_cast<int>(code & 0x7F) >> mantissa_bits;
    const int mantissa = static_cast<int>(code) & ((1 << mantissa_bits) - 1);
    const double sign = code & 0x80 ? -1 : 1;
    if (e5m2 && exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
    if (!e5m2 && (code & 0x7F) == 0x7F) return NAN;
    const int bias = e5m2 ? 15 : 7;
    const double fraction = std::ldexp(mantissa, -mantissa_bits) + (exponent == 0 ? 0 : 1);
    return sign * std::ldexp(fraction, (exponent == 0 ? 1 : exponent) - bias);
}

/// The code with the nearest value, the even one of two; the largest number beyond it.
unsigned char nearest_code(double value, bool e5m2) {
    if (std::isnan(value)) return 0x7F;
    const unsigned largest = e5m2 ? 0x7B : 0x7E;
    unsigned best = 0;
    for (unsigned code = 1; code <= largest; ++code) {
        const double off = std::fabs(std::fabs(value) - value_of(code, e5m2));
        const double best_off = std::fabs(std::fabs(value) - value_of(best, e5m2));
        if (off < best_off || (off == best_off && code % 2 == 0)) best = code;
    }
    if (std::fabs(value) > value_of(largest, e5m2)) best = largest;
    return static_cast<unsigned char>(best | (std::signbit(value) ? 0x80 : 0));
}

/// Each float to both formats by itself and in pairs, and each pair with negative numbers cut off; then halves.
__global__ void to_fp8(int n, const float* in, unsigned char* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char* const to = out + 16 * i;
    const float2 two = make_float2(in[i], in[(i + 1) % n]);
    const __nv_fp8_e4m3 single4(two.x);
    const __nv_fp8_e5m2 single5(two.x);
    to[0] = single4.__x;
    to[1] = single5.__x;
    const auto split = [](unsigned short pair, unsigned char* into) {
        into[0] = static_cast<unsigned char>(pair);
        into[1] = static_cast<unsigned char>(pair >> 8);
    };
    split(__nv_cvt_float2_to_fp8x2(two, __NV_SATFINITE, __NV_E4M3), to + 2);
    split(__nv_cvt_float2_to_fp8x2(two, __NV_SATFINITE, __NV_E5M2), to + 4);
    const __half2 halves = __floats2half2_rn(two.x, two.y);
    split(__nv_fp8x2_e4m3(halves).__x, to + 6);
    split(__nv_fp8x2_e5m2(halves).__x, to + 8);
    to[10] = __nv_fp8_e4m3(static_cast<double>(two.x)).__x;
    to[11] = __nv_fp8_e5m2(__float2bfloat16_rn(two.x)).__x;
    unsigned short positive4 = 0, positive5 = 0;
#if __CUDA_ARCH__ >= 890
    asm("cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;" : "=h"(positive4) : "f"(two.y), "f"(two.x));
    asm("cvt.rn.satfinite.relu.e5m2x2.f16x2 %0, %1;"
        : "=h"(positive5)
        : "r"(*reinterpret_cast<const unsigned*>(&halves)));
#endif
    split(positive4, to + 12);
    split(positive5, to + 14);
}

/// Each code as a half, and as a float of four that are converted together.
__global__ void from_fp8(float* out) {
    const unsigned code = threadIdx.x;
    __nv_fp8x4_e4m3 four4;
    __nv_fp8x4_e5m2 four5;
    four4.__x = four5.__x = code << 16 | code;
    const __nv_fp8x2_storage_t pair = static_cast<unsigned short>(code << 8);
    out[4 * code] = __half2float(__ushort_as_half(__nv_cvt_fp8x2_to_halfraw2(pair, __NV_E4M3).y));
    out[4 * code + 1] = __half2float(__ushort_as_half(__nv_cvt_fp8x2_to_halfraw2(pair, __NV_E5M2).y));
    out[4 * code + 2] = static_cast<float4>(four4).z;
    out[4 * code + 3] = static_cast<float4>(four5).x;
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

KERNEL_TEST("floats, halves, doubles to numbers of 8 bits") {
    std::vector<float> in{0.0f,   -0.0f,  INFINITY, -INFINITY, NAN,    1e30f,
                          -1e30f, 1e-30f, -1e-30f,  463.0f,    464.0f, 465.0f};
    for (const bool e5m2 : {false, true})
        for (unsigned code = 0; code < 0x7F; ++code) {
            const auto here = static_cast<float>(value_of(code, e5m2));
            const auto middle = static_cast<float>((here + value_of(code + 1, e5m2)) / 2);
            if (!std::isfinite(middle)) continue;
            for (const float value : {here, middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e9f)})
                in.insert(in.end(), {value, -value});
        }
    const int n = static_cast<int>(in.size());
    const Device<float> device(in);
    const Device<unsigned char> out(16 * in.size());
    to_fp8<<<(n + 127) / 128, 128>>>(n, device.get(), out.get());
    std::vector<unsigned char> got = out.read();
    std::vector<unsigned char> expected;
    for (int i = 0; i < n; ++i) {
        const float x = in[i];
        const float y = in[(i + 1) % n];
        const auto half = [](float value) { return std::isnan(value) ? value : to_f16(value); };
        const auto positive = [](double value) { return value > 0 || std::isnan(value) ? value : 0.0; };
        expected.insert(expected.end(), {nearest_code(x, false), nearest_code(x, true)});
        for (const bool e5m2 : {false, true})
            expected.insert(expected.end(), {nearest_code(x, e5m2), nearest_code(y, e5m2)});
        for (const bool e5m2 : {false, true})
            expected.insert(expected.end(), {nearest_code(half(x), e5m2), nearest_code(half(y), e5m2)});
        expected.insert(expected.end(), {nearest_code(x, false), nearest_code(std::isnan(x) ? x : to_bf16(x), true)});
        expected.insert(expected.end(), {nearest_code(positive(x), false), nearest_code(positive(y), false)});
        expected.insert(expected.end(), {nearest_code(positive(half(x)), true), nearest_code(positive(half(y)), true)});
        // Converted by functions of the header, whose NaN may be another.
        if (std::isnan(x)) got[16 * i + 10] = expected[16 * i + 10];
        if (std::isnan(x)) got[16 * i + 11] = expected[16 * i + 11];
        int major = 0;
        int minor = 0;
        OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
        OK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
        if (10 * major + minor < 89) std::copy_n(expected.begin() + 16 * i + 12, 4, got.begin() + 16 * i + 12);
    }
    expect_same(got, expected, "fp8");
}

KERNEL_TEST("numbers of 8 bits to halves and floats") {
    const Device<float> out(4 * 256);
    from_fp8<<<1, 256>>>(out.get());
    const std::vector<float> got = out.read();
    for (unsigned code = 0; code < 256; ++code)
        for (unsigned i = 0; i < 4; ++i) {
            const auto expected = static_cast<float>(value_of(code, i % 2 == 1));
            if (std::isnan(expected))
                expect(std::isnan(got[4 * code + i]), "a NaN is lost");
            else
                expect_same<float>({got[4 * code + i]}, {expected}, "code " + std::to_string(code));
        }
}
