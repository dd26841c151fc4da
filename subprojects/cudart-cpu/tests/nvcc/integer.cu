// Integer instructions.
#include "instructions.hpp"

#include <cstdint>
#include <limits>

using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = long long;
using u64 = unsigned long long;

namespace {

const std::vector<u32> words{0,          1,          2,          3,          7,          31,         32,
                             33,         255,        256,        0x7FFF,     0x8000,     0xFFFF,     0x10000,
                             0x12345678, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xDEADBEEF, 0xFFFFFFFE, 0xFFFFFFFF};
const std::vector<i32> numbers(words.begin(), words.end());
const std::vector<u64> longs{0,
                             1,
                             5,
                             63,
                             64,
                             0xFFFFFFFF,
                             0x100000000,
                             0x123456789ABCDEF0,
                             0x7FFFFFFFFFFFFFFF,
                             0x8000000000000000,
                             0xFFFFFFFFFFFFFFFF};
const std::vector<i64> long_numbers(longs.begin(), longs.end());
const std::vector<int> none{0};

i32 clamped(i64 value) {
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : static_cast<i32>(value);
}

INSTRUCTION2(AddSat, "add.sat.s32 %0, %1, %2;", i32, "r", i32, "r", i32, "r")
INSTRUCTION2(SubSat, "sub.sat.s32 %0, %1, %2;", i32, "r", i32, "r", i32, "r")
INSTRUCTION2(MulHiS, "mul.hi.s32 %0, %1, %2;", i32, "r", i32, "r", i32, "r")
INSTRUCTION2(MulHiU, "mul.hi.u32 %0, %1, %2;", u32, "r", u32, "r", u32, "r")
INSTRUCTION2(MulHi64, "mul.hi.u64 %0, %1, %2;", u64, "l", u64, "l", u64, "l")
INSTRUCTION2(MulHiS64, "mul.hi.s64 %0, %1, %2;", i64, "l", i64, "l", i64, "l")
INSTRUCTION2(MulWideS, "mul.wide.s32 %0, %1, %2;", i64, "l", i32, "r", i32, "r")
INSTRUCTION2(MulWideU, "mul.wide.u32 %0, %1, %2;", u64, "l", u32, "r", u32, "r")
INSTRUCTION3(MadLo, "mad.lo.s32 %0, %1, %2, %3;", i32, "r", i32, "r", i32, "r", i32, "r")
INSTRUCTION3(MadHiSat, "mad.hi.sat.s32 %0, %1, %2, %3;", i32, "r", i32, "r", i32, "r", i32, "r")
INSTRUCTION2(Mul24S, "mul24.lo.s32 %0, %1, %2;", i32, "r", i32, "r", i32, "r")
INSTRUCTION2(Mul24U, "mul24.hi.u32 %0, %1, %2;", u32, "r", u32, "r", u32, "r")
INSTRUCTION3(SadS, "sad.s32 %0, %1, %2, %3;", i32, "r", i32, "r", i32, "r", i32, "r")
INSTRUCTION3(SadU, "sad.u32 %0, %1, %2, %3;", u32, "r", u32, "r", u32, "r", u32, "r")
INSTRUCTION2(DivS, "div.s32 %0, %1, %2;", i32, "r", i32, "r", i32, "r")
INSTRUCTION2(RemS, "rem.s32 %0, %1, %2;", i32, "r", i32, "r", i32, "r")
INSTRUCTION2(DivU, "div.u32 %0, %1, %2;", u32, "r", u32, "r", u32, "r")
INSTRUCTION2(DivS64, "div.s64 %0, %1, %2;", i64, "l", i64, "l", i64, "l")
INSTRUCTION2(RemU64, "rem.u64 %0, %1, %2;", u64, "l", u64, "l", u64, "l")
INSTRUCTION1(Abs, "abs.s32 %0, %1;", i32, "r", i32, "r")
INSTRUCTION1(Neg, "neg.s32 %0, %1;", i32, "r", i32, "r")
INSTRUCTION2(MinS, "min.s32 %0, %1, %2;", i32, "r", i32, "r", i32, "r")
INSTRUCTION2(MaxU, "max.u32 %0, %1, %2;", u32, "r", u32, "r", u32, "r")
INSTRUCTION3(AddCarry, "{ .reg .u32 low; add.cc.u32 low, %1, %2; addc.u32 %0, %3, 0; }", u32, "r", u32, "r", u32, "r",
             u32, "r")
INSTRUCTION3(SubBorrow, "{ .reg .u32 low; sub.cc.u32 low, %1, %2; subc.u32 %0, %3, 0; }", u32, "r", u32, "r", u32, "r",
             u32, "r")
INSTRUCTION3(MadCarry, "{ .reg .u32 low; mad.lo.cc.u32 low, %1, %2, %3; madc.hi.u32 %0, %1, %2, 0; }", u32, "r", u32,
             "r", u32, "r", u32, "r")
INSTRUCTION3(Dp4aS, "dp4a.s32.s32 %0, %1, %2, %3;", i32, "r", u32, "r", u32, "r", i32, "r")
INSTRUCTION3(Dp4aU, "dp4a.u32.u32 %0, %1, %2, %3;", u32, "r", u32, "r", u32, "r", u32, "r")
INSTRUCTION3(Dp2aLo, "dp2a.lo.s32.u32 %0, %1, %2, %3;", i32, "r", u32, "r", u32, "r", i32, "r")

} // namespace

