#!/usr/bin/env python3
"""Whether each source of a target, and each header, includes what it uses: each is compiled alone.

Unity files and the build's precompiled headers hide that. What is precompiled here is what the file includes anyway, so
that it sees nothing that it has not got, in a third of the time. A source that begins with the header of its name stands for
that header, too, where what is precompiled is no more than the header includes. Compiler and flags are those of
--target, a part of an output in the --database, a compile_commands.json of clang++.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

INCLUDE = re.compile(r'^# *include *["<]([^">]+)[">]', re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


class Includes:
    """Which headers a file includes, those of `folders` by path and others by name."""

    def __init__(self, folders):
        self.folders, self.known = folders, {}

    def find(self, name, *beside):
        return next((folder / name for folder in (*beside, *self.folders) if (folder / name).is_file()), None)

    def of(self, file):
        file = file.resolve()
        if file not in self.known:
            self.known[file] = names = {file}
            for name in INCLUDE.findall(file.read_text(errors="replace")):
                header = self.find(name, file.parent)
                names |= self.of(header) if header else {name}
        return self.known[file]


class Cost:
    """How long it takes to read headers: about as long as their code is, with all that they include."""

    def __init__(self, project, system):
        self.includes, self.lengths = Includes([*project.folders, *system]), {}

    def length(self, file):
        if file not in self.lengths:
            self.lengths[file] = len(COMMENT.sub("", file.read_text(errors="replace"))) if isinstance(file, Path) else 0
        return self.lengths[file]

    def __call__(self, headers):
        found = [header if isinstance(header, Path) else self.includes.find(header) for header in headers]
        return sum(map(self.length, set().union(*(self.includes.of(file) for file in found if file))))


def worth_precompiling(visible, cost, least_uses):
    """Sets of headers, each of which saves most of what those before it leave; `visible`: what each file is sure to see.

    A set is one header of the project, or all headers of others that a file sees.
    """
    sets = {frozenset([header]) for header in set().union(*visible) if isinstance(header, Path)}
    sets |= {frozenset(header for header in seen if isinstance(header, str)) for seen in visible}
    costs = {one: cost(one) for one in sets}
    users = {one: [number for number, seen in enumerate(visible) if one <= seen] for one in sets}
    ordered, chosen, saved = sorted(sets, key=lambda one: sorted(map(str, one))), [], [0] * len(visible)
    while True:
        def gain(one):
            return sum(max(0, costs[one] - saved[number]) for number in users[one])
        best = max(ordered, key=gain)
        if gain(best) < least_uses * costs[best]:
            return sorted(chosen, key=costs.get, reverse=True)
        chosen.append(best)
        for number in users[best]:
            saved[number] = max(saved[number], costs[best])


def system_folders(command, directory):
    """Where the compiler looks for headers that are not the project's."""
    said = subprocess.run([*command, "-E", "-v", "-x", "c++", os.devnull], cwd=directory, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True).stdout
    listed = said.partition("#include <...> search starts here:\n")[2].partition("End of search list")[0]
    return [Path(directory, line.strip()).resolve() for line in listed.splitlines()]


def compile_command(database, target):
    """The compiler and flags of the target, and their folder."""
    entry = next((entry for entry in json.loads(Path(database).read_text()) if target in entry["output"]), None)
    if entry is None:
        sys.exit(f"{database} has no target {target}")
    command, words = [], iter(shlex.split(entry["command"]))
    for word in words:
        if word in ("-o", "-MF", "-MQ", "-MT", "-include-pch", "-include"):
            next(words)
        elif word not in ("-c", "-MD", entry["file"]) and not word.startswith("-fsanitize"):
            command.append(word)
    return [*command, "-Werror", "-Wno-pragma-once-outside-header", "-fdiagnostics-color=never"], entry["directory"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--include", nargs="+", required=True, type=Path, help="folders of headers")
    parser.add_argument("--part", default="0/1", help="K/N: of the files, in their order, every N-th from K on")
    parser.add_argument("folders", nargs="+", type=Path)
    given = parser.parse_args()
    first, step = map(int, given.part.split("/"))
    command, directory = compile_command(given.database, given.target)
    includes = Includes([folder.resolve() for folder in given.include])

    files = {file.resolve() for folder in given.folders for kind in ("*.cpp", "*.hpp") for file in folder.rglob(kind)}
    units = sorted(files)[first::step]
    visible = {unit: includes.of(unit) - {unit} for unit in units}
    chosen = worth_precompiling(list(visible.values()), Cost(includes, system_folders(command, directory)), 2)

    def precompiled_for(unit):
        return next((one for one in chosen if one <= visible[unit]), None)

    def stands_for(source):
        """The header that the source compiles as the header alone would be compiled."""
        first = INCLUDE.search(source.read_text())
        header = first and includes.find(first[1], source.parent)
        same = header in visible and header.stem == source.stem and source.suffix == ".cpp" and \
            precompiled_for(header) == precompiled_for(source)
        return header if same else None
    elsewhere = {stands_for(source) for source in units}
    alone = [unit for unit in units if unit not in elsewhere]

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def run(*arguments):
            done = subprocess.run([*command, *map(str, arguments)], cwd=directory, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            return done.stdout or f"ended with {done.returncode}\n" if done.returncode else ""

        def output(headers):
            return Path(folder) / f"{chosen.index(headers)}.pch"

        def precompile(headers):
            header = output(headers).with_suffix(".hpp")
            header.write_text("".join(f"#include {f'<{name}>' if isinstance(name, str) else json.dumps(str(name))}\n"
                                      for name in sorted(headers, key=str)))
            return run("-fpch-instantiate-templates", "-x", "c++-header", header, "-o", output(headers))

        def check(unit):
            headers = precompiled_for(unit)
            # A header twice, and not as the main file, which could not include itself.
            file = ["-include", unit, "-include", unit, "-x", "c++", os.devnull] if unit.suffix == ".hpp" else [unit]
            return run(*(["-include-pch", output(headers)] if headers else []), "-fsyntax-only", *file)
        said = [*pool.map(precompile, chosen), *pool.map(check, alone)]
    for file, text in zip(itertools.chain((" ".join(map(str, one)) for one in chosen), alone), said):
        if text:
            print(f"{file} does not compile alone:\n{text}")
    print(f"{len(units)} files, {sum(map(bool, said))} do not compile alone")
    sys.exit(any(said))


if __name__ == "__main__":
    main()
