"""Matrices held jointly by a warp."""

from ..syntax import Unsupported, Vector
from . import instruction
from .memory import space_of

ELEMENTS = {"f16": "f16", "bf16": "bf16", "tf32": "tf32", "s8": "i8", "u8": "u8", "f32": "f32", "s32": "i32",
            "f64": "f64", "e4m3": "e4m3", "e5m2": "e5m2"}
RESULTS = {"f16": ("f16", "f32"), "bf16": ("f32",), "tf32": ("f32",), "s8": ("s32",), "u8": ("s32",), "f64": ("f64",),
           "e4m3": ("f16", "f32"), "e5m2": ("f16", "f32")}
# Rows, columns and depths of mma by the type of A; those of wmma.
PRODUCTS = {"f16": [(16, 8, 8), (16, 8, 16)], "bf16": [(16, 8, 8), (16, 8, 16)], "tf32": [(16, 8, 4), (16, 8, 8)],
            "s8": [(8, 8, 16), (16, 8, 16), (16, 8, 32)], "f64": [(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)],
            "e4m3": [(16, 8, 16), (16, 8, 32)]}
FRAGMENTS = {"f16": [(16, 16, 16), (32, 8, 16), (8, 32, 16)], "tf32": [(16, 16, 8)], "f64": [(8, 8, 4)]}
FRAGMENTS["bf16"] = FRAGMENTS["s8"] = FRAGMENTS["f16"]
for _shapes in (PRODUCTS, FRAGMENTS):
    _shapes["u8"] = _shapes["s8"]
PRODUCTS["e5m2"] = PRODUCTS["e4m3"]
ALIKE = [{"s8", "u8"}, {"e4m3", "e5m2"}]  # types of A and B in one product
# Parts of names without effect here.
PLAIN = {"mma", "wmma", "sync", "aligned", "row", "col", "rn", "satfinite"}


def shape_of(i):
    for part in i.parts:
        if part[0] == "m" and part[1:2].isdigit():
            m, rest = part[1:].split("n")
            n, k = rest.split("k")
            return int(m), int(n), int(k)
    raise Unsupported(i.name)


def types_of(i):
    return [part for part in i.parts if part in ELEMENTS]


def require_product(i, shapes, d, a, b, c):
    """Refuses products of other types and shapes, and parts of the name with an unknown effect."""
    known = all(part in PLAIN or part in ELEMENTS or part[0] == "m" and part[1:2].isdigit() for part in i.parts)
    if not known or shape_of(i) not in shapes.get(a, ()) or a != b and {a, b} not in ALIKE or \
            d not in RESULTS[a] or c not in RESULTS[a] or "satfinite" in i.parts and a not in ("s8", "u8"):
        raise Unsupported(i.name)


def saturates(i):
    return "true" if "satfinite" in i.parts else "false"


def give(w, call, member, operand, kind=""):
    type_ = "f64" if kind == "f64" else "u32"
    for at, register in enumerate(operand.operands):
        w.line(f"set_element<{type_}>({call}{member}, {at}, {w.value(register, type_)});")


def take(w, call, operand, kind="", member="d"):
    type_ = "f64" if kind == "f64" else "u32"
    for at, register in enumerate(operand.operands):
        w.put(register, type_, f"element<{type_}>({call}{member}, {at})")


def together(w, i, compute, inputs, output, kind=""):
    w.meets = True
    w.line("{")
    w.line(f"MatrixCall matrix{{&{compute}}};")
    for member, operand in inputs:
        give(w, "matrix.", member, operand, kind)
    w.line(f"matrix_together(t, matrix, {w.place});")
    take(w, "matrix.", output, kind)
    w.line("}")


