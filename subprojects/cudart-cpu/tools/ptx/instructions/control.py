"""Branches, calls, and ends."""

import re

from ..syntax import Group, Name, Unsupported
from . import instruction
from .builtins import BUILTINS

# Functions of the device runtime.
DEVICE_RUNTIME = re.compile(r"__cudaCDP2|cuda(LaunchDevice|GetParameterBuffer|DeviceSynchronize|Stream|Event|Memcpy|Memset)")


@instruction("bra")
def branch(w, i):
    w.line(w.goto(i.operands[0].text))


@instruction("brx")
def branch_indexed(w, i):
    targets = w.special_table("targets", i.operands[1].text)
    if targets is None:
        raise Unsupported(i.name)
    cases = " ".join(f"case {at}: {w.goto(target)}" for at, target in enumerate(targets))
    w.line(f"switch ({w.value(i.operands[0], 'u32')}) {{ {cases} default: __builtin_unreachable(); }}")


@instruction("ret")
def ret(w, i):
    w.line("return;")


@instruction("exit")
def exit_(w, i):
    if w.function.is_kernel:
        w.line("return;")
    else:
        w.meets = True
        w.line("cudart_cpu_exit(t);")


@instruction("trap")
def trap(w, i):
    w.line(f'cudart_cpu_trap(t, "trap", {w.place});')


@instruction("brkpt")
def breakpoint_(w, i):
    w.line(f'cudart_cpu_trap(t, "breakpoint", {w.place});')


@instruction("nanosleep")
def sleep(w, i):
    w.meets = True
    w.line(f"cudart_cpu_sleep(t, {w.value(i.operands[0], 'u32')});")


@instruction("pmevent", "setmaxnreg")
def nothing(w, i):
    pass


@instruction("alloca")
def alloca(w, i):
    size = w.value(i.operands[1], "u64")
    align = i.operands[2].value if len(i.operands) > 2 else 8
    w.grows = True
    w.line(f"require_stack(t, {size} + largest_frames(), {w.place});")
    w.put(i.operands[0], "u64", f"address(__builtin_alloca_with_align({size}, {max(align, 8) * 8}))")


@instruction("stacksave")
def save(w, i):
    w.put(i.operands[0], "u64", "address(__builtin_alloca(0))")


@instruction("stackrestore")
def restore(w, i):
    pass


@instruction("call")
def call(w, i):
    groups = [operand for operand in i.operands if isinstance(operand, Group)]
    names = [operand for operand in i.operands if isinstance(operand, Name)]
    callee = names[0]
    position = i.operands.index(callee)
    results = i.operands[0].operands if position == 1 and isinstance(i.operands[0], Group) else []
    after = [operand for operand in i.operands[position + 1:] if isinstance(operand, Group)]
    arguments = after[0].operands if after else []
    places = []
    for operand in results + arguments:
        symbol = w.find(operand.text) if isinstance(operand, Name) else None
        if symbol is None or symbol.kind != "array":
            raise Unsupported(f"{i.name} with arguments in registers")
        places.append(symbol.c)
    register = w.find(callee.text)
    if register is not None and register.kind == "register":
        w.calls_unknown = True
        w.module.calls_unknown = True
        signature = ", ".join(["Thread&"] + ["unsigned char*"] * len(places))
        w.line(f"reinterpret_cast<void (*)({signature})>({w.value(callee, 'u64')})({', '.join(['t'] + places)});")
        return
    name = w.module.syntax.aliases.get(callee.text, callee.text)
    builtin = BUILTINS.get(name)
    if builtin is not None and not w.module.defines(name):
        w.line(builtin(w, places))
        return
    if not w.module.defines(name):
        if DEVICE_RUNTIME.match(name):
            raise Unsupported(f"a call of the device runtime, {name},")
        if not w.module.declares(name):
            raise Unsupported(f"a call of {name}, which is in another file (it was compiled without -rdc=true),")
        w.calls_other_files = True
    else:
        w.calls.add(name)
    w.line(f"{w.module.function_name(name)}({', '.join(['t'] + places)});")
