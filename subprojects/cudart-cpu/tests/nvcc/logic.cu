// Instructions on bits.
#include "instructions.hpp"

#include <cstdint>

using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = long long;
using u64 = unsigned long long;

namespace {

const std::vector<u32> words{0, 1, 2, 0x80, 0xFF, 0x8000, 0x12345678, 0x7FFFFFFF, 0x80000000, 0xDEADBEEF, 0xFFFFFFFF};
const std::vector<u64> longs{0, 1, 0x80, 0x123456789ABCDEF0, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, ~0ull};
const std::vector<u32> amounts{0, 1, 5, 8, 31, 32, 33, 63, 64, 255, 0xFFFFFFFF};
const std::vector<int> none{0};

INSTRUCTION3(Lop3A, "lop3.b32 %0, %1, %2, %3, 0x96;", u32, "r", u32, "r", u32, "r", u32, "r")
INSTRUCTION3(Lop3B, "lop3.b32 %0, %1, %2, %3, 0xCA;", u32, "r", u32, "r", u32, "r", u32, "r")
INSTRUCTION2(Shl, "shl.b32 %0, %1, %2;", u32, "r", u32, "r", u32, "r")
INSTRUCTION2(ShrU, "shr.u32 %0, %1, %2;", u32, "r", u32, "r", u32, "r")
INSTRUCTION2(ShrS, "shr.s32 %0, %1, %2;", i32, "r", i32, "r", u32, "r")
INSTRUCTION2(ShrS64, "shr.s64 %0, %1, %2;", i64, "l", i64, "l", u32, "r")
INSTRUCTION3(ShfLClamp, "shf.l.clamp.b32 %0, %1, %2, %3;", u32, "r", u32, "r", u32, "r", u32, "r")
INSTRUCTION3(ShfRWrap, "shf.r.wrap.b32 %0, %1, %2, %3;", u32, "r", u32, "r", u32, "r", u32, "r")
INSTRUCTION3(Prmt, "prmt.b32 %0, %1, %2, %3;", u32, "r", u32, "r", u32, "r", u32, "r")
INSTRUCTION3(PrmtF4e, "prmt.b32.f4e %0, %1, %2, %3;", u32, "r", u32, "r", u32, "r", u32, "r")
INSTRUCTION3(PrmtB4e, "prmt.b32.b4e %0, %1, %2, %3;", u32, "r", u32, "r", u32, "r", u32, "r")
INSTRUCTION3(PrmtRc16, "prmt.b32.rc16 %0, %1, %2, %3;", u32, "r", u32, "r", u32, "r", u32, "r")
INSTRUCTION1(Popc, "popc.b32 %0, %1;", u32, "r", u32, "r")
INSTRUCTION1(Popc64, "popc.b64 %0, %1;", u32, "r", u64, "l")
INSTRUCTION1(Clz, "clz.b32 %0, %1;", u32, "r", u32, "r")
INSTRUCTION1(Clz64, "clz.b64 %0, %1;", u32, "r", u64, "l")
INSTRUCTION1(BfindU, "bfind.u32 %0, %1;", u32, "r", u32, "r")
INSTRUCTION1(BfindS, "bfind.s32 %0, %1;", u32, "r", i32, "r")
INSTRUCTION1(BfindShift, "bfind.shiftamt.u64 %0, %1;", u32, "r", u64, "l")
INSTRUCTION1(Brev, "brev.b32 %0, %1;", u32, "r", u32, "r")
INSTRUCTION3(BfeU, "bfe.u32 %0, %1, %2, %3;", u32, "r", u32, "r", u32, "r", u32, "r")
INSTRUCTION3(BfeS, "bfe.s32 %0, %1, %2, %3;", i32, "r", i32, "r", u32, "r", u32, "r")
INSTRUCTION3(BfeS64, "bfe.s64 %0, %1, %2, %3;", i64, "l", i64, "l", u32, "r", u32, "r")
INSTRUCTION3(Bfi, "bfi.b32 %0, %1, 0x0F0F0F0F, %2, %3;", u32, "r", u32, "r", u32, "r", u32, "r")
INSTRUCTION2(Bmsk, "bmsk.clamp.b32 %0, %1, %2;", u32, "r", u32, "r", u32, "r")
INSTRUCTION2(BmskWrap, "bmsk.wrap.b32 %0, %1, %2;", u32, "r", u32, "r", u32, "r")
INSTRUCTION3(Fns, "fns.b32 %0, %1, %2, %3;", u32, "r", u32, "r", u32, "r", i32, "r")
INSTRUCTION1(Cnot, "cnot.b32 %0, %1;", u32, "r", u32, "r")

/// PTX's own words: bit by bit.
template <class T, class U>
T extracted(U value, u32 position, u32 length, bool is_signed) {
    const int msb = sizeof(U) * 8 - 1;
    const int pos = position & 0xFF;
    const int len = length & 0xFF;
    const auto bit = [&](int at) { return static_cast<U>(value >> at) & 1; };
    const U sign = !is_signed || len == 0 ? 0 : bit(pos + len - 1 < msb ? pos + len - 1 : msb);
    U result = 0;
    for (int i = 0; i <= msb; ++i)
        result |= static_cast<U>(i < len && pos + i <= msb ? bit(pos + i) : sign) << i;
    return static_cast<T>(result);
}

} // namespace

