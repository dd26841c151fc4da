// Integer instructions, by PTX's definitions where C++ has none.
#pragma once

#include "values.hpp"

namespace cudart_cpu::ptx {

template <class Value>
constexpr Value add(Value a, Value b) {
    return static_cast<Value>(static_cast<Unsigned<Value>>(a) + static_cast<Unsigned<Value>>(b));
}
template <class Value>
constexpr Value sub(Value a, Value b) {
    return static_cast<Value>(static_cast<Unsigned<Value>>(a) - static_cast<Unsigned<Value>>(b));
}
template <class Value>
constexpr Value mul_lo(Value a, Value b) {
    return static_cast<Value>(static_cast<Wide<Unsigned<Value>>>(static_cast<Unsigned<Value>>(a)) *
                              static_cast<Unsigned<Value>>(b));
}
template <class Value>
constexpr Wide<Value> mul_wide(Value a, Value b) {
    return static_cast<Wide<Value>>(static_cast<Wide<Value>>(a) * static_cast<Wide<Value>>(b));
}
template <class Value>
constexpr Value mul_hi(Value a, Value b) {
    return static_cast<Value>(mul_wide(a, b) >> (sizeof(Value) * 8));
}
template <class Value>
constexpr Value clamp_to(Wide<Value> value) {
    return value < static_cast<Wide<Value>>(smallest<Value>)  ? smallest<Value>
           : value > static_cast<Wide<Value>>(largest<Value>) ? largest<Value>
                                                              : static_cast<Value>(value);
}
template <class Value>
constexpr Value add_sat(Value a, Value b) {
    return clamp_to<Value>(static_cast<Wide<Value>>(static_cast<Wide<Value>>(a) + b));
}
template <class Value>
constexpr Value sub_sat(Value a, Value b) {
    return clamp_to<Value>(static_cast<Wide<Value>>(static_cast<Wide<Value>>(a) - b));
}
template <class Value>
constexpr Value mul24(Value a, Value b, bool high) {
    const auto cut = [](Value value) {
        return is_signed<Value> ? static_cast<i64>(static_cast<i32>(static_cast<u32>(value) << 8) >> 8)
                                : static_cast<i64>(static_cast<u32>(value) & 0xFFFFFFu);
    };
    const i64 product = cut(a) * cut(b);
    return static_cast<Value>(high ? product >> 16 : product);
}

// Arithmetic with the carry flag.
template <class Value>
constexpr Value add_carry(Value a, Value b, bool in, bool& out) {
    const auto sum = static_cast<Wide<Unsigned<Value>>>(
        static_cast<Wide<Unsigned<Value>>>(static_cast<Unsigned<Value>>(a)) + static_cast<Unsigned<Value>>(b) + in);
    out = (sum >> (sizeof(Value) * 8)) != 0;
    return static_cast<Value>(sum);
}
template <class Value>
constexpr Value sub_borrow(Value a, Value b, bool in, bool& out) {
    const auto wide_a = static_cast<Wide<Unsigned<Value>>>(static_cast<Unsigned<Value>>(a));
    const auto wide_b =
        static_cast<Wide<Unsigned<Value>>>(static_cast<Wide<Unsigned<Value>>>(static_cast<Unsigned<Value>>(b)) + in);
    out = wide_a < wide_b;
    return static_cast<Value>(wide_a - wide_b);
}

// Division never faults, as on a GPU.
template <class Value>
constexpr Value div(Value a, Value b) {
    if (b == 0) return static_cast<Value>(-1);
    if constexpr (is_signed<Value>)
        if (b == static_cast<Value>(-1)) return sub(Value{}, a);
    return static_cast<Value>(a / b);
}
template <class Value>
constexpr Value rem(Value a, Value b) {
    if (b == 0) return a;
    if constexpr (is_signed<Value>)
        if (b == static_cast<Value>(-1)) return 0;
    return static_cast<Value>(a % b);
}

template <class Value>
constexpr Value min(Value a, Value b) {
    return b < a ? b : a;
}
template <class Value>
constexpr Value max(Value a, Value b) {
    return a < b ? b : a;
}
template <class Value>
constexpr Value abs(Value a) {
    return a < 0 ? sub(Value{}, a) : a;
}
template <class Value>
constexpr Value sad(Value a, Value b, Value c) {
    return add(c, a < b ? sub(b, a) : sub(a, b));
}

template <class Value>
constexpr u32 popc(Value a) {
    return static_cast<u32>(__builtin_popcountll(static_cast<Unsigned<Value>>(a)));
}
template <class Value>
constexpr u32 clz(Value a) {
    constexpr u32 width = sizeof(Value) * 8;
    return a == 0 ? width : static_cast<u32>(__builtin_clzll(static_cast<Unsigned<Value>>(a))) - (64 - width);
}
template <class Value>
constexpr u32 bfind(Value a, bool shift_amount) {
    Unsigned<Value> value = static_cast<Unsigned<Value>>(a);
    if (is_signed<Value> && a < 0) value = static_cast<Unsigned<Value>>(~value);
    if (value == 0) return 0xFFFFFFFFu;
    const u32 zeros = clz(value);
    return shift_amount ? zeros : static_cast<u32>(sizeof(Value) * 8 - 1) - zeros;
}
template <class Value>
constexpr Value brev(Value a) {
    Value result = 0;
    for (unsigned i = 0; i < sizeof(Value) * 8; ++i)
        result = static_cast<Value>(result << 1 | ((a >> i) & 1));
    return result;
}
template <class Value>
constexpr Value bfe(Value a, u32 position, u32 length) {
    constexpr u32 width = sizeof(Value) * 8;
    const u32 pos = position & 0xFF;
    const u32 len = length & 0xFF;
    const auto value = static_cast<Unsigned<Value>>(a);
    if (len == 0) return 0;
    Unsigned<Value> result = pos >= width ? 0 : static_cast<Unsigned<Value>>(value >> pos);
    if (len < width) result &= static_cast<Unsigned<Value>>((Unsigned<Value>{1} << len) - 1);
    if constexpr (is_signed<Value>) {
        const u32 sign_at = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
        const bool sign = (value >> sign_at) & 1;
        const u32 valid = pos >= width ? 0 : (len < width - pos ? len : width - pos);
        if (sign && valid < width) result |= static_cast<Unsigned<Value>>(~Unsigned<Value>{0} << valid);
    }
    return static_cast<Value>(result);
}
template <class Value>
constexpr Value bfi(Value insert, Value into, u32 position, u32 length) {
    constexpr u32 width = sizeof(Value) * 8;
    const u32 pos = position & 0xFF;
    const u32 len = length & 0xFF;
    if (pos >= width || len == 0) return into;
    Value mask = len >= width ? static_cast<Value>(~Value{0}) : static_cast<Value>((Value{1} << len) - 1);
    mask = static_cast<Value>(mask << pos);
    return static_cast<Value>((into & ~mask) | (static_cast<Value>(insert << pos) & mask));
}
constexpr u32 bmsk(u32 position, u32 width, bool wraps) {
    if (wraps) {
        position &= 31;
        width &= 31;
    }
    if (position >= 32) return 0;
    const u64 ones = width >= 32 ? 0xFFFFFFFFull : (1ull << width) - 1;
    return static_cast<u32>(ones << position);
}
template <class Value>
constexpr Value szext(Value a, u32 width, bool wraps) {
    if (wraps) width &= 31;
    if (width >= 32) return a;
    if (width == 0) return 0;
    const u32 shift = 32 - width;
    return static_cast<Value>(static_cast<Value>(static_cast<u32>(a) << shift) >> shift);
}
constexpr u32 fns(u32 mask, u32 base, i32 offset) {
    if (base > 31) return 0xFFFFFFFFu;
    if (offset == 0) return (mask >> base) & 1 ? base : 0xFFFFFFFFu;
    const i32 step = offset > 0 ? 1 : -1;
    i32 left = offset > 0 ? offset : -offset;
    for (i32 at = static_cast<i32>(base); at >= 0 && at < 32; at += step)
        if ((mask >> at) & 1 && --left == 0) return static_cast<u32>(at);
    return 0xFFFFFFFFu;
}

template <class Value>
constexpr Value shl(Value a, u32 by) {
    return by >= sizeof(Value) * 8 ? Value{} : static_cast<Value>(static_cast<Unsigned<Value>>(a) << by);
}
template <class Value>
constexpr Value shr(Value a, u32 by) {
    if (by >= sizeof(Value) * 8) return is_signed<Value> && a < 0 ? static_cast<Value>(-1) : Value{};
    return static_cast<Value>(a >> by);
}
constexpr u32 shf_left(u32 low, u32 high, u32 by, bool wraps) {
    by = wraps ? by & 31 : (by > 32 ? 32 : by);
    return static_cast<u32>(((static_cast<u64>(high) << 32 | low) << by) >> 32);
}
constexpr u32 shf_right(u32 low, u32 high, u32 by, bool wraps) {
    by = wraps ? by & 31 : (by > 32 ? 32 : by);
    return static_cast<u32>((static_cast<u64>(high) << 32 | low) >> by);
}

template <unsigned Table, class Value>
constexpr Value lop3(Value a, Value b, Value c) {
    Value result = 0;
    if constexpr (Table & 0x01) result |= ~a & ~b & ~c;
    if constexpr (Table & 0x02) result |= ~a & ~b & c;
    if constexpr (Table & 0x04) result |= ~a & b & ~c;
    if constexpr (Table & 0x08) result |= ~a & b & c;
    if constexpr (Table & 0x10) result |= a & ~b & ~c;
    if constexpr (Table & 0x20) result |= a & ~b & c;
    if constexpr (Table & 0x40) result |= a & b & ~c;
    if constexpr (Table & 0x80) result |= a & b & c;
    return result;
}

constexpr u32 prmt_byte(u64 bytes, u32 select) {
    const u32 byte = static_cast<u32>(bytes >> ((select & 7) * 8)) & 0xFF;
    return select & 8 ? (byte & 0x80 ? 0xFF : 0) : byte;
}
constexpr u32 prmt(u32 a, u32 b, u32 select) {
    const u64 bytes = static_cast<u64>(b) << 32 | a;
    u32 result = 0;
    for (unsigned i = 0; i < 4; ++i)
        result |= prmt_byte(bytes, select >> (4 * i) & 0xF) << (8 * i);
    return result;
}
enum class Permute { f4e, b4e, rc8, ecl, ecr, rc16 };
template <Permute Mode>
constexpr u32 prmt_mode(u32 a, u32 b, u32 select) {
    const u64 bytes = static_cast<u64>(b) << 32 | a;
    const u32 at = select & 3;
    u32 result = 0;
    for (u32 i = 0; i < 4; ++i) {
        const u32 from = Mode == Permute::f4e   ? at + i
                         : Mode == Permute::b4e ? (at - i) & 7
                         : Mode == Permute::rc8 ? at
                         : Mode == Permute::ecl ? (i > at ? i : at)
                         : Mode == Permute::ecr ? (i < at ? i : at)
                                                : (at & 1) * 2 + (i & 1);
        result |= prmt_byte(bytes, from & 7) << (8 * i);
    }
    return result;
}

template <class Left, class Right>
constexpr u32 dp4a(u32 a, u32 b, u32 c) {
    for (unsigned i = 0; i < 4; ++i)
        c += static_cast<u32>(static_cast<i32>(static_cast<Left>(a >> (8 * i))) *
                              static_cast<i32>(static_cast<Right>(b >> (8 * i))));
    return c;
}
template <class Left, class Right>
constexpr u32 dp2a(u32 a, u32 b, u32 c, bool high) {
    using HalfA = std::conditional_t<is_signed<Left>, i16, u16>;
    for (unsigned i = 0; i < 2; ++i)
        c += static_cast<u32>(static_cast<i32>(static_cast<HalfA>(a >> (16 * i))) *
                              static_cast<i32>(static_cast<Right>(b >> (8 * i + (high ? 16 : 0)))));
    return c;
}

/// Operates lane by lane; with `Add`, sums the lanes to c.
template <class Result, class Left, class Right, bool Saturates, bool Add, class Operation>
constexpr u32 video(u32 a, u32 b, u32 c, Operation operation) {
    constexpr u32 width = sizeof(Result) * 8;
    u32 result = Add ? c : 0;
    for (u32 at = 0; at < 32; at += width) {
        i32 value =
            operation(static_cast<i32>(static_cast<Left>(a >> at)), static_cast<i32>(static_cast<Right>(b >> at)));
        if (Saturates)
            value = value < static_cast<i32>(smallest<Result>)  ? static_cast<i32>(smallest<Result>)
                    : value > static_cast<i32>(largest<Result>) ? static_cast<i32>(largest<Result>)
                                                                : value;
        if (Add)
            result += static_cast<u32>(value);
        else
            result |= static_cast<u32>(static_cast<Unsigned<Result>>(value)) << at;
    }
    return result;
}

} // namespace cudart_cpu::ptx
