// Registers: bits that each instruction reads as the type that it names.
#pragma once

#include "thread.hpp"

#include <type_traits>

namespace cudart_cpu::ptx {

template <std::size_t N>
struct BitsOf;
template <>
struct BitsOf<1> {
    using type = u8;
};
template <>
struct BitsOf<2> {
    using type = u16;
};
template <>
struct BitsOf<4> {
    using type = u32;
};
template <>
struct BitsOf<8> {
    using type = u64;
};
template <>
struct BitsOf<16> {
    using type = u128;
};
template <class T>
using Bits = typename BitsOf<sizeof(T)>::type;

template <class T>
constexpr Bits<T> bits(T value) {
    return __builtin_bit_cast(Bits<T>, value);
}

/// The low bits of a register, as T.
template <class T, class S>
constexpr T as(S value) {
    if constexpr (std::is_same_v<T, S>)
        return value;
    else if constexpr (std::is_same_v<T, bool>)
        return value != 0;
    else
        return __builtin_bit_cast(T, static_cast<Bits<T>>(bits(value)));
}

/// Writes a register: a narrower signed value is extended by its sign, any other by zeros.
template <class D, class T>
constexpr void put(D& register_, T value) {
    if constexpr (std::is_same_v<D, T>)
        register_ = value;
    else if constexpr (std::is_same_v<D, bool>)
        register_ = value != 0;
    else if constexpr (std::is_integral_v<T>)
        register_ = __builtin_bit_cast(D, static_cast<Bits<D>>(value));
    else
        register_ = __builtin_bit_cast(D, static_cast<Bits<D>>(bits(value)));
}

inline u64 address(const volatile void* pointer) {
    return reinterpret_cast<u64>(pointer);
}

template <class T>
constexpr bool is_signed = static_cast<T>(-1) < T{};

template <class T>
using Unsigned = Bits<T>;
/// Twice as wide.
template <class T>
using Wide =
    std::conditional_t<sizeof(T) == 1, std::conditional_t<is_signed<T>, i16, u16>,
                       std::conditional_t<sizeof(T) == 2, std::conditional_t<is_signed<T>, i32, u32>,
                                          std::conditional_t<sizeof(T) == 4, std::conditional_t<is_signed<T>, i64, u64>,
                                                             std::conditional_t<is_signed<T>, i128, u128>>>>;

template <class T>
constexpr T smallest = is_signed<T> ? static_cast<T>(static_cast<Unsigned<T>>(1) << (sizeof(T) * 8 - 1)) : T{};
template <class T>
constexpr T largest = static_cast<T>(~smallest<T>);

} // namespace cudart_cpu::ptx
