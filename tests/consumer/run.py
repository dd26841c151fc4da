#!/usr/bin/env python3
"""Builds and runs this folder's project as a user would: cudag as a Meson subproject, then installed, by pkg-config."""
import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent


def run(*command, **options):
    print("+", shlex.join(map(str, command)), flush=True)
    return subprocess.run(list(map(str, command)), check=True, **options)


def run_program(program, gpu_missing, **options):
    """The program checks its own results; without the GPU that it needs there is nothing to run."""
    if gpu_missing:
        print("not run, there is no GPU:", program)
        return
    done = run(program, stdout=subprocess.PIPE, text=True, **options)
    print(done.stdout, end="")
    if done.stdout != "consumer: 1000 of 1000 values right\n":
        sys.exit("the consumer printed something else")


def as_subproject(meson, work, runtime, gpu_missing):
    project, build = work / "project", work / "build"
    shutil.copytree(HERE, project, ignore=shutil.ignore_patterns("run.py"))
    (project / "subprojects").mkdir()
    (project / "subprojects" / "cudag").symlink_to(CHECKOUT)
    run(*meson, "setup", build, project, "--prefix", work / "prefix", "--libdir", "lib",
        f"-Dcudag:cuda-runtime={runtime}")
    run(*meson, "compile", "-C", build)
    run_program(build / "consumer", gpu_missing)
    run(*meson, "install", "-C", build, "--quiet")


def by_pkg_config(work, compiler, gpu_missing):
    prefix, sources = work / "prefix", work / "project"
    environment = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}

    def pkg_config(*arguments):
        done = run("pkg-config", *arguments, "cudag", env=environment, stdout=subprocess.PIPE, text=True)
        return shlex.split(done.stdout)

    cflags, libs = pkg_config("--cflags"), pkg_config("--libs")
    run(*pkg_config("--variable=kernel_compiler"), *cflags, "-c", sources / "kernels.cu", "-o", work / "kernels.o")
    run(*compiler, "-std=c++20", *cflags, sources / "main.cpp", work / "kernels.o", *libs, "-o", work / "installed")
    run_program(work / "installed", gpu_missing, env={**environment, "LD_LIBRARY_PATH": str(prefix / "lib")})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtime", choices=["cuda", "cpu"], required=True)
    parser.add_argument("--gpu", choices=["yes", "no"], required=True)
    given = parser.parse_args()
    meson = shlex.split(os.environ.get("MESONINTROSPECT", "meson introspect"))[:-1]  # the Meson that runs the tests
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    gpu_missing = given.runtime == "cuda" and given.gpu == "no"
    with tempfile.TemporaryDirectory(prefix="cudag-consumer-") as folder:
        try:
            as_subproject(meson, Path(folder), given.runtime, gpu_missing)
            by_pkg_config(Path(folder), compiler, gpu_missing)
        except subprocess.CalledProcessError as error:
            sys.exit(f"failed with {error.returncode}: {shlex.join(map(str, error.cmd))}")


main()
