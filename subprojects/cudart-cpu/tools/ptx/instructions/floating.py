"""Floating-point arithmetic, in each precision."""

from ..syntax import Unsupported
from . import instruction
from .types import C, HALVES, last_type, rounding

HALF = {"add": "hadd", "sub": "hsub", "mul": "hmul", "fma": "hfma", "neg": "hneg", "abs": "habs", "min": "hmin",
        "max": "hmax", "ex2": "hex2", "tanh": "htanh"}


def half(w, i, kind):
    type_ = C[kind]
    name = HALF.get(i.parts[0])
    if name is None or "xorsign" in i.parts:
        raise Unsupported(i.name)
    if "NaN" in i.parts:
        name += "_nan"
    arguments = [w.value(operand, type_) for operand in i.operands[1:]]
    single = kind.removesuffix("x2")
    letters = "abc"[:len(arguments)]
    expression = f"{name}({', '.join(letters)})"
    for part, around in (("ftz", "hftz"), ("sat", "hsat"), ("relu", "hrelu")):
        if part in i.parts:
            expression = f"{around}({expression})"
    body = f"[]({', '.join(f'{single} {letter}' for letter in letters)}) {{ return {expression}; }}"
    if kind.endswith("x2"):
        w.put(i.operands[0], type_, f"pairwise<{type_}>({body}, {', '.join(arguments)})")
    else:
        w.put(i.operands[0], type_, f"({body})({', '.join(arguments)})")


def floating(w, i):
    kind = last_type(i)
    if kind in HALVES:
        return half(w, i, kind)
    if kind not in ("f32", "f64"):
        raise Unsupported(i.name)
    type_ = C[kind]
    flush = "ftz" in i.parts and kind == "f32"
    name = i.parts[0]
    arguments = [w.value(operand, type_) for operand in i.operands[1:]]
    if flush:
        arguments = [f"ftz({argument})" for argument in arguments]
    round_ = rounding(i)
    joined = ", ".join(arguments)
    if name in ("add", "sub", "mul"):
        expression = f"f{name}<{round_}, {type_}>({joined})"
    elif name in ("fma", "mad"):
        expression = f"ffma<{round_}, {type_}>({joined})"
    elif name == "div":
        expression = f"fdiv<{round_}, {type_}>({joined})"
    elif name == "sqrt":
        expression = f"fsqrt<{round_}, {type_}>({joined})"
    elif name == "rcp":
        expression = f"fdiv<{round_}, {type_}>({type_}{{1}}, {joined})"
    elif name == "rsqrt":
        expression = f"rsqrt({joined})"
    elif name in ("sin", "cos", "tanh"):
        expression = f"{name}_approx({joined})"
    elif name in ("ex2", "lg2"):
        expression = f"{name}({joined})"
    elif name == "abs":
        expression = f"abs_float({joined})"
    elif name == "neg":
        expression = f"neg_float({joined})"
    elif name in ("min", "max"):
        suffix = "_nan" if "NaN" in i.parts else "_"
        if len(arguments) == 3:
            expression = f"f{name}{suffix}<{type_}>(f{name}{suffix}<{type_}>({arguments[0]}, {arguments[1]}), {arguments[2]})"
        elif "xorsign" in i.parts:
            a, b = arguments
            expression = f"xor_sign(f{name}{suffix}<{type_}>(abs_float({a}), abs_float({b})), {a}, {b})"
        else:
            expression = f"f{name}{suffix}<{type_}>({joined})"
    elif name == "copysign":
        expression = f"copy_sign<{type_}>({joined})"
    else:
        raise Unsupported(i.name)
    if flush:
        expression = f"ftz({expression})"
    if "sat" in i.parts:
        expression = f"sat<{type_}>({expression})"
    w.put(i.operands[0], type_, expression)


for _name in ("fma", "sqrt", "rcp", "rsqrt", "sin", "cos", "tanh", "ex2", "lg2", "copysign"):
    instruction(_name)(floating)


@instruction("testp")
def test(w, i):
    which = i.parts[1]
    w.put(i.operands[0], "bool", f"testp<Test::{which}>({w.value(i.operands[1], C[last_type(i)])})")
