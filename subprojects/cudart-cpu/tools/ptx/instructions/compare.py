"""Comparisons and selections."""

from ..syntax import Pair, Unsupported
from . import instruction
from .types import C, HALVES, last_type, types

SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">",
         "hs": ">="}
ORDERED = {"equ": "eq", "neu": "ne", "ltu": "lt", "leu": "le", "gtu": "gt", "geu": "ge"}


def comparison(operator, a, b, is_float):
    if not is_float:
        return f"({a} {SIGNS[operator]} {b})"
    nan = f"(is_nan({a}) || is_nan({b}))"
    if operator == "num":
        return f"(!{nan})"
    if operator == "nan":
        return nan
    if operator in ORDERED:
        # True if the comparison holds or one side is NaN: that is, if the opposite comparison is false.
        opposite = {"eq": None, "ne": "!=", "lt": ">=", "le": ">", "gt": "<=", "ge": "<"}[ORDERED[operator]]
        if opposite is None:
            return f"({a} == {b} || {nan})"
        if opposite == "!=":
            return f"({a} != {b})"
        return f"(!({a} {opposite} {b}))"
    if operator == "ne":
        return f"({a} != {b} && !{nan})"
    return f"({a} {SIGNS[operator]} {b})"


def operand(w, i, which, kind, half=""):
    text = w.value(which, C[kind])
    if kind in HALVES:
        text = f"widen({text}{half})"
    if "ftz" in i.parts and kind == "f32":
        text = f"ftz({text})"
    return text


def operator_of(i):
    return next(part for part in i.parts if part in SIGNS or part in ORDERED or part in ("num", "nan"))


def combined(w, i, test, at):
    join = next((part for part in i.parts if part in ("and", "or", "xor")), None)
    if join is None:
        return test
    other = w.value(i.operands[at], "bool")
    return f"({test} {({'and': '&&', 'or': '||', 'xor': '!='})[join]} {other})"


@instruction("setp")
def setp(w, i):
    kind = last_type(i)
    operator = operator_of(i)
    is_float = kind.startswith(("f", "bf"))
    first, second = (i.operands[0].first, i.operands[0].second) if isinstance(i.operands[0], Pair) else (i.operands[0], None)
    if kind.endswith("x2"):
        if second is None:
            raise Unsupported(i.name)
        for result, half in ((first, ".low"), (second, ".high")):
            test = comparison(operator, operand(w, i, i.operands[1], kind, half), operand(w, i, i.operands[2], kind, half), True)
            w.put(result, "bool", combined(w, i, test, 3))
        return
    a, b = operand(w, i, i.operands[1], kind), operand(w, i, i.operands[2], kind)
    test = comparison(operator, a, b, is_float)
    if second is None:
        w.put(first, "bool", combined(w, i, test, 3))
    else:
        w.line("{")
        w.line(f"const bool both = {combined(w, i, test, 3)}, other = {combined(w, i, f'(!{test})', 3)};")
        w.put(first, "bool", "both")
        w.put(second, "bool", "other")
        w.line("}")


@instruction("set")
def set_(w, i):
    to, kind = types(i)[-2:]
    operator = operator_of(i)
    is_float = kind.startswith(("f", "bf"))
    one = {"f32": "f32{1}", "f16": "f16{0x3C00}", "bf16": "bf16{0x3F80}"}
    if kind.endswith("x2"):
        tests = [comparison(operator, operand(w, i, i.operands[1], kind, half), operand(w, i, i.operands[2], kind, half), True)
                 for half in (".low", ".high")]
        single = {"f16x2": "f16", "bf16x2": "bf16"}.get(to)
        if single:
            ones = [f"({test} ? {one[single]} : {single}{{0}})" for test in tests]
            w.put(i.operands[0], C[to], f"{to}{{{ones[0]}, {ones[1]}}}")
        else:
            w.put(i.operands[0], "u32", f"(({tests[0]} ? 0xFFFFu : 0u) | ({tests[1]} ? 0xFFFF0000u : 0u))")
        return
    test = combined(w, i, comparison(operator, operand(w, i, i.operands[1], kind), operand(w, i, i.operands[2], kind), is_float), 3)
    type_ = C[to]
    if to in one:
        w.put(i.operands[0], type_, f"({test} ? {one[to]} : {type_}{{}})")
    else:
        w.put(i.operands[0], type_, f"static_cast<{type_}>({test} ? -1 : 0)")


@instruction("selp")
def select(w, i):
    type_ = C[last_type(i)]
    a, b, p = w.value(i.operands[1], type_), w.value(i.operands[2], type_), w.value(i.operands[3], "bool")
    w.put(i.operands[0], type_, f"({p} ? {a} : {b})")


@instruction("slct")
def select_by_sign(w, i):
    kind, by = types(i)
    a, b, c = w.value(i.operands[1], C[kind]), w.value(i.operands[2], C[kind]), w.value(i.operands[3], C[by])
    if "ftz" in i.parts:
        c = f"ftz({c})"
    w.put(i.operands[0], C[kind], f"({c} >= 0 ? {a} : {b})")
