// Floating-point instructions: rounding modes, flushing, saturation, and PTX's rules for NaN.
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

/// A value with reads that the compiler cannot move.
template <class Value>
struct VolatileInput {
    volatile Value value;
};

/// Computes in a rounding mode. The values are volatile, else the compiler computes before or after the mode is set.
template <Round Rounding, class Compute, class... Value>
__attribute__((noinline)) auto rounded(Compute compute, Value... values) {
    const int before = std::fegetround();
    std::fesetround(round_mode(Rounding));
    volatile auto result = [&](VolatileInput<Value>... inputs) {
        return compute(static_cast<Value>(inputs.value)...);
    }(VolatileInput<Value>{values}...);
    std::fesetround(before);
    return result;
}

template <class Value>
constexpr bool is_nan(Value a) {
    return a != a;
}
template <class Value>
constexpr Value canonical_nan =
    __builtin_bit_cast(Value, static_cast<Bits<Value>>(sizeof(Value) == 4 ? 0x7FFFFFFFull : 0x7FF8000000000000ull));
template <class Value>
constexpr bool is_negative(Value a) {
    return bits(a) >> (sizeof(Value) * 8 - 1);
}
template <class Value>
constexpr Value abs_float(Value a) {
    return __builtin_bit_cast(Value, static_cast<Bits<Value>>(bits(a) & ~(Bits<Value>{1} << (sizeof(Value) * 8 - 1))));
}
template <class Value>
constexpr Value neg_float(Value a) {
    return __builtin_bit_cast(Value, static_cast<Bits<Value>>(bits(a) ^ (Bits<Value>{1} << (sizeof(Value) * 8 - 1))));
}
/// Flushes subnormal numbers to zero, with their sign.
constexpr f32 ftz(f32 a) {
    return (bits(a) & 0x7F800000u) == 0 ? __builtin_bit_cast(f32, bits(a) & 0x80000000u) : a;
}
constexpr f64 ftz(f64 a) {
    return a;
}
template <class Value>
constexpr Value sat(Value a) {
    return a > Value{0} ? (a < Value{1} ? a : Value{1}) : Value{0}; // +0 for NaN, too
}

template <Round Rounding, class Value>
inline Value fadd(Value a, Value b) {
    if constexpr (Rounding == Round::nearest)
        return a + b;
    else
        return rounded<Rounding>([](Value x, Value y) { return x + y; }, a, b);
}
template <Round Rounding, class Value>
inline Value fsub(Value a, Value b) {
    if constexpr (Rounding == Round::nearest)
        return a - b;
    else
        return rounded<Rounding>([](Value x, Value y) { return x - y; }, a, b);
}
template <Round Rounding, class Value>
inline Value fmul(Value a, Value b) {
    if constexpr (Rounding == Round::nearest)
        return a * b;
    else
        return rounded<Rounding>([](Value x, Value y) { return x * y; }, a, b);
}
template <Round Rounding, class Value>
inline Value fdiv(Value a, Value b) {
    if constexpr (Rounding == Round::nearest)
        return a / b;
    else
        return rounded<Rounding>([](Value x, Value y) { return x / y; }, a, b);
}
inline f32 fused(f32 a, f32 b, f32 c) {
    return __builtin_fmaf(a, b, c);
}
inline f64 fused(f64 a, f64 b, f64 c) {
    return __builtin_fma(a, b, c);
}
template <Round Rounding, class Value>
inline Value ffma(Value a, Value b, Value c) {
    if constexpr (Rounding == Round::nearest)
        return fused(a, b, c);
    else
        return rounded<Rounding>([](Value x, Value y, Value z) { return fused(x, y, z); }, a, b, c);
}
inline f32 root(f32 a) {
    return __builtin_sqrtf(a);
}
inline f64 root(f64 a) {
    return __builtin_sqrt(a);
}
template <Round Rounding, class Value>
inline Value fsqrt(Value a) {
    if constexpr (Rounding == Round::nearest)
        return root(a);
    else
        return rounded<Rounding>([](Value x) { return root(x); }, a);
}

template <class Value>
constexpr Value fmin_(Value a, Value b) {
    if (is_nan(a)) return is_nan(b) ? canonical_nan<Value> : b;
    if (is_nan(b)) return a;
    if (a == b) return is_negative(a) ? a : b;
    return a < b ? a : b;
}
template <class Value>
constexpr Value fmax_(Value a, Value b) {
    if (is_nan(a)) return is_nan(b) ? canonical_nan<Value> : b;
    if (is_nan(b)) return a;
    if (a == b) return is_negative(a) ? b : a;
    return a < b ? b : a;
}
template <class Value>
constexpr Value fmin_nan(Value a, Value b) {
    return is_nan(a) || is_nan(b) ? canonical_nan<Value> : fmin_(a, b);
}
template <class Value>
constexpr Value fmax_nan(Value a, Value b) {
    return is_nan(a) || is_nan(b) ? canonical_nan<Value> : fmax_(a, b);
}
template <class Value>
constexpr Value xor_sign(Value magnitude, Value a, Value b) {
    constexpr Bits<Value> sign = Bits<Value>{1} << (sizeof(Value) * 8 - 1);
    return __builtin_bit_cast(Value,
                              static_cast<Bits<Value>>((bits(magnitude) & ~sign) | ((bits(a) ^ bits(b)) & sign)));
}
template <class Value>
constexpr Value copy_sign(Value sign_of, Value magnitude) {
    constexpr Bits<Value> sign = Bits<Value>{1} << (sizeof(Value) * 8 - 1);
    return __builtin_bit_cast(Value, static_cast<Bits<Value>>((bits(magnitude) & ~sign) | (bits(sign_of) & sign)));
}

// Rounds to an integral value.
template <Round Rounding>
inline f32 integral(f32 a) {
    if constexpr (Rounding == Round::nearest)
        return __builtin_rintf(a);
    else if constexpr (Rounding == Round::zero)
        return __builtin_truncf(a);
    else if constexpr (Rounding == Round::down)
        return __builtin_floorf(a);
    else
        return __builtin_ceilf(a);
}
template <Round Rounding>
inline f64 integral(f64 a) {
    if constexpr (Rounding == Round::nearest)
        return __builtin_rint(a);
    else if constexpr (Rounding == Round::zero)
        return __builtin_trunc(a);
    else if constexpr (Rounding == Round::down)
        return __builtin_floor(a);
    else
        return __builtin_ceil(a);
}

// Approximate instructions: at least as precise as the GPU's.
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
template <Test Which, class Value>
constexpr bool testp(Value a) {
    constexpr unsigned mantissa = sizeof(Value) == 4 ? 23 : 52;
    constexpr Bits<Value> exponent_mask = sizeof(Value) == 4 ? 0xFF : 0x7FF;
    const Bits<Value> exponent = bits(a) >> mantissa & exponent_mask;
    const Bits<Value> fraction = bits(a) & ((Bits<Value>{1} << mantissa) - 1);
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
