"""Accesses to textures and surfaces through their objects."""

from ..syntax import SIZES, Unsupported, Vector
from . import instruction
from .types import C, types

GEOMETRIES = {"1d": (1, False), "2d": (2, False), "3d": (3, False), "a1d": (1, True), "a2d": (2, True),
              "cube": (3, False), "acube": (3, True)}


def geometry_of(i):
    for part in i.parts:
        if part in GEOMETRIES:
            return part, *GEOMETRIES[part]
    raise Unsupported(i.name)


def coordinates(operand):
    return operand.operands if isinstance(operand, Vector) else [operand]


def begin(w, i):
    """Opens a block with the call's coordinates; returns the handle and the instruction's remaining operands."""
    name, dimensions, layered = geometry_of(i)
    inside = i.operands[1].operands
    if len(inside) != 2:
        raise Unsupported(i.name)  # texture references, with separate samplers
    handle = w.value(inside[0], "u64")
    at = coordinates(inside[1])
    w.line("{")
    w.line("TextureCall call;")
    w.line(f"call.dimensions = {dimensions};")
    if "cube" in name:
        w.line("call.cube = true;")
    if layered:
        w.line(f"call.layer = {w.value(at[0], 'u32')};")
        at = at[1:]
    whole = types(i)[-1] == "s32" and i.parts[0] == "tex"
    if whole:
        w.line("call.whole_numbers = true;")
    for d in range(dimensions):
        w.line(f"call.{'element' if whole else 'at'}[{d}] = {w.value(at[d], 'i32' if whole else 'f32')};")
    return handle


def end(w, i, handle, kind):
    w.line("u32 channels[4];")
    w.line(f"cudart_cpu_fetch(t, {handle}, call, channels, {w.place});")
    for at, operand in enumerate(coordinates(i.operands[0])):
        w.put(operand, C[kind], f"as<{C[kind]}>(channels[{at}])")
    w.line("}")


def simple_fetch(w, i, kind):
    """Writes a fetch without levels and layers from a line or plane; returns whether it is one."""
    name, dimensions, layered = geometry_of(i)
    inside = i.operands[1].operands
    whole = types(i)[-1] == "s32"
    if dimensions > 2 or layered or len(inside) != 2 or len(i.operands) > 2 or (whole and dimensions != 1):
        return False
    handle, at = w.value(inside[0], "u64"), coordinates(inside[1])
    w.line("{")
    w.line("u32 channels[4];")
    if whole:
        w.line(f"cudart_cpu_fetch_element(t, {handle}, {w.value(at[0], 'i32')}, channels, {w.place});")
    else:
        y = w.value(at[1], "f32") if dimensions == 2 else "0"
        w.line(f"fetch_plane<{dimensions}>(t, {handle}, {w.value(at[0], 'f32')}, {y}, channels, {w.place});")
    for at, operand in enumerate(coordinates(i.operands[0])):
        w.put(operand, C[kind], f"as<{C[kind]}>(channels[{at}])")
    w.line("}")
    return True


@instruction("tex")
def fetch(w, i):
    kind = types(i)[-2]
    if kind not in ("f32", "s32", "u32"):
        raise Unsupported(i.name)
    if simple_fetch(w, i, kind):
        return
    handle = begin(w, i)
    if "level" in i.parts:
        level = i.operands[2]
        whole = types(i)[-1] == "s32"
        w.line(f"call.level = static_cast<f32>({w.value(level, 'i32' if whole else 'f32')});")
    elif "grad" in i.parts:
        w.line("call.has_gradient = true;")
        for member, operand in zip(("dx", "dy"), i.operands[2:4]):
            for d, one in enumerate(coordinates(operand)[:3]):
                w.line(f"call.{member}[{d}] = {w.value(one, 'f32')};")
    elif len(i.operands) > 2:
        raise Unsupported(i.name)
    end(w, i, handle, kind)


@instruction("tld4")
def gather(w, i):
    kind = types(i)[-2]
    handle = begin(w, i)
    w.line("call.gathers = true;")
    w.line(f"call.channel = {next('rgba'.index(part) for part in i.parts if part in tuple('rgba'))};")
    end(w, i, handle, kind)


def surface(w, i, operand, value):
    if i.parts[1] != "b":
        raise Unsupported(i.name)
    name, dimensions, layered = geometry_of(i)
    inside = operand.operands
    at = coordinates(inside[1])
    kind = types(i)[-1]
    size = SIZES[kind] * len(coordinates(value))
    layer = "0"
    if layered:
        layer = w.value(at[0], "i32")
        at = at[1:]
    places = [w.value(one, "i32") for one in at[:dimensions]] + ["0", "0"]
    if layered:
        places[2 if dimensions == 2 else 2] = layer
    if dimensions == 1 and layered:
        places = [places[0], "0", layer]
    outside = next(part for part in i.parts if part in ("trap", "clamp", "zero"))
    w.line("{")
    w.line(f"char* const element = cudart_cpu_surface(t, {w.value(inside[0], 'u64')}, {places[0]}, {places[1]}, "
           f"{places[2]}, {size}, Outside::{outside}, {w.place});")
    return kind


@instruction("suld")
def load_surface(w, i):
    kind = surface(w, i, i.operands[1], i.operands[0])
    for at, operand in enumerate(coordinates(i.operands[0])):
        w.put(operand, C[kind], f"element == nullptr ? {C[kind]}{{}} : load<{C[kind]}>(address(element) + {at * SIZES[kind]})")
    w.line("}")


@instruction("sust")
def store_surface(w, i):
    kind = surface(w, i, i.operands[0], i.operands[1])
    w.line("if (element != nullptr) {")
    for at, operand in enumerate(coordinates(i.operands[1])):
        w.line(f"store<{C[kind]}>(address(element) + {at * SIZES[kind]}, {w.value(operand, C[kind])});")
    w.line("}")
    w.line("}")
