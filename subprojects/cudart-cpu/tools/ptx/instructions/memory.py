"""Loads, stores, copies, fences, and hints about caches."""

from ..syntax import SIZES, Name, Unsupported, Vector
from . import instruction
from .types import C, last_type

SPACES = ("global", "shared", "local", "const", "param")
STRONG = {"volatile", "relaxed", "acquire", "release", "mmio"}


def space_of(i):
    for part in i.parts[1:]:
        if part.split("::")[0] in SPACES:
            return part
    return "generic"


def is_strong(i):
    return any(part in STRONG for part in i.parts)


@instruction("ld", "ldu")
def load(w, i):
    type_ = C[last_type(i)]
    to, memory = i.operands[0], i.operands[1]
    space = space_of(i)
    elements = len(to.operands) if isinstance(to, Vector) else 1
    address = w.checked(w.address(memory, space), SIZES[last_type(i)] * elements,
                        "change" if is_strong(i) else "read", space)
    strong = is_strong(i) and not space.startswith("param")
    name = f"load_strong<{type_}>(t, " if strong else f"load<{type_}>("
    if strong:
        w.spins = True
    if isinstance(to, Vector):
        size = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "f16": 2, "bf16": 2, "u32": 4, "i32": 4, "f32": 4, "f16x2": 4,
                "bf16x2": 4, "u64": 8, "i64": 8, "f64": 8, "u128": 16}[type_]
        w.line("{")  # all are read before any is written: one may be the address
        w.line(f"const u64 from = {address};")
        for at in range(len(to.operands)):
            w.line(f"const {type_} element{at} = {name}from + {at * size});")
        for at, operand in enumerate(to.operands):
            w.put(operand, type_, f"element{at}")
        w.line("}")
    else:
        w.put(to, type_, f"{name}{address})")


@instruction("st")
def store(w, i):
    type_ = C[last_type(i)]
    memory, value = i.operands[0], i.operands[1]
    space = space_of(i)
    elements = len(value.operands) if isinstance(value, Vector) else 1
    address = w.checked(w.address(memory, space), SIZES[last_type(i)] * elements,
                        "change" if is_strong(i) else "write", space)
    name = f"store_strong<{type_}>(t, " if is_strong(i) and not space.startswith("param") else f"store<{type_}>("
    if isinstance(value, Vector):
        size = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "f16": 2, "bf16": 2, "u32": 4, "i32": 4, "f32": 4, "f16x2": 4,
                "bf16x2": 4, "u64": 8, "i64": 8, "f64": 8, "u128": 16}[type_]
        w.line("{")
        w.line(f"const u64 to = {address};")
        for at, operand in enumerate(value.operands):
            w.line(f"{name}to + {at * size}, {w.value(operand, type_)});")
        w.line("}")
    else:
        w.line(f"{name}{address}, {w.value(value, type_)});")
    if "async" in i.parts:
        complete(w, i.operands[2], space, SIZES[last_type(i)] * elements)


@instruction("prefetch", "prefetchu", "applypriority", "discard")
def hint(w, i):
    pass


@instruction("createpolicy")
def policy(w, i):
    w.put(i.operands[0], "u64", "0ull")


@instruction("membar", "fence")
def fence(w, i):
    w.line("fence();")


def copy(w, to, source, size, valid=None, ignored=None):
    w.line("{")
    w.line(f"const u32 bytes = {size};")
    amount = w.value(valid, "u32") if valid is not None else "bytes"
    if ignored is not None:
        amount = f"{w.value(ignored, 'bool')} ? 0 : {amount}"
    w.line(f"copy({to}, {source}, bytes, {amount});")
    w.line("}")


def copy_bulk(w, i):
    spaces = [part for part in i.parts if part.split("::")[0] in ("shared", "global")]
    if [space.split("::")[0] for space in spaces] not in (["shared", "global"], ["global", "shared"], ["shared", "shared"]):
        raise Unsupported(i.name)
    source = w.address(i.operands[1], spaces[1])
    size = w.value(i.operands[2], "u32")
    if "multicast::cluster" in i.parts:
        w.meets = True
        to, barrier = (w.value(i.operands[at].operands[0], "u64") for at in (0, 3))
        w.line(f"copy_to_blocks(t, {to}, {source}, {size}, {barrier}, {w.value(i.operands[4], 'u16')});")
        return
    copy(w, w.address(i.operands[0], spaces[0]), source, size)
    if any(part.startswith("mbarrier::complete_tx") for part in i.parts):
        complete(w, i.operands[3], spaces[0], size)


def complete(w, barrier, space, size):
    """Completes the bytes of a copy at its barrier, in the space of the copy's destination."""
    w.meets = True
    w.line(f"mbarrier_complete({w.address(barrier, space)}, {size});")


@instruction("cp")
def copy_async(w, i):
    """Copies immediately: later waits find the copy complete."""
    if i.parts[1] != "async" or "reduce" in i.parts or "tensor" in i.parts:
        raise Unsupported(i.name)
    if any(part in i.parts for part in ("commit_group", "wait_group", "wait_all", "prefetch")):
        return
    if "bulk" in i.parts:
        return copy_bulk(w, i)
    if "mbarrier" in i.parts:
        from .meet import barrier_address
        w.line(f"mbarrier_async_arrive({barrier_address(w, i, i.operands[0])}, {'true' if 'noinc' in i.parts else 'false'});")
        return
    size = w.value(i.operands[2], "u32")
    to = w.checked(w.address(i.operands[0], "shared"), size, "write", "shared")
    source = w.address(i.operands[1], "global")
    valid = ignored = None
    rest = i.operands[3:]
    if any("cache_hint" in part for part in i.parts):
        rest = rest[:-1]
    if rest:
        place = w.find(rest[0].text) if isinstance(rest[0], Name) else None
        if place is not None and place.type == "bool":
            ignored = rest[0]
        else:
            valid = rest[0]
    copy(w, to, source, size, valid, ignored)
