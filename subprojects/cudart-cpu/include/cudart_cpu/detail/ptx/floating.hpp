// Floating-point instructions: rounding modes, flushing, saturation, and what PTX says of NaN.
#pragma once

#include "values.hpp"

#include <cfenv>

namespace cudart_cpu::ptx {

enum class Round { nearest, zero, down, up };

constexpr int round_mode(Round round) {
    return round == Round::zero   ? FE_TOWARDZERO
           : round == Round::down ? FE_DOWNWARD
           : round == Round::up   ? FE_UPWARD
                                  : FE_TONEAREST;
}

/// A value that the compiler reads where it is written to be read.
template <class T>
struct VolatileInput {
    volatile T value;
};

/// Computes in a rounding mode. The values are volatile, else the compiler computes before or after.
template <Round R, class F, class... T>
__attribute__((noinline)) auto rounded(F compute, T... values) {
    const int before = std::fegetround();
    std::fesetround(round_mode(R));
    volatile auto result = [&](VolatileInput<T>... inputs) {
        return compute(static_cast<T>(inputs.value)...);
    }(VolatileInput<T>{values}...);
    std::fesetround(before);
    return result;
}

template <class T>
constexpr bool is_nan(T a) {
    return a != a;
}
template <class T>
constexpr T canonical_nan =
    __builtin_bit_cast(T, static_cast<Bits<T>>(sizeof(T) == 4 ? 0x7FFFFFFFull : 0x7FF8000000000000ull));
template <class T>
constexpr bool is_negative(T a) {
    return bits(a) >> (sizeof(T) * 8 - 1);
}
template <class T>
constexpr T abs_float(T a) {
    return __builtin_bit_cast(T, static_cast<Bits<T>>(bits(a) & ~(Bits<T>{1} << (sizeof(T) * 8 - 1))));
}
template <class T>
constexpr T neg_float(T a) {
    return __builtin_bit_cast(T, static_cast<Bits<T>>(bits(a) ^ (Bits<T>{1} << (sizeof(T) * 8 - 1))));
}
/// Subnormal numbers become zeros of their sign.
constexpr f32 ftz(f32 a) {
    return (bits(a) & 0x7F800000u) == 0 ? __builtin_bit_cast(f32, bits(a) & 0x80000000u) : a;
}
constexpr f64 ftz(f64 a) {
    return a;
}
template <class T>
constexpr T sat(T a) {
    return a > T{0} ? (a < T{1} ? a : T{1}) : T{0}; // NaN too becomes +0
}

template <Round R, class T>
inline T fadd(T a, T b) {
    if constexpr (R == Round::nearest)
        return a + b;
    else
        return rounded<R>([](T x, T y) { return x + y; }, a, b);
}
template <Round R, class T>
inline T fsub(T a, T b) {
    if constexpr (R == Round::nearest)
        return a - b;
    else
        return rounded<R>([](T x, T y) { return x - y; }, a, b);
}
template <Round R, class T>
inline T fmul(T a, T b) {
    if constexpr (R == Round::nearest)
        return a * b;
    else
        return rounded<R>([](T x, T y) { return x * y; }, a, b);
}
template <Round R, class T>
inline T fdiv(T a, T b) {
    if constexpr (R == Round::nearest)
        return a / b;
    else
        return rounded<R>([](T x, T y) { return x / y; }, a, b);
}
inline f32 fused(f32 a, f32 b, f32 c) {
    return __builtin_fmaf(a, b, c);
}
inline f64 fused(f64 a, f64 b, f64 c) {
    return __builtin_fma(a, b, c);
}
template <Round R, class T>
inline T ffma(T a, T b, T c) {
    if constexpr (R == Round::nearest)
        return fused(a, b, c);
    else
        return rounded<R>([](T x, T y, T z) { return fused(x, y, z); }, a, b, c);
}
inline f32 root(f32 a) {
    return __builtin_sqrtf(a);
}
inline f64 root(f64 a) {
    return __builtin_sqrt(a);
}
template <Round R, class T>
inline T fsqrt(T a) {
    if constexpr (R == Round::nearest)
        return root(a);
    else
        return rounded<R>([](T x) { return root(x); }, a);
}

template <class T>
constexpr T fmin_(T a, T b) {
    if (is_nan(a)) return is_nan(b) ? canonical_nan<T> : b;
    if (is_nan(b)) return a;
    if (a == b) return is_negative(a) ? a : b;
    return a < b ? a : b;
}
template <class T>
constexpr T fmax_(T a, T b) {
    if (is_nan(a)) return is_nan(b) ? canonical_nan<T> : b;
    if (is_nan(b)) return a;
    if (a == b) return is_negative(a) ? b : a;
    return a < b ? b : a;
}
template <class T>
constexpr T fmin_nan(T a, T b) {
    return is_nan(a) || is_nan(b) ? canonical_nan<T> : fmin_(a, b);
}
template <class T>
constexpr T fmax_nan(T a, T b) {
    return is_nan(a) || is_nan(b) ? canonical_nan<T> : fmax_(a, b);
}
template <class T>
constexpr T xor_sign(T magnitude, T a, T b) {
    constexpr Bits<T> sign = Bits<T>{1} << (sizeof(T) * 8 - 1);
    return __builtin_bit_cast(T, static_cast<Bits<T>>((bits(magnitude) & ~sign) | ((bits(a) ^ bits(b)) & sign)));
}
template <class T>
constexpr T copy_sign(T sign_of, T magnitude) {
    constexpr Bits<T> sign = Bits<T>{1} << (sizeof(T) * 8 - 1);
    return __builtin_bit_cast(T, static_cast<Bits<T>>((bits(magnitude) & ~sign) | (bits(sign_of) & sign)));
}

// To an integral value.
template <Round R>
inline f32 integral(f32 a) {
    if constexpr (R == Round::nearest)
        return __builtin_rintf(a);
    else if constexpr (R == Round::zero)
        return __builtin_truncf(a);
    else if constexpr (R == Round::down)
        return __builtin_floorf(a);
    else
        return __builtin_ceilf(a);
}
template <Round R>
inline f64 integral(f64 a) {
    if constexpr (R == Round::nearest)
        return __builtin_rint(a);
    else if constexpr (R == Round::zero)
        return __builtin_trunc(a);
    else if constexpr (R == Round::down)
        return __builtin_floor(a);
    else
        return __builtin_ceil(a);
}

// Approximations: at least as good as the GPU's.
inline f32 rcp(f32 a) {
    return 1.0f / a;
}
inline f64 rcp(f64 a) {
    return 1.0 / a;
}
inline f32 rsqrt(f32 a) {
    return static_cast<f32>(1.0 / __builtin_sqrt(static_cast<f64>(a)));
}
inline f64 rsqrt(f64 a) {
    return 1.0 / __builtin_sqrt(a);
}
inline f32 sin_approx(f32 a) {
    return __builtin_sinf(a);
}
inline f32 cos_approx(f32 a) {
    return __builtin_cosf(a);
}
inline f32 lg2(f32 a) {
    return __builtin_log2f(a);
}
inline f32 ex2(f32 a) {
    return __builtin_exp2f(a);
}
inline f32 tanh_approx(f32 a) {
    return __builtin_tanhf(a);
}

enum class Test { finite, infinite, number, notanumber, normal, subnormal };
template <Test Which, class T>
constexpr bool testp(T a) {
    constexpr unsigned mantissa = sizeof(T) == 4 ? 23 : 52;
    constexpr Bits<T> exponent_mask = sizeof(T) == 4 ? 0xFF : 0x7FF;
    const Bits<T> exponent = bits(a) >> mantissa & exponent_mask;
    const Bits<T> fraction = bits(a) & ((Bits<T>{1} << mantissa) - 1);
    switch (Which) {
    case Test::finite:
        return exponent != exponent_mask;
    case Test::infinite:
        return exponent == exponent_mask && fraction == 0;
    case Test::number:
        return !(exponent == exponent_mask && fraction != 0);
    case Test::notanumber:
        return exponent == exponent_mask && fraction != 0;
    case Test::normal:
        return exponent != 0 && exponent != exponent_mask;
    case Test::subnormal:
        return exponent == 0 && fraction != 0;
    }
}

} // namespace cudart_cpu::ptx
