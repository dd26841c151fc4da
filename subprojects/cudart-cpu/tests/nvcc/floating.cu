// Floating-point instructions: exact where PTX defines each bit, within its stated error elsewhere.
#include "instructions.hpp"

#include <cfenv>
#include <limits>

namespace {

const float inf = std::numeric_limits<float>::infinity();
const float tiny = std::numeric_limits<float>::denorm_min();
const float largest = std::numeric_limits<float>::max();
const std::vector<float> floats{0.0f,        -0.0f,  1.0f,    -1.0f, 0.1f,    3.14159f, -2.5f, 1e-20f, 1e20f,
                                16777217.0f, 1e-38f, -3e-39f, tiny,  largest, -largest, inf,   -inf};
const std::vector<double> doubles{0.0,
                                  -0.0,
                                  1.0,
                                  -1.0,
                                  0.1,
                                  3.14159,
                                  -2.5,
                                  1e-200,
                                  1e200,
                                  9007199254740993.0,
                                  1e-308,
                                  5e-324,
                                  1.7976931348623157e308};
const std::vector<int> none{0};

INSTRUCTION2(AddRz, "add.rz.f32 %0, %1, %2;", float, "f", float, "f", float, "f")
INSTRUCTION2(AddRm, "add.rm.f32 %0, %1, %2;", float, "f", float, "f", float, "f")
INSTRUCTION2(AddRp, "add.rp.f32 %0, %1, %2;", float, "f", float, "f", float, "f")
INSTRUCTION2(AddFtz, "add.ftz.f32 %0, %1, %2;", float, "f", float, "f", float, "f")
INSTRUCTION2(AddSat, "add.sat.f32 %0, %1, %2;", float, "f", float, "f", float, "f")
INSTRUCTION2(MulRn, "mul.rn.f32 %0, %1, %2;", float, "f", float, "f", float, "f")
INSTRUCTION2(MulRp, "mul.rp.f32 %0, %1, %2;", float, "f", float, "f", float, "f")
INSTRUCTION2(DivRn, "div.rn.f32 %0, %1, %2;", float, "f", float, "f", float, "f")
INSTRUCTION2(DivRz, "div.rz.f32 %0, %1, %2;", float, "f", float, "f", float, "f")
INSTRUCTION3(FmaRn, "fma.rn.f32 %0, %1, %2, %3;", float, "f", float, "f", float, "f", float, "f")
INSTRUCTION3(FmaRm, "fma.rm.f32 %0, %1, %2, %3;", float, "f", float, "f", float, "f", float, "f")
INSTRUCTION1(SqrtRn, "sqrt.rn.f32 %0, %1;", float, "f", float, "f")
INSTRUCTION1(SqrtRp, "sqrt.rp.f32 %0, %1;", float, "f", float, "f")
INSTRUCTION1(RcpRn, "rcp.rn.f32 %0, %1;", float, "f", float, "f")
INSTRUCTION2(Min, "min.f32 %0, %1, %2;", float, "f", float, "f", float, "f")
INSTRUCTION2(Max, "max.f32 %0, %1, %2;", float, "f", float, "f", float, "f")
INSTRUCTION2(MinNaN, "min.NaN.f32 %0, %1, %2;", float, "f", float, "f", float, "f")
INSTRUCTION2(CopySign, "copysign.f32 %0, %1, %2;", float, "f", float, "f", float, "f")
INSTRUCTION1(AbsF, "abs.f32 %0, %1;", float, "f", float, "f")
INSTRUCTION1(NegF, "neg.f32 %0, %1;", float, "f", float, "f")
INSTRUCTION1(Subnormal, "{ .reg .pred p; testp.subnormal.f32 p, %1; selp.u32 %0, 1, 0, p; }", unsigned, "r", float, "f")
INSTRUCTION2(AddD, "add.rn.f64 %0, %1, %2;", double, "d", double, "d", double, "d")
INSTRUCTION2(MulDRz, "mul.rz.f64 %0, %1, %2;", double, "d", double, "d", double, "d")
INSTRUCTION3(FmaD, "fma.rn.f64 %0, %1, %2, %3;", double, "d", double, "d", double, "d", double, "d")
INSTRUCTION2(DivD, "div.rn.f64 %0, %1, %2;", double, "d", double, "d", double, "d")
INSTRUCTION1(SqrtD, "sqrt.rn.f64 %0, %1;", double, "d", double, "d")

/// Of results that are no NaN: NaN has other bits on the host.
template <class T>
T canonical(T value) {
    if (value == value) return value;
    if constexpr (sizeof(T) == 4) {
        const unsigned bits = 0x7FFFFFFF;
        std::memcpy(&value, &bits, 4);
    }
    return value;
}

template <class T, class F>
T in_mode(int mode, F compute) {
    const int before = std::fegetround();
    std::fesetround(mode);
    volatile T result = compute();
    std::fesetround(before);
    return result;
}

float flushed(float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

/// Skips pairs whose result is NaN.
template <class F>
std::vector<std::pair<float, float>> pairs(F compute) {
    std::vector<std::pair<float, float>> all;
    for (const float a : floats)
        for (const float b : floats)
            if (compute(a, b) == compute(a, b)) all.emplace_back(a, b);
    return all;
}

template <class Op, class F>
void check_pairs(const char* name, F compute) {
    for (const float a : floats) {
        std::vector<float> bs;
        for (const float b : floats) {
            const float result = compute(a, b);
            if (result == result) bs.push_back(b);
        }
        check_instruction<Op>(name, {a}, bs, none, [=](float x, float y, int) { return compute(x, y); });
    }
}

/// nvcc unrolls the loop, over addresses that fall.
template <class T>
__global__ void sum_backwards(const T* values, T offset, int n, T* sum) {
    T total = 0;
    for (int i = n - 1; i >= 0; --i)
        total += (offset + values[i]) - offset;
    *sum = total;
}

template <class T>
void check_sums_backwards(const std::string& what) {
    for (const int n : {1, 2, 3, 4, 5, 8, 16, 64, 1000}) {
        std::vector<T> values(n);
        for (int i = 0; i < n; ++i)
            values[i] = static_cast<T>(i * 37 % 101 - 50) / 64;
        volatile T sum = 0; // each step is rounded
        for (int i = n - 1; i >= 0; --i) {
            volatile T term = static_cast<T>(262144) + values[i];
            term = term - static_cast<T>(262144);
            sum = sum + term;
        }
        const Device<T> in(values);
        const Device<T> out(1);
        sum_backwards<<<1, 1>>>(in.get(), static_cast<T>(262144), n, out.get());
        expect_same<T>(out.read(), {sum}, what + " of " + std::to_string(n));
    }
}

} // namespace

KERNEL_TEST("sums and products of floats in each rounding mode") {
    const auto sum = [](int mode) {
        return [=](float a, float b) {
            return in_mode<float>(mode, [&] {
                const volatile float x = a, y = b;
                return x + y;
            });
        };
    };
    check_pairs<AddRz>("add.rz", sum(FE_TOWARDZERO));
    check_pairs<AddRm>("add.rm", sum(FE_DOWNWARD));
    check_pairs<AddRp>("add.rp", sum(FE_UPWARD));
    check_pairs<AddFtz>("add.ftz", [](float a, float b) { return flushed(flushed(a) + flushed(b)); });
    check_pairs<AddSat>("add.sat", [](float a, float b) {
        const float s = a + b;
        return s > 0 ? (s < 1 ? s : 1.0f) : (s == s ? 0.0f : s);
    });
    check_pairs<MulRn>("mul.rn", [](float a, float b) { return a * b; });
    check_pairs<MulRp>("mul.rp", [](float a, float b) {
        return in_mode<float>(FE_UPWARD, [&] {
            const volatile float x = a, y = b;
            return x * y;
        });
    });
}

KERNEL_TEST("quotients, roots and fused products of floats") {
    check_pairs<DivRn>("div.rn", [](float a, float b) { return a / b; });
    check_pairs<DivRz>("div.rz", [](float a, float b) {
        return in_mode<float>(FE_TOWARDZERO, [&] {
            const volatile float x = a, y = b;
            return x / y;
        });
    });
    const std::vector<float> finite{0.0f, 1.0f, -1.0f, 0.1f, 3.14159f, -2.5f, 1e-20f, 1e18f, 16777217.0f, 1e-38f};
    check_instruction<FmaRn>("fma.rn", finite, finite, finite,
                             [](float a, float b, float c) { return std::fma(a, b, c); });
    check_instruction<FmaRm>("fma.rm", finite, finite, finite, [](float a, float b, float c) {
        return in_mode<float>(FE_DOWNWARD, [&] {
            const volatile float x = a, y = b, z = c;
            return std::fma(x, y, z);
        });
    });
    const std::vector<float> positive{0.0f, 1.0f, 2.0f, 0.1f, 3.0f, 1e-20f, 1e20f, tiny, largest, inf};
    check_instruction<SqrtRn>("sqrt.rn", positive, none, none, [](float a, int, int) { return std::sqrt(a); });
    check_instruction<SqrtRp>("sqrt.rp", positive, none, none, [](float a, int, int) {
        return in_mode<float>(FE_UPWARD, [&] {
            const volatile float x = a;
            return std::sqrt(x);
        });
    });
    check_instruction<RcpRn>("rcp.rn", floats, none, none, [](float a, int, int) { return 1.0f / a; });
}

KERNEL_TEST("extremes and signs of floats") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> all = floats;
    all.push_back(nan);
    const auto less = [](float a, float b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); };
    check_instruction<Min>("min", all, all, none, [=](float a, float b, int) {
        return a != a ? canonical(b) : b != b ? a : less(b, a) ? b : a;
    });
    check_instruction<Max>("max", all, all, none, [=](float a, float b, int) {
        return a != a ? canonical(b) : b != b ? a : less(a, b) ? b : a;
    });
    check_instruction<MinNaN>("min.NaN", all, all, none, [=](float a, float b, int) {
        return a != a || b != b ? canonical(nan) : less(b, a) ? b : a;
    });
    check_instruction<CopySign>("copysign", floats, floats, none,
                                [](float a, float b, int) { return std::copysign(b, a); });
    check_instruction<AbsF>("abs", floats, none, none, [](float a, int, int) { return std::fabs(a); });
    check_instruction<NegF>("neg", floats, none, none, [](float a, int, int) { return -a; });
    check_instruction<Subnormal>("testp.subnormal", floats, none, none,
                                 [](float a, int, int) { return std::fpclassify(a) == FP_SUBNORMAL ? 1u : 0u; });
}

