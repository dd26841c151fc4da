#!/usr/bin/env python3
"""Builds and runs this folder's project as users would.

`subproject`: with cudag as a Meson subproject, whose libraries are those of a given build, which compiled the same sources
already, and with what that project installs. `installed`: with what a given build installs, by pkg-config, by Meson and by
CMake. The consumer's compiler is $CXX, whichever made the libraries.
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from commands import CHECKOUT, HERE, place_libraries, run, running_meson, wrap_of_page

REFUSAL = "which cannot run kernels that nvcc compiled"


class Consumer:
    """One working folder, in which cudag is used in many ways."""

    def __init__(self, given, work):
        self.runtime, self.work = given.runtime, work
        self.gpu_missing = given.runtime == "cuda" and given.gpu == "no"
        self.meson = running_meson()
        self.compiler = shlex.split(os.environ.get("CXX", "c++"))
        self.project = work / "project"
        shutil.copytree(HERE, self.project, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
        for source in ("main.cpp", "kernels.cu", "kernels.hpp"):
            for way in ("installed", "cmake"):
                shutil.copy(HERE / source, self.project / way)

    def run_program(self, program, **options):
        """The program checks its own results; without the GPU that it needs there is nothing to run."""
        if self.gpu_missing:
            print("not run, there is no GPU:", program)
            return
        done = run(program, stdout=subprocess.PIPE, text=True, **options)
        print(done.stdout, end="")
        if done.stdout != "consumer: 1000 of 1000 values right\n":
            sys.exit("the consumer printed something else")

    def subproject(self, project):
        """cudag from subprojects/, where the wrap of docs/install.md finds it."""
        (project / "subprojects").mkdir()
        (project / "subprojects" / "cudag").symlink_to(CHECKOUT)
        (project / "subprojects" / "cudag.wrap").write_text(wrap_of_page())

    def set_up(self, *options):
        """As everybody types it, in the project."""
        self.subproject(self.project)
        run(*self.meson, "setup", "build", "-Doptimization=0", f"-Dcudag:cuda-runtime={self.runtime}", *options,
            cwd=self.project)
        return self.project / "build"

    def as_subproject(self, built):
        prefix = self.work / "prefix"
        build = self.set_up("--prefix", prefix, "--libdir", "lib")
        place_libraries(built, build / "subprojects" / "cudag")
        listed = run("ninja", "-C", build, "-t", "commands", "consumer", stdout=subprocess.PIPE, text=True).stdout
        own = [command for command in listed.splitlines() if re.search(r"( |^)consumer(\.p/\S+)?( |$)", command)]
        for command in own:
            run("sh", "-c", command, cwd=build)
        self.run_program(build / "consumer")
        run(*self.meson, "install", "-C", build, "--no-rebuild", "--quiet")
        self.take_installed(prefix, "lib", build)

    def install(self, build, prefix, libdir):
        """Installs what `build` has built, as for `prefix`, but below the working folder."""
        run(*self.meson, "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", self.work / "root")
        moved = self.work / "root" / prefix.relative_to("/")
        for file in (moved / libdir / "pkgconfig").iterdir():
            text = file.read_text()
            if f"prefix={prefix}\n" not in text:
                sys.exit(f"{file} does not begin at {prefix}:\n{text}")
            file.write_text(text.replace(f"prefix={prefix}\n", f"prefix={moved}\n"))
        self.take_installed(moved, libdir, build)

    def take_installed(self, prefix, libdir, build):
        """What is installed must work when the sources are gone."""
        self.prefix, self.libraries = prefix, prefix / libdir
        self.environment = {**os.environ, "PKG_CONFIG_PATH": str(self.libraries / "pkgconfig")}
        texts = [*self.libraries.glob("pkgconfig/*"), *self.libraries.glob("cmake/**/*.cmake"), prefix / "bin" / "cudag-kernels"]
        for text in texts:
            for folder in (CHECKOUT, build, self.project):
                if str(folder) in text.read_text():
                    sys.exit(f"{text} names {folder}:\n{text.read_text()}")
        if len(texts) < 4:
            sys.exit(f"too little is installed: {texts}")

    def by_pkg_config(self):
        def pkg_config(*arguments):
            done = run("pkg-config", *arguments, "cudag", env=self.environment, stdout=subprocess.PIPE, text=True)
            return shlex.split(done.stdout)

        cflags, libs = pkg_config("--cflags"), pkg_config("--libs")
        objects, program = self.work / "kernels.o", self.work / "installed"
        run(*pkg_config("--variable=kernel_compiler"), *cflags, "-DDEFAULT_STANDARD", "-c", self.project / "kernels.cu", "-o", objects)
        run(*self.compiler, "-std=c++20", *cflags, self.project / "main.cpp", objects, *libs,
            f"-Wl,-rpath,{pkg_config('--variable=libdir')[0]}", "-o", program)
        self.run_program(program)

    def by_meson(self):
        build = self.work / "meson"
        run(*self.meson, "setup", build, self.project / "installed", env=self.environment)
        run(*self.meson, "compile", "-C", build)
        self.run_program(build / "consumer", env={**os.environ, "LD_LIBRARY_PATH": str(self.libraries)})

    def cmake(self, project, *options):
        """Configures and builds `project`; what the build printed, whether it went well, and the program."""
        build = self.work / project
        run("cmake", "-S", self.project / project, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={shutil.which(self.compiler[-1])}", *options)
        done = subprocess.run(["cmake", "--build", build], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.stdout, done.returncode == 0, build / "consumer"

    def by_cmake(self):
        output, built, program = self.cmake("cmake")
        if not built:
            sys.exit(f"CMake's build failed:\n{output}")
        self.run_program(program)
        kernels = self.project / "cmake" / "kernels.cu"
        kernels.write_text("#error \"the kernels are compiled again\"\n" + kernels.read_text())
        output, built, _ = self.cmake("cmake")
        shutil.copy(HERE / "kernels.cu", kernels)
        if built or "the kernels are compiled again" not in output:
            sys.exit(f"a changed .cu file is not compiled again:\n{output}")

    def by_cmake_cuda(self, nvcc):
        """CMake's own CUDA language: right numbers, or a refusal that says what to do."""
        output, built, program = self.cmake("cmake_cuda", f"-DCMAKE_CUDA_COMPILER={nvcc}")
        if self.runtime == "cpu":
            if built or REFUSAL not in output:
                sys.exit(f"kernels that nvcc compiles for the CPU runtime are not refused:\n{output}")
            print("refused, as it should be:", next(line for line in output.splitlines() if REFUSAL in line))
            return
        if not built:
            sys.exit(f"CMake's build failed:\n{output}")
        self.run_program(program)

    def by_drop_in(self):
        """CMake's own CUDA language, with the CPU runtime's compiler in nvcc's place."""
        shutil.rmtree(self.work / "cmake_cuda")
        output, built, program = self.cmake("cmake_cuda", f"-DCMAKE_CUDA_COMPILER={self.prefix / 'bin' / 'cudart-cpu-nvcc'}")
        if not built:
            sys.exit(f"CMake's build with cudart-cpu-nvcc failed:\n{output}")
        self.run_program(program)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtime", choices=["cuda", "cpu"], required=True)
    parser.add_argument("--gpu", choices=["yes", "no"], required=True)
    parser.add_argument("--nvcc", default="", help="the toolkit's nvcc, if it has one")
    ways = parser.add_subparsers(dest="way", required=True)
    ways.add_parser("subproject").add_argument("build", type=Path)
    installed = ways.add_parser("installed")
    for name in ("build", "prefix", "libdir"):
        installed.add_argument(name, type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cudag-consumer-") as folder:
        try:
            consumer = Consumer(given, Path(folder))
            if given.way == "subproject":
                consumer.as_subproject(given.build)
                consumer.by_pkg_config()
                return
            consumer.install(given.build, given.prefix, given.libdir)
            consumer.by_pkg_config()
            consumer.by_meson()
            if shutil.which("cmake"):
                consumer.by_cmake()
                if given.nvcc:
                    consumer.by_cmake_cuda(given.nvcc)
                    if given.runtime == "cpu":
                        consumer.by_drop_in()
            else:
                print("not run: there is no cmake")
        except subprocess.CalledProcessError as error:
            sys.exit(f"failed with {error.returncode}: {shlex.join(map(str, error.cmd))}")


main()
