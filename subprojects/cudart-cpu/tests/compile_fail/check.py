#!/usr/bin/env python3
"""Compiles SOURCE.cu twice: it must build, and with -DEXPECT_ERROR fail with one error that holds its expect-error text.

Usage: check.py SOURCE.cu COMMAND..., the command that compiles kernels as C++, without its input and its output
"""

import pathlib
import subprocess
import sys
import tempfile


def main() -> int:
    source, *command = sys.argv[1:]
    expected = pathlib.Path(source).read_text(encoding="utf-8").splitlines()[0].split("expect-error: ")[1]
    with tempfile.TemporaryDirectory() as folder:
        command += ["-fdiagnostics-color=never", "-c", source, "-o", f"{folder}/kernel.o"]
        good = subprocess.run(command, capture_output=True, text=True)
        if good.returncode != 0:
            print(f"{source} does not compile without EXPECT_ERROR:\n{good.stderr}")
            return 1
        bad = subprocess.run([*command, "-DEXPECT_ERROR"], capture_output=True, text=True)
        errors = [line for line in bad.stderr.splitlines() if " error: " in line]
        if bad.returncode == 0 or len(errors) != 1 or expected not in errors[0]:
            print(f"{source}: expected exactly one error with {expected!r}, got:\n{bad.stderr}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
