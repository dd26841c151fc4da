"""A CUDA toolkit with this runtime as its libcudart: links to NVIDIA's files, and libraries of its own.

Build systems find libraries beside the compiler, and link by the host's compiler. Programs linked here name this runtime by
its path, so they run wherever they lie, without an rpath."""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from ptx.build import refuse
from ptx.cache import folder as cache_folder

# The folders of a toolkit that link to NVIDIA's as a whole.
REPLACED = {"bin", "lib", "lib64", "targets"}
TOOL = """#!/bin/sh
exec {words} "$@"
"""


def toolkit_of(nvcc: str) -> pathlib.Path:
    """Returns the root of nvcc's own toolkit."""
    done = subprocess.run([nvcc, "-v", "__no_such_file"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    found = re.search(r"#\$ TOP=(.*)", done.stdout)
    return pathlib.Path(found[1] if found else pathlib.Path(nvcc).parent.parent).resolve()


def target_folder() -> str:
    return {"aarch64": "targets/sbsa-linux"}.get(os.uname().machine, f"targets/{os.uname().machine}-linux")


def runtime_symbols(runtime: str) -> str:
    """Returns assembly with the symbols of the runtime, for links only."""
    done = subprocess.run(["readelf", "--dyn-syms", "-W", runtime], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        refuse(f"readelf cannot read {runtime}")
    lines = [".text"]
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) != 8 or words[4] not in ("GLOBAL", "WEAK", "UNIQUE") or words[6] == "UND":
            continue
        name = words[7].split("@")[0]
        size = int(words[2], 0)
        if words[3] == "FUNC":
            lines += [f".globl {name}", f".type {name}, %function", f"{name}:"]
        elif words[3] in ("OBJECT", "TLS"):
            kind = "tls_object" if words[3] == "TLS" else "object"
            section = '.section .tbss,"awT",%nobits' if words[3] == "TLS" else ".data"
            lines += [section, f".globl {name}", f".type {name}, %{kind}", f".size {name}, {size}", ".balign 16", f"{name}:",
                      f".zero {max(size, 1)}", ".text"]
    return "\n".join([*lines, '.section .note.GNU-stack,"",%progbits', ""])


def link_to(place: pathlib.Path, target: pathlib.Path) -> None:
    if not place.exists() and not place.is_symlink():
        place.symlink_to(target)


def make_library(made: pathlib.Path, library: str, cxx: list[str]) -> None:
    """Makes a library for links only: programs need the one at `library`, by its path."""
    source = made.with_suffix(".s")
    source.write_text(runtime_symbols(library), encoding="utf-8")
    command = [*cxx, "-shared", "-nostdlib", "-x", "assembler", str(source), f"-Wl,-soname,{library}", "-o", str(made)]
    if subprocess.run(command, check=False).returncode != 0:
        refuse(f"{cxx[-1]} cannot link to {library}")
    source.unlink()


def make_libraries(place: pathlib.Path, runtime: str, cxx: list[str], final: pathlib.Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    make_library(place / "libcudart-cpu.so", runtime, cxx)
    for name in ("libcudart.so", "libcudart_static.a"):
        (place / name).write_text(f"/* GNU ld script: cudart-cpu */\nINPUT({final}/libcudart-cpu.so)\n", encoding="utf-8")
    (place / "libcudadevrt.a").write_bytes(b"!<arch>\n")
    for named in (pathlib.Path(runtime).parent / "cudart-cpu", pathlib.Path(runtime).parent / "libcudart"):
        if (named / "libcuda.so.1").is_file() and not (place / "libcuda.so").exists():
            make_library(place / "libcuda.so", str(named / "libcuda.so.1"), cxx)
        for library in sorted(named.glob("libcudart.so.*")):
            if not library.name.endswith(".p") and not library.name.endswith(".symbols"):
                link_to(place / library.name, library)


def make_stubs(place: pathlib.Path, real: pathlib.Path, runtime: pathlib.Path) -> None:
    """Makes libraries of the driver that only programs need which call them: many are linked to -lcuda for nothing, and
    NVIDIA's own are not on this machine."""
    place.mkdir(exist_ok=True)
    driver = runtime.with_name("libcuda.so")
    for name in {"libcuda.so", "libnvidia-ml.so"} | ({entry.name for entry in real.glob("*.so")} if real.is_dir() else set()):
        needed = real / name if (real / name).exists() else runtime
        if name == driver.name and (place.parent / name).exists():
            needed = driver
        if not (place / name).exists():
            (place / name).write_text(f"/* GNU ld script: cudart-cpu */\nINPUT(AS_NEEDED({needed}))\n", encoding="utf-8")


def make(root: pathlib.Path, final: pathlib.Path, runtime: str, cxx: list[str], nvcc: str, tool: list[str]) -> None:
    target = target_folder()
    libraries = root / target / "lib"
    make_libraries(libraries, runtime, cxx, final / target / "lib")
    (root / "bin").mkdir()
    for name in ("lib", "lib64"):
        (root / name).symlink_to(f"{target}/lib")
    (root / "bin" / "nvcc").write_text(TOOL.format(words=" ".join(f"'{word}'" for word in tool)), encoding="utf-8")
    (root / "bin" / "nvcc").chmod(0o755)
    if not nvcc:
        make_stubs(libraries / "stubs", libraries, final / target / "lib" / "libcudart-cpu.so")
        return
    real = toolkit_of(nvcc)
    for entry in real.iterdir():
        if entry.name not in REPLACED:
            link_to(root / entry.name, entry)
    for entry in (real / "bin").iterdir():
        link_to(root / "bin" / entry.name, entry)
    real_target = real / target
    if not real_target.is_dir():
        real_target = real
    for entry in real_target.iterdir():
        if entry.name not in ("lib", "lib64"):
            link_to(root / target / entry.name, entry)
    for name in ("lib", "lib64"):
        if (real_target / name).is_dir():
            for entry in (real_target / name).iterdir():
                if not re.match(r"libcuda(rt|devrt)[._]", entry.name) and entry.name != "stubs":
                    link_to(libraries / entry.name, entry)
            make_stubs(libraries / "stubs", real_target / name / "stubs", final / target / "lib" / "libcudart-cpu.so")


def lasting_name(runtime: str) -> str:
    """Returns the library's name with its major version, in the folder where it lies: updates keep it."""
    if not os.path.isfile(runtime):
        refuse(f"the runtime is not at {runtime}")
    place = pathlib.Path(runtime).parent.resolve()
    names = sorted(place.glob("libcudart-cpu.so.*[0-9]"), key=lambda path: len(path.name))
    return str(names[0] if names else place / pathlib.Path(runtime).name)


def toolkit_folder(runtime: str, cxx: list[str], nvcc: str, tool: list[str]) -> pathlib.Path:
    """Returns the folder, which the first call makes: in the cache, or in the folder of temporary files without one."""
    runtime = lasting_name(runtime)
    status = os.stat(runtime)
    facts = [pathlib.Path(__file__).read_text(encoding="utf-8"), runtime, status.st_size, status.st_mtime_ns, cxx, nvcc, tool]
    name = "toolkit-" + hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
    for place in (cache_folder(), pathlib.Path(tempfile.gettempdir()) / f"cudart-cpu-{os.getuid()}"):
        if place is None:
            continue
        final = place / name
        if (final / "bin" / "nvcc").exists():
            return final
        try:
            place.mkdir(parents=True, exist_ok=True)
            made = pathlib.Path(tempfile.mkdtemp(dir=place))
        except OSError:
            continue
        made.chmod(0o755)
        try:
            make(made, final, runtime, cxx, nvcc, tool)
            made.rename(final)
        except OSError:
            shutil.rmtree(made, ignore_errors=True)
            if not (final / "bin" / "nvcc").exists():
                raise
        return final
    refuse("there is no folder for its libraries; name one by CUDART_CPU_CACHE")
    raise AssertionError
