"""Bits: logic, shifts, fields, permutations."""

from . import instruction
from .types import C, last_type


@instruction("and", "or", "xor")
def logic(w, i):
    type_ = C[last_type(i)]
    sign = {"and": "&", "or": "|", "xor": "^"}[i.parts[0]]
    a, b = (w.value(operand, type_) for operand in i.operands[1:])
    w.put(i.operands[0], type_, f"static_cast<{type_}>({a} {sign} {b})")


@instruction("not", "cnot")
def inverted(w, i):
    type_ = C[last_type(i)]
    a = w.value(i.operands[1], type_)
    bitwise = i.parts[0] == "not" and type_ != "bool"
    w.put(i.operands[0], type_, f"static_cast<{type_}>({'~' if bitwise else '!'}{a})")


@instruction("lop3")
def lop3(w, i):
    a, b, c = (w.value(operand, "u32") for operand in i.operands[1:4])
    expression = f"lop3<{i.operands[4].value & 0xFF}, u32>({a}, {b}, {c})"
    if "or" in i.parts or "and" in i.parts:  # d|p, with a predicate
        sign = "||" if "or" in i.parts else "&&"
        q = w.value(i.operands[5], "bool")
        pair = i.operands[0]
        w.line("{")
        w.line(f"const u32 result = {expression};")
        w.line(f"const bool test = (result != 0) {sign} {q};")
        w.put(pair.first, "u32", "result")
        w.put(pair.second, "bool", "test")
        w.line("}")
    else:
        w.put(i.operands[0], "u32", expression)


@instruction("shl", "shr")
def shift(w, i):
    type_ = C[last_type(i)]
    a, by = w.value(i.operands[1], type_), w.value(i.operands[2], "u32")
    w.put(i.operands[0], type_, f"{i.parts[0]}<{type_}>({a}, {by})")


@instruction("shf")
def funnel(w, i):
    a, b, by = (w.value(operand, "u32") for operand in i.operands[1:])
    wraps = "true" if "wrap" in i.parts else "false"
    w.put(i.operands[0], "u32", f"shf_{'left' if 'l' in i.parts else 'right'}({a}, {b}, {by}, {wraps})")


@instruction("prmt")
def permute(w, i):
    a, b, select = (w.value(operand, "u32") for operand in i.operands[1:])
    mode = next((part for part in i.parts if part in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")), None)
    w.put(i.operands[0], "u32", f"prmt_mode<Permute::{mode}>({a}, {b}, {select})" if mode else f"prmt({a}, {b}, {select})")


@instruction("popc", "clz")
def count(w, i):
    type_ = C[last_type(i)]
    w.put(i.operands[0], "u32", f"{i.parts[0]}<{type_}>({w.value(i.operands[1], type_)})")


@instruction("bfind")
def find(w, i):
    type_ = C[last_type(i)]
    shift_amount = "true" if "shiftamt" in i.parts else "false"
    w.put(i.operands[0], "u32", f"bfind<{type_}>({w.value(i.operands[1], type_)}, {shift_amount})")


@instruction("fns")
def fns(w, i):
    mask, base, offset = (w.value(o, t) for o, t in zip(i.operands[1:], ("u32", "u32", "i32")))
    w.put(i.operands[0], "u32", f"fns({mask}, {base}, {offset})")


@instruction("brev")
def reverse(w, i):
    type_ = C[last_type(i)]
    w.put(i.operands[0], type_, f"brev<{type_}>({w.value(i.operands[1], type_)})")


@instruction("bfe")
def extract(w, i):
    type_ = C[last_type(i)]
    a, position, length = w.value(i.operands[1], type_), w.value(i.operands[2], "u32"), w.value(i.operands[3], "u32")
    w.put(i.operands[0], type_, f"bfe<{type_}>({a}, {position}, {length})")


@instruction("bfi")
def insert(w, i):
    type_ = C[last_type(i)]
    a, b = w.value(i.operands[1], type_), w.value(i.operands[2], type_)
    position, length = w.value(i.operands[3], "u32"), w.value(i.operands[4], "u32")
    w.put(i.operands[0], type_, f"bfi<{type_}>({a}, {b}, {position}, {length})")


@instruction("bmsk")
def mask(w, i):
    a, b = (w.value(operand, "u32") for operand in i.operands[1:])
    w.put(i.operands[0], "u32", f"bmsk({a}, {b}, {'true' if 'wrap' in i.parts else 'false'})")


@instruction("szext")
def extend(w, i):
    type_ = C[last_type(i)]
    a, b = w.value(i.operands[1], type_), w.value(i.operands[2], "u32")
    w.put(i.operands[0], type_, f"szext<{type_}>({a}, {b}, {'true' if 'wrap' in i.parts else 'false'})")
