#!/usr/bin/env python3
"""Mistakes that the compiler must answer with a sentence of cudag's, with the project's own compiler and flags.

The flags are those of a target of the build (--like SOURCE in compile_commands.json). With CUDAG_MISTAKES=K/N in the
environment, part K of N parts of the mistakes is compiled, from 0 on, and what must compile.
"""
import argparse
import concurrent.futures
import contextlib
import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path


def compile_command(database, like):
    """Returns (command without input and outputs, working directory) of the build's entry for the source `like`."""
    for entry in json.loads(Path(database).read_text()):
        directory = Path(entry["directory"])
        if (directory / entry["file"]).resolve() == Path(like).resolve():
            break
    else:
        sys.exit(f"{database} has no entry for {like}")
    command, words = [], iter(shlex.split(entry["command"]))
    for word in words:
        if word in ("-o", "-MF", "-MQ", "-MT"):
            next(words)
        elif word not in ("-c", "-MD", entry["file"]):
            command.append(word)
    return command, directory


def is_clang(command):
    return "clang" in Path(command[command[0] == "ccache"]).name


def compiler_of(command, directory, source, *flags):
    """Starts to compile source. g++ has to generate code: after -fsyntax-only it leaves templates uninstantiated."""
    mode = ["-fsyntax-only"] if is_clang(command) else ["-S", "-o", os.devnull]
    return subprocess.Popen([*command, *flags, "-O0", "-fdiagnostics-color=never", *mode, str(source)], cwd=directory,
                            start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def stop(compiler):
    """Ends a compiler that has said enough: most of its work is still to come. The driver's compiler ends with it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(compiler.pid, signal.SIGKILL)


# A user sees the first screen of what the compiler says: the sentence stands there.
FIRST_LINES = 15


def precompile(command, directory, folder):
    """Precompiles cudag.hpp into folder; returns the flags that use it."""
    header = Path(folder) / "precompiled.hpp"
    header.write_text("#include <cudag/cudag.hpp>\n")
    if is_clang(command):
        output, flags = Path(folder) / "precompiled.pch", ["-fpch-instantiate-templates"]  # else once for each mistake
    else:
        output, flags = Path(folder) / "precompiled.hpp.gch", []
    subprocess.run([*command, "-O0", *flags, "-x", "c++-header", str(header), "-o", str(output)], cwd=directory, check=True)
    return ["-include-pch", str(output)] if is_clang(command) else ["-include", str(header)]


def check_mistakes(command, directory, sources):
    """Each case of a source, `#if CUDAG_MISTAKE == N // expect-error: TEXT`, fails with TEXT; without one it compiles."""
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        precompiled = precompile(command, directory, folder)
        problems = list(pool.map(
            lambda case: check_mistake([*command, *(precompiled if includes_all(case[0]) else [])], directory, *case),
            chosen([case for source in sources for case in mistakes_of(Path(source).resolve())])))
    return not any(problems), "\n".join(problem for problem in problems if problem) + \
        f"\n{sum(map(bool, problems))} of {len(problems)} mistakes"


def includes_all(source):
    return "#include <cudag/cudag.hpp>" in source.read_text()


def mistakes_of(source):
    """Returns (source, number, expected text) of each, 0 for none of them."""
    cases = re.findall(r"^#(?:el)?if CUDAG_MISTAKE == (\d+) +// expect-error: (.+)$", source.read_text(), re.MULTILINE)
    if [int(number) for number, _ in cases] != list(range(1, len(cases) + 1)):
        sys.exit(f"{source}: the cases are not numbered from 1 on")
    return [(source, "0", ""), *((source, *case) for case in cases)]


def chosen(cases):
    """Returns the cases that CUDAG_MISTAKES, "PART/PARTS", names, and those without a mistake."""
    part, parts = map(int, os.environ.get("CUDAG_MISTAKES", "0/1").split("/"))
    return [case for place, case in enumerate(cases) if case[1] == "0" or place % parts == part]


def check_mistake(command, directory, source, number, expected):
    if number == "0":
        compiler = compiler_of(command, directory, source, "-Werror", "-DCUDAG_MISTAKE=0")
        output, _ = compiler.communicate()
        return "" if compiler.returncode == 0 else f"{source}: must compile without a mistake\n{output}"
    shown, failed, said = [], False, False
    problem = f"{source}: mistake {number}: not within {FIRST_LINES} lines: {expected}"
    with compiler_of(command, directory, source, f"-DCUDAG_MISTAKE={number}") as compiler:
        for line in itertools.islice(compiler.stdout, FIRST_LINES):
            shown.append(line)
            failed = failed or "error: " in line
            said = said or expected in line
            if failed and said and expected.startswith("cudag: "):
                problem = ""
                break
        stop(compiler)
    return problem and problem + "\n" + "".join(shown)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", required=True)
    parser.add_argument("--like", required=True)
    parser.add_argument("sources", nargs="+")
    given = parser.parse_args()
    ok, problem = check_mistakes(*compile_command(given.database, given.like), given.sources)
    if not ok:
        sys.exit(problem)


if __name__ == "__main__":
    main()
