"""Instructions on the bytes or halves of a word, used by CUDA's SIMD functions."""

from ..syntax import Name, Unsupported
from . import instruction

NAMES = ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset")
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def body(w, i, name, signed):
    if name == "vset":
        return "(a {} b ? 1 : 0)".format(next(COMPARISONS[part] for part in i.parts if part in COMPARISONS))
    return {"vadd": "a + b", "vsub": "a - b", "vavrg": "(a + b + (a + b >= 0 ? 1 : 0)) >> 1",
            "vabsdiff": "(a < b ? b - a : a - b)", "vmin": "(a < b ? a : b)", "vmax": "(a < b ? b : a)"}[name]


def video(w, i):
    name, lanes = i.parts[0][:-1], int(i.parts[0][-1])
    kinds = [part for part in i.parts[1:] if part in ("u32", "s32")]
    while len(kinds) < 3:
        kinds.insert(0, kinds[0] if kinds else "u32")
    for operand in i.operands:
        if isinstance(operand, Name) and "." in operand.text:
            raise Unsupported(i.name)  # parts of operands
    a, b, c = (w.value(operand, "u32") for operand in i.operands[1:4])
    types = [("i" if kind == "s32" else "u") + str(32 // lanes) for kind in kinds]
    flags = ", ".join("true" if part in i.parts else "false" for part in ("sat", "add"))
    operation = f"[](i32 a, i32 b) {{ return static_cast<i32>({body(w, i, name, kinds[0])}); }}"
    w.put(i.operands[0], "u32", f"video<{', '.join(types)}, {flags}>({a}, {b}, {c}, {operation})")


for _name in NAMES:
    for _lanes in "24":
        instruction(_name + _lanes)(video)
