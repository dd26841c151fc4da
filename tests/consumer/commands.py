"""What the tests of this folder share: commands, this run's Meson, and copies of the sources."""
import os
import re
import shlex
import shutil
import subprocess
import sys
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


def commit(folder):
    """Makes a repository of it, which can be cloned."""
    for command in (["init", "--quiet", "--initial-branch=main"], ["add", "--all", "--force"],
                    ["commit", "--quiet", "--message", "cudag"]):
        run("git", "-c", "user.name=cudag", "-c", "user.email=cudag@localhost", "-c", "commit.gpgsign=false", *command,
            cwd=folder)


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
                 "subprojects/cudart-cpu/libcudart/libcuda.so.*", "subprojects/cudart-cpu/libcudart/libcudart.so.*"):
        for library in built.glob(name):
            if library.is_file() and not library.is_symlink():
                place = build / library.relative_to(built)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, place)


TOOL = """#!{python}
import sys
sys.path.append({here!r})
from commands import run_without_compiling
run_without_compiling({tool!r}, sys.argv[1:], {meson!r}, {ninja!r}, {built!r})
"""


def path_without_compiling(folder, built):
    """The PATH with a Meson and a Ninja that compile nothing: what they set up gets the libraries of the build folder `built`,
    which compiled the same sources already."""
    folder.mkdir()
    name, *arguments = running_meson()
    meson, ninja = [shutil.which(name), *arguments], shutil.which("ninja")  # by paths: the first on PATH will be these
    for tool in ("meson", "ninja"):
        (folder / tool).write_text(TOOL.format(python=sys.executable, here=str(HERE), tool=tool, meson=meson, ninja=ninja,
                                               built=str(Path(built).resolve())))
        (folder / tool).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def run_without_compiling(tool, arguments, meson, ninja, built):
    """The act of such a Meson or Ninja."""
    if tool == "ninja" and "--version" not in arguments and "-t" not in arguments:
        if "install" not in arguments:
            raise SystemExit(0)
        tool, arguments = "meson", ["install"]
    if tool == "ninja":
        raise SystemExit(subprocess.run([ninja, *arguments]).returncode)
    if "install" in arguments[:1]:
        arguments = [*arguments, "--no-rebuild"]
    status = subprocess.run([*meson, *arguments], env={**os.environ, "NINJA": ninja}).returncode
    if status == 0 and "setup" in arguments[:1]:
        folders = [Path(argument) for argument in arguments[1:] if not argument.startswith("-")] + [Path()]
        place_libraries(Path(built), next(folder for folder in folders if (folder / "meson-private").is_dir()))
    raise SystemExit(status)
