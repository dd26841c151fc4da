"""Atomic operations and reductions."""

from ..syntax import SIZES, Unsupported, Vector
from . import instruction
from .memory import complete, space_of
from .types import C, HALVES, last_type

OPERATIONS = {"add", "exch", "cas", "and", "or", "xor", "min", "max", "inc", "dec"}


@instruction("atom", "red")
def atomic(w, i):
    kind = last_type(i)
    type_ = C[kind]
    operation = next((part for part in i.parts[1:] if part in OPERATIONS), None)
    returns = i.parts[0] == "atom"
    operands = i.operands[1:] if returns else i.operands
    if operation is None or kind == "b128":
        raise Unsupported(i.name)
    space = space_of(i)
    address = w.checked(w.address(operands[0], space), SIZES[kind], "change", space)
    shared = "true" if space.startswith("shared") else "false"
    w.spins = True
    if isinstance(operands[1], Vector):
        for at, operand in enumerate(operands[1].operands):
            call = one(w, i, operation, kind, type_, shared, f"{address} + {at * SIZES[kind]}", [operand])
            if returns:
                w.put(i.operands[0].operands[at], type_, call)
            else:
                w.line(f"{call};")
        return
    arguments = operands[1:3] if operation == "cas" else operands[1:2]
    call = one(w, i, operation, kind, type_, shared, address, arguments)
    if returns:
        w.put(i.operands[0], type_, call)
    else:
        w.line(f"static_cast<void>({call});")
        if "async" in i.parts:
            complete(w, i.operands[2], space, SIZES[kind])


def one(w, i, operation, kind, type_, shared, address, arguments):
    values = ", ".join(w.value(argument, type_) for argument in arguments)
    if kind in HALVES:
        if operation != "add":
            raise Unsupported(i.name)
        name = "atom_pair_add" if kind.endswith("x2") else "atom_half_add"
        return f"{name}<{shared}, {type_}>(t, {address}, {values})"
    if kind in ("f32", "f64") and operation not in ("add", "exch"):
        raise Unsupported(i.name)
    return f"atom_{operation}<{shared}, {type_}>(t, {address}, {values})"
