// Integer instructions, as PTX defines them where C++ does not.
#pragma once

#include "values.hpp"

namespace cudart_cpu::ptx {

template <class T>
constexpr T add(T a, T b) {
    return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
}
template <class T>
constexpr T sub(T a, T b) {
    return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
}
template <class T>
constexpr T mul_lo(T a, T b) {
    return static_cast<T>(static_cast<Wide<Unsigned<T>>>(static_cast<Unsigned<T>>(a)) * static_cast<Unsigned<T>>(b));
}
template <class T>
constexpr Wide<T> mul_wide(T a, T b) {
    return static_cast<Wide<T>>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
}
template <class T>
constexpr T mul_hi(T a, T b) {
    return static_cast<T>(mul_wide(a, b) >> (sizeof(T) * 8));
}
template <class T>
constexpr T clamp_to(Wide<T> value) {
    return value < static_cast<Wide<T>>(smallest<T>)  ? smallest<T>
           : value > static_cast<Wide<T>>(largest<T>) ? largest<T>
                                                      : static_cast<T>(value);
}
template <class T>
constexpr T add_sat(T a, T b) {
    return clamp_to<T>(static_cast<Wide<T>>(static_cast<Wide<T>>(a) + b));
}
template <class T>
constexpr T sub_sat(T a, T b) {
    return clamp_to<T>(static_cast<Wide<T>>(static_cast<Wide<T>>(a) - b));
}
template <class T>
constexpr T mul24(T a, T b, bool high) {
    const auto cut = [](T value) {
        return is_signed<T> ? static_cast<i64>(static_cast<i32>(static_cast<u32>(value) << 8) >> 8)
                            : static_cast<i64>(static_cast<u32>(value) & 0xFFFFFFu);
    };
    const i64 product = cut(a) * cut(b);
    return static_cast<T>(high ? product >> 16 : product);
}

// With the carry flag.
template <class T>
constexpr T add_carry(T a, T b, bool in, bool& out) {
    const auto sum = static_cast<Wide<Unsigned<T>>>(static_cast<Wide<Unsigned<T>>>(static_cast<Unsigned<T>>(a)) +
                                                    static_cast<Unsigned<T>>(b) + in);
    out = (sum >> (sizeof(T) * 8)) != 0;
    return static_cast<T>(sum);
}
template <class T>
constexpr T sub_borrow(T a, T b, bool in, bool& out) {
    const auto wide_a = static_cast<Wide<Unsigned<T>>>(static_cast<Unsigned<T>>(a));
    const auto wide_b =
        static_cast<Wide<Unsigned<T>>>(static_cast<Wide<Unsigned<T>>>(static_cast<Unsigned<T>>(b)) + in);
    out = wide_a < wide_b;
    return static_cast<T>(wide_a - wide_b);
}

// A GPU faults at no division.
template <class T>
constexpr T div(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (is_signed<T>)
        if (b == static_cast<T>(-1)) return sub(T{}, a);
    return static_cast<T>(a / b);
}
template <class T>
constexpr T rem(T a, T b) {
    if (b == 0) return a;
    if constexpr (is_signed<T>)
        if (b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
}

template <class T>
constexpr T min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
constexpr T max(T a, T b) {
    return a < b ? b : a;
}
template <class T>
constexpr T abs(T a) {
    return a < 0 ? sub(T{}, a) : a;
}
template <class T>
constexpr T sad(T a, T b, T c) {
    return add(c, a < b ? sub(b, a) : sub(a, b));
}

template <class T>
constexpr u32 popc(T a) {
    return static_cast<u32>(__builtin_popcountll(static_cast<Unsigned<T>>(a)));
}
template <class T>
constexpr u32 clz(T a) {
    constexpr u32 width = sizeof(T) * 8;
    return a == 0 ? width : static_cast<u32>(__builtin_clzll(static_cast<Unsigned<T>>(a))) - (64 - width);
}
template <class T>
constexpr u32 bfind(T a, bool shift_amount) {
    Unsigned<T> value = static_cast<Unsigned<T>>(a);
    if (is_signed<T> && a < 0) value = static_cast<Unsigned<T>>(~value);
    if (value == 0) return 0xFFFFFFFFu;
    const u32 zeros = clz(value);
    return shift_amount ? zeros : static_cast<u32>(sizeof(T) * 8 - 1) - zeros;
}
template <class T>
constexpr T brev(T a) {
    T result = 0;
    for (unsigned i = 0; i < sizeof(T) * 8; ++i)
        result = static_cast<T>(result << 1 | ((a >> i) & 1));
    return result;
}
template <class T>
constexpr T bfe(T a, u32 position, u32 length) {
    constexpr u32 width = sizeof(T) * 8;
    const u32 pos = position & 0xFF;
    const u32 len = length & 0xFF;
    const auto value = static_cast<Unsigned<T>>(a);
    if (len == 0) return 0;
    Unsigned<T> result = pos >= width ? 0 : static_cast<Unsigned<T>>(value >> pos);
    if (len < width) result &= static_cast<Unsigned<T>>((Unsigned<T>{1} << len) - 1);
    if constexpr (is_signed<T>) {
        const u32 sign_at = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
        const bool sign = (value >> sign_at) & 1;
        const u32 valid = pos >= width ? 0 : (len < width - pos ? len : width - pos);
        if (sign && valid < width) result |= static_cast<Unsigned<T>>(~Unsigned<T>{0} << valid);
    }
    return static_cast<T>(result);
}
template <class T>
constexpr T bfi(T insert, T into, u32 position, u32 length) {
    constexpr u32 width = sizeof(T) * 8;
    const u32 pos = position & 0xFF;
    const u32 len = length & 0xFF;
    if (pos >= width || len == 0) return into;
    T mask = len >= width ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << len) - 1);
    mask = static_cast<T>(mask << pos);
    return static_cast<T>((into & ~mask) | (static_cast<T>(insert << pos) & mask));
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
template <class T>
constexpr T szext(T a, u32 width, bool wraps) {
    if (wraps) width &= 31;
    if (width >= 32) return a;
    if (width == 0) return 0;
    const u32 shift = 32 - width;
    return static_cast<T>(static_cast<T>(static_cast<u32>(a) << shift) >> shift);
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

template <class T>
constexpr T shl(T a, u32 by) {
    return by >= sizeof(T) * 8 ? T{} : static_cast<T>(static_cast<Unsigned<T>>(a) << by);
}
template <class T>
constexpr T shr(T a, u32 by) {
    if (by >= sizeof(T) * 8) return is_signed<T> && a < 0 ? static_cast<T>(-1) : T{};
    return static_cast<T>(a >> by);
}
constexpr u32 shf_left(u32 low, u32 high, u32 by, bool wraps) {
    by = wraps ? by & 31 : (by > 32 ? 32 : by);
    return static_cast<u32>(((static_cast<u64>(high) << 32 | low) << by) >> 32);
}
constexpr u32 shf_right(u32 low, u32 high, u32 by, bool wraps) {
    by = wraps ? by & 31 : (by > 32 ? 32 : by);
    return static_cast<u32>((static_cast<u64>(high) << 32 | low) >> by);
}

template <unsigned Table, class T>
constexpr T lop3(T a, T b, T c) {
    T result = 0;
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

template <class A, class B>
constexpr u32 dp4a(u32 a, u32 b, u32 c) {
    for (unsigned i = 0; i < 4; ++i)
        c += static_cast<u32>(static_cast<i32>(static_cast<A>(a >> (8 * i))) *
                              static_cast<i32>(static_cast<B>(b >> (8 * i))));
    return c;
}
template <class A, class B>
constexpr u32 dp2a(u32 a, u32 b, u32 c, bool high) {
    using HalfA = std::conditional_t<is_signed<A>, i16, u16>;
    for (unsigned i = 0; i < 2; ++i)
        c += static_cast<u32>(static_cast<i32>(static_cast<HalfA>(a >> (16 * i))) *
                              static_cast<i32>(static_cast<B>(b >> (8 * i + (high ? 16 : 0)))));
    return c;
}

/// Lane by lane; `Add` sums the lanes to c.
template <class D, class A, class B, bool Saturates, bool Add, class F>
constexpr u32 video(u32 a, u32 b, u32 c, F operation) {
    constexpr u32 width = sizeof(D) * 8;
    u32 result = Add ? c : 0;
    for (u32 at = 0; at < 32; at += width) {
        i32 value = operation(static_cast<i32>(static_cast<A>(a >> at)), static_cast<i32>(static_cast<B>(b >> at)));
        if (Saturates)
            value = value < static_cast<i32>(smallest<D>)  ? static_cast<i32>(smallest<D>)
                    : value > static_cast<i32>(largest<D>) ? static_cast<i32>(largest<D>)
                                                           : value;
        if (Add)
            result += static_cast<u32>(value);
        else
            result |= static_cast<u32>(static_cast<Unsigned<D>>(value)) << at;
    }
    return result;
}

} // namespace cudart_cpu::ptx
