#!/usr/bin/env python3
"""Records which tests run which lines of lib/ and builder/, so that tests/mutate.py runs only the tests that can notice a defect.

    c++ -shared -fPIC -O2 -std=c++20 tests/reached.cpp -o libreached.so
    meson setup BUILD -Dcuda-runtime=cpu -Doptimization=0 -Db_lundef=false \\
        -Dcpp_args='-fsanitize-coverage=trace-pc -g1' -Dcpp_link_args=$PWD/libreached.so && ninja -C BUILD test-programs
    tests/reached.py --build BUILD --output FILE

With clang++ the flag is -fsanitize-coverage=trace-pc,no-prune; without no-prune it leaves blocks unmarked.
Runs each test of the suites of mutate.py in a process of its own. FILE is JSON: the tests (suite, name, seconds), the sets
of tests, and for each line of each source the number of its set.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import operator
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

import mutate

CALL = "__sanitizer_cov_trace_pc"


@dataclasses.dataclass(frozen=True)
class Test:
    suite: int  # index in mutate.SUITES
    name: str | None  # None: the whole suite, which has no tests of its own


def filters_of(suite):
    return [argument for argument in suite[1] if argument.startswith("[")]


def has_tests(suite):
    """Whether the program of a suite is one of Catch2, not the fuzzer or a program with one job."""
    return "--abort" in suite[1]


def environment_of(suite, build, **more):
    return {**os.environ, **suite[2], "LD_LIBRARY_PATH": f"{build}:{build / 'subprojects/cudart-cpu'}", **more}


def names_in(suite, build):
    """The names of a suite's tests. Catch2 2 lists them plainly, and exits with their number; Catch2 3 has a report."""
    def output_of(*arguments):
        return subprocess.run([build / suite[0], *arguments], env=environment_of(suite, build), stdout=subprocess.PIPE, text=True).stdout

    if "--list-test-names-only" in output_of("--help"):
        return output_of(*filters_of(suite), "--list-test-names-only").splitlines()
    listed = ElementTree.fromstring(output_of(*filters_of(suite), "--list-tests", "--reporter", "xml"))
    return [name.text for name in listed.iter("Name")]


def tests_of(build):
    for number, suite in enumerate(mutate.SUITES):
        if not has_tests(suite):
            yield Test(number, None)
            continue
        yield from (Test(number, name) for name in names_in(suite, build))


def blocks_of(file):
    """{offset of a block's mark: its lines}, each line as (source, number), from the disassembly."""
    blocks, source_line, block = {}, None, None
    marks = False  # whether the next instruction's address is the one that a mark returns to
    disassembly = subprocess.Popen(["objdump", "-d", "-l", "--no-show-raw-insn", file], stdout=subprocess.PIPE, text=True)
    for text in disassembly.stdout:
        if instruction := re.match(r" +([0-9a-f]+):\t(.*)", text):
            if marks:
                block = blocks.setdefault(int(instruction[1], 16), set())
                block.add(source_line)
            marks = CALL in instruction[2]
        elif text.startswith("/") or text.startswith("."):
            if place := re.match(r"(\S+?):(\d+)", text):
                source_line = (place[1], int(place[2]))
                if block is not None:
                    block.add(source_line)
        elif re.match(r"[0-9a-f]+ <", text):
            block, marks = None, False
    if disassembly.wait() != 0:
        sys.exit(f"reached: objdump cannot read {file}")
    return blocks


def source_of(path, build):
    """A source of the library, relative to the root; None for any other."""
    full = Path(os.path.normpath(build / path))
    relative = str(full.relative_to(mutate.ROOT)) if full.is_relative_to(mutate.ROOT) else ""
    return relative if relative.startswith(mutate.FOLDERS) else None


