// Conversions.
#include "instructions.hpp"

#include <cfenv>
#include <cstdint>
#include <limits>

using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = long long;
using u64 = unsigned long long;

namespace {

const float inf = std::numeric_limits<float>::infinity();
const std::vector<int> none{0};
const std::vector<float> floats{0.0f,        -0.0f,  0.5f,  -0.5f, 1.5f,          2.5f,           -2.5f,
                                0.49999997f, 3.7f,   -3.7f, 1e9f,  2147483648.0f, -2147483648.0f, 4294967296.0f,
                                1e20f,       -1e20f, inf,   -inf,  std::nanf("")};

INSTRUCTION1(F2I_Rn, "cvt.rni.s32.f32 %0, %1;", i32, "r", float, "f")
INSTRUCTION1(F2I_Rz, "cvt.rzi.s32.f32 %0, %1;", i32, "r", float, "f")
INSTRUCTION1(F2I_Rm, "cvt.rmi.s32.f32 %0, %1;", i32, "r", float, "f")
INSTRUCTION1(F2U_Rp, "cvt.rpi.u32.f32 %0, %1;", u32, "r", float, "f")
INSTRUCTION1(F2L_Rz, "cvt.rzi.s64.f32 %0, %1;", i64, "l", float, "f")
INSTRUCTION1(F2UL_Rz, "cvt.rzi.u64.f32 %0, %1;", u64, "l", float, "f")
INSTRUCTION1(D2I_Rz, "cvt.rzi.s32.f64 %0, %1;", i32, "r", double, "d")
INSTRUCTION1(I2F_Rn, "cvt.rn.f32.s32 %0, %1;", float, "f", i32, "r")
INSTRUCTION1(I2F_Rz, "cvt.rz.f32.s32 %0, %1;", float, "f", i32, "r")
INSTRUCTION1(U2F_Rp, "cvt.rp.f32.u32 %0, %1;", float, "f", u32, "r")
INSTRUCTION1(L2F_Rn, "cvt.rn.f32.s64 %0, %1;", float, "f", i64, "l")
INSTRUCTION1(L2D_Rn, "cvt.rn.f64.u64 %0, %1;", double, "d", u64, "l")
INSTRUCTION1(D2F_Rn, "cvt.rn.f32.f64 %0, %1;", float, "f", double, "d")
INSTRUCTION1(D2F_Rz, "cvt.rz.f32.f64 %0, %1;", float, "f", double, "d")
INSTRUCTION1(F2F_Rni, "cvt.rni.f32.f32 %0, %1;", float, "f", float, "f")
INSTRUCTION1(F2F_Sat, "cvt.sat.f32.f32 %0, %1;", float, "f", float, "f")
INSTRUCTION1(SatS8, "cvt.sat.s8.s32 %0, %1;", i32, "r", i32, "r")
INSTRUCTION1(SatU8, "cvt.sat.u8.s32 %0, %1;", u32, "r", i32, "r")
INSTRUCTION1(SatU16, "cvt.sat.u16.u32 %0, %1;", u32, "r", u32, "r")
INSTRUCTION1(SatU32, "cvt.sat.u32.s64 %0, %1;", u32, "r", i64, "l")
INSTRUCTION1(Narrow8, "cvt.s32.s8 %0, %1;", i32, "r", i32, "r")
INSTRUCTION1(Wide, "cvt.s64.s32 %0, %1;", i64, "l", i32, "r")
INSTRUCTION1(WideU, "cvt.u64.u32 %0, %1;", u64, "l", u32, "r")

template <class I>
I saturated(double value) {
    if (value != value) return sizeof(I) == 8 ? static_cast<I>(1ull << 63) : 0;
    if (value >= std::ldexp(1.0, std::numeric_limits<I>::digits)) return std::numeric_limits<I>::max();
    if (value < static_cast<double>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
    return static_cast<I>(value);
}

template <class T, class F>
T in_mode(int mode, F compute) {
    const int before = std::fegetround();
    std::fesetround(mode);
    volatile T result = compute();
    std::fesetround(before);
    return result;
}

} // namespace

KERNEL_TEST("floats to integers") {
    check_instruction<F2I_Rn>("rni.s32", floats, none, none,
                              [](float a, int, int) { return saturated<i32>(std::nearbyint(a)); });
    check_instruction<F2I_Rz>("rzi.s32", floats, none, none,
                              [](float a, int, int) { return saturated<i32>(std::trunc(a)); });
    check_instruction<F2I_Rm>("rmi.s32", floats, none, none,
                              [](float a, int, int) { return saturated<i32>(std::floor(a)); });
    check_instruction<F2U_Rp>("rpi.u32", floats, none, none,
                              [](float a, int, int) { return saturated<u32>(std::ceil(a)); });
    check_instruction<F2L_Rz>("rzi.s64", floats, none, none,
                              [](float a, int, int) { return saturated<i64>(std::trunc(a)); });
    check_instruction<F2UL_Rz>("rzi.u64", floats, none, none,
                               [](float a, int, int) { return saturated<u64>(std::trunc(a)); });
    check_instruction<D2I_Rz>("rzi.s32.f64", {0.0, -1.5, 2147483647.9, 1e300, -1e300}, none, none,
                              [](double a, int, int) { return saturated<i32>(std::trunc(a)); });
}

KERNEL_TEST("integers to floats, and floats to floats") {
    const std::vector<i32> numbers{0, 1, -1, 16777217, -16777217, 16777219, 2147483647, static_cast<i32>(0x80000000)};
    check_instruction<I2F_Rn>("rn.f32.s32", numbers, none, none, [](i32 a, int, int) { return static_cast<float>(a); });
    check_instruction<I2F_Rz>("rz.f32.s32", numbers, none, none, [](i32 a, int, int) {
        return in_mode<float>(FE_TOWARDZERO, [&] {
            const volatile i32 x = a;
            return static_cast<float>(x);
        });
    });
    check_instruction<U2F_Rp>("rp.f32.u32", {0, 1, 16777217, 0xFFFFFFFF}, none, none, [](u32 a, int, int) {
        return in_mode<float>(FE_UPWARD, [&] {
            const volatile u32 x = a;
            return static_cast<float>(x);
        });
    });
    check_instruction<L2F_Rn>("rn.f32.s64", {0, 1, -16777217, 9007199791611905, -9007199791611905, 1ll << 62}, none,
                              none, [](i64 a, int, int) { return static_cast<float>(a); });
    check_instruction<L2D_Rn>("rn.f64.u64", {0, 1, 9007199254740993, ~0ull}, none, none,
                              [](u64 a, int, int) { return static_cast<double>(a); });
    const std::vector<double> doubles{0.0, -0.0, 0.1, -0.1, 1e-40, 1e39, 3.0000001, 1e308};
    check_instruction<D2F_Rn>("rn.f32.f64", doubles, none, none,
                              [](double a, int, int) { return static_cast<float>(a); });
    check_instruction<D2F_Rz>("rz.f32.f64", doubles, none, none, [](double a, int, int) {
        return in_mode<float>(FE_TOWARDZERO, [&] {
            const volatile double x = a;
            return static_cast<float>(x);
        });
    });
    const std::vector<float> finite(floats.begin(), floats.end() - 1);
    check_instruction<F2F_Rni>("rni.f32.f32", finite, none, none, [](float a, int, int) { return std::nearbyint(a); });
    check_instruction<F2F_Sat>("sat.f32.f32", floats, none, none,
                               [](float a, int, int) { return a > 0 ? (a < 1 ? a : 1.0f) : 0.0f; });
}

KERNEL_TEST("integers to integers") {
    const std::vector<i32> numbers{
        0, 1, -1, 127, 128, -128, -129, 255, 256, 65535, 70000, 2147483647, static_cast<i32>(0x80000000)};
    const auto clamp = [](i64 a, i64 low, i64 high) { return a < low ? low : a > high ? high : a; };
    check_instruction<SatS8>("sat.s8.s32", numbers, none, none,
                             [=](i32 a, int, int) { return static_cast<i32>(clamp(a, -128, 127)); });
    check_instruction<SatU8>("sat.u8.s32", numbers, none, none,
                             [=](i32 a, int, int) { return static_cast<u32>(clamp(a, 0, 255)); });
    check_instruction<SatU16>("sat.u16.u32", std::vector<u32>(numbers.begin(), numbers.end()), none, none,
                              [=](u32 a, int, int) { return static_cast<u32>(clamp(a, 0, 65535)); });
    check_instruction<SatU32>("sat.u32.s64", {0, -1, 1ll << 40, 0xFFFFFFFF, 5}, none, none,
                              [=](i64 a, int, int) { return static_cast<u32>(clamp(a, 0, 0xFFFFFFFF)); });
    check_instruction<Narrow8>("s32.s8", numbers, none, none,
                               [](i32 a, int, int) { return i32{static_cast<signed char>(a)}; });
    check_instruction<Wide>("s64.s32", numbers, none, none, [](i32 a, int, int) { return i64{a}; });
    check_instruction<WideU>("u64.u32", std::vector<u32>(numbers.begin(), numbers.end()), none, none,
                             [](u32 a, int, int) { return u64{a}; });
}