@instruction("mma")
def multiply(w, i):
    m, _, k = shape_of(i)
    d, a, b, c = types_of(i) if len(types_of(i)) == 4 else (None,) * 4
    if a is None or not all(isinstance(operand, Vector) for operand in i.operands[:4]):
        raise Unsupported(i.name)
    require_product(i, PRODUCTS, d, a, b, c)
    types = ", ".join(ELEMENTS[kind] for kind in (a, b, c, d))
    together(w, i, f"multiply_rows<{m}, {k}, {types}, {saturates(i)}>", zip("abc", i.operands[1:4]), i.operands[0], a)


def meet(w):
    w.meets = True
    w.line(f"cudart_cpu_warp(t, WarpCall::sync, 0xFFFFFFFFu, 0, 0, 0, {w.place});")


@instruction("wmma")
def fragments(w, i):
    m, n, k = shape_of(i)
    kinds = types_of(i)
    # With elements of type f16, each register of A and B holds two, and half of all registers are unused.
    if i.parts[1] == "mma":
        d, c = kinds[0], kinds[-1]
        a, b = kinds[1:3] if len(kinds) == 4 else ("f16", "f16")
        require_product(i, FRAGMENTS, d, a, b, c)
        types = ", ".join(ELEMENTS[kind] for kind in (a, c, d))
        together(w, i, f"multiply_fragments<{m}, {n}, {k}, {types}, {saturates(i)}>", zip("abc", i.operands[1:4]),
                 i.operands[0], a)
        return
    which, kind = i.parts[2], kinds[0]
    if not any((m, n, k) in shapes and kind in (RESULTS[a] if which in "cd" else (a,)) for a, shapes in FRAGMENTS.items()):
        raise Unsupported(i.name)
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[which]
    loads = i.parts[1] == "load"
    registers, memory = (i.operands[0], i.operands[1]) if loads else (i.operands[1], i.operands[0])
    by_rows = "true" if "row" in i.parts else "false"
    stride = w.value(i.operands[2], "u32") if len(i.operands) > 2 else str(columns if "row" in i.parts else rows)
    form = f"fragment<{rows}, {columns}, {ELEMENTS[kind]}>(t, registers, {w.address(memory, space_of(i))}, {stride}, {by_rows});"
    meet(w)  # lanes access elements that other lanes have stored, or still read
    w.line("{")
    w.line("u32 registers[8] = {};")
    if loads:
        w.line("load_" + form)
        take(w, "", registers, kind, "registers")
    else:
        give(w, "", "registers", registers, kind)
        w.line("store_" + form)
    w.line("}")
    if not loads:
        meet(w)


def rows_of_matrices(w, i, compute, memory):
    """Opens a block in which `matrix` has the lane's row in memory."""
    if "m8n8" not in i.parts or "b16" not in i.parts:
        raise Unsupported(i.name)
    count = next(int(part[1]) for part in i.parts if part in ("x1", "x2", "x4"))
    transposed = "true" if "trans" in i.parts else "false"
    w.meets = True
    w.line("{")
    w.line(f"MatrixCall matrix{{&{compute}<{count}, {transposed}>}};")
    w.line(f"const u64 row = {w.address(memory, space_of(i))};")
    w.line("matrix.a[0] = static_cast<u32>(row); matrix.a[1] = static_cast<u32>(row >> 32);")


def several(operand):
    return operand if isinstance(operand, Vector) else Vector([operand])


@instruction("ldmatrix")
def load_matrix(w, i):
    rows_of_matrices(w, i, "load_matrices", i.operands[1])
    w.line(f"matrix_together(t, matrix, {w.place});")
    take(w, "matrix.", several(i.operands[0]))
    w.line("}")


@instruction("stmatrix")
def store_matrix(w, i):
    rows_of_matrices(w, i, "store_matrices", i.operands[0])
    give(w, "matrix.", "c", several(i.operands[1]))
    w.line(f"matrix_together(t, matrix, {w.place});")
    w.line("}")


@instruction("movmatrix")
def move_matrix(w, i):
    if "m8n8" not in i.parts or "trans" not in i.parts:
        raise Unsupported(i.name)
    together(w, i, "transpose_matrix", [("a", several(i.operands[1]))], several(i.operands[0]))
