// The cvt instruction in all its forms.
#pragma once

#include "half.hpp"
#include "integer.hpp"

namespace cudart_cpu::ptx {

template <class Result, class Value>
constexpr Result int_to_int_sat(Value value) {
    if constexpr (is_signed<Value>) {
        if (value < 0) {
            if constexpr (!is_signed<Result>)
                return 0;
            else
                return static_cast<i64>(value) < static_cast<i64>(smallest<Result>) ? smallest<Result>
                                                                                    : static_cast<Result>(value);
        }
    }
    return static_cast<u64>(value) > static_cast<u64>(largest<Result>) ? largest<Result> : static_cast<Result>(value);
}

template <class Result, Round Rounding, class Value>
inline Result float_to_int(Value value) {
    if (is_nan(value)) {
        if constexpr (sizeof(Value) == 8 || sizeof(Result) == 8)
            return static_cast<Result>(Unsigned<Result>{1} << (sizeof(Result) * 8 - 1));
        else
            return 0;
    }
    const Value whole = integral<Rounding>(value);
    constexpr int width = static_cast<int>(sizeof(Result) * 8) - (is_signed<Result> ? 1 : 0);
    constexpr Value beyond = static_cast<Value>(static_cast<Value>(u64{1} << (width - 1)) * 2);
    if (whole >= beyond) return largest<Result>;
    if constexpr (is_signed<Result>) {
        if (whole < -beyond) return smallest<Result>;
    } else {
        if (whole < 0) return 0;
    }
    return static_cast<Result>(whole);
}

template <class Result, Round Rounding, class Value>
inline Result int_to_float(Value value) {
    if constexpr (Rounding == Round::nearest)
        return static_cast<Result>(value);
    else
        return rounded<Rounding>([](Value x) { return static_cast<Result>(x); }, value);
}
template <class Half, class Value>
inline Half int_to_half(Value value, Round round) {
    const f64 near = static_cast<f64>(value);
    if constexpr (sizeof(Value) == 8) {
        // This rounds to odd, so that rounding twice is as good as once.
        const i128 error = static_cast<i128>(value) - static_cast<i128>(near);
        if (error != 0 && !(bits(near) & 1)) {
            const bool away = (error > 0) == (near > 0);
            return to_half<Half>(__builtin_bit_cast(f64, away ? bits(near) + 1 : bits(near) - 1), round);
        }
    }
    return to_half<Half>(near, round);
}
template <Round Rounding>
inline f32 double_to_float(f64 value) {
    if constexpr (Rounding == Round::nearest)
        return static_cast<f32>(value);
    else
        return rounded<Rounding>([](f64 x) { return static_cast<f32>(x); }, value);
}
/// Reduces the mantissa to 10 bits: rounded to the nearest (ties away from zero or to even), or cut.
constexpr u32 to_tf32(f32 value, bool ties_away, bool cut) {
    u32 raw = bits(value);
    if (is_nan(value)) return 0x7FFFFFFFu;
    if ((raw & 0x7F800000u) == 0x7F800000u) return raw;
    if (!cut) raw += ties_away ? 0x1000u : 0xFFFu + (raw >> 13 & 1);
    return raw & 0xFFFFE000u;
}

} // namespace cudart_cpu::ptx
