"""Compiles what was translated from PTX."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

TOOLS = pathlib.Path(__file__).resolve().parent.parent
# Whatever the program asks for: it is what the kernel's speed hangs on.
DEVICE_OPTIONS = ["-std=c++20", "-O2", "-w", "-fPIC", "-fno-strict-aliasing", "-fwrapv", "-ffp-contract=off",
                  "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden"]


def refuse(text: str) -> None:
    sys.exit(f"cudart-cpu: {text}")


def runtime_headers() -> pathlib.Path:
    """Beside the tools in the sources, and installed below include/."""
    for up in (TOOLS.parent / "include", TOOLS.parent.parent / "include", TOOLS.parent.parent.parent / "include"):
        if (up / "cudart_cpu" / "detail" / "ptx").is_dir():
            return up / "cudart_cpu" / "detail" / "ptx"
    refuse("the headers of translated kernels are not beside the tools")
    raise AssertionError


def own_files() -> list[str]:
    return [str(path) for path in sorted(TOOLS.rglob("*.py"))] + \
        [str(path) for path in sorted(runtime_headers().glob("*.hpp"))]


def processor_options() -> tuple[list[str], str]:
    """What this processor has that kernels live on, fused multiplication above all; and how to ask for it later."""
    if os.uname().machine != "x86_64":
        return [], ""
    try:
        flags = set(re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE).group(1).split())
    except (OSError, AttributeError):
        return [], ""
    if not {"avx2", "fma", "f16c", "bmi2"} <= flags:
        return [], ""
    return ["-march=x86-64-v3"], '__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")'


def compile_translated(cxx: list[str], source: pathlib.Path, options: list[str], origin: str) -> None:
    include = runtime_headers().parent.parent.parent
    command = cxx + DEVICE_OPTIONS + processor_options()[0] + ["-I", str(include), str(source)] + options
    if subprocess.run(command, check=False).returncode != 0:
        refuse(f"{origin}: the translated kernels do not compile; this is a bug of cudart-cpu")
