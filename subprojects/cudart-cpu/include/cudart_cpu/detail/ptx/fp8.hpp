// Numbers of 8 bits: e4m3, without infinities, and e5m2.
#pragma once

#include "half.hpp"

namespace cudart_cpu::ptx {

struct e4m3 {
    u8 raw;
};
struct e5m2 {
    u8 raw;
};

/// Converts with rounding to the nearest. Numbers beyond the range become the largest number of their sign, also
/// infinities; NaN is canonical.
template <class Fp8>
constexpr u8 to_fp8(f64 value) {
    if (is_nan(value)) return 0x7F;
    const u8 sign = bits(value) >> 63 != 0 ? 0x80 : 0;
    const f64 size = sign != 0 ? -value : value;
    if constexpr (std::is_same_v<Fp8, e5m2>) {
        const u16 found = narrow<5, 2>(size);
        return static_cast<u8>(sign | (found > 0x7B ? 0x7B : found));
    } else {
        if (size >= 448) return static_cast<u8>(sign | 0x7E);
        // The largest exponent, which stands for infinity in other formats, has numbers here.
        return static_cast<u8>(sign | (size >= 128 ? narrow<4, 3>(size / 2) + 8 : narrow<4, 3>(size)));
    }
}
template <class Fp8>
constexpr u8 to_fp8(f32 value) {
    return to_fp8<Fp8>(static_cast<f64>(value));
}

constexpr f16 to_f16(e5m2 value) {
    return (value.raw & 0x7Fu) > 0x7Cu ? f16{0x7FFF} : f16{static_cast<u16>(value.raw << 8)};
}
constexpr f16 to_f16(e4m3 value) {
    const u32 sign = (value.raw & 0x80u) << 8;
    const u32 size = value.raw & 0x7Fu;
    if (size == 0x7F) return {0x7FFF};
    if (size >= 8) return {static_cast<u16>(sign | ((size << 7) + (8u << 10)))}; // the exponents' biases are 7 and 15
    return {static_cast<u16>(sign | to_half<f16>(static_cast<f32>(size) * 0x1p-9f).raw)};
}

/// Two numbers in one register; the first operand of the instruction is the upper one.
template <class Fp8, class Value>
constexpr u16 fp8_pair(Value upper, Value lower) {
    return static_cast<u16>(to_fp8<Fp8>(upper) << 8 | to_fp8<Fp8>(lower));
}
/// Negative numbers become 0.
template <class Fp8, class Value>
constexpr u16 fp8_pair_relu(Value upper, Value lower) {
    const auto relu = [](Value value) { return value < 0 || value == 0 ? Value{0} : value; };
    return fp8_pair<Fp8>(relu(upper), relu(lower));
}
template <class Fp8>
constexpr f16x2 halves_of(u16 pair) {
    return {to_f16(Fp8{static_cast<u8>(pair)}), to_f16(Fp8{static_cast<u8>(pair >> 8)})};
}

} // namespace cudart_cpu::ptx
