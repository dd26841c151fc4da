#!/usr/bin/env python3
"""Writes the C++ source that compiles one .cu file for the CPU runtime: wrap_cu.py INPUT.cu OUTPUT.cpp"""

import pathlib
import sys


def main() -> None:
    source, output = sys.argv[1:]
    # Absolute, so that the compiler's dependency file names the .cu and its own includes are found beside it.
    path = pathlib.Path(source).resolve().as_posix().replace("\\", "\\\\").replace('"', '\\"')
    pathlib.Path(output).write_text(f'#include <cudart_cpu/device.hpp>\n#include "{path}"\n', encoding="utf-8")


if __name__ == "__main__":
    main()
