// cvt in all its forms.
#pragma once

#include "half.hpp"
#include "integer.hpp"

namespace cudart_cpu::ptx {

template <class D, class S>
constexpr D int_to_int_sat(S value) {
    if constexpr (is_signed<S>) {
        if (value < 0) {
            if constexpr (!is_signed<D>)
                return 0;
            else
                return static_cast<i64>(value) < static_cast<i64>(smallest<D>) ? smallest<D> : static_cast<D>(value);
        }
    }
    return static_cast<u64>(value) > static_cast<u64>(largest<D>) ? largest<D> : static_cast<D>(value);
}

template <class D, Round R, class S>
inline D float_to_int(S value) {
    if (is_nan(value)) {
        if constexpr (sizeof(S) == 8 || sizeof(D) == 8)
            return static_cast<D>(Unsigned<D>{1} << (sizeof(D) * 8 - 1));
        else
            return 0;
    }
    const S whole = integral<R>(value);
    constexpr int width = static_cast<int>(sizeof(D) * 8) - (is_signed<D> ? 1 : 0);
    constexpr S beyond = static_cast<S>(static_cast<S>(u64{1} << (width - 1)) * 2);
    if (whole >= beyond) return largest<D>;
    if constexpr (is_signed<D>) {
        if (whole < -beyond) return smallest<D>;
    } else {
        if (whole < 0) return 0;
    }
    return static_cast<D>(whole);
}

template <class D, Round R, class S>
inline D int_to_float(S value) {
    if constexpr (R == Round::nearest)
        return static_cast<D>(value);
    else
        return rounded<R>([](S x) { return static_cast<D>(x); }, value);
}
template <class H, class S>
inline H int_to_half(S value, Round round) {
    const f64 near = static_cast<f64>(value);
    if constexpr (sizeof(S) == 8) {
        // To odd, so that the second rounding is as good as one.
        const i128 error = static_cast<i128>(value) - static_cast<i128>(near);
        if (error != 0 && !(bits(near) & 1)) {
            const bool away = (error > 0) == (near > 0);
            return to_half<H>(__builtin_bit_cast(f64, away ? bits(near) + 1 : bits(near) - 1), round);
        }
    }
    return to_half<H>(near, round);
}
template <Round R>
inline f32 double_to_float(f64 value) {
    if constexpr (R == Round::nearest)
        return static_cast<f32>(value);
    else
        return rounded<R>([](f64 x) { return static_cast<f32>(x); }, value);
}
/// 10 bits of mantissa: to the nearest, ties away from zero or to even, or cut.
constexpr u32 to_tf32(f32 value, bool ties_away, bool cut) {
    u32 raw = bits(value);
    if (is_nan(value)) return 0x7FFFFFFFu;
    if ((raw & 0x7F800000u) == 0x7F800000u) return raw;
    if (!cut) raw += ties_away ? 0x1000u : 0xFFFu + (raw >> 13 & 1);
    return raw & 0xFFFFE000u;
}

} // namespace cudart_cpu::ptx
