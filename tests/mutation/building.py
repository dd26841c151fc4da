"""Builds the library with all its defects planted, and the programs that test it."""
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from .defects import FOLDERS, ROOT
from .planting import SWITCH_HEADER, SWITCH_SOURCE, Planted, guilty

OPTIONS = ["-Dcuda-runtime=cpu", "-Doptimization=0", "-Dbench=disabled", "-Dexamples=disabled", "-Dwerror=false", "-Dwarning_level=0"]
FIRST = "lib/handles/graph.cpp"  # has the definition of the switches


def write_if_new(path, text):
    """Leaves a file alone that has this text, so that it isn't compiled again."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class PlantedBuild:
    """`mutants` have the numbers from 1 on."""

    def __init__(self, folder, mutants, jobs):
        self.folder, self.mutants, self.jobs = folder.resolve(), mutants, jobs
        self.source, self.build = self.folder / "tree", self.folder / "build"
        self.planted, self.left_out = {}, set()
        by_file = {FIRST: []}
        for number, mutant in enumerate(mutants, 1):
            by_file.setdefault(mutant.file, []).append((number, mutant))
        for file, of_file in by_file.items():
            text = (ROOT / file).read_text()
            lines = [0]
            for line in text.split("\n"):
                lines.append(lines[-1] + len(line) + 1)
            defects = []
            for number, mutant in of_file:
                begin, end, replacement = mutant.part()
                defects.append((number, lines[mutant.line] + begin, lines[mutant.line] + end, replacement))
            self.planted[file] = Planted(text, defects)
            self.left_out |= set(self.planted[file].left_out)
        self.dropped_file = self.folder / "dropped"
        kept = set(self.dropped_file.read_text().splitlines()) if self.dropped_file.exists() else set()
        self.key = hashlib.sha256("".join(map(str, mutants)).encode()).hexdigest()
        self.dropped = {number for number, mutant in enumerate(mutants, 1) if self.line_of(mutant) in kept}

    @staticmethod
    def line_of(mutant):
        """Tells a defect that does not compile, also after its line has moved."""
        return f"{mutant.file} {mutant.before.strip()} -> {mutant.after.strip()}"

    def copy(self):
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                                stdout=subprocess.PIPE).stdout.decode().split("\0")
        names = {name for name in listed if name and (ROOT / name).is_file()}
        for name in names - set(self.planted):
            path = self.source / name
            if not path.exists() or path.read_bytes() != (ROOT / name).read_bytes():
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, path)
        for path in self.source.rglob("*"):
            if path.is_file() and str(path.relative_to(self.source)) not in names and path.name != "defect_switch.hpp":
                path.unlink()
        write_if_new(self.source / "lib/defect_switch.hpp", SWITCH_HEADER)

    def plant(self):
        for file, planted in self.planted.items():
            text = f'#include "{self.source}/lib/defect_switch.hpp"\n{planted.rendered(self.dropped)}'
            if file == FIRST:
                text += SWITCH_SOURCE % (len(self.mutants) + 1)
            write_if_new(self.source / file, text)

    def make(self):
        """Builds, without the defects that do not compile."""
        self.copy()
        self.plant()
        if not (self.build / "build.ninja").exists():
            flags = ["-D_GLIBCXX_ASSERTIONS"]  # what is read beyond an end ends the program
            if "clang" in os.environ.get("CXX", ""):
                flags.append("-ferror-limit=0")
            subprocess.run(["meson", "setup", self.build, self.source, *OPTIONS, f"-Dcpp_args={' '.join(flags)}"], check=True, stdout=subprocess.DEVNULL)
        while True:
            built = subprocess.run(["ninja", "-C", self.build, "-k", "0", "-j", str(self.jobs), "test-programs"],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   env={**os.environ, "NINJA_STATUS": ""})
            if built.returncode == 0:
                break
            wrong = self.wrong_in(built.stdout)
            if not wrong:
                sys.exit(f"mutate: the planted sources do not compile\n{built.stdout[:4000]}")
            self.dropped |= wrong
            print(f"{len(wrong)} defects do not compile", flush=True)
            self.dropped_file.write_text("".join(f"{self.line_of(self.mutants[number - 1])}\n" for number in sorted(self.dropped)))
            self.plant()

    def wrong_in(self, output):
        """The defects that errors are laid to; those in templates of others name the line only as where these are used."""
        direct = self.at(output, r"(?:fatal )?error: ")
        return direct or self.at(output, r"(?:note: in instantiation| *required from| *in .constexpr. expansion)")

    def at(self, output, message):
        wrong, texts = set(), {}
        for path, line in re.findall(rf"^(\S+?\.[ch]pp):(\d+):\d+: {message}", output, re.MULTILINE):
            full = Path(os.path.normpath(self.build / path))
            file = str(full.relative_to(self.source)) if full.is_relative_to(self.source) else ""
            if file in self.planted:
                text = texts.setdefault(file, (self.source / file).read_text())
                wrong |= guilty(text, int(line))
        return wrong - self.dropped
