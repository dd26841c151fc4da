#!/usr/bin/env python3
"""What each combination of options makes of kernels for the CPU runtime: the table that `meson setup` prints, and the refusal
of a kernel that has <<<>>> and __shared__, which names what changes that."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from commands import CHECKOUT, HERE, copy_project, run, running_meson, table_of

KERNEL = HERE / "shared.cu"


def set_up(build, options, source=CHECKOUT, environment=None):
    done = run(*running_meson(), "setup", build, source, *options, check=False, stdout=subprocess.PIPE,
               stderr=subprocess.STDOUT, text=True, env=environment)
    return done.returncode == 0, done.stdout


def check_table(output, expected):
    table = table_of(output)
    for name, text in expected.items():
        if text not in table.get(name, ""):
            sys.exit(f"the table says of {name}: {table.get(name)!r}; expected {text!r}")


def check_refusal(compiler, reason, folder, environment=None):
    done = run(compiler, "-c", KERNEL, "-o", folder / "kernel.o", check=False, stdout=subprocess.PIPE,
               stderr=subprocess.STDOUT, text=True, env=environment)
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
    named = "cudart-cpu: __shared__ memory needs nvcc (option kernels)"
    if done.returncode == 0 or named not in done.stdout or not last.endswith(f"which is not asked: {reason}"):
        sys.exit(f"expected a refusal with {named!r} that ends with {reason!r}:\n{done.stdout}")


def without_nvcc(folder):
    """An environment whose toolkit has headers, but no nvcc."""
    toolkit = folder / "toolkit"
    toolkit.mkdir()
    found = run(sys.executable, CHECKOUT / "subprojects" / "cuda-toolkit" / "find_toolkit.py", stdout=subprocess.PIPE, text=True)
    (toolkit / "include").symlink_to(found.stdout.splitlines()[0])
    path = [place for place in os.environ["PATH"].split(os.pathsep) if not (Path(place) / "nvcc").exists()]
    return {**os.environ, "CUDA_PATH": str(toolkit), "CUDA_HOME": str(toolkit), "PATH": os.pathsep.join(path)}


def main():
    cpu = ["-Dcuda-runtime=cpu"]
    bare = cpu + ["-Dauto_features=disabled"]
    off = "nvcc was switched off by -Dcudart-cpu:nvcc=disabled"
    none = "no nvcc was found; set CUDA_PATH to a toolkit that has one, and set up a new build folder"
    with tempfile.TemporaryDirectory(prefix="cudag-options-") as place:
        folder = Path(place)
        environment = without_nvcc(folder)
        compiler = Path("lib") / "package" / "cudag-kernels"
        cases = {
            "as C++": (bare + ["-Dkernels=cpp"], None, {
                "CUDA runtime": "the CPU runtime (asked for)", "kernels": "as C++ alone (kernels=cpp)",
                "tests": "not built: auto_features=disabled"},
                "cudag was set up with kernels=cpp; -Dkernels=auto takes nvcc for such files"),
            "without nvcc by an option": (bare + ["-Dcudart-cpu:nvcc=disabled"], None, {
                "nvcc": f"none: {off}", "kernels": "as C++ alone (no nvcc), so no <<<>>>"}, off),
            "without nvcc": (cpu + ["-Dtests=disabled"], environment, {
                "nvcc": f"none: {none}", "tests": "not built: switched off", "bench": "built", "examples": "built"}, none),
        }
        for number, (name, (options, variables, table, reason)) in enumerate(cases.items()):
            build = folder / f"build-{number}"
            good, output = set_up(build, options, environment=variables)
            if not good:
                sys.exit(f"{name}: meson setup failed:\n{output}")
            check_table(output, table)
            check_refusal(build / compiler, reason, folder, variables)

        good, output = set_up(folder / "build-refused", bare + ["-Dkernels=nvcc", "-Dcudart-cpu:nvcc=disabled"])
        if good or f"kernels=nvcc, but {off}" not in output:
            sys.exit(f"kernels=nvcc without nvcc is not refused with the reason:\n{output}")

        project = folder / "project"
        copy_project(project)
        (project / "subprojects" / "cudag").symlink_to(CHECKOUT)
        build = project / "build"
        good, output = set_up(build, ["-Dcudag:cuda-runtime=cpu", "-Dcudag:kernels=cpp"], project)
        if not good:
            sys.exit(f"as a subproject: meson setup failed:\n{output}")
        check_table(output, {"kernels": "as C++ alone (kernels=cpp)"})
        reason = "cudag was set up with kernels=cpp; -Dcudag:kernels=auto takes nvcc for such files"
        check_refusal(build / "subprojects" / "cudag" / compiler, reason, folder)
        # The project's own kernels, by its build.
        shutil.copy(KERNEL, project / "kernels.cu")
        shutil.copy(HERE / "shared.hpp", project)
        done = run("ninja", "-C", build, "consumer.p/kernels.cu.o", check=False, stdout=subprocess.PIPE,
                   stderr=subprocess.STDOUT, text=True)
        if done.returncode == 0 or reason not in done.stdout:
            sys.exit(f"the build of a project does not refuse the kernel with the reason:\n{done.stdout}")


try:
    main()
except subprocess.CalledProcessError as error:
    sys.exit(f"failed with {error.returncode}: {error.cmd}")