KERNEL_TEST("doubles") {
    check_instruction<AddD>("add.f64", doubles, doubles, none, [](double a, double b, int) { return a + b; });
    check_instruction<MulDRz>("mul.rz.f64", doubles, doubles, none, [](double a, double b, int) {
        return in_mode<double>(FE_TOWARDZERO, [&] {
            const volatile double x = a, y = b;
            return x * y;
        });
    });
    check_instruction<FmaD>("fma.f64", doubles, doubles, {0.0, 1.0, -0.1, 1e100},
                            [](double a, double b, double c) { return std::fma(a, b, c); });
    check_instruction<DivD>("div.f64", doubles, {1.0, -3.0, 0.1, 1e200, 1e-308}, none,
                            [](double a, double b, int) { return a / b; });
    check_instruction<SqrtD>("sqrt.f64", {0.0, 1.0, 2.0, 0.1, 1e300, 5e-324}, none, none,
                             [](double a, int, int) { return std::sqrt(a); });
}

template <class F>
__global__ void map_floats(int n, const float* in, float* out, F f) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = f(in[i]);
}

template <class F, class G>
static void check_function(const char* name, float from, float to, double relative, F f, G reference) {
    std::vector<float> in;
    std::vector<float> expected;
    for (int i = 0; i <= 1000; ++i) {
        in.push_back(from + (to - from) * static_cast<float>(i) / 1000.0f);
        expected.push_back(static_cast<float>(reference(static_cast<double>(in.back()))));
    }
    const Device<float> device(in);
    const Device<float> out(in.size());
    map_floats<<<4, 256>>>(1001, device.get(), out.get(), f);
    expect_near(out.read(), expected, relative, name);
}

