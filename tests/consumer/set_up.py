#!/usr/bin/env python3
"""Sets up this folder's project as users type it, `meson setup build` in the project, with cudag in its subprojects/ in each
way: by the wrap of docs/install.md, as a clone, and as a symbolic link. `set_up.py running` takes the Meson that runs the tests,
`oldest` and `newest` those that `.ci/setup ci` puts into .versions/."""
import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from commands import CHECKOUT, commit, copy_project, copy_sources, run, running_meson, table_of, wrap_of_page

SKIPPED = 77


def as_wrap(project, clone):
    (project / "subprojects" / "cudag.wrap").write_text(wrap_of_page(url=clone.as_uri()))


def as_clone(project, clone):
    run("git", "clone", "--quiet", "--depth", "1", clone.as_uri(), project / "subprojects" / "cudag")


def as_link(project, clone):
    (project / "subprojects" / "cudag").symlink_to(CHECKOUT)


def check(way, done, project):
    if done.returncode != 0:
        sys.exit(f"cudag {way}: meson setup build failed:\n{done.stdout}")
    if "WARNING" in done.stdout or "DEPRECATION" in done.stdout:
        sys.exit(f"cudag {way}: meson setup build warns:\n{done.stdout}")
    table = table_of(done.stdout)
    if set(table) != {"CUDA runtime", "CUDA headers", "nvcc", "kernels", "CUPTI"}:
        sys.exit(f"cudag {way}: a parent project sees another table: {table}")
    if not (project / "build" / "build.ninja").is_file():
        sys.exit(f"cudag {way}: nothing was set up in the project's own folder build")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("meson", choices=["running", "oldest", "newest"])
    which = parser.parse_args().meson
    meson = running_meson() if which == "running" else [CHECKOUT / ".versions" / f"meson-{which}" / "bin" / "meson"]
    if which != "running" and not meson[0].exists():
        print(f"not run: there is no {meson[0]}; `.ci/setup ci` puts it there")
        sys.exit(SKIPPED)
    run(*meson, "--version")
    ways = {"by the wrap of docs/install.md": as_wrap, "as a clone": as_clone, "as a symbolic link": as_link}
    without_git = shutil.which("git") is None
    with tempfile.TemporaryDirectory(prefix="cudag-set-up-") as folder:
        clone = Path(folder) / "cudag"
        if without_git:
            ways = {"as a symbolic link": as_link}
        else:
            copy_sources(clone)
            commit(clone)
        for number, (way, put) in enumerate(ways.items()):
            project = Path(folder) / f"project-{number}"
            copy_project(project)
            put(project, clone)
            check(way, run(*meson, "setup", "build", cwd=project, check=False, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True), project)
    if without_git:
        print("not run: the wrap and a clone, because there is no git")
        sys.exit(SKIPPED)


try:
    main()
except subprocess.CalledProcessError as error:
    sys.exit(f"failed with {error.returncode}: {error.cmd}")
