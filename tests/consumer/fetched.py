#!/usr/bin/env python3
"""Builds and runs a CMake project that fetches cudag by the lines of docs/install.md: `cmake -B build`, `cmake --build build`.

The project fetches a clone of the checkout, which Meson sets up and installs. Meson compiles nothing: the libraries are those
of a given build, which compiled the same sources already. What is missing is reported in one sentence."""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from commands import HERE, commit, copy_sources, path_without_compiling, run

SKIPPED = 77


def configure(project, build, *options, **given):
    compiler = shlex.split(os.environ.get("CXX", "c++"))[-1]
    return run("cmake", "-B", build, f"-DCMAKE_CXX_COMPILER={shutil.which(compiler)}", *options, cwd=project, check=False,
               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **given)


def require_sentence(done, text):
    """CMake breaks lines where it likes."""
    if done.returncode == 0 or text not in re.sub(r"\s+", " ", done.stdout):
        sys.exit(f"what is missing is not reported by \"{text}\":\n{done.stdout}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtime", choices=["cuda", "cpu"], required=True)
    parser.add_argument("--gpu", choices=["yes", "no"], required=True)
    parser.add_argument("--nvcc", default="", help="not used")
    parser.add_argument("build", type=Path)
    given = parser.parse_args()
    for tool in ("cmake", "git"):
        if shutil.which(tool) is None:
            print(f"not run: there is no {tool}")
            sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="cudag-fetched-") as folder:
        work = Path(folder)
        clone, project = work / "cudag", work / "project"
        copy_sources(clone)
        commit(clone)
        project.mkdir()
        for source in ("main.cpp", "kernels.cu", "kernels.hpp"):
            shutil.copy(HERE / source, project)
        lines = (HERE / "cmake_fetched" / "CMakeLists.txt").read_text()
        (project / "CMakeLists.txt").write_text(lines.replace("THE URL THAT YOU CLONE CUDAG FROM", clone.as_uri()))

        environment = {**os.environ, "PATH": path_without_compiling(work / "bin", given.build)}
        runtime = f"-DCUDAG_MESON_OPTIONS=-Dcuda-runtime={given.runtime}"
        done = configure(project, "build", runtime, env=environment)
        if done.returncode != 0:
            sys.exit(f"a project that fetches cudag does not configure:\n{done.stdout}")
        run("cmake", "--build", "build", cwd=project)
        if given.runtime == "cuda" and given.gpu == "no":
            print("not run: there is no GPU")
        else:
            printed = run(project / "build" / "consumer", stdout=subprocess.PIPE, text=True).stdout
            if printed != "consumer: 1000 of 1000 values right\n":
                sys.exit(f"the consumer printed something else: {printed}")
        done = configure(project, "build", env=environment)
        if done.returncode != 0 or "cudag: meson setup" in done.stdout:
            sys.exit(f"the second configure sets up cudag again, or fails:\n{done.stdout}")

        source = f"-DFETCHCONTENT_SOURCE_DIR_CUDAG={clone}"
        require_sentence(configure(project, "without-meson", source, f"-DCMAKE_MAKE_PROGRAM={shutil.which('make')}",
                                   "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF", "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF"),
                         "cudag: Meson is missing, by which cudag is built: install it")
        require_sentence(configure(project, "refused", source, "-DCUDAG_MESON_OPTIONS=-Dcuda-runtime=none", env=environment),
                         "cudag: meson setup failed:")
        require_sentence(configure(clone / "lib" / "package", work / "alone"),
                         "this CMakeLists.txt is for FetchContent and add_subdirectory")


try:
    main()
except subprocess.CalledProcessError as error:
    sys.exit(f"failed with {error.returncode}: {error.cmd}")