KERNEL_TEST("logic of three operands, shifts, funnels") {
    check_instruction<Lop3A>("lop3 xor", words, words, words, [](u32 a, u32 b, u32 c) { return a ^ b ^ c; });
    check_instruction<Lop3B>("lop3 select", words, words, words,
                             [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); });
    check_instruction<Shl>("shl", words, amounts, none, [](u32 a, u32 n, int) { return n > 31 ? 0 : a << n; });
    check_instruction<ShrU>("shr.u32", words, amounts, none, [](u32 a, u32 n, int) { return n > 31 ? 0 : a >> n; });
    const std::vector<i32> numbers(words.begin(), words.end());
    check_instruction<ShrS>("shr.s32", numbers, amounts, none,
                            [](i32 a, u32 n, int) { return a >> (n > 31 ? 31 : n); });
    check_instruction<ShrS64>("shr.s64", std::vector<i64>(longs.begin(), longs.end()), amounts, none,
                              [](i64 a, u32 n, int) { return a >> (n > 63 ? 63 : n); });
    check_instruction<ShfLClamp>("shf.l.clamp", words, words, amounts, [](u32 a, u32 b, u32 n) {
        n = n > 32 ? 32 : n;
        return static_cast<u32>(((u64{b} << 32 | a) << n) >> 32);
    });
    check_instruction<ShfRWrap>("shf.r.wrap", words, words, amounts,
                                [](u32 a, u32 b, u32 n) { return static_cast<u32>((u64{b} << 32 | a) >> (n & 31)); });
    check_instruction<Cnot>("cnot", words, none, none, [](u32 a, int, int) { return a == 0 ? 1u : 0u; });
}

KERNEL_TEST("permutations of bytes") {
    const std::vector<u32> selections{0x3210, 0x7654, 0x0123, 0xFEDC, 0x89AB, 0x5410, 0, 1, 2, 3, 0xFFFFFFFF};
    const auto byte = [](u32 a, u32 b, u32 i) { return static_cast<u32>((u64{b} << 32 | a) >> (8 * (i & 7))) & 0xFF; };
    check_instruction<Prmt>("prmt", words, words, selections, [=](u32 a, u32 b, u32 s) {
        u32 result = 0;
        for (u32 i = 0; i < 4; ++i) {
            const u32 which = s >> (4 * i);
            u32 value = byte(a, b, which);
            if (which & 8) value = value & 0x80 ? 0xFF : 0;
            result |= value << (8 * i);
        }
        return result;
    });
    const auto by_mode = [=](auto which) {
        return [=](u32 a, u32 b, u32 s) {
            u32 result = 0;
            for (u32 i = 0; i < 4; ++i)
                result |= byte(a, b, which(s & 3, i)) << (8 * i);
            return result;
        };
    };
    check_instruction<PrmtF4e>("prmt.f4e", words, words, selections, by_mode([](u32 s, u32 i) { return s + i; }));
    check_instruction<PrmtB4e>("prmt.b4e", words, words, selections, by_mode([](u32 s, u32 i) { return s - i; }));
    check_instruction<PrmtRc16>("prmt.rc16", words, words, selections,
                                by_mode([](u32 s, u32 i) { return (s & 1) * 2 + (i & 1); }));
}