KERNEL_TEST("integer sums and products, saturated and wide") {
    check_instruction<AddSat>("add.sat", numbers, numbers, none, [](i32 a, i32 b, int) { return clamped(i64{a} + b); });
    check_instruction<SubSat>("sub.sat", numbers, numbers, none, [](i32 a, i32 b, int) { return clamped(i64{a} - b); });
    check_instruction<MulHiS>("mul.hi.s32", numbers, numbers, none,
                              [](i32 a, i32 b, int) { return static_cast<i32>((i64{a} * b) >> 32); });
    check_instruction<MulHiU>("mul.hi.u32", words, words, none,
                              [](u32 a, u32 b, int) { return static_cast<u32>((u64{a} * b) >> 32); });
    check_instruction<MulHi64>("mul.hi.u64", longs, longs, none, [](u64 a, u64 b, int) {
        return static_cast<u64>((static_cast<unsigned __int128>(a) * b) >> 64);
    });
    check_instruction<MulHiS64>("mul.hi.s64", long_numbers, long_numbers, none, [](i64 a, i64 b, int) {
        return static_cast<i64>((static_cast<__int128>(a) * b) >> 64);
    });
    check_instruction<MulWideS>("mul.wide.s32", numbers, numbers, none, [](i32 a, i32 b, int) { return i64{a} * b; });
    check_instruction<MulWideU>("mul.wide.u32", words, words, none, [](u32 a, u32 b, int) { return u64{a} * b; });
    check_instruction<MadLo>("mad.lo", numbers, numbers, numbers, [](i32 a, i32 b, i32 c) {
        return static_cast<i32>(static_cast<u32>(a) * static_cast<u32>(b) + static_cast<u32>(c));
    });
    check_instruction<MadHiSat>("mad.hi.sat", numbers, numbers, numbers,
                                [](i32 a, i32 b, i32 c) { return clamped(((i64{a} * b) >> 32) + c); });
    check_instruction<Mul24S>("mul24.lo.s32", numbers, numbers, none, [](i32 a, i32 b, int) {
        const auto cut = [](i32 x) { return i64{static_cast<i32>(static_cast<u32>(x) << 8) >> 8}; };
        return static_cast<i32>(cut(a) * cut(b));
    });
    check_instruction<Mul24U>("mul24.hi.u32", words, words, none, [](u32 a, u32 b, int) {
        return static_cast<u32>((u64{a & 0xFFFFFF} * (b & 0xFFFFFF)) >> 16);
    });
}

