"""Moves: mov, and reads of special registers."""

from ..syntax import Unsupported, Vector
from . import instruction
from .types import C, SIZES, last_type

BY_SIZE = {1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "u128"}


@instruction("mov")
def move(w, i):
    kind = last_type(i)
    to, source = i.operands
    if isinstance(source, Vector):
        part = BY_SIZE[SIZES[kind] // len(source.operands)]
        whole = BY_SIZE[SIZES[kind]]
        bits = SIZES[kind] * 8 // len(source.operands)
        pieces = [f"static_cast<{whole}>({w.value(operand, part)}) << {bits * at}"
                  for at, operand in enumerate(source.operands)]
        w.put(to, whole, f"static_cast<{whole}>({' | '.join(pieces)})")
    elif isinstance(to, Vector):
        part = BY_SIZE[SIZES[kind] // len(to.operands)]
        whole = BY_SIZE[SIZES[kind]]
        bits = SIZES[kind] * 8 // len(to.operands)
        w.line("{")
        w.line(f"const {whole} whole = {w.value(source, whole)};")
        for at, operand in enumerate(to.operands):
            w.put(operand, part, f"static_cast<{part}>(whole >> {bits * at})")
        w.line("}")
    else:
        type_ = C[kind]
        w.put(to, type_, w.value(source, type_))


@instruction("mapa")
def map_address(w, i):
    """Maps a shared variable to its instance in another block of the cluster."""
    w.meets = True
    if "shared::cluster" in i.parts:
        size = last_type(i)
        value = f"mapped({w.value(i.operands[1], size)}, {w.value(i.operands[2], 'u32')})"
        w.put(i.operands[0], size, f"static_cast<{size}>({value})")
        return
    value = f"cudart_cpu_map_shared(t, {w.value(i.operands[1], 'u64')}, {w.value(i.operands[2], 'u32')})"
    w.put(i.operands[0], "u64", value)


@instruction("getctarank")
def rank_of_address(w, i):
    w.meets = True
    name = "rank_of_shared" if "shared::cluster" in i.parts else "rank_of"
    w.put(i.operands[0], "u32", f"{name}(t, {w.value(i.operands[1], 'u64')})")
