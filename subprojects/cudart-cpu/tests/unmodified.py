#!/usr/bin/env python3
"""Compiles a program with plain g++ against the toolkit's libcudart.so, and runs it on the CPU runtime with
LD_LIBRARY_PATH alone: unmodified.py SOURCE INCLUDE TOOLKIT_LIBRARIES FOLDER_OF_THE_CPU_RUNTIME. Exits with 77 where the
toolkit has no such library."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

EXPECTED = "device: cudart-cpu\nsum: 124750\nlaunches: 3\ntimed: yes\n"

source, include, toolkit, folder = sys.argv[1:]
if not (Path(toolkit) / "libcudart.so").exists():
    print(f"{toolkit} has no libcudart.so")
    sys.exit(77)
with tempfile.TemporaryDirectory() as place:
    for flags in ([], ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]):
        program = Path(place) / "program"
        subprocess.run(["g++", "-std=c++17", *flags, f"-I{include}", source, "-o", program, f"-L{toolkit}", "-lcudart"],
                       check=True)
        done = subprocess.run([program], env={**os.environ, "LD_LIBRARY_PATH": folder}, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0 or done.stdout != EXPECTED:
            sys.exit(f"{flags}: exit {done.returncode}, expected\n{EXPECTED}but got\n{done.stdout}")
