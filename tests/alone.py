#!/usr/bin/env python3
"""Whether each source of a target, and each header, includes what it uses: each is compiled alone.

Unity files and the build's precompiled headers hide that. What is precompiled here is a header that the file includes
anyway, so that it sees nothing that it has not got, in a third of the time. Compiler and flags are those of
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

INCLUDE = re.compile(r'^#include ["<]([^">]+)[">]', re.MULTILINE)


class Includes:
    """Which headers a file includes, those of `folders` by path and others by name."""

    def __init__(self, folders):
        self.folders, self.known = folders, {}

    def find(self, name, includer):
        return next((folder / name for folder in (includer.parent, *self.folders) if (folder / name).is_file()), None)

    def of(self, file):
        file = file.resolve()
        if file not in self.known:
            self.known[file] = names = {file}
            for name in INCLUDE.findall(file.read_text()):
                header = self.find(name, file)
                names |= self.of(header) if header else {name}
        return self.known[file]


def worth_precompiling(visible, includes, least_uses):
    """Headers, each of which saves most of what those before it leave; `visible`: what each file is sure to see."""
    sizes = {header: len(includes.of(header)) for header in set().union(*visible) if isinstance(header, Path)}
    chosen = []
    while True:
        def gain(header):
            return sum(max(0, sizes[header] - max((sizes[other] for other in chosen if other in seen), default=0))
                       for seen in visible if header in seen)
        best = max(sorted(sizes), key=gain)
        if gain(best) < least_uses * sizes[best]:
            return sorted(chosen, key=sizes.get, reverse=True)
        chosen.append(best)


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
    parser.add_argument("folders", nargs="+", type=Path)
    given = parser.parse_args()
    command, directory = compile_command(given.database, given.target)
    includes = Includes([folder.resolve() for folder in given.include])

    def files(kind):
        return {file.resolve() for folder in given.folders for file in folder.rglob(kind)}
    units = sorted(files("*.cpp") | files("*.hpp"))
    visible = {unit: includes.of(unit) - {unit} for unit in units}
    chosen = worth_precompiling(list(visible.values()), includes, 2)

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def run(*arguments):
            done = subprocess.run([*command, *map(str, arguments)], cwd=directory, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            return done.stdout or f"ended with {done.returncode}\n" if done.returncode else ""

        def output(header):
            return Path(folder) / f"{chosen.index(header)}.pch"

        def precompile(header):
            return run("-fpch-instantiate-templates", "-x", "c++-header", header, "-o", output(header))

        def check(unit):
            header = next((header for header in chosen if header in visible[unit]), None)
            return run(*(["-include-pch", output(header)] if header else []), "-fsyntax-only", "-x", "c++", unit)
        said = [*pool.map(precompile, chosen), *pool.map(check, units)]
    for file, text in zip(itertools.chain(chosen, units), said):
        if text:
            print(f"{file} does not compile alone:\n{text}")
    print(f"{len(units)} files, {sum(map(bool, said))} do not compile alone")
    sys.exit(any(said))


if __name__ == "__main__":
    main()
