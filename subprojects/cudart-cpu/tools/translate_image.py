#!/usr/bin/env python3
"""A tool that makes a shared object of the kernels in nvcc's fat binary: translate_image.py IMAGE RUNTIME MODULE.

It translates the PTX. The runtime calls it for programs that nvcc compiled for NVIDIA's runtime. $CXX names the
compiler (default: c++, g++ or clang++), CUDART_CPU_CACHE the folder of the cache, as for nvcc_kernels.py."""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from ptx.build import DEVICE_OPTIONS, compile_translated, own_files, processor_options, refuse  # noqa: E402
from ptx.cache import Cache, digest  # noqa: E402
from ptx.image import NoPtx, ptx_of  # noqa: E402
from ptx.translation import translation_of  # noqa: E402

COMPUTE_CAPABILITY = 90  # of the CPU runtime's device


def compiler() -> list[str]:
    named = shlex.split(os.environ.get("CXX", ""))
    for words in ([named] if named else [["c++"], ["g++"], ["clang++"]]):
        if shutil.which(words[-1]):
            return words
    refuse(f"there is no C++ compiler {' '.join(named) or 'on PATH'} for its PTX: name one by CXX")
    raise AssertionError


def make(image: bytes, cxx: list[str], runtime: str, output: str) -> None:
    try:
        ptx = ptx_of(image, COMPUTE_CAPABILITY)
    except NoPtx as reason:
        refuse(str(reason))
    with tempfile.TemporaryDirectory(prefix="cudart-cpu-") as folder:
        source = pathlib.Path(folder) / "device.cpp"
        source.write_text(translation_of(ptx, image, processor_options()[1], "fat binary"), encoding="utf-8")
        made = compile_translated(cxx, source, [], "fat binary")
        # The runtime's symbols may not be visible globally, so the module is linked to it.
        if subprocess.run(cxx + ["-shared", "-o", output, str(made), runtime], check=False).returncode != 0:
            refuse("its translation cannot be linked")


def main() -> None:
    image, runtime, output = sys.argv[1:]
    cxx = compiler()
    cache = Cache(["image", digest(image), cxx, DEVICE_OPTIONS, processor_options(), os.path.realpath(runtime)],
                  [shutil.which(cxx[-1]) or ""], own_files())
    if cache.find(output) is None:
        make(pathlib.Path(image).read_bytes(), cxx, runtime, output)
        cache.keep(output, [])


if __name__ == "__main__":
    main()
