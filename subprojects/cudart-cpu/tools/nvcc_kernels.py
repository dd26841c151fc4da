#!/usr/bin/env python3
"""A compiler of one .cu file for the CPU runtime, with nvcc as its front end: nvcc's host half, and the device half
translated from PTX.

nvcc_kernels.py [--through=auto|nvcc|cpp] [--nvcc NVCC] [--cxx 'COMMAND'] [--cpp-option OPTION]... [--cpp-because REASON]
    [option]... -c x.cu -o x.o

auto uses nvcc if there is one; else it compiles the file as C++, without barriers and shared memory. REASON explains
why nvcc is not used. Options are nvcc's; options of the host compiler alone are passed on to it. The standard is nvcc's
default unless -std is given; for files compiled as C++, it is at least C++20. CUDART_CPU_CACHE names the folder of the
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

from host_stubs import NotUnderstood, with_stubs  # noqa: E402
from ptx.build import DEVICE_OPTIONS, compile_translated, own_files, processor_options, refuse  # noqa: E402
from ptx.cache import Cache  # noqa: E402
from ptx.image import image_of, section  # noqa: E402
from ptx.translation import translation_of  # noqa: E402

# The architecture of the CPU runtime's device, so that code selected by __CUDA_ARCH__ fits.
ARCHITECTURE = "compute_90"
WITH_VALUE = {"-I", "-D", "-U", "-isystem", "-include", "-Xcompiler", "-Xptxas", "-Xcudafe", "-Xlinker", "-x", "-arch",
              "-code", "-gencode", "-ccbin", "--gpu-architecture", "--gpu-code", "--generate-code", "--compiler-options",
              "--compiler-bindir", "-idirafter", "-iquote", "--ptxas-options", "--diag-suppress",
              "-diag-suppress", "-maxrregcount", "--maxrregcount", "-t", "--threads"}
OLDER_THAN_20 = re.compile(r"-std=(c|gnu)\+\+(03|98|0x|11|1y|14|1z|17)$")
ARCHITECTURES = ("-arch", "-code", "-gencode", "--gpu-architecture", "--gpu-code", "--generate-code")
NVCC_FLAGS = re.compile(r"-O[0-3]?$|-g$|-G$|-lineinfo$|-std=|-use_fast_math$|-ftz=|-prec-|-fmad=|-extended-lambda$|"
                        r"-expt-|-diag-|-restrict$|-w$|-Werror$|-maxrregcount=|-default-stream|-(I|D|U).|--")


class Arguments:
    def __init__(self, words: list[str]) -> None:
        self.through = "auto"
        self.nvcc = ""
        self.cxx = ["c++"]
        self.cpp_options: list[str] = []
        self.source = self.output = self.depfile = self.target = ""
        self.keep = ""
        self.because = ""  # why nvcc is not used
        self.options: list[str] = []  # nvcc's
        self.host: list[str] = []     # the host compiler's
        words = list(words)
        while words:
            self.one(words.pop(0), words)
        if not self.source or not self.output:
            refuse("nvcc_kernels.py needs -c x.cu and -o x.o")

    def one(self, word: str, rest: list[str]) -> None:
        name, equals, value = word.partition("=")
        own = {"--through": "through", "--nvcc": "nvcc", "--cxx": "cxx", "--cpp-option": "", "--cpp-because": "because",
               "--keep-translated": "keep"}
        if name in own:
            value = value if equals else rest.pop(0)
            if name == "--cxx":
                self.cxx = shlex.split(value)
            elif name == "--cpp-option":
                self.cpp_options.append(value)
            else:
                setattr(self, own[name], value)
        elif word in ("-c", "-MD", "-MMD"):
            pass
        elif word == "-o":
            self.output = rest.pop(0)
        elif word == "-MF":
            self.depfile = rest.pop(0)
        elif word in ("-MT", "-MQ"):
            self.target = rest.pop(0)
        elif word.startswith("-rdc") or word.startswith("--relocatable-device-code") or word in ("-dc", "-dw",
                                                                                               "--device-c"):
            if "false" not in word:
                refuse(f"{word}: relocatable device code is not supported on the CPU runtime, which translates each .cu "
                       "file alone; compile without it")
        elif name in ARCHITECTURES:
            if not equals:
                rest.pop(0)
        elif word in ("-Xcompiler", "--compiler-options") or name in ("-Xcompiler", "--compiler-options"):
            self.host += (value if equals else rest.pop(0)).split(",")
        elif word in ("-ccbin", "--compiler-bindir"):
            rest.pop(0)
        elif name in ("-std", "--std"):  # the last one wins, without nvcc's warning
            self.options = [other for other in self.options if not other.startswith("-std=")]
            self.options.append("-std=" + (value if equals else rest.pop(0)))
        elif word in WITH_VALUE:
            self.options += [word, rest.pop(0)]
        elif word.startswith("-Xptxas") or word.startswith("-Xcicc"):
            pass
        elif NVCC_FLAGS.match(word):
            self.options.append("-O2" if word == "-O" else word)
        elif word.startswith("-fsanitize="):  # nvcc splits words at commas
            self.host += [f"-fsanitize={one}" for one in word.removeprefix("-fsanitize=").split(",")]
        elif word.startswith("-"):
            self.host.append(word)
        elif pathlib.Path(word).suffix in (".o", ".a", ".so"):
            refuse(f"{word} is no .cu file")
        else:
            self.source = word


def escaped(path: str) -> str:
    return path.replace(" ", "\\ ")


def write_depfile(arguments: Arguments, files: list[str]) -> None:
    if arguments.depfile:
        text = f"{arguments.target or arguments.output}: " + " \\\n  ".join(map(escaped, files)) + "\n"
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
    skip = False
    for word in arguments.options:
        if skip or word in ("-G", "-lineinfo", "-use_fast_math") or word.startswith(("--", "-expt", "-extended", "-diag")):
            skip = not skip and word in WITH_VALUE
            continue
        if not OLDER_THAN_20.match(word):  # the runtime's header is C++20
            options.append(word)
    if not any(word.startswith("-std=") for word in arguments.cpp_options + options):
        options.append("-std=c++20")
    command = arguments.cxx + arguments.cpp_options + options + arguments.host
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
    command += [f"-Xcompiler={word}" for word in host] + ["-ccbin", arguments.cxx[-1], "-DCUDART_CPU"]
    command += ["--keep", "--keep-dir", str(folder), "-x", "cu", "-c", arguments.source, "-o", str(host_object)]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit(1)
    ptx = next(folder.glob("*.ptx"), None)
    image = image_of(section(host_object.read_bytes(), b".nv_fatbin"))
    if ptx is None or not image:  # no kernels
        shutil.copy(host_object, arguments.output)
        return dependencies(folder)
    _, guard = processor_options()
    device_source = folder / "device.cpp"
    text = ptx.read_text(encoding="utf-8", errors="replace")
    device_source.write_text(translation_of(text, image, guard, arguments.source), encoding="utf-8")
    if arguments.keep:
        shutil.copy(ptx, arguments.keep)
        shutil.copy(device_source, pathlib.Path(arguments.keep) / (ptx.stem + ".device.cpp"))
    options = [word for word in arguments.host if word.startswith("-fsanitize")]
    if options or "-g" in arguments.options or "-G" in arguments.options:
        options.append("-g1")
    device_object = compile_translated(arguments.cxx, device_source, options, arguments.source)
    linked = folder / "linked.o"
    if subprocess.run(["ld", "-r", str(host_object), str(device_object), "-o", str(linked)], check=False).returncode != 0:
        sys.exit(1)
    shutil.copy(linked, arguments.output)
    return dependencies(folder)


def main() -> None:
    arguments = Arguments(sys.argv[1:])
    if not arguments.nvcc or not os.path.exists(arguments.nvcc):
        arguments.nvcc = shutil.which("nvcc") or ""
    if arguments.through == "cpp" or (arguments.through == "auto" and not arguments.nvcc):
        if as_cpp(arguments):
            return
        reason = arguments.because or ("--through=cpp" if arguments.through == "cpp" else "there is none on PATH")
        refuse(f"{arguments.source} does not compile as C++; if it has <<<>>>, __shared__ or barriers, only nvcc compiles it, "
               f"which is not asked: {reason}")
    if not arguments.nvcc:
        refuse("--through=nvcc, but there is no nvcc")
    cache = Cache([ARCHITECTURE, arguments.nvcc, arguments.cxx, arguments.options, arguments.host, DEVICE_OPTIONS,
                   os.path.abspath(arguments.source), processor_options()],
                  [arguments.nvcc, shutil.which(arguments.cxx[-1]) or ""], own_files())
    files = None if arguments.keep else cache.find(arguments.output)
    if files is None:
        with tempfile.TemporaryDirectory(prefix="cudart-cpu-") as folder:
            files = through_nvcc(arguments, pathlib.Path(folder))
        cache.keep(arguments.output, files)
    write_depfile(arguments, [arguments.source] + files + own_files())


if __name__ == "__main__":
    main()
