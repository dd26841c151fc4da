"""The compilation of C++ translated from PTX."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from .cache import folder
from .image import section_place
from .module import STACK_LINE, STACK_SECTION

TOOLS = pathlib.Path(__file__).resolve().parent.parent
# These hold regardless of the program's own options: the speed of kernels depends on them.
DEVICE_OPTIONS = ["-std=c++20", "-O2", "-w", "-fPIC", "-fno-strict-aliasing", "-fwrapv", "-ffp-contract=off",
                  "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden",
                  # The lines of the .cu file, for faults.
                  "-g1",
                  # Frames are counted, and none skips the guard page below a stack.
                  "-fstack-usage", "-fstack-clash-protection"]


def refuse(text: str) -> None:
    sys.exit(f"cudart-cpu: {text}")


def runtime_headers() -> pathlib.Path:
    """Returns the folder of the headers: next to the tools in the sources; below include/ when installed."""
    for up in (TOOLS.parent / "include", TOOLS.parent.parent / "include", TOOLS.parent.parent.parent / "include"):
        if (up / "cudart_cpu" / "detail" / "ptx").is_dir():
            return up / "cudart_cpu" / "detail" / "ptx"
    refuse("the headers of translated kernels are not beside the tools")
    raise AssertionError


def own_definitions() -> list[str]:
    """Returns what tells a program that this is its runtime."""
    include = runtime_headers().parent.parent.parent
    return ["-DCUDART_CPU", "-DCUDART_CPU_NVCC"] + ([] if str(include) == "/usr/include" else [f"-I{include}"])


def own_files() -> list[str]:
    return [str(path) for path in sorted(TOOLS.rglob("*.py"))] + \
        [str(path) for path in sorted(runtime_headers().glob("*.hpp"))]


def processor_options() -> tuple[list[str], str]:
    """Returns options for this processor's fast features, above all fused multiplication, and a test for them."""
    if os.uname().machine != "x86_64":
        return [], ""
    try:
        flags = set(re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE).group(1).split())
    except (OSError, AttributeError):
        return [], ""
    if not {"avx2", "fma", "f16c", "bmi2"} <= flags:
        return [], ""
    return ["-march=x86-64-v3"], '__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")'


# GCC 12 may add some terms of an unrolled sum twice and others never, if the addresses descend.
SUM = r"""
template <class T>
__attribute__((noinline)) T sum(const char* at, T offset, int n) {
    T total = 0;
    do {
        T terms[4];
        for (int i = 0; i < 4; ++i) __builtin_memcpy(&terms[i], at - i * long{sizeof(T)}, sizeof(T));
        total += terms[0] + offset - offset;
        total += terms[1] + offset - offset;
        total += terms[2] + offset - offset;
        total += terms[3] + offset - offset;
        at -= 4 * sizeof(T);
        n -= 4;
    } while (n > 0);
    return total;
}
template <class T>
bool is_right() {
    T values[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    volatile T offset = 256;
    return sum(reinterpret_cast<const char*>(values + 7), static_cast<T>(offset), 8) == 255;
}
int main() { return is_right<float>() && is_right<double>() ? 0 : 1; }
"""


def adds_wrongly(cxx: list[str], options: list[str]) -> bool:
    """Whether the compiler's loop vectorizer is broken. With a cache, tests each compiler once."""
    path = shutil.which(cxx[-1]) or ""
    status = os.stat(path) if path else None
    facts = [cxx, options, SUM, path, status and status.st_size, status and status.st_mtime_ns]
    place = folder()
    answer = place / f"compiler-{hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:40]}" if place else None
    try:
        return (answer / "adds_wrongly").read_text() == "yes"
    except (OSError, TypeError):
        pass
    wrongly = sums_wrong(cxx + options)
    if answer:
        try:
            answer.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=answer, delete=False, encoding="utf-8") as file:
                file.write("yes" if wrongly else "no")
            os.replace(file.name, answer / "adds_wrongly")
        except OSError:
            pass  # tested again next time
    return wrongly


def sums_wrong(compiler: list[str]) -> bool:
    with tempfile.TemporaryDirectory(prefix="cudart-cpu-") as name:
        source, program = pathlib.Path(name) / "sum.cpp", pathlib.Path(name) / "sum"
        source.write_text(SUM, encoding="utf-8")
        command = compiler + [str(source), "-o", str(program)]
        if subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode != 0:
            return False  # it cannot compile kernels either
        return subprocess.run([str(program)], check=False).returncode != 0


# The names of g++ and clang++: f for a function or a kernel's thread, k and b for a kernel's body and its blocks.
FRAME = re.compile(r"(?:\{anonymous\}::|\(anonymous namespace\)::|_ZN12_GLOBAL__N_1L?(?P<length>\d+))(?P<kind>[fkb])_(?P<name>\w+)")
PER_CALL = 64  # return address and alignment


def frames(usage: str) -> tuple[dict[str, int], int]:
    """Returns the bytes of stack by function name, and the total of all other functions."""
    known: dict[str, int] = {}
    other = 0
    for line in usage.splitlines():
        place, count, *_ = line.split("\t")
        match = FRAME.search(place)
        size = int(count) + PER_CALL
        if match is None:
            other += size
        else:
            length = int(match["length"] or 0)
            name = match["name"][:length - 2] if length else match["name"]
            known[name] = known.get(name, 0) + size
    return known, other


def write_stack_needs(made: pathlib.Path, source: pathlib.Path, origin: str) -> None:
    """Writes stack needs into the object, in the order of its kernels, with the largest at the end."""
    usage = made.with_suffix(".su")
    if not usage.exists():
        refuse(f"{origin}: the compiler does not say how much stack functions need (-fstack-usage)")
    known, other = frames(usage.read_text(encoding="utf-8", errors="replace"))
    needs = []
    for line in source.read_text(encoding="utf-8").splitlines():
        if not line.startswith(STACK_LINE):
            continue
        grows, *names = line.removeprefix(STACK_LINE).split()
        extra = sum(int(name[1:]) for name in names if name.startswith("+"))
        once = other + extra + sum(known.get(name.rstrip("*"), 0) for name in names)
        again = sum(known.get(name.rstrip("*"), 0) for name in names if name.endswith("*"))
        needs.append((once, again, int(grows)))
    needs.append((max((once for once, _, _ in needs), default=0), 0, 0))
    data = bytearray(made.read_bytes())
    begin, size = section_place(data, STACK_SECTION.encode())
    packed = b"".join(struct.pack("<III", *need) for need in needs)
    if len(packed) != size:
        refuse(f"{origin}: the object of its kernels is not as it should be; this is a bug of cudart-cpu")
    data[begin:begin + size] = packed
    made.write_bytes(data)


def compile_translated(cxx: list[str], source: pathlib.Path, options: list[str], origin: str) -> pathlib.Path:
    """Compiles `source` and returns the object, next to it."""
    include = runtime_headers().parent.parent.parent
    own = DEVICE_OPTIONS + processor_options()[0]
    if adds_wrongly(cxx, own):
        own = own + ["-fno-tree-loop-vectorize"]
    made = source.with_suffix(".o")
    command = cxx + own + ["-I", str(include), str(source)] + options + ["-c", "-o", str(made)]
    if subprocess.run(command, check=False).returncode != 0:
        refuse(f"{origin}: the translated kernels do not compile; this is a bug of cudart-cpu")
    write_stack_needs(made, source, origin)
    return made
