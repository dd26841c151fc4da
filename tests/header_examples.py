#!/usr/bin/env python3
"""Compiles every example in the comments of the public headers, with the project's own compiler and flags.

An example is a block of lines `///     code` after an empty line `///`. Each is the body of a function whose parameters
headers/examples.hpp declares; the example may hide them by names of its own. A line `...` stands for code left out.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from compile_checks import compile_command

PRELUDE = Path(__file__).resolve().parent / "headers" / "examples.hpp"
COMMENT = re.compile(r"^( *///)(.*)$")
CODE = " " * 5
LIST_ITEM = re.compile(r" *([-*]|\d+\.) ")
LEFT_OUT = re.compile(r" *\.\.\.\s*(//.*)?$")
NOT_FOR_EXAMPLES = ["-Wno-unused-variable", "-Wno-unused-but-set-variable", "-Wno-sign-conversion", "-Wno-shadow"]


def examples_of(header):
    """Returns the examples of a header, (number of the first line, lines), and the problems of its comments."""
    examples, problems = [], []
    example, paragraph = None, None # the one that goes on; a paragraph starts as []
    for number, line in enumerate(header.read_text().splitlines(), 1):
        comment = COMMENT.match(line)
        text = comment[2] if comment else ""
        if not comment:
            example, paragraph = None, None
        elif not text.strip():
            paragraph = []
            if example:
                example.append("")
        elif text.startswith(CODE) and (example or paragraph == []):
            if not example:
                examples.append((number, example := []))
            example.append(text.rjust(len(line))) # in its column
        else:
            if text.startswith(CODE) and not any(map(LIST_ITEM.match, paragraph or [])):
                problems.append(f"{header}:{number}: an example begins after an empty line ///")
            example, paragraph = None, [*(paragraph or []), text]
    return examples, problems


def functions(headers):
    """Returns the source of a function for each example, their number, and the problems."""
    lines, problems, count = [f'#include "{PRELUDE}"'], [], 0
    for header in headers:
        examples, wrong = examples_of(header)
        problems += wrong
        for first, example in examples:
            lines += [f"CUDAG_EXAMPLE({header.stem}_{first}) {{ {{", f'#line {first} "{header}"',
                      *("" if LEFT_OUT.match(line) else line for line in example), "} }"]
        count += len(examples)
    return "\n".join([*lines, ""]), count, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", required=True)
    parser.add_argument("--like", required=True)
    parser.add_argument("folder", type=Path, help="where the headers are")
    given = parser.parse_args()
    command, directory = compile_command(given.database, given.like)

    source, count, problems = functions(sorted(given.folder.resolve().rglob("*.hpp")))
    if count == 0:
        problems.append(f"{given.folder}: no header has an example")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "header_examples.cpp"
        path.write_text(source)
        # Code is generated, since -fsyntax-only leaves templates uninstantiated.
        compiled = subprocess.run([*command, "-Werror", *NOT_FOR_EXAMPLES, "-fdiagnostics-color=never", "-O0", "-S", "-o", "/dev/null", str(path)],
                                  cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if compiled.returncode != 0:
        problems.append(f"examples do not compile:\n{compiled.stdout}")
    print(f"{count} examples")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
