#!/usr/bin/env python3
"""Checks that each folder of src/ includes from the folders below it only, prints today's exceptions, and checks that no
folder defines functions that another one declares, for its callers would then depend on a folder above them."""
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


# A function at namespace scope, up to what ends its declaration or begins its body.
FUNCTION = r"^(?:\[\[\w+\]\] )?[A-Za-z_][\w:<>,&* ]*?[ &*](\w+)\([^;{]*\)(?: noexcept)?"
ANONYMOUS = re.compile(r"^namespace \{$.*?^\} // namespace$", re.MULTILINE | re.DOTALL)


def functions(pattern, ending):
    """Names of functions, with the folders and sources that have them."""
    found = {}
    for path in sorted(SOURCES.rglob(pattern)):
        for name in re.findall(FUNCTION + ending, ANONYMOUS.sub("", path.read_text()), re.MULTILINE):
            found.setdefault(name, {})[path.relative_to(SOURCES).parts[0]] = path.relative_to(SOURCES)
    return found


def displaced_functions():
    declared = functions("*.hpp", ";")
    for name, places in functions("*.cpp", r" \{").items():
        for folder, source in places.items():
            if name in declared and folder not in declared[name]:
                header = next(iter(declared[name].values()))
                yield f"{source}: defines {name}, which {header} declares: it belongs into that folder"


def main():
    found = set()
    problems = list(displaced_functions()) + [problem for path in sorted(SOURCES.rglob("*.?pp")) for problem in problems_of(path, found)]
    for source, header in sorted(EXCEPTIONS - found):
        problems.append(f"{source}: includes {header} no longer: remove this exception from tests/layers.py")
    if problems:
        sys.exit("\n".join(problems))
    print(f"{' < '.join(ORDER)}; exceptions: {len(found)}")
    for source, header in sorted(found):
        print(f"  {source} includes {header}")


main()
