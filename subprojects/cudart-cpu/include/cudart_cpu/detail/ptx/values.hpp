// Registers: bits, read by each instruction as the type that it names.
#pragma once

#include "thread.hpp"

#include <type_traits>

namespace cudart_cpu::ptx {

template <std::size_t Size>
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
template <class Value>
using Bits = typename BitsOf<sizeof(Value)>::type;

template <class Value>
constexpr Bits<Value> bits(Value value) {
    return __builtin_bit_cast(Bits<Value>, value);
}

/// Returns the low bits of a register as Value.
template <class Value, class Register>
constexpr Value as(Register value) {
    if constexpr (std::is_same_v<Value, Register>)
        return value;
    else if constexpr (std::is_same_v<Value, bool>)
        return value != 0;
    else
        return __builtin_bit_cast(Value, static_cast<Bits<Value>>(bits(value)));
}

/// Writes a register: narrower signed values are sign-extended, others zero-extended.
template <class Register, class Value>
constexpr void put(Register& register_, Value value) {
    if constexpr (std::is_same_v<Register, Value>)
        register_ = value;
    else if constexpr (std::is_same_v<Register, bool>)
        register_ = value != 0;
    else if constexpr (std::is_integral_v<Value>)
        register_ = __builtin_bit_cast(Register, static_cast<Bits<Register>>(value));
    else
        register_ = __builtin_bit_cast(Register, static_cast<Bits<Register>>(bits(value)));
}

inline u64 address(const volatile void* pointer) {
    return reinterpret_cast<u64>(pointer);
}

template <class Value>
constexpr bool is_signed = static_cast<Value>(-1) < Value{};

template <class Value>
using Unsigned = Bits<Value>;
/// The type of twice the width.
template <class Value>
using Wide = std::conditional_t<
    sizeof(Value) == 1, std::conditional_t<is_signed<Value>, i16, u16>,
    std::conditional_t<sizeof(Value) == 2, std::conditional_t<is_signed<Value>, i32, u32>,
                       std::conditional_t<sizeof(Value) == 4, std::conditional_t<is_signed<Value>, i64, u64>,
                                          std::conditional_t<is_signed<Value>, i128, u128>>>>;

template <class Value>
constexpr Value smallest =
    is_signed<Value> ? static_cast<Value>(static_cast<Unsigned<Value>>(1) << (sizeof(Value) * 8 - 1)) : Value{};
template <class Value>
constexpr Value largest = static_cast<Value>(~smallest<Value>);

} // namespace cudart_cpu::ptx
