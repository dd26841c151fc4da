"""Integer arithmetic. Instructions of the same name on floats are passed on to floating.py."""

from . import instruction
from .floating import floating
from .types import C, INTEGERS, WIDER, last_type, types


SIMD = {"add": "a + b", "sub": "a - b", "min": "(a < b ? a : b)", "max": "(a < b ? b : a)"}


def pair(w, i, kind):
    """Writes an operation on both halves of a word."""
    half = {"u16x2": "u16", "s16x2": "i16"}[kind]
    a, b = values(w, i, "u32")
    saturates = "true" if "sat" in i.parts else "false"
    body = SIMD[i.parts[0]]
    if "relu" in i.parts:
        body = f"max<i32>({body}, 0)"
    w.put(i.operands[0], "u32", f"video<{half}, {half}, {half}, {saturates}, false>({a}, {b}, 0u, "
                                f"[](i32 a, i32 b) {{ return static_cast<i32>({body}); }})")


def values(w, i, type_, first=1):
    return [w.value(operand, type_) for operand in i.operands[first:]]


@instruction("add", "sub")
def add(w, i):
    kind = last_type(i)
    if kind in ("u16x2", "s16x2"):
        return pair(w, i, kind)
    if kind not in INTEGERS:
        return floating(w, i)
    type_ = C[kind]
    a, b = values(w, i, type_)
    if "cc" in i.parts:
        w.uses_carry = True
        name = "add_carry" if i.parts[0] == "add" else "sub_borrow"
        expression = f"{name}<{type_}>({a}, {b}, false, carry)"
    else:
        expression = f"{i.parts[0]}{'_sat' if 'sat' in i.parts else ''}<{type_}>({a}, {b})"
    w.put(i.operands[0], type_, expression)


@instruction("addc", "subc")
def add_carry(w, i):
    type_ = C[last_type(i)]
    a, b = values(w, i, type_)
    w.uses_carry = True
    name = "add_carry" if i.parts[0] == "addc" else "sub_borrow"
    if "cc" in i.parts:
        w.put(i.operands[0], type_, f"{name}<{type_}>({a}, {b}, carry, carry)")
    else:
        w.put(i.operands[0], type_, f"[&](bool ignored) {{ return {name}<{type_}>({a}, {b}, carry, ignored); }}(false)")


@instruction("mul")
def mul(w, i):
    kind = last_type(i)
    if kind not in INTEGERS:
        return floating(w, i)
    type_ = C[kind]
    a, b = values(w, i, type_)
    if "wide" in i.parts:
        w.put(i.operands[0], WIDER[type_], f"mul_wide<{type_}>({a}, {b})")
    else:
        w.put(i.operands[0], type_, f"mul_{'hi' if 'hi' in i.parts else 'lo'}<{type_}>({a}, {b})")


@instruction("mad")
def mad(w, i):
    kind = last_type(i)
    if kind not in INTEGERS:
        return floating(w, i)
    type_ = C[kind]
    a, b = w.value(i.operands[1], type_), w.value(i.operands[2], type_)
    if "wide" in i.parts:
        wide = WIDER[type_]
        w.put(i.operands[0], wide, f"add<{wide}>(mul_wide<{type_}>({a}, {b}), {w.value(i.operands[3], wide)})")
        return
    c = w.value(i.operands[3], type_)
    product = f"mul_{'hi' if 'hi' in i.parts else 'lo'}<{type_}>({a}, {b})"
    if "cc" in i.parts:
        w.uses_carry = True
        w.put(i.operands[0], type_, f"add_carry<{type_}>({product}, {c}, false, carry)")
    else:
        w.put(i.operands[0], type_, f"add{'_sat' if 'sat' in i.parts else ''}<{type_}>({product}, {c})")


@instruction("madc")
def madc(w, i):
    type_ = C[last_type(i)]
    a, b, c = values(w, i, type_)
    w.uses_carry = True
    product = f"mul_{'hi' if 'hi' in i.parts else 'lo'}<{type_}>({a}, {b})"
    if "cc" in i.parts:
        w.put(i.operands[0], type_, f"add_carry<{type_}>({product}, {c}, carry, carry)")
    else:
        w.put(i.operands[0], type_, f"add<{type_}>(add<{type_}>({product}, {c}), static_cast<{type_}>(carry))")


@instruction("mul24", "mad24")
def mul24(w, i):
    type_ = C[last_type(i)]
    arguments = values(w, i, type_)
    product = f"mul24<{type_}>({arguments[0]}, {arguments[1]}, {'true' if 'hi' in i.parts else 'false'})"
    if i.parts[0] == "mad24":
        product = f"add{'_sat' if 'sat' in i.parts else ''}<{type_}>({product}, {arguments[2]})"
    w.put(i.operands[0], type_, product)


@instruction("min", "max")
def extreme(w, i):
    kind = last_type(i)
    if kind in ("u16x2", "s16x2"):
        return pair(w, i, kind)
    if kind not in INTEGERS:
        return floating(w, i)
    type_ = C[kind]
    a, b = values(w, i, type_)
    expression = f"{i.parts[0]}<{type_}>({a}, {b})"
    if "relu" in i.parts:
        expression = f"max<{type_}>({expression}, 0)"
    w.put(i.operands[0], type_, expression)


@instruction("div")
def div(w, i):
    kind = last_type(i)
    if kind not in INTEGERS:
        return floating(w, i)
    a, b = values(w, i, C[kind])
    w.put(i.operands[0], C[kind], f"div<{C[kind]}>({a}, {b})")


@instruction("rem", "sad")
def two_or_three(w, i):
    type_ = C[last_type(i)]
    w.put(i.operands[0], type_, f"{i.parts[0]}<{type_}>({', '.join(values(w, i, type_))})")


@instruction("abs", "neg")
def one(w, i):
    kind = last_type(i)
    if kind not in INTEGERS:
        return floating(w, i)
    a, = values(w, i, C[kind])
    w.put(i.operands[0], C[kind], f"abs<{C[kind]}>({a})" if i.parts[0] == "abs" else f"sub<{C[kind]}>(0, {a})")


@instruction("dp4a", "dp2a")
def dot(w, i):
    signs = [{"u32": "u8", "s32": "i8"}[kind] for kind in types(i)]
    a, b, c = values(w, i, "u32")
    if i.parts[0] == "dp4a":
        w.put(i.operands[0], "u32", f"dp4a<{signs[0]}, {signs[1]}>({a}, {b}, {c})")
    else:
        high = "true" if "hi" in i.parts else "false"
        w.put(i.operands[0], "u32", f"dp2a<{signs[0]}, {signs[1]}>({a}, {b}, {c}, {high})")
