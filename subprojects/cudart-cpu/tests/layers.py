#!/usr/bin/env python3
"""Checks that each folder of src/ includes from the folders below it only, and prints today's exceptions."""
import re
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "src"

# From the lowest to the highest.
ORDER = ["runtime", "memory", "stream", "kernel", "graph", "capture", "exec", "driver", "api"]
NO_LAYER = ["pch"]

# Includes from a higher folder that are still there. The list may only become shorter.
EXCEPTIONS = {
    ("graph/graph_child_work.cpp", "exec/exec_pairing.hpp"),
    ("graph/graph_device_node.cpp", "exec/exec_device_launch.hpp"),
    ("graph/graph_model.cpp", "capture/capture.hpp"),
    ("kernel/kernel_attributes.cpp", "graph/graph_device_node.hpp"),
    ("kernel/launch_context.hpp", "graph/condition.hpp"),
    ("kernel/launch_submit.cpp", "capture/capture.hpp"),
    ("kernel/launch_submit.cpp", "graph/graph_device_node.hpp"),
    ("kernel/launch_submit.hpp", "graph/graph_kernel_work.hpp"),
    ("memory/allocations.cpp", "kernel/access_checks.hpp"),
    ("memory/allocations.cpp", "kernel/symbols.hpp"),
    ("memory/copy_batch.cpp", "capture/capture_rules.hpp"),
    ("memory/copy_batch.hpp", "stream/stream.hpp"),
    ("memory/copy_submit.cpp", "capture/capture.hpp"),
    ("memory/copy_submit.cpp", "capture/capture_rules.hpp"),
    ("memory/copy_submit.cpp", "graph/graph_memory_work.hpp"),
    ("memory/copy_submit.hpp", "stream/stream.hpp"),
    ("memory/set_submit.cpp", "capture/capture.hpp"),
    ("memory/set_submit.cpp", "graph/graph_memory_work.hpp"),
    ("memory/set_submit.hpp", "stream/stream.hpp"),
    ("memory/surfaces.cpp", "stream/stream.hpp"),
    ("memory/symbol_copy.hpp", "kernel/symbols.hpp"),
    ("memory/textures.cpp", "stream/stream.hpp"),
    ("stream/event.cpp", "capture/capture.hpp"),
    ("stream/stream.cpp", "capture/capture.hpp"),
    ("stream/stream_attributes.cpp", "kernel/kernel_attributes.hpp"),
}


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
