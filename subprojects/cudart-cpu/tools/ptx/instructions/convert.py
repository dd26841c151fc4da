"""Conversions: cvt, and conversions of addresses."""

from ..syntax import Unsupported
from . import instruction
from .types import C, HALVES, INTEGERS, rounding, types

FLOATS = {"f32", "f64"}
FP8 = {"e4m3x2": "e4m3", "e5m2x2": "e5m2"}


def pack(w, i, to):
    """Writes the conversion of two f32 into a pair of halves: the first becomes the upper one."""
    single = to.removesuffix("x2")
    around = {"relu": "hrelu", "satfinite": "hfinite"}
    if not set(i.parts) <= {"cvt", "rn", "rz", to, "f32"} | around.keys():
        raise Unsupported(i.name)
    expressions = []
    for operand in i.operands[1:3]:
        expression = f"to_half<{single}>({w.value(operand, 'f32')}, {rounding(i)})"
        for part, name in around.items():
            if part in i.parts:
                expression = f"{name}({expression})"
        expressions.append(expression)
    w.put(i.operands[0], to, f"{to}{{{expressions[1]}, {expressions[0]}}}")


def convert_fp8(w, i):
    """Converts pairs: two f32, or a pair of halves."""
    kinds = [part for part in i.parts if part in FP8 or part in ("f32", "f16x2")]
    if len(kinds) != 2 or not set(i.parts) <= {"cvt", "rn", "satfinite", "relu", *kinds}:
        raise Unsupported(i.name)
    to, source = kinds
    if to in FP8:
        if source in FP8 or "satfinite" not in i.parts:
            raise Unsupported(i.name)
        if source == "f32":
            upper, lower = (w.value(operand, "f32") for operand in i.operands[1:3])
        else:
            pair = w.value(i.operands[1], "f16x2")
            upper, lower = f"widen({pair}.high)", f"widen({pair}.low)"
        name = "fp8_pair_relu" if "relu" in i.parts else "fp8_pair"
        w.put(i.operands[0], "u16", f"{name}<{FP8[to]}>({upper}, {lower})")
    elif to == "f16x2":
        halves = f"halves_of<{FP8[source]}>({w.value(i.operands[1], 'u16')})"
        w.put(i.operands[0], "f16x2", f"pairwise<f16x2>([](f16 x) {{ return hrelu(x); }}, {halves})" if "relu" in i.parts else halves)
    else:
        raise Unsupported(i.name)


@instruction("cvt")
def convert(w, i):
    if any(part in FP8 for part in i.parts):
        return convert_fp8(w, i)
    found = types(i)
    if len(found) != 2:
        raise Unsupported(i.name)
    to, source = found
    round_ = rounding(i)
    if to in ("f16x2", "bf16x2") and source == "f32":
        return pack(w, i, to)
    if "x2" in to or "x2" in source or "pack" in i.parts:
        raise Unsupported(i.name)
    value = w.value(i.operands[1], C[source])
    to_integral = any(part in i.parts for part in ("rni", "rzi", "rmi", "rpi"))
    if "ftz" in i.parts and source == "f32":
        value = f"ftz({value})"
    if to == "tf32":
        away, cut = "rna" in i.parts, "rz" in i.parts
        w.put(i.operands[0], "u32", f"to_tf32({value}, {'true' if away else 'false'}, {'true' if cut else 'false'})")
        return
    type_ = C[to]
    if to in INTEGERS and source in INTEGERS:
        if "sat" in i.parts:
            expression = f"int_to_int_sat<{type_}, {C[source]}>({value})"
        else:
            expression = f"static_cast<{type_}>({value})"
    elif to in INTEGERS:
        if source in HALVES:
            value = f"widen({value})"
        expression = f"float_to_int<{type_}, {rounding(i, 'zero')}>({value})"
    elif source in INTEGERS:
        if to in HALVES:
            expression = f"int_to_half<{type_}>({value}, {round_})"
        else:
            expression = f"int_to_float<{type_}, {round_}, {C[source]}>({value})"
        if "sat" in i.parts:
            expression = f"sat<{type_}>({expression})" if to in FLOATS else f"hsat({expression})"
    else:
        if source in HALVES:
            value = f"widen({value})"
        if to_integral:
            value = f"integral<{round_}>({value})"
        if to in HALVES:
            expression = value if to == source and not to_integral else f"to_half<{type_}>({value}, {'Round::nearest' if to_integral else round_})"
            if to == source and not to_integral:
                expression = w.value(i.operands[1], C[source])
            for part, name in (("relu", "hrelu"), ("sat", "hsat")):
                if part in i.parts:
                    expression = f"{name}({expression})"
        else:
            if to == "f32" and source == "f64":
                expression = f"double_to_float<{'Round::nearest' if to_integral else round_}>({value})"
            else:
                expression = f"static_cast<{type_}>({value})"
            if "ftz" in i.parts and to == "f32":
                expression = f"ftz({expression})"
            if "sat" in i.parts:
                expression = f"sat<{type_}>({expression})"
    w.put(i.operands[0], type_, expression)


@instruction("cvta")
def convert_address(w, i):
    size = "u64" if "u64" in i.parts else "u32"
    value = w.value(i.operands[1], size)
    if any(part.startswith("shared") for part in i.parts):
        if "to" in i.parts:
            value = f"shared_from_generic(t, {value})"
        elif "shared::cluster" in i.parts:
            value = f"cluster_shared(t, {value})"
        else:
            value = f"({value} + address(t.block->shared))"
        w.put(i.operands[0], "u64", value)
    else:
        w.put(i.operands[0], size, value)


@instruction("isspacep")
def is_space(w, i):
    address = w.value(i.operands[1], "u64")
    space = i.parts[1]
    shared = f"({address} - address(t.block->shared) < t.block->total_shared)"
    local = f"is_local(t, {address})"
    if space == "shared::cluster":
        test = f"is_cluster_shared(t, {address})"
    elif space.startswith("shared"):
        test = shared
    elif space == "local":
        test = local
    elif space == "global":
        test = f"(!{shared} && !{local})"
    else:
        test = "false"
    w.put(i.operands[0], "bool", test)