KERNEL_TEST("functions of floats, and their approximations") {
    check_function(
        "sinf", -100, 100, 3e-7, [] __device__(float x) { return sinf(x); }, [](double x) { return std::sin(x); });
    check_function(
        "cosf", 1e4f, 1e6f, 3e-7, [] __device__(float x) { return cosf(x); }, [](double x) { return std::cos(x); });
    check_function(
        "expf", -50, 50, 3e-7, [] __device__(float x) { return expf(x); }, [](double x) { return std::exp(x); });
    check_function(
        "logf", 1e-3f, 1e3f, 3e-7, [] __device__(float x) { return logf(x); }, [](double x) { return std::log(x); });
    check_function(
        "powf", 0.1f, 20, 1e-6, [] __device__(float x) { return powf(x, 2.3f); },
        [](double x) { return std::pow(x, 2.3f); });
    check_function(
        "tanhf", -5, 5, 1e-6, [] __device__(float x) { return tanhf(x); }, [](double x) { return std::tanh(x); });
    check_function(
        "erff", -3, 3, 1e-6, [] __device__(float x) { return erff(x); }, [](double x) { return std::erf(x); });
    check_function(
        "rsqrtf", 0.01f, 100, 3e-7, [] __device__(float x) { return rsqrtf(x); },
        [](double x) { return 1 / std::sqrt(x); });
    check_function(
        "__sinf", -3, 3, 1e-6, [] __device__(float x) { return __sinf(x); }, [](double x) { return std::sin(x); });
    check_function(
        "__expf", -5, 5, 1e-6, [] __device__(float x) { return __expf(x); }, [](double x) { return std::exp(x); });
    check_function(
        "__log2f", 0.1f, 50, 1e-6, [] __device__(float x) { return __log2f(x); },
        [](double x) { return std::log2(x); });
    check_function(
        "__fdividef", 0.1f, 50, 1e-6, [] __device__(float x) { return __fdividef(3.0f, x); },
        [](double x) { return 3 / x; });
    check_function(
        "sin(double)", -100, 100, 1e-7,
        [] __device__(float x) { return static_cast<float>(sin(static_cast<double>(x))); },
        [](double x) { return std::sin(x); });
    check_function(
        "exp(double)", -5, 5, 1e-7, [] __device__(float x) { return static_cast<float>(exp(static_cast<double>(x))); },
        [](double x) { return std::exp(x); });
}

KERNEL_TEST("sums in order, over addresses that fall") {
    check_sums_backwards<float>("floats");
    check_sums_backwards<double>("doubles");
}
