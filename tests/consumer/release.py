#!/usr/bin/env python3
"""Makes what a release consists of, and uses it: the source archive of `meson dist`, and the Debian package made of it.

The archive has all files of the commit, sets up in an empty folder, and gives the Debian package by the line of docs/install.md.
lintian reports neither errors nor warnings. The package is installed, a program is built against it by pkg-config and run, and
the package is removed. Needs Debian, and root or sudo. By default nothing of cudag is compiled: the libraries are those of
the given build folder, which compiled the same sources already; `--compile` compiles them as users do."""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from commands import CHECKOUT, HERE, INSTALL_PAGE, path_without_compiling, run, running_meson

PACKAGES = ("libcudag-dev", "libcudag0", "libcudart-cpu0")


def lines_of(*command, **options):
    return run(*command, stdout=subprocess.PIPE, text=True, **options).stdout.splitlines()


def unpack_archive(build, work):
    """The sources in the archive that `meson dist` makes of the commit."""
    meson = running_meson()
    run(*meson, "dist", "-C", build, "--no-tests", "--formats", "gztar", "--allow-dirty", stdout=subprocess.DEVNULL)
    archive = max((build / "meson-dist").glob("cudag-*.tar.gz"), key=lambda path: path.stat().st_mtime)
    shutil.unpack_archive(archive, work)
    sources = work / archive.name.removesuffix(".tar.gz")
    packed = {str(file.relative_to(sources)) for file in sources.rglob("*") if not file.is_dir() or file.is_symlink()}
    committed = set(lines_of("git", "-c", "core.quotePath=off", "ls-tree", "-r", "--name-only", "HEAD", cwd=CHECKOUT))
    if packed != committed:
        sys.exit(f"the archive and the commit differ in {sorted(packed ^ committed)[:20]}")
    return sources


def make_packages(sources, work, environment):
    """Types the line of docs/install.md; returns the packages."""
    line = re.search(r"`(cp -r lib/package/debian \. && dpkg-buildpackage [^`]*)`", INSTALL_PAGE)
    if line is None:
        sys.exit("docs/install.md has no line `cp -r lib/package/debian . && dpkg-buildpackage ...`")
    run("sh", "-e", "-c", line[1], cwd=sources, env=environment)
    changes = next(work.glob("cudag_*.changes"))
    said = run("lintian", "--tag-display-limit", "0", "--fail-on", "error,warning", changes, check=False,
               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(said.stdout, end="")
    if said.returncode != 0:
        sys.exit("lintian is not content")
    packages = {file.name.split("_")[0]: file for file in work.glob("*.deb")}
    return [packages[name] for name in PACKAGES]


def use_packages(packages, work):
    """Builds a program in an empty folder, against what is installed."""
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    run(*root, "dpkg", "--install", *packages, stdout=subprocess.DEVNULL)
    try:
        program = work / "program"
        program.mkdir()
        for source in ("main.cpp", "kernels.cu", "kernels.hpp"):
            shutil.copy(HERE / source, program)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PKG_CONFIG")}
        compiler = os.environ.get("CXX", "c++")
        run("sh", "-e", "-c", "$(pkg-config --variable=kernel_compiler cudag) -std=c++20 -c kernels.cu -o kernels.o\n"
            f"{compiler} -std=c++20 $(pkg-config --cflags cudag) main.cpp kernels.o $(pkg-config --libs cudag) -o mine",
            cwd=program, env=environment)
        if lines_of(program / "mine") != ["consumer: 1000 of 1000 values right"]:
            sys.exit("the program printed something else")
    finally:
        run(*root, "dpkg", "--purge", *PACKAGES, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compile", action="store_true", help="compile cudag, as users do")
    parser.add_argument("build", type=Path)
    given = parser.parse_args()
    build = given.build.resolve()
    with tempfile.TemporaryDirectory(prefix="cudag-release-") as folder:
        work = Path(folder)
        sources = unpack_archive(build, work)
        environment = dict(os.environ)
        if not given.compile:
            environment["DEB_BUILD_OPTIONS"] = "noautodbgsym"  # the build folder's libraries may have no debug information
            environment["PATH"] = path_without_compiling(work / "bin", build)
        use_packages(make_packages(sources, work, environment), work)
    print("Ok: 1")


try:
    main()
except subprocess.CalledProcessError as error:
    sys.exit(f"failed with {error.returncode}: {shlex.join(map(str, error.cmd))}")
