#!/usr/bin/env python3
"""Runs a program that nvcc compiled for NVIDIA's shared runtime on the CPU runtime, with LD_LIBRARY_PATH alone, and looks
at what is said where that cannot be: unmodified.py SOURCE NVCC TOOLKIT_LIBRARIES FOLDER_OF_THE_CPU_RUNTIME. Exits with 77
where the toolkit has no shared runtime."""
import os
import pathlib
import subprocess
import sys
import tempfile

source, nvcc, toolkit, runtime = sys.argv[1:]
if not (pathlib.Path(toolkit) / "libcudart.so").exists():
    print(f"{toolkit} has no libcudart.so")
    sys.exit(77)

LZ4 = "--compress-mode=speed"
if LZ4.partition("=")[0] not in subprocess.run([nvcc, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout:
    LZ4 = "-no-compress"  # an older nvcc, which takes LZ4 unless it is told otherwise


def compile_program(path: pathlib.Path, *options: str) -> None:
    subprocess.run([nvcc, "-std=c++17", "-cudart", "shared", *options, source, "-o", path], check=True)


def run(program: pathlib.Path, *arguments: str, **environment: str) -> tuple[str, str]:
    everything = {**os.environ, "LD_LIBRARY_PATH": runtime, "CUDA_LOG_FILE": "stderr", **environment}
    done = subprocess.run([program, *arguments], env=everything, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.stdout, done.stderr


def expect(wanted: str, output: tuple[str, str]) -> None:
    if not any(wanted in text for text in output):
        sys.exit(f"expected\n{wanted}\nbut got\n{output[0]}{output[1]}")


with tempfile.TemporaryDirectory() as name:
    place = pathlib.Path(name)
    cache = place / "cache"

    def entries() -> list[pathlib.Path]:
        return [path for path in cache.iterdir() if not path.name.startswith("compiler-")]

    program = place / "program"
    compile_program(program, "-arch=sm_80")
    right = "16256 49024, 2 blocks, 42\n"
    expect(right, run(program, CUDART_CPU_CACHE=str(cache)))
    # What was made is kept, and taken.
    entry, = entries()
    made = (entry / "object.o").stat().st_mtime_ns
    expect("compute capability 90 for 80\n" + right, run(program, "ask", CUDART_CPU_CACHE=str(cache)))
    expect("24384 73536, 2 blocks, 42\n", run(program, "set", CUDART_CPU_CACHE=str(cache)))
    if entries() != [entry] or (entry / "object.o").stat().st_mtime_ns != made:
        sys.exit("a later run translated anew")

    refused = "sum(int const*, int*) was compiled by nvcc for NVIDIA's runtime, and cannot be translated: "
    expect(refused + "there is no python3", run(program, PATH="/nonexistent"))
    expect(refused + "there is no C++ compiler /no/compiler", run(program, CXX="/no/compiler", CUDART_CPU_CACHE="off"))
    expect("managed variable managed has no memory", run(program, PATH="/nonexistent"))
    other = place / "other"
    compile_program(other, "-gencode=arch=compute_80,code=compute_80", "-gencode=arch=compute_90,code=compute_90", LZ4)
    expect("compute capability 90 for 90\n" + right, run(other, "ask", CUDART_CPU_CACHE="off"))
    for option, reason in {"-gencode=arch=compute_90,code=sm_90": "it has no PTX, only code for GPUs",
                           "-rdc=true": "it has no PTX, only code for GPUs; give nvcc -gencode=arch=compute_90,code=compute_90, "
                                        "without -rdc=true",
                           "-gencode=arch=compute_100,code=compute_100": "its PTX is for compute capability 10"}.items():
        compile_program(other, option)
        said = run(other, CUDA_LOG_FILE="/dev/null")
        if said[1].count(refused + reason) != 1:
            sys.exit(f"expected one line on stderr with\n{refused}{reason}\nbut got\n{said[1]}")
