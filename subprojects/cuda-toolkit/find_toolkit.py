#!/usr/bin/env python3
"""Finds a CUDA Toolkit and a GPU for meson.build: headers, shared cudart, nvcc, and what a driver lists.

Prints five lines: include directory, version, libcudart.so, nvcc, GPU; the last three may be empty.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (12, 4)
DATA_HOME = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
WHEEL_LAYOUT = "lib/python3*/site-packages/nvidia/cu[1-9]*"  # where NVIDIA's PyPI wheels unpack


def places():
    """Yields (where it comes from, directory), the most explicit first."""
    for variable in ("CUDA_PATH", "CUDA_HOME"):
        if os.environ.get(variable):
            yield variable, Path(os.environ[variable])
    nvcc = shutil.which("nvcc")
    if nvcc:
        yield "nvcc on PATH", Path(nvcc).resolve().parent.parent
    yield "default", Path("/usr/local/cuda")
    yield "default", Path("/opt/cuda")
    for prefix in (DATA_HOME / "cudag" / "toolkit", Path(sys.prefix)):
        for found in sorted(glob.glob(str(prefix / WHEEL_LAYOUT)), reverse=True):
            yield "NVIDIA's wheels", Path(found)
    yield "system", Path("/usr")


def version_of(root):
    """The (major, minor) that the headers under root state, or None where there are none."""
    header = root / "include" / "cuda_runtime_api.h"
    if not header.is_file():
        return None
    stated = re.search(r"^#define\s+CUDART_VERSION\s+(\d+)", header.read_text(errors="replace"), re.MULTILINE)
    return (int(stated[1]) // 1000, int(stated[1]) % 1000 // 10) if stated else None


def first_file(root, patterns):
    for pattern in patterns:
        for found in sorted(root.glob(pattern)):
            if found.is_file():
                return str(found)
    return ""


def gpu():
    """The first GPU that a driver lists, as nvidia-smi names it; empty without one."""
    candidates = [shutil.which("nvidia-smi"), "/usr/local/nvidia/bin/nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi"]
    for program in filter(None, candidates):
        try:
            listed = subprocess.run([program, "-L"], capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            continue
        name = re.match(r"GPU \d+: (.*?)(?: \(UUID|$)", listed.stdout)
        if listed.returncode == 0 and name:
            return name[1]
    return "/dev/nvidia0" if os.path.exists("/dev/nvidia0") else ""


def main():
    seen = []
    for origin, root in places():
        version = version_of(root)
        if version is None:
            if origin in os.environ:  # asked for by name: never pass over it in silence
                sys.exit(f"{origin} is {root}, which has no include/cuda_runtime_api.h")
            continue
        if version < OLDEST:
            if origin in os.environ:
                sys.exit(f"{origin} is {root}, which is CUDA {version[0]}.{version[1]}; "
                         f"cudag needs {OLDEST[0]}.{OLDEST[1]} or newer")
            seen.append(f"{root} is CUDA {version[0]}.{version[1]}")
            continue
        libraries = ["lib64/libcudart.so", "lib/libcudart.so", "lib64/libcudart.so.1*", "lib/libcudart.so.1*",
                     "targets/*/lib/libcudart.so", "lib/*-linux-gnu/libcudart.so"]
        print(root / "include", "{}.{}".format(*version), first_file(root, libraries),
              first_file(root, ["bin/nvcc"]), gpu(), sep="\n")
        return
    sys.exit("no CUDA Toolkit of {}.{} or newer found{}; set CUDA_PATH to one, or run `bash .ci/setup`, which installs "
             "NVIDIA's own".format(*OLDEST, f" ({', '.join(seen)})" if seen else ""))


main()
