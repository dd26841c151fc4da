// Arithmetic of f16 and bf16: computed in wider types, rounded once.
#pragma once

#include "floating.hpp"

namespace cudart_cpu::ptx {

/// Rounds to a format of `Exponent` and `Mantissa` bits; exact for subnormal numbers, too. NaN is canonical.
template <int Exponent, int Mantissa>
constexpr u16 narrow(f64 value, Round round = Round::nearest) {
    constexpr int bias = (1 << (Exponent - 1)) - 1;
    const u64 raw = bits(value);
    const u16 sign = static_cast<u16>(raw >> 63 << (Exponent + Mantissa));
    const bool negative = raw >> 63;
    constexpr u16 infinite = static_cast<u16>(((1u << Exponent) - 1) << Mantissa);
    if (is_nan(value)) return 0x7FFF;
    const int exponent = static_cast<int>(raw >> 52 & 0x7FF) - 1023;
    if (exponent == 1024) return static_cast<u16>(sign | infinite);
    if (exponent == -1023) { // zero, or far below any number of the format
        const bool up = (raw << 1) != 0 && ((round == Round::up && !negative) || (round == Round::down && negative));
        return static_cast<u16>(sign | (up ? 1 : 0));
    }
    const u64 fraction = (raw & ((1ull << 52) - 1)) | 1ull << 52;
    int drop = 52 - Mantissa;
    int biased = exponent + bias;
    if (biased < 1) {
        drop += 1 - biased;
        biased = 0;
    }
    const u64 kept = drop >= 64 ? 0 : fraction >> drop;
    const u64 rest = drop >= 64 ? fraction : fraction & ((1ull << drop) - 1);
    bool up = false;
    if (round == Round::nearest) {
        const u64 half = drop >= 64 ? ~0ull : 1ull << (drop - 1);
        up = drop < 64 && (rest > half || (rest == half && (kept & 1)));
    } else {
        up = rest != 0 && ((round == Round::up && !negative) || (round == Round::down && negative));
    }
    u64 result = biased == 0 ? kept : (kept - (1ull << Mantissa)) + (static_cast<u64>(biased) << Mantissa);
    result += up;
    if (result >= infinite) {
        const bool stays =
            round == Round::zero || (round == Round::up && negative) || (round == Round::down && !negative);
        result = stays ? infinite - 1 : infinite;
    }
    return static_cast<u16>(sign | result);
}

struct f16 {
    u16 raw;
    constexpr bool operator==(const f16&) const = default;
};
struct bf16 {
    u16 raw;
    constexpr bool operator==(const bf16&) const = default;
};
struct f16x2 {
    f16 low, high;
};
struct bf16x2 {
    bf16 low, high;
};

constexpr f32 widen(f16 value) {
#ifdef __FLT16_MAX__
    return static_cast<f32>(__builtin_bit_cast(_Float16, value.raw));
#else
    const u32 sign = static_cast<u32>(value.raw & 0x8000u) << 16;
    const u32 exponent = value.raw >> 10 & 0x1Fu;
    const u32 fraction = value.raw & 0x3FFu;
    if (exponent == 0x1F) return __builtin_bit_cast(f32, sign | 0x7F800000u | fraction << 13);
    if (exponent != 0) return __builtin_bit_cast(f32, sign | (exponent + 112) << 23 | fraction << 13);
    const f32 small = static_cast<f32>(fraction) * 0x1p-24f;
    return sign ? -small : small;
#endif
}
constexpr f32 widen(bf16 value) {
    return __builtin_bit_cast(f32, static_cast<u32>(value.raw) << 16);
}
constexpr f32 widen(f32 value) {
    return value;
}
constexpr f64 widen(f64 value) {
    return value;
}

template <class Half>
constexpr Half to_half(f64 value, Round round = Round::nearest) {
    if constexpr (std::is_same_v<Half, f16>)
        return {narrow<5, 10>(value, round)};
    else
        return {narrow<8, 7>(value, round)};
}
template <class Half>
constexpr Half to_half(f32 value, Round round = Round::nearest) {
    if constexpr (std::is_same_v<Half, f16>) {
#ifdef __FLT16_MAX__
        if (round == Round::nearest && !is_nan(value)) return {__builtin_bit_cast(u16, static_cast<_Float16>(value))};
#endif
    } else if (round == Round::nearest && !is_nan(value)) {
        const u32 raw = bits(value);
        return {static_cast<u16>((raw + 0x7FFFu + (raw >> 16 & 1)) >> 16)};
    }
    return to_half<Half>(static_cast<f64>(value), round);
}

/// Computes a + b, rounded to odd: rounding the result again to a narrower format is as good as rounding once.
constexpr f64 add_to_odd(f64 a, f64 b) {
    const f64 sum = a + b;
    const f64 part = sum - a;
    const f64 error = (a - (sum - part)) + (b - part);
    if (error == 0 || is_nan(error) || (bits(sum) & 1)) return sum;
    const bool away = (error > 0) == (sum > 0);
    return __builtin_bit_cast(f64, away ? bits(sum) + 1 : bits(sum) - 1);
}

template <class Half>
constexpr Half hadd(Half a, Half b) {
    return to_half<Half>(widen(a) + widen(b)); // an f32 has more than twice the bits: rounding twice harms nothing
}
template <class Half>
constexpr Half hsub(Half a, Half b) {
    return to_half<Half>(widen(a) - widen(b));
}
template <class Half>
constexpr Half hmul(Half a, Half b) {
    if constexpr (std::is_same_v<Half, f16>)
        return to_half<Half>(widen(a) * widen(b));
    else
        return to_half<Half>(static_cast<f64>(widen(a)) * widen(b)); // the product may be below f32's range
}
template <class Half>
constexpr Half hfma(Half a, Half b, Half c) {
    return to_half<Half>(add_to_odd(static_cast<f64>(widen(a)) * widen(b), widen(c)));
}
template <class Half>
constexpr Half hneg(Half a) {
    return {static_cast<u16>(a.raw ^ 0x8000u)};
}
template <class Half>
constexpr Half habs(Half a) {
    return {static_cast<u16>(a.raw & 0x7FFFu)};
}
template <class Half>
constexpr Half hmin(Half a, Half b) {
    return to_half<Half>(fmin_(widen(a), widen(b)));
}
template <class Half>
constexpr Half hmax(Half a, Half b) {
    return to_half<Half>(fmax_(widen(a), widen(b)));
}
template <class Half>
constexpr Half hmin_nan(Half a, Half b) {
    return to_half<Half>(fmin_nan(widen(a), widen(b)));
}
template <class Half>
constexpr Half hmax_nan(Half a, Half b) {
    return to_half<Half>(fmax_nan(widen(a), widen(b)));
}
template <class Half>
constexpr Half hsat(Half a) {
    return to_half<Half>(sat(widen(a)));
}
template <class Half>
constexpr Half hrelu(Half a) {
    return is_nan(widen(a)) ? Half{0x7FFF} : (a.raw & 0x8000u) ? Half{0} : a;
}
/// The largest number instead of an infinity.
template <class Half>
constexpr Half hfinite(Half a) {
    constexpr u16 infinite = std::is_same_v<Half, f16> ? 0x7C00 : 0x7F80;
    return (a.raw & 0x7FFFu) == infinite ? Half{static_cast<u16>(a.raw - 1)} : a;
}
template <class Half>
constexpr Half hftz(Half a) {
    constexpr u16 exponent = std::is_same_v<Half, f16> ? 0x7C00 : 0x7F80;
    return (a.raw & exponent) == 0 ? Half{static_cast<u16>(a.raw & 0x8000u)} : a;
}
template <class Half>
inline Half hex2(Half a) {
    return to_half<Half>(__builtin_exp2(static_cast<f64>(widen(a))));
}
template <class Half>
inline Half htanh(Half a) {
    return to_half<Half>(__builtin_tanh(static_cast<f64>(widen(a))));
}

/// Applies `compute` to each half of a pair.
template <class Pair, class Compute, class... Pairs>
constexpr Pair pairwise(Compute compute, Pairs... pairs) {
    return {compute(pairs.low...), compute(pairs.high...)};
}

} // namespace cudart_cpu::ptx
