"""What the tests of this folder share: commands, this run's Meson, and copies of the sources."""
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
INSTALL_PAGE = (CHECKOUT / "docs" / "install.md").read_text()
PROJECT_FILES = ("main.cpp", "kernels.cu", "kernels.hpp", "meson.build")


def run(*command, **options):
    print("+", shlex.join(map(str, command)), flush=True)
    options.setdefault("check", True)
    return subprocess.run(list(map(str, command)), **options)


def running_meson():
    """The Meson that runs the tests, which tells its programs how it was called."""
    return shlex.split(os.environ.get("MESONINTROSPECT", "meson introspect"))[:-1]


def copy_sources(to):
    """The checkout as somebody clones it, with what is not committed yet, without what was built in it."""
    shutil.copytree(CHECKOUT, to, symlinks=True, ignore=lambda folder, names: [
        name for name in names if name in (".git", ".versions", "__pycache__", "packagecache") or
        (Path(folder) == CHECKOUT and re.match(r"build(-|$)", name))])


def copy_project(to):
    """The project of this folder, as a user has it."""
    to.mkdir()
    for name in PROJECT_FILES:
        shutil.copy(HERE / name, to)
    (to / "subprojects").mkdir()


def wrap_of_page(url=None):
    """The wrap in docs/install.md."""
    text = re.search(r"^```ini\n(.*?)^```$", INSTALL_PAGE, re.MULTILINE | re.DOTALL)[1]
    return text if url is None else text.replace("THE URL THAT YOU CLONE CUDAG FROM", url)


def table_of(output):
    """The rows of cudag's summary in what `meson setup` printed, of which there must be one."""
    tables = re.findall(r"^ *cudag \S+\n\n((?: +.*\n)+)", output, re.MULTILINE)
    if len(tables) != 1:
        raise SystemExit(f"meson setup printed {len(tables)} tables of cudag's features instead of one:\n{output}")
    return {name.strip(): value.strip() for name, value in
            re.findall(r"^ +([^:\n]*?) *: (.*)$", tables[0], re.MULTILINE)}


def place_libraries(built, build):
    """The libraries of the build folder `built`, which compiled the same sources already, into `build`, which will not."""
    for name in ("libcudag.so.*", "subprojects/cudart-cpu/libcudart-cpu.so.*",
                 "subprojects/cudart-cpu/libcudart/libcudart.so.*"):
        for library in built.glob(name):
            if library.is_file() and not library.is_symlink():
                place = build / library.relative_to(built)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, place)