class Part:
    """The library, or the program that consists of it: its blocks, and which tests have marked them."""

    def __init__(self, file):
        blocks = blocks_of(file)
        self.lines = list(blocks.values())
        self.marks_in = operator.itemgetter(*blocks)
        self.columns, self.tests = [], 0  # a byte for each block says of eight tests whether they have marked it

    def marks_of(self, file):
        """A byte for each block, 1 if a test has marked it, as a number."""
        marks = bytes(self.marks_in(file.read_bytes())) if file.exists() else b""
        return int.from_bytes(marks, "little")

    def add(self, marks):
        if self.tests % 8 == 0:
            self.columns.append(0)
        self.columns[-1] |= marks << self.tests % 8
        self.tests += 1

    def tests_by_line(self):
        """(line, set of tests, as bits) of each block."""
        columns = [column.to_bytes(len(self.lines), "little") for column in self.columns]
        for lines, bits in zip(self.lines, zip(*columns)):
            tests = int.from_bytes(bits, "little")
            yield from ((line, tests) for line in lines if line is not None)


class Recorder:
    def __init__(self, build):
        self.build = build
        library = next(path for path in build.glob("libcudag.so.*") if path.is_file() and not path.is_symlink()
                       and path.suffix != ".symbols")
        self.parts = {"library": Part(library), "program": Part(build / mutate.CORE)}

    def run(self, test):
        """Whether a test passes, the seconds that it takes, and its marks in each part."""
        suite = mutate.SUITES[test.suite]
        program = self.build / suite[0]
        arguments = ["--warn", "NoTests", mutate.quoted(test.name)] if test.name else suite[1]
        with tempfile.TemporaryDirectory(prefix="reached-") as folder:
            started = time.monotonic()
            try:
                passed = 0 == subprocess.run([program, *arguments], cwd=program.parent, stdin=subprocess.DEVNULL,
                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600,
                                             env=environment_of(suite, self.build, CUDAG_REACHED=f"{folder}/marks")).returncode
            except subprocess.TimeoutExpired:
                passed = False
            seconds = time.monotonic() - started
            of_core = suite[0] == mutate.CORE  # the program of any other suite has no code of the library
            marks = {name: part.marks_of(Path(folder) / f"marks.{name}") if name == "library" or of_core else 0
                     for name, part in self.parts.items()}
        return passed, seconds, marks

    def lines(self):
        """{source: {line: set of tests, as bits}}"""
        lines, sources = {}, {}
        for part in self.parts.values():
            for (path, line), tests in part.tests_by_line():
                if path not in sources:
                    sources[path] = source_of(path, self.build)
                if sources[path] is not None:
                    of_source = lines.setdefault(sources[path], {})
                    of_source[line] = of_source.get(line, 0) | tests
        return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    recorder = Recorder(options.build.resolve())
    tests, failed, seconds = list(tests_of(recorder.build)), [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for test, (passed, taken, marks) in zip(tests, pool.map(recorder.run, tests)):
            if not passed:
                failed.append(test)
            seconds.append(round(taken, 2))
            for name, part in recorder.parts.items():
                part.add(marks[name])
    lines = recorder.lines()
    sets = sorted({tests for of_source in lines.values() for tests in of_source.values()})
    numbers = {tests: number for number, tests in enumerate(sets)}
    options.output.write_text(json.dumps({
        "tests": [[test.suite, test.name, taken] for test, taken in zip(tests, seconds)],
        "sets": [format(tests, "x") for tests in sets],
        "lines": {source: {line: numbers[tests] for line, tests in sorted(of_source.items())} for source, of_source in sorted(lines.items())}}))
    reached = sum(tests > 0 for of_source in lines.values() for tests in of_source.values())
    total = sum(len(of_source) for of_source in lines.values())
    print(f"{len(tests)} tests run {reached} of {total} lines")
    if failed:
        sys.exit("".join(f"reached: fails: {mutate.name_of(mutate.SUITES[test.suite])}: {test.name}\n" for test in failed))


if __name__ == "__main__":
    main()
