#!/usr/bin/env python3
"""Installs cudag by the line of docs/install.md, in a clone, and builds a program by hand as this page says, with a kernel
that has <<<>>> and __shared__. What is compiled are the program and its kernel: the libraries are those of a given build.
With --static, cudag's library is an archive of that build's objects."""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from commands import HERE, INSTALL_PAGE, copy_sources, place_libraries, run, running_meson, table_of


STATIC = re.findall("`(-Ddefault_library=static)`", INSTALL_PAGE)


def commands_of_page():
    """The line that installs, and those that compile by hand."""
    line = re.search(r"`(meson setup build --prefix PREFIX [^`]* && meson install -C build)`", INSTALL_PAGE)
    by_hand = re.search(r"^By hand:\n\n```sh\n(.*?)^```$", INSTALL_PAGE, re.MULTILINE | re.DOTALL)
    if line is None or by_hand is None:
        sys.exit("docs/install.md has no line `meson setup build --prefix PREFIX ... && meson install -C build`, or no block "
                 "below `By hand:`")
    return line[1], by_hand[1]


def install(line, clone, prefix, given):
    """Types `line` in the clone; returns the table of features."""
    meson = running_meson()
    set_up, to_install = [meson + shlex.split(command.replace("PREFIX", str(prefix)))[1:] for command in line.split(" && ")]
    options = [f"-Dcuda-runtime={given.runtime}"] + (STATIC if given.static else [])
    done = run(*set_up, *options, cwd=clone, check=False, stdout=subprocess.PIPE,
               stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"the line of docs/install.md does not set up cudag:\n{done.stdout}")
    place_libraries(given.build, clone / "build")
    if given.static:
        for library in (clone / "build").glob("libcudag.so*"):
            library.unlink()
        objects = sorted(given.build.glob("libcudag.*.p/**/*.o"))
        run("ar", "rcs", clone / "build" / "libcudag.a", *objects)
    run(*to_install, "--no-rebuild", "--quiet", cwd=clone)
    return table_of(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtime", choices=["cuda", "cpu"], required=True)
    parser.add_argument("--gpu", choices=["yes", "no"], required=True)
    parser.add_argument("--nvcc", default="", help="the toolkit's nvcc, if it has one")
    parser.add_argument("--static", action="store_true")
    parser.add_argument("build", type=Path)
    given = parser.parse_args()
    line, by_hand = commands_of_page()
    with tempfile.TemporaryDirectory(prefix="cudag-install-") as folder:
        work = Path(folder)
        copy_sources(work / "cudag")
        table = install(line, work / "cudag", work / "prefix", given)
        print(table)
        shutil.rmtree(work / "cudag")  # what is installed does not need it
        program = work / "program"
        program.mkdir()
        for source, name in {"shared.cu": "kernels.cu", "shared.hpp": "shared.hpp", "shared_main.cpp": "main.cpp"}.items():
            shutil.copy(HERE / source, program / name)
        packages = next((work / "prefix").rglob("cudag.pc")).parent
        done = run("sh", "-e", "-c", by_hand, cwd=program, env={**os.environ, "PKG_CONFIG_PATH": str(packages)}, check=False,
                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(done.stdout)
        if not given.nvcc:
            if done.returncode == 0 or "which is not asked: no nvcc was found" not in done.stdout:
                sys.exit("without nvcc, a kernel that needs it is not refused by what says so")
            return
        if done.returncode != 0:
            sys.exit("there is an nvcc, but an installed cudag does not compile a kernel that has <<<>>> and __shared__")
        needed = run("readelf", "--dynamic", program / "mine", stdout=subprocess.PIPE, text=True).stdout
        if ("libcudag.so" in needed) == given.static:
            sys.exit(f"the program has the wrong library of cudag:\n{needed}")
        if given.runtime == "cuda" and given.gpu == "no":
            print("not run: there is no GPU")
            return
        printed = run(program / "mine", stdout=subprocess.PIPE, text=True).stdout
        if printed != "consumer: 32 of 32 values right\n":
            sys.exit(f"the program printed something else: {printed}")


try:
    main()
except subprocess.CalledProcessError as error:
    sys.exit(f"failed with {error.returncode}: {error.cmd}")
