// Comparisons and selections.
#include "instructions.hpp"

#include <limits>

namespace {

const float nan = std::numeric_limits<float>::quiet_NaN();
const std::vector<float> floats{0.0f, -0.0f, 1.0f, -1.0f, 2.5f, std::numeric_limits<float>::infinity(), nan};
const std::vector<int> numbers{0, 1, -1, 5, 2147483647, -2147483647 - 1};
const std::vector<int> none{0};

#define COMPARE_F(Name, op)                                                                                            \
    INSTRUCTION2(Name, "{ .reg .pred p; setp." op ".f32 p, %1, %2; selp.u32 %0, 1, 0, p; }", unsigned, "r", float,     \
                 "f", float, "f")
COMPARE_F(Eq, "eq")
COMPARE_F(Ne, "ne")
COMPARE_F(Lt, "lt")
COMPARE_F(Ge, "ge")
COMPARE_F(Equ, "equ")
COMPARE_F(Neu, "neu")
COMPARE_F(Ltu, "ltu")
COMPARE_F(Gtu, "gtu")
COMPARE_F(Num, "num")
COMPARE_F(IsNan, "nan")
#undef COMPARE_F
INSTRUCTION2(LoU, "{ .reg .pred p; setp.lo.u32 p, %1, %2; selp.u32 %0, 1, 0, p; }", unsigned, "r", int, "r", int, "r")
INSTRUCTION2(LeS, "{ .reg .pred p; setp.le.s32 p, %1, %2; selp.u32 %0, 1, 0, p; }", unsigned, "r", int, "r", int, "r")
INSTRUCTION3(Both,
             "{ .reg .pred p, q, s; setp.ne.s32 s, %3, 0; setp.lt.and.s32 p|q, %1, %2, s;"
             " selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }",
             unsigned, "r", int, "r", int, "r", int, "r")
INSTRUCTION2(SetS, "set.gt.s32.s32 %0, %1, %2;", int, "r", int, "r", int, "r")
INSTRUCTION2(SetF, "set.le.f32.f32 %0, %1, %2;", float, "f", float, "f", float, "f")
INSTRUCTION3(Slct, "slct.s32.s32 %0, %1, %2, %3;", int, "r", int, "r", int, "r", int, "r")
INSTRUCTION3(SlctF, "slct.s32.f32 %0, %1, %2, %3;", int, "r", int, "r", int, "r", float, "f")
INSTRUCTION2(Predicates,
             "{ .reg .pred p, q, r; setp.gt.s32 p, %1, 0; setp.gt.s32 q, %2, 0; and.pred r, p, q; selp.u32 %0, 1, 0, r;"
             " xor.pred r, p, q; @r or.b32 %0, %0, 2; not.pred r, p; @!r or.b32 %0, %0, 4; }",
             unsigned, "r", int, "r", int, "r")

} // namespace

KERNEL_TEST("comparisons of floats, ordered or not") {
    const auto nan_in = [](float a, float b) { return a != a || b != b; };
    check_instruction<Eq>("eq", floats, floats, none, [](float a, float b, int) { return a == b ? 1u : 0u; });
    check_instruction<Ne>("ne", floats, floats, none,
                          [=](float a, float b, int) { return a != b && !nan_in(a, b) ? 1u : 0u; });
    check_instruction<Lt>("lt", floats, floats, none, [](float a, float b, int) { return a < b ? 1u : 0u; });
    check_instruction<Ge>("ge", floats, floats, none, [](float a, float b, int) { return a >= b ? 1u : 0u; });
    check_instruction<Equ>("equ", floats, floats, none,
                           [=](float a, float b, int) { return a == b || nan_in(a, b) ? 1u : 0u; });
    check_instruction<Neu>("neu", floats, floats, none, [](float a, float b, int) { return a != b ? 1u : 0u; });
    check_instruction<Ltu>("ltu", floats, floats, none,
                           [=](float a, float b, int) { return a < b || nan_in(a, b) ? 1u : 0u; });
    check_instruction<Gtu>("gtu", floats, floats, none,
                           [=](float a, float b, int) { return a > b || nan_in(a, b) ? 1u : 0u; });
    check_instruction<Num>("num", floats, floats, none, [=](float a, float b, int) { return nan_in(a, b) ? 0u : 1u; });
    check_instruction<IsNan>("nan", floats, floats, none,
                             [=](float a, float b, int) { return nan_in(a, b) ? 1u : 0u; });
}

KERNEL_TEST("comparisons of integers, sets and selections") {
    check_instruction<LoU>("lo.u32", numbers, numbers, none, [](int a, int b, int) {
        return static_cast<unsigned>(a) < static_cast<unsigned>(b) ? 1u : 0u;
    });
    check_instruction<LeS>("le.s32", numbers, numbers, none, [](int a, int b, int) { return a <= b ? 1u : 0u; });
    check_instruction<Both>("setp p|q", numbers, numbers, {0, 1}, [](int a, int b, int c) {
        return (a < b && c != 0 ? 1u : 0u) + (!(a < b) && c != 0 ? 2u : 0u);
    });
    check_instruction<SetS>("set.s32", numbers, numbers, none, [](int a, int b, int) { return a > b ? -1 : 0; });
    check_instruction<SetF>("set.f32", floats, floats, none,
                            [](float a, float b, int) { return a <= b ? 1.0f : 0.0f; });
    check_instruction<Slct>("slct.s32", numbers, numbers, numbers, [](int a, int b, int c) { return c >= 0 ? a : b; });
    check_instruction<SlctF>("slct.f32", {3}, {4}, floats, [](int a, int b, float c) { return c >= 0 ? a : b; });
    check_instruction<Predicates>("predicates", numbers, numbers, none, [](int a, int b, int) {
        const bool p = a > 0;
        const bool q = b > 0;
        return (p && q ? 1u : 0u) | (p != q ? 2u : 0u) | (p ? 4u : 0u);
    });
}