KERNEL_TEST("integer differences, quotients, extremes") {
    check_instruction<SadS>("sad.s32", numbers, numbers, numbers, [](i32 a, i32 b, i32 c) {
        const i64 difference = a < b ? i64{b} - a : i64{a} - b;
        return static_cast<i32>(static_cast<u32>(c) + static_cast<u32>(difference));
    });
    check_instruction<SadU>("sad.u32", words, words, words,
                            [](u32 a, u32 b, u32 c) { return c + (a < b ? b - a : a - b); });
    std::vector<i32> divisors;
    for (const i32 n : numbers)
        if (n != 0) divisors.push_back(n);
    check_instruction<DivS>("div.s32", numbers, divisors, none,
                            [](i32 a, i32 b, int) { return static_cast<i32>(i64{a} / b); });
    check_instruction<RemS>("rem.s32", numbers, divisors, none,
                            [](i32 a, i32 b, int) { return static_cast<i32>(i64{a} % b); });
    check_instruction<DivU>("div.u32", words, std::vector<u32>(divisors.begin(), divisors.end()), none,
                            [](u32 a, u32 b, int) { return a / b; });
    std::vector<i64> long_divisors{1, 5, -7, 64, 0x100000000};
    check_instruction<DivS64>("div.s64", long_numbers, long_divisors, none, [](i64 a, i64 b, int) { return a / b; });
    check_instruction<RemU64>("rem.u64", longs, {1, 3, 64, 0xFFFFFFFFFFFFFFFF}, none,
                              [](u64 a, u64 b, int) { return a % b; });
    check_instruction<Abs>("abs", numbers, none, none,
                           [](i32 a, int, int) { return a < 0 ? static_cast<i32>(0u - static_cast<u32>(a)) : a; });
    check_instruction<Neg>("neg", numbers, none, none,
                           [](i32 a, int, int) { return static_cast<i32>(0u - static_cast<u32>(a)); });
    check_instruction<MinS>("min.s32", numbers, numbers, none, [](i32 a, i32 b, int) { return a < b ? a : b; });
    check_instruction<MaxU>("max.u32", words, words, none, [](u32 a, u32 b, int) { return a < b ? b : a; });
}

KERNEL_TEST("integer carries and dot products") {
    check_instruction<AddCarry>("addc", words, words, {0, 5, 0xFFFFFFFF},
                                [](u32 a, u32 b, u32 c) { return c + static_cast<u32>((u64{a} + b) >> 32); });
    check_instruction<SubBorrow>("subc", words, words, {0, 5, 0xFFFFFFFF},
                                 [](u32 a, u32 b, u32 c) { return c - (a < b ? 1u : 0u); });
    check_instruction<MadCarry>("madc", words, words, words,
                                [](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{a} * b + c) >> 32); });
    const auto byte = [](u32 a, int i) { return (a >> (8 * i)) & 0xFF; };
    check_instruction<Dp4aS>("dp4a.s32", words, words, {0, -5, 100000}, [=](u32 a, u32 b, i32 c) {
        for (int i = 0; i < 4; ++i)
            c += static_cast<signed char>(byte(a, i)) * static_cast<signed char>(byte(b, i));
        return c;
    });
    check_instruction<Dp4aU>("dp4a.u32", words, words, {0, 7}, [=](u32 a, u32 b, u32 c) {
        for (int i = 0; i < 4; ++i)
            c += byte(a, i) * byte(b, i);
        return c;
    });
    check_instruction<Dp2aLo>("dp2a.lo", words, words, {0, -9}, [=](u32 a, u32 b, i32 c) {
        for (int i = 0; i < 2; ++i)
            c = static_cast<i32>(static_cast<u32>(c) +
                                 static_cast<u32>(static_cast<short>(a >> (16 * i)) * static_cast<i32>(byte(b, i))));
        return c;
    });
}
