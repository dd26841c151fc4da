#!/usr/bin/env python3
"""Builds projects with the compiler in nvcc's place as their users would, outside of the sources, and runs the programs.

Usage: check.py COMPILER WAY..., of one, options, objects, linked, launches, make, cmake, meson"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "ci.md"
SKIPPED = 77


class Project:
    def __init__(self, compiler: str, folder: Path) -> None:
        self.compiler, self.folder = compiler, folder
        for source in HERE.iterdir():
            if source.name != Path(__file__).name and source.is_file():
                shutil.copy(source, folder)

    def run(self, *command: str, code: int = 0) -> str:
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != code:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def nvcc(self, *words: str) -> str:
        return self.run(self.compiler, *words)

    def prints(self, expected: str, *command: str) -> None:
        said = self.run(*command)
        if expected not in said:
            sys.exit(f"{' '.join(command)} prints something else than {expected!r}:\n{said}")

    # Ways of use.

    def one(self) -> None:
        """One command, with the shared runtime, the static one, and none named."""
        if said := self.nvcc("whole.cu"):
            sys.exit(f"a compilation without warnings says:\n{said}")
        self.prints("cudaSuccess 1, C++17, 0 arguments", "./a.out")
        for cudart in ("static", "shared"):
            self.nvcc("-cudart", cudart, "whole.cu", "-o", cudart)
            self.prints("cudaSuccess 1, C++17", f"./{cudart}")
        self.prints("C++17, 2 arguments", self.compiler, "-run", "-run-args", "a,b", "whole.cu")

    def options(self) -> None:
        """The forms that nvcc knows for its options."""
        (self.folder / "more").write_text("-DVALUE=6 --generate-line-info")
        forms = ["-std=c++20 -O3 -arch=sm_80 -DVALUE=3 -lineinfo -o=p", "--std c++20 --optimize 3 --gpu-architecture sm_80 "
                 "--define-macro VALUE=3 --generate-line-info --output-file p"]
        for form in forms:
            self.nvcc(*form.split(), "-Xcompiler", "-Wall,-Wextra -O1", "-Xptxas=-v", "--ptxas-options", "-O3", "-use_fast_math",
                      "--expt-relaxed-constexpr", "-t0", "-m64", "-maxrregcount", "32", "-I", ".", "-I..", "-Xlinker=-O1", "-ldl",
                      "-Wno-deprecated-gpu-targets", "--resource-usage", "whole.cu")
            self.prints("cudaSuccess 3, C++20", "./p")
        self.nvcc("--options-file", "more", "whole.cu", "-o", "p")
        self.prints("cudaSuccess 6, C++17", "./p")
        os.environ["NVCC_APPEND_FLAGS"] = "-DVALUE=7 -arch=sm_75"
        self.nvcc("whole.cu", "-o", "p")
        del os.environ["NVCC_APPEND_FLAGS"]
        self.prints("cudaSuccess 7, C++17", "./p")
        if shutil.which("clang++"):
            self.nvcc("-ccbin", "clang++", "-std=c++17", "-rdc=true", "kernels.cu", "parts.cu", "-o", "linked")
            self.run("./linked")
        self.prints("release", self.compiler, "--version")
        self.prints("no_such_option", "sh", "-c", f"'{self.compiler}' --no_such_option whole.cu -o p 2>&1 || true")
        self.prints("compute_90", self.compiler, "-arch-ls")

    def objects(self) -> None:
        """Objects of several files at a time, a shared library, and the host's compiler as the linker."""
        self.nvcc("-c", "scale.cu", "main.cpp", "-MD")
        if "scale.h" not in (self.folder / "scale.d").read_text():
            sys.exit("the dependencies of scale.cu lack scale.h")
        self.nvcc("scale.o", "main.o", "-o", "program", "-lcuda", "-lnvidia-ml")  # of the driver, for nothing
        self.prints("cudaSuccess 93", "./program")
        self.nvcc("driver.cpp", "-lcuda", "-o", "driver")
        self.prints("driver: 42", "./driver")
        self.nvcc("-shared", "-Xcompiler", "-fPIC", "scale.cu", "-o", "libscale.so")
        self.nvcc("main.cpp", "-L.", "-lscale", "-Xlinker", "-rpath,$ORIGIN", "-o", "program")
        self.prints("cudaSuccess 93", "./program")
        toolkit = self.nvcc("--toolkit").strip()
        for library in ("-lcudart", "-lcudadevrt -lcudart_static -lrt -lpthread -ldl"):
            self.run("sh", "-c", f"c++ scale.o main.o -L'{toolkit}/lib64' {library} -o program")
            self.prints("cudaSuccess 93", "./program")

    def linked(self) -> None:
        """Relocatable device code: of one command, of objects, and with a device link of its own."""
        self.nvcc("-rdc=true", "kernels.cu", "parts.cu", "-o", "linked")
        self.run("./linked")
        self.nvcc("-dc", "kernels.cu", "parts.cu")
        self.nvcc("--lib", "parts.o", "-o", "libparts.a")
        self.nvcc("-dlink", "kernels.o", "-L.", "-lparts", "-o", "devices.o")
        self.run("sh", "-c", f"c++ kernels.o devices.o -L. -lparts -L\"$('{self.compiler}' --toolkit)/lib64\" -lcudart -o linked")
        self.run("./linked")
        self.prints("1063", "env", "CUDART_CPU_CHECK=memory", "./linked")
        said = self.run("sh", "-c", f"'{self.compiler}' kernels.o -o missing 2>&1 || true")
        if "undefined reference" not in said or "sum_of_block" not in said:
            sys.exit(f"a function that no file has is missing in another way:\n{said}")

    def launches(self) -> None:
        """Kernels that launch kernels."""
        self.nvcc("-rdc=true", "launches.cu", "-o", "launches", "-lcudadevrt")
        said = "cudaSuccess, sorted, 245760, in order\ncudaErrorNotSupported\ncudaErrorIllegalAddress\n"
        self.prints(said, "sh", "-c", "./launches 2>/dev/null")
        self.prints(said.splitlines()[0], "sh", "-c", "CUDART_CPU_CHECK=memory ./launches 2>/dev/null")
        self.prints("a call of the device runtime, __cudaCDP2MemcpyAsync", "./launches")

    # The lines of the page for users' CI.

    def page(self, way: str) -> str:
        lines = re.search(rf"<!-- way: {way} -->\n```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
        os.environ["PATH"] = f"{Path(self.compiler).parent}:{os.environ['PATH']}"
        return self.run("sh", "-ec", lines[1])

    def make(self) -> None:
        if "cudaSuccess 93" not in self.page("make"):
            sys.exit("the program of the Makefile prints something else")
        self.run("make", "clean")
        self.run("sh", "-c", "make NVCC=$(cudart-cpu-nvcc --toolkit)/bin/nvcc")

    def cmake(self) -> None:
        self.page("cmake")

    def meson(self) -> None:
        self.page("meson")


def main() -> None:
    compiler, *ways = sys.argv[1:]
    os.environ.pop("CUDA_PATH", None)
    for way in ways:
        if way in ("make", "cmake", "meson") and shutil.which(way) is None:
            print(f"not run: there is no {way}")
            sys.exit(SKIPPED)
        with tempfile.TemporaryDirectory(prefix="cudart-cpu-drop-in-") as folder:
            Project(compiler, Path(folder)).__getattribute__(way)()


main()
