#!/usr/bin/env python3
"""Compiles SOURCE.cu twice: it must build, and with -DEXPECT_ERROR fail with one error that holds its expect-error text.

Usage: check.py WRAP_CU SOURCE.cu COMPILE_COMMANDS.json
"""

import json
import pathlib
import shlex
import subprocess
import sys
import tempfile


def compiler_of_kernels(compile_commands: str) -> list[str]:
    """The command that compiles the tests' kernels.cu, without its input and its outputs."""
    entries = json.loads(pathlib.Path(compile_commands).read_text(encoding="utf-8"))
    entry = next(e for e in entries if e["file"].endswith("kernels.cu.cpp"))
    arguments = iter(shlex.split(entry["command"]))
    kept = []
    for argument in arguments:
        if argument in ("-o", "-MF", "-MQ"):
            next(arguments)
        elif argument not in ("-c", "-MD", entry["file"]):
            kept.append(argument)
    return kept


def main() -> int:
    wrap, source, compile_commands = sys.argv[1:]
    expected = pathlib.Path(source).read_text(encoding="utf-8").splitlines()[0].split("expect-error: ")[1]
    build_folder = pathlib.Path(compile_commands).parent
    with tempfile.TemporaryDirectory() as folder:
        wrapper = f"{folder}/wrapper.cpp"
        subprocess.run([sys.executable, wrap, source, wrapper], check=True)
        command = [*compiler_of_kernels(compile_commands), "-fdiagnostics-color=never", "-fsyntax-only", wrapper]
        good = subprocess.run(command, cwd=build_folder, capture_output=True, text=True)
        if good.returncode != 0:
            print(f"{source} does not compile without EXPECT_ERROR:\n{good.stderr}")
            return 1
        bad = subprocess.run([*command, "-DEXPECT_ERROR"], cwd=build_folder, capture_output=True, text=True)
        errors = [line for line in bad.stderr.splitlines() if " error: " in line]
        if bad.returncode == 0 or len(errors) != 1 or expected not in errors[0]:
            print(f"{source}: expected exactly one error with {expected!r}, got:\n{bad.stderr}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
