#!/usr/bin/env python3
"""A compiler in nvcc's place for the CPU runtime. nvcc is its front end: programs get nvcc's host half, and the device half
translated from PTX.

nvcc_kernels.py [--through=auto|nvcc|cpp] [--nvcc NVCC] [--cxx 'COMMAND'] [--cpp-option OPTION]... [--cpp-because REASON]
    [--runtime LIBRARY] [nvcc's options]... x.cu...

It compiles and links, as nvcc does. auto uses nvcc if there is one; else it compiles .cu files as C++, without barriers and
shared memory. REASON explains why nvcc is not used. Options of the host compiler alone are passed on to it. The standard is
nvcc's default unless -std is given; for files compiled as C++, it is at least C++20. Links need the runtime's LIBRARY.
--toolkit prints the folder of a CUDA toolkit with this compiler and this runtime. CUDART_CPU_CACHE names the folder of the
cache of translations, or is "off"."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from drop_in.command import Command  # noqa: E402
from drop_in.driver import Driver, environment_words  # noqa: E402
from host_stubs import NotUnderstood, with_stubs  # noqa: E402
from ptx.build import (DEVICE_OPTIONS, compile_translated, own_definitions, own_files, processor_options,
                       refuse)  # noqa: E402
from ptx.cache import Cache  # noqa: E402
from ptx.image import image_of, section  # noqa: E402
from ptx.translation import translation_of  # noqa: E402

# The architecture of the CPU runtime's device, so that code selected by __CUDA_ARCH__ fits.
ARCHITECTURE = "compute_90"
OLDER_THAN_20 = re.compile(r"-std=(c|gnu)\+\+(03|98|0x|11|1y|14|1z|17)$")
# Of nvcc's options, those of a host compiler.
FOR_CPP = re.compile(r"-O[0-3]$|-g$|-w$|-std=|-[IDU].|-ftemplate-")


class Arguments:
    """The compilation of one file."""

    def __init__(self, command: Command, source: str) -> None:
        self.through = command.own.get("--through", "auto")
        self.nvcc = command.own.get("--nvcc", "")
        self.cxx = host_compiler(command)
        self.cpp_options = command.cpp_options
        self.keep = command.own.get("--keep-translated", "")
        self.because = command.own.get("--cpp-because", "")  # why nvcc is not used
        self.source = source
        self.output = command.object_of(source)
        self.depfile = command.depfile_of(self.output)
        self.target = command.target
        self.is_phony = command.is_phony
        self.options = command.options  # nvcc's
        self.host = command.host        # the host compiler's
        self.is_linked = command.is_linked


def host_compiler(command: Command) -> list[str]:
    named = command.host_compiler
    if not named:
        return shlex.split(command.own.get("--cxx", "c++"))
    if os.path.isdir(named):
        named = os.path.join(named, "g++")
    # nvcc compiles C++ by a compiler of C, too.
    folder, name = os.path.split(named)
    name = re.sub(r"^(gcc|clang|cc)(?=-|$)", lambda match: {"gcc": "g++", "clang": "clang++", "cc": "c++"}[match[1]], name)
    return [os.path.join(folder, name)]


def escaped(path: str) -> str:
    return path.replace(" ", "\\ ")


def write_depfile(arguments: Arguments, files: list[str]) -> None:
    if arguments.depfile:
        text = f"{arguments.target or arguments.output}: " + " \\\n  ".join(map(escaped, files)) + "\n"
        if arguments.is_phony:
            text += "".join(f"{escaped(file)}:\n" for file in files[1:])
        pathlib.Path(arguments.depfile).write_text(text, encoding="utf-8")


def without_preprocessing(command: list[str]) -> list[str]:
    kept = []
    words = iter(command)
    for word in words:
        if word in ("-I", "-D", "-U", "-isystem", "-include", "-idirafter", "-iquote"):
            next(words, None)
        elif not word.startswith(("-I", "-D", "-U", "-isystem", "-idirafter", "-iquote")):
            kept.append(word)
    return kept


def as_cpp(arguments: Arguments) -> bool:
    """Compiles the kernels as C++; returns whether that succeeded."""
    options = []
    words = iter(arguments.options)
    for word in words:
        if word in ("-isystem", "-include"):
            options += [word, next(words)]
        elif word == "-default-stream=per-thread":
            options.append("-DCUDA_API_PER_THREAD_DEFAULT_STREAM")
        elif FOR_CPP.match(word) and not OLDER_THAN_20.match(word):  # the runtime's header is C++20
            options.append(word)
    if not any(word.startswith("-std=") for word in arguments.cpp_options + options):
        options.append("-std=c++20")
    command = arguments.cxx + arguments.cpp_options + own_definitions() + options + arguments.host
    with tempfile.TemporaryDirectory(prefix="cudart-cpu-") as folder:
        preprocessed = pathlib.Path(folder) / "kernels.ii"
        first = ["-include", "cudart_cpu/device.hpp", "-DCUDART_CPU_MARKS_KERNELS", "-x", "c++", "-E", arguments.source,
                 "-o", str(preprocessed)]
        if arguments.depfile:
            first += ["-MD", "-MF", arguments.depfile, "-MT", arguments.target or arguments.output]
        if subprocess.run(command + first, check=False).returncode != 0:
            return False
        text = preprocessed.read_text(encoding="utf-8", errors="surrogateescape")
        try:
            text = with_stubs(text)
        except NotUnderstood as reason:
            refuse(f"{reason}; compile it through nvcc")
        preprocessed.write_text(text, encoding="utf-8", errors="surrogateescape")
        command = without_preprocessing(command)  # clang warns about unused options
        second = ["-x", "c++-cpp-output", "-c", str(preprocessed), "-o", arguments.output]
        if subprocess.run(command + second, check=False).returncode != 0:
            return False
    if arguments.depfile:
        depfile = pathlib.Path(arguments.depfile)
        files = depfile.read_text(encoding="utf-8").rstrip("\n")
        depfile.write_text(" \\\n  ".join([files, *map(escaped, own_files())]) + "\n", encoding="utf-8")
    return True


def dependencies(folder: pathlib.Path) -> list[str]:
    """Returns the files read by the preprocessor, by its line markers."""
    found = {}
    for text in folder.glob("*.ii"):
        for name in re.findall(rb'^# \d+ "([^"<]+)"', text.read_bytes(), re.MULTILINE):
            found[name.decode()] = None
    return [name for name in found if os.path.isfile(name) and not name.startswith(str(folder))]


def through_nvcc(arguments: Arguments, folder: pathlib.Path) -> list[str]:
    """Writes the object; returns the files it depends on."""
    host_object = folder / "host.o"
    command = [arguments.nvcc, f"-gencode=arch={ARCHITECTURE},code={ARCHITECTURE}", "-lineinfo"]
    command += [word for word in arguments.options if word not in ("-lineinfo", "-G")]
    host = ["-fPIC"] + [word for word in arguments.host if word != "-fPIC"]
    command += [f"-Xcompiler={word}".replace(",", "\\,") for word in host] + ["-ccbin", arguments.cxx[-1], *own_definitions()]
    if arguments.is_linked:
        command.append("-rdc=true")
    command += ["--keep", "--keep-dir", str(folder), "-x", "cu", "-c", arguments.source, "-o", str(host_object)]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit(1)
    ptx = next(folder.glob("*.ptx"), None)
    made = host_object.read_bytes()
    image = image_of(section(made, b"__nv_relfatbin" if arguments.is_linked else b".nv_fatbin"))
    identity = re.search(rb"\0__cudaRegisterLinkedBinary(\w+)\0", made)
    linked = identity[1].decode() if arguments.is_linked and identity else ""
    if ptx is None or not image:  # no kernels
        shutil.copy(host_object, arguments.output)
        return dependencies(folder)
    _, guard = processor_options()
    device_source = folder / "device.cpp"
    text = ptx.read_text(encoding="utf-8", errors="replace")
    device_source.write_text(translation_of(text, image, guard, arguments.source, linked), encoding="utf-8")
    if arguments.keep:
        shutil.copy(ptx, arguments.keep)
        shutil.copy(device_source, pathlib.Path(arguments.keep) / (ptx.stem + ".device.cpp"))
    options = [word for word in arguments.host if word.startswith("-fsanitize")]
    device_object = compile_translated(arguments.cxx, device_source, options, arguments.source)
    linked = folder / "linked.o"
    if subprocess.run(["ld", "-r", str(host_object), str(device_object), "-o", str(linked)], check=False).returncode != 0:
        sys.exit(1)
    shutil.copy(linked, arguments.output)
    return dependencies(folder)


def compile_kernels(arguments: Arguments) -> None:
    if arguments.through == "cpp" or (arguments.through == "auto" and not arguments.nvcc):
        if as_cpp(arguments):
            return
        reason = arguments.because or ("--through=cpp" if arguments.through == "cpp" else "there is none on PATH")
        refuse(f"{arguments.source} does not compile as C++; if it has <<<>>>, __shared__ or barriers, only nvcc compiles it, "
               f"which is not asked: {reason}")
    if not arguments.nvcc:
        refuse("--through=nvcc, but there is no nvcc")
    cache = Cache([ARCHITECTURE, arguments.nvcc, arguments.cxx, arguments.options, arguments.host, DEVICE_OPTIONS,
                   os.path.abspath(arguments.source), processor_options(), arguments.is_linked],
                  [arguments.nvcc, shutil.which(arguments.cxx[-1]) or ""], own_files())
    files = None if arguments.keep else cache.find(arguments.output)
    if files is None:
        with tempfile.TemporaryDirectory(prefix="cudart-cpu-") as folder:
            files = through_nvcc(arguments, pathlib.Path(folder))
        cache.keep(arguments.output, files)
    write_depfile(arguments, [arguments.source] + files + own_files())


def find_nvcc(command: Command) -> str:
    named = command.own.get("--nvcc", "")
    if named and os.path.exists(named):
        return named
    on_path = shutil.which("nvcc") or ""
    # It may be this compiler, in a toolkit of its own.
    if on_path and b"nvcc_kernels.py" not in pathlib.Path(on_path).read_bytes()[:4096]:
        return on_path
    root = os.environ.get("CUDART_CPU_NVCC", "/usr/local/cuda/bin/nvcc")
    return root if os.path.exists(root) else ""


def main() -> None:
    words = environment_words("NVCC_PREPEND_FLAGS") + sys.argv[1:] + environment_words("NVCC_APPEND_FLAGS")
    wants_toolkit = "--toolkit" in words
    try:
        command = Command([word for word in words if word != "--toolkit"])
    except ValueError as reason:
        refuse(str(reason))
    command.own["--nvcc"] = find_nvcc(command)
    if wants_toolkit:
        print(Driver(command, host_compiler(command)).toolkit())
    elif not command.nvccs and command.phase == "c" and [language for language, _ in command.inputs] == ["cu"]:
        compile_kernels(Arguments(command, command.inputs[0][1]))
    else:
        sys.exit(Driver(command, host_compiler(command)).run())


if __name__ == "__main__":
    main()
