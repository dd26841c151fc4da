#!/usr/bin/env python3
"""The kinds of programs that the tests run, and how many: compares them with README.md; `--write` puts them there."""
import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
README = TESTS.parent / "README.md"
BEGIN, END = "<!-- supported: begin -->\n", "<!-- supported: end -->\n"

KERNEL_TEST = re.compile(r'^KERNEL_TEST\("', re.MULTILINE)
WAY = re.compile(r"^    def (?!run\b|nvcc\b|prints\b|page\b|_)\w+\(self", re.MULTILINE)
FAILURE = re.compile(r'\{"[\w-]+", cuda\w+, cuda\w+\}')
CPP_FAILURE = re.compile(r"^__global__ void (?!fine)", re.MULTILINE)

# Kinds, and what is counted in which files.
KINDS = [
    ("reductions, scans, histograms, sorts, filters", KERNEL_TEST, ["nvcc/parallel_patterns.cu"]),
    ("products and transposes of matrices", KERNEL_TEST, ["nvcc/linear_algebra.cu"]),
    ("simulations: n-body, stencils, heat, Monte Carlo", KERNEL_TEST, ["nvcc/simulations.cu"]),
    ("tensor cores: `wmma` and `mma.sync` of f16, bf16, tf32, f64, bytes and fp8; `ldmatrix`, `stmatrix`", KERNEL_TEST, ["nvcc/matrices.cu"]),
    ("cub", KERNEL_TEST, ["nvcc/cub.cu"]),
    ("cooperative groups, barriers of a grid, clusters and their distributed shared memory", KERNEL_TEST, ["nvcc/cooperative.cu"]),
    ("pipelines of asynchronous and bulk copies, all of shared memory", KERNEL_TEST, ["nvcc/pipelines.cu"]),
    ("textures and surfaces", KERNEL_TEST, ["nvcc/textures.cu"]),
    ("barriers and warps", KERNEL_TEST, ["nvcc/barriers.cu", "nvcc/warps.cu"]),
    ("code from before `__syncwarp`, with `CUDART_CPU_LOCKSTEP=1`", KERNEL_TEST, ["nvcc/lockstep.cu"]),
    ("atomics, locks, blocks that wait for each other", KERNEL_TEST, ["nvcc/atomics.cu"]),
    ("constant and managed memory, asynchronous copies, `malloc` in kernels, recursion", KERNEL_TEST, ["nvcc/memory.cu"]),
    ("templates, lambdas, virtual functions, streams, captures, graphs", KERNEL_TEST, ["nvcc/launches.cu"]),
    ("arithmetic of integers, floats, doubles, f16, bf16 and fp8", KERNEL_TEST,
     [f"nvcc/{name}.cu" for name in ("compare", "convert", "floating", "half", "integer", "logic")]),
    ("kernels that fail, with CUDA's errors", FAILURE, ["nvcc_only/failures.cu"]),
    ("the same, compiled as C++", CPP_FAILURE, ["failing_kernels.cu"]),
    ("builds in nvcc's place: one command, objects and libraries, relocatable device code, kernels that launch kernels, Make, CMake, Meson", WAY,
     ["drop_in/check.py"]),
]


def table():
    lines = ["| kind | tests |", "|---|---|"]
    for kind, counted, files in KINDS:
        count = sum(len(counted.findall((TESTS / file).read_text())) for file in files)
        if count == 0:
            sys.exit(f"no test is left of: {kind}")
        lines.append(f"| {kind} | {count} |")
    forgotten = {path.name for path in (TESTS / "nvcc").glob("*.cu") if KERNEL_TEST.search(path.read_text())} - \
        {Path(file).name for _, _, files in KINDS for file in files}
    if forgotten:
        sys.exit(f"tests/supported.py has no kind for {', '.join(sorted(forgotten))}")
    return "\n".join(lines) + "\n"


def main():
    text = README.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    expected = f"{before}{BEGIN}{table()}{END}{after}"
    if sys.argv[1:] == ["--write"]:
        README.write_text(expected)
    elif expected != text:
        sys.exit("README.md does not state what the tests run: tests/supported.py --write")


main()
