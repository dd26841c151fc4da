"""Matrices held jointly by a warp."""

from ..syntax import Unsupported, Vector
from . import instruction

ELEMENTS = {"f16": "f16", "bf16": "bf16", "tf32": "tf32", "s8": "i8", "u8": "u8", "f32": "f32", "s32": "i32"}


def shape_of(i):
    for part in i.parts:
        if part[0] == "m" and part[1:2].isdigit():
            m, rest = part[1:].split("n")
            n, k = rest.split("k")
            return int(m), int(n), int(k)
    raise Unsupported(i.name)


def types_of(i):
    return [part for part in i.parts if part in ELEMENTS]


def give(w, call, member, operand):
    for at, register in enumerate(operand.operands):
        w.line(f"{call}.{member}[{at}] = {w.value(register, 'u32')};")


def take(w, call, operand, member="d"):
    for at, register in enumerate(operand.operands):
        w.put(register, "u32", f"{call}.{member}[{at}]")


def together(w, i, compute, inputs, output):
    w.meets = True
    w.line("{")
    w.line(f"MatrixCall matrix{{&{compute}}};")
    for member, operand in inputs:
        give(w, "matrix", member, operand)
    w.line(f"matrix_together(t, matrix, {w.place});")
    take(w, "matrix", output)
    w.line("}")


@instruction("mma")
def multiply(w, i):
    m, n, k = shape_of(i)
    d, a, b, c = types_of(i) if len(types_of(i)) == 4 else (None,) * 4
    allowed = {"f16": (8, 16), "bf16": (8, 16), "tf32": (4, 8), "s8": (16, 32), "u8": (16, 32)}
    if (m, n) != (16, 8) or k not in allowed.get(a, ()) or "sp" in i.parts or \
            any(part in i.parts for part in ("xor", "and", "satfinite")) or not all(
                isinstance(operand, Vector) for operand in i.operands[:4]):
        raise Unsupported(i.name)
    compute = f"multiply_m16n8<{k}, {ELEMENTS[a]}, {ELEMENTS[b]}, {ELEMENTS[c]}, {ELEMENTS[d]}>"
    together(w, i, compute, zip("abc", i.operands[1:4]), i.operands[0])


@instruction("wmma")
def fragments(w, i):
    m, n, k = shape_of(i)
    kinds = types_of(i)
    # With elements of type f16, each register of A and B holds two, and half of all registers are unused.
    if i.parts[1] == "mma":
        d, c = kinds[0], kinds[-1]
        a = kinds[1] if len(kinds) == 4 else "f16"
        if a not in ("f16", "bf16") or "satfinite" in i.parts:
            raise Unsupported(i.name)
        compute = f"multiply_fragments<{m}, {n}, {k}, {ELEMENTS[a]}, {ELEMENTS[c]}, {ELEMENTS[d]}>"
        together(w, i, compute, zip("abc", i.operands[1:4]), i.operands[0])
        return
    which, kind = i.parts[2], kinds[0]
    if kind not in ("f16", "bf16", "f32"):
        raise Unsupported(i.name)
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[which]
    space = next((part for part in i.parts if part.split("::")[0] in ("global", "shared")), "generic")
    loads = i.parts[1] == "load"
    registers, memory = (i.operands[0], i.operands[1]) if loads else (i.operands[1], i.operands[0])
    by_rows = "true" if "row" in i.parts else "false"
    stride = w.value(i.operands[2], "u32") if len(i.operands) > 2 else str(columns if "row" in i.parts else rows)
    form = f"fragment<{rows}, {columns}, {ELEMENTS[kind]}>(t, registers, {w.address(memory, space)}, {stride}, {by_rows});"
    w.line("{")
    w.line("u32 registers[8] = {};")
    if loads:
        w.line("load_" + form)
        for at, register in enumerate(registers.operands):
            w.put(register, "u32", f"registers[{at}]")
    else:
        for at, register in enumerate(registers.operands):
            w.line(f"registers[{at}] = {w.value(register, 'u32')};")
        w.line("store_" + form)
    w.line("}")


@instruction("ldmatrix")
def load_matrix(w, i):
    if "m8n8" not in i.parts or "b16" not in i.parts:
        raise Unsupported(i.name)
    count = next(int(part[1]) for part in i.parts if part in ("x1", "x2", "x4"))
    transposed = "true" if "trans" in i.parts else "false"
    w.meets = True
    w.line("{")
    w.line(f"MatrixCall matrix{{&load_matrices<{count}, {transposed}>}};")
    w.line(f"const u64 row = {w.address(i.operands[1], 'shared')};")
    w.line("matrix.a[0] = static_cast<u32>(row); matrix.a[1] = static_cast<u32>(row >> 32);")
    w.line(f"matrix_together(t, matrix, {w.place});")
    output = i.operands[0] if isinstance(i.operands[0], Vector) else Vector([i.operands[0]])
    take(w, "matrix", output)
    w.line("}")