KERNEL_TEST("counts of bits, and bits found") {
    const auto popcount = [](u64 a) {
        u32 n = 0;
        for (; a != 0; a &= a - 1)
            ++n;
        return n;
    };
    const auto highest = [](u64 a) {
        u32 at = 0xFFFFFFFF;
        for (u32 i = 0; i < 64; ++i)
            if (a >> i & 1) at = i;
        return at;
    };
    check_instruction<Popc>("popc.b32", words, none, none, [=](u32 a, int, int) { return popcount(a); });
    check_instruction<Popc64>("popc.b64", longs, none, none, [=](u64 a, int, int) { return popcount(a); });
    check_instruction<Clz>("clz.b32", words, none, none,
                           [=](u32 a, int, int) { return a == 0 ? 32 : 31 - highest(a); });
    check_instruction<Clz64>("clz.b64", longs, none, none,
                             [=](u64 a, int, int) { return a == 0 ? 64 : 63 - highest(a); });
    check_instruction<BfindU>("bfind.u32", words, none, none, [=](u32 a, int, int) { return highest(a); });
    check_instruction<BfindS>("bfind.s32", std::vector<i32>(words.begin(), words.end()), none, none,
                              [=](i32 a, int, int) { return highest(static_cast<u32>(a < 0 ? ~a : a)); });
    check_instruction<BfindShift>("bfind.shiftamt.u64", longs, none, none,
                                  [=](u64 a, int, int) { return a == 0 ? 0xFFFFFFFF : 63 - highest(a); });
    check_instruction<Brev>("brev", words, none, none, [](u32 a, int, int) {
        u32 result = 0;
        for (int i = 0; i < 32; ++i)
            result |= (a >> i & 1) << (31 - i);
        return result;
    });
    const auto nth = [](u32 mask, u32 base, i32 offset) {
        if (offset == 0) return mask >> base & 1 ? base : 0xFFFFFFFF;
        for (i32 at = static_cast<i32>(base), left = offset > 0 ? offset : -offset;
             at >= 0 && at<32; at += offset> 0 ? 1 : -1)
            if ((mask >> at & 1) && --left == 0) return static_cast<u32>(at);
        return 0xFFFFFFFF;
    };
    check_instruction<Fns>("fns", words, {0, 3, 16, 31}, {0, 1, 2, 5, -1, -3}, nth);
}

KERNEL_TEST("fields of bits") {
    const std::vector<u32> places{0, 1, 4, 16, 31, 32, 40, 255};
    check_instruction<BfeU>("bfe.u32", words, places, places,
                            [](u32 a, u32 p, u32 n) { return extracted<u32>(a, p, n, false); });
    check_instruction<BfeS>("bfe.s32", std::vector<i32>(words.begin(), words.end()), places, places,
                            [](i32 a, u32 p, u32 n) { return extracted<i32>(static_cast<u32>(a), p, n, true); });
    check_instruction<BfeS64>("bfe.s64", std::vector<i64>(longs.begin(), longs.end()), places, places,
                              [](i64 a, u32 p, u32 n) { return extracted<i64>(static_cast<u64>(a), p, n, true); });
    check_instruction<Bfi>("bfi", words, places, places, [](u32 a, u32 p, u32 n) {
        u32 result = 0x0F0F0F0F;
        for (u32 i = 0; i < (n & 0xFF) && (p & 0xFF) + i < 32; ++i) {
            const u32 at = (p & 0xFF) + i;
            const u32 bit = i < 32 ? a >> i & 1 : 0;
            result = (result & ~(1u << at)) | bit << at;
        }
        return result;
    });
    check_instruction<Bmsk>("bmsk.clamp", places, places, none, [](u32 p, u32 n, int) {
        u32 result = 0;
        for (u32 i = 0; i < 32; ++i)
            if (i >= p && i - p < n) result |= 1u << i;
        return result;
    });
    check_instruction<BmskWrap>("bmsk.wrap", places, places, none, [](u32 p, u32 n, int) {
        u32 result = 0;
        for (u32 i = 0; i < 32; ++i)
            if (i >= (p & 31) && i - (p & 31) < (n & 31)) result |= 1u << i;
        return result;
    });
}
