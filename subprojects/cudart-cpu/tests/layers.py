#!/usr/bin/env python3
"""Checks that each folder of src/ includes from the folders below it only, and prints today's exceptions."""
import re
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "src"

# From the lowest to the highest.
ORDER = ["runtime", "memory", "stream", "kernel", "graph", "capture", "submit", "exec", "driver", "api"]
NO_LAYER = ["pch"]

# Includes from a higher folder that are still there. The list may only become shorter.
EXCEPTIONS = set()


def includes(path):
    """The headers of src/ that a source includes, by their path in src/."""
    for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
        for folder in (path.parent, SOURCES):
            if (folder / name).is_file():
                yield (folder / name).resolve().relative_to(SOURCES)
                break
        else:
            yield Path(name)


def problems_of(path, found):
    name = path.relative_to(SOURCES)
    folder = name.parts[0]
    if folder in NO_LAYER:
        return
    if folder not in ORDER:
        yield f"{name}: stands in no folder that tests/layers.py knows"
        return
    for header in includes(path):
        if header.parts[0] not in ORDER:
            yield f"{name}: {header} is not there"
        elif ORDER.index(header.parts[0]) > ORDER.index(folder):
            exception = (str(name), str(header))
            found.add(exception)
            if exception not in EXCEPTIONS:
                yield f"{name}: {folder} stands below {header.parts[0]} and must not include {header}"


def main():
    found = set()
    problems = [problem for path in sorted(SOURCES.rglob("*.?pp")) for problem in problems_of(path, found)]
    for source, header in sorted(EXCEPTIONS - found):
        problems.append(f"{source}: includes {header} no longer: remove this exception from tests/layers.py")
    if problems:
        sys.exit("\n".join(problems))
    print(f"{' < '.join(ORDER)}; exceptions: {len(found)}")
    for source, header in sorted(found):
        print(f"  {source} includes {header}")


main()
