#!/usr/bin/env python3
"""Tests about compiling, with the project's own compiler and flags: self-contained headers and compile-fail pairs.

The flags are those of a target of the build (--like SOURCE in compile_commands.json).
"""
import argparse
import json
import os
import re
import shlex
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


def compiles(command, directory, source, *flags):
    """Compiles source without optimising (code is generated: -fsyntax-only leaves templates uninstantiated)."""
    done = subprocess.run([*command, *flags, "-fdiagnostics-color=never", "-O0", "-S", "-o", os.devnull, str(source)], cwd=directory,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout


def check_header(command, directory, header):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "alone.cpp"
        source.write_text(f"#include <{header}>\n#include <{header}>\n")
        ok, output = compiles(command, directory, source, "-Werror")
    return ok, f"<{header}> does not compile alone\n{output}"


def check_compile_fail(command, directory, source):
    expected = re.findall(r"^\s*// expect-error: (.+?)\s*$", Path(source).read_text(), re.MULTILINE)
    if not expected:
        return False, "no `// expect-error:` line"
    ok, output = compiles(command, directory, source, "-Werror")
    if not ok:
        return False, f"must compile without CUDAG_EXPECT_ERROR\n{output}"
    ok, output = compiles(command, directory, source, "-DCUDAG_EXPECT_ERROR")
    if ok:
        return False, "must not compile with CUDAG_EXPECT_ERROR"
    missing = [text for text in expected if text not in output]
    return not missing, f"the compiler does not say: {missing}\n{output}"


def check_listed(folder, listed):
    there = {str(path.relative_to(folder)) for path in Path(folder).rglob("*.hpp")}
    return there == set(listed), "include/meson.build lists other headers than there are: " + \
        ", ".join(sorted(there ^ set(listed)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", choices=["header", "compile-fail", "listed"])
    parser.add_argument("--database")
    parser.add_argument("--like")
    parser.add_argument("subject")
    parser.add_argument("listed", nargs="*")
    given = parser.parse_args()
    if given.check == "listed":
        ok, problem = check_listed(given.subject, given.listed)
    else:
        check = check_header if given.check == "header" else check_compile_fail
        ok, problem = check(*compile_command(given.database, given.like), given.subject)
    if not ok:
        sys.exit(problem)


main()
