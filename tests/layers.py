#!/usr/bin/env python3
"""Checks which folder of lib/ includes from which, where CUDA's versions and the CPU runtime are named, and that
CONTRIBUTING.md lists what the process has once."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Each folder, and those that it may include from, beside itself and the public headers.
MAY_INCLUDE = {
    "cuda": [],
    "owners": ["cuda"],
    "memory": ["cuda", "owners"],
    "node": ["cuda", "lists"],
    "lists": [],
    "edges": ["lists"],
    "plan": ["lists", "edges"],
    "accesses": ["lists", "edges"],
    "matching": ["lists"],
    "stream": ["cuda", "owners", "node"],
    "graph": ["cuda", "owners", "node", "lists", "edges", "plan", "accesses"],
    "order": ["cuda", "node", "lists", "edges", "accesses", "graph"],
    "compare": ["cuda", "node", "lists", "edges", "matching", "graph"],
    "handles": ["cuda", "node", "lists", "edges", "accesses", "graph", "order"],
    "pictures": ["cuda", "node", "lists", "edges", "accesses", "graph", "order", "handles"],
    "read": ["cuda", "owners", "node", "lists", "edges", "graph"],
    "recorder": ["cuda", "node", "edges", "graph"],
    "exec": ["cuda", "owners", "node", "lists", "edges", "plan", "accesses", "matching", "graph", "order", "compare",
             "handles", "pictures", "recorder"],
    "capture": ["cuda", "owners", "node", "lists", "edges", "accesses", "stream", "graph", "order", "handles", "read"],
    "profile": ["cuda", "owners", "node", "lists", "edges", "plan", "graph", "pictures", "exec"],
    "observe": ["cuda", "owners", "node", "lists", "edges", "plan", "graph", "pictures", "exec", "profile"],
    "builder": ["cuda", "owners", "memory", "node", "lists", "edges", "plan", "accesses", "stream", "graph", "order",
                "handles", "read", "exec", "capture"],
}
# The sources of these folders know graphs by their parts, each declared in a header of lib/graph; the listed ones make
# graphs or nodes, or change several parts together.
BY_PARTS = ["order", "compare", "handles", "read", "capture"]
KNOWS_WHOLE_GRAPHS = ["lib/order/inferred_edges.cpp", "lib/handles/graph.cpp", "lib/read/reader.cpp"]
# A pattern, where it may stand, and why nowhere else.
ONLY_IN = [
    (r"\bCUDART_CPU\b", ["include/cudag/detail/runtime.hpp"], "one header knows the runtime"),
    (r"CUDART_VERSION", ["lib/cuda"], "versions of CUDA differ in lib/cuda only"),
    (r"#include <cuda(?!g)", ["lib", "builder", "include", "!lib/lists", "!lib/edges", "!lib/plan", "!lib/accesses",
                             "!lib/matching"], "these are values: they know no CUDA"),
    (r"\bGraphState\b", ["lib", "builder", "include", "!lib/lists", "!lib/edges", "!lib/plan",
                          "!lib/accesses", "!lib/matching", "!lib/node", "!lib/cuda"], "it knows no graph"),
]


def folder_of(path):
    parts = path.relative_to(ROOT).parts
    return "builder" if parts[0] == "builder" else parts[1]


def wrong_includes(path, home):
    folder = folder_of(path)
    if folder not in MAY_INCLUDE:
        yield f"{path.relative_to(ROOT)}: stands in no folder that tests/layers.py knows"
        return
    for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
        target = name.split("/")[0] if "/" in name else folder
        if not (home / name if "/" in name else path.parent / name).is_file() and not (ROOT / name).is_file():
            yield f"{path.relative_to(ROOT)}: {name} is not there"
        elif target != folder and target not in MAY_INCLUDE[folder]:
            yield f"{path.relative_to(ROOT)}: {folder} must not include from {target}: {name}"


def includes_of(path, home):
    for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
        for target in (path.parent / name, home / name):
            if target.is_file():
                yield target.resolve()
                break


def wrong_wholes(home):
    """Finds sources by parts that see all of GraphState, also through other headers."""
    whole = (home / "graph/graph_state.hpp").resolve()
    for path in sorted(home.rglob("*.cpp")):
        name = str(path.relative_to(ROOT))
        if path.parent.name not in BY_PARTS or name in KNOWS_WHOLE_GRAPHS:
            continue
        seen, waiting = set(), [path.resolve()]
        while waiting:
            for target in includes_of(waiting.pop(), home):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        if whole in seen:
            yield f"{name}: sees graph/graph_state.hpp: it should take the parts of a graph that it uses"


def wrong_names(path):
    name = str(path.relative_to(ROOT))
    for pattern, places, reason in ONLY_IN:
        refused = any(name.startswith(place[1:]) for place in places if place.startswith("!"))
        allowed = any(name.startswith(place) for place in places if not place.startswith("!"))
        if (refused or not allowed) and (found := re.search(pattern, path.read_text())):
            yield f"{name}: names {found[0]}: {reason}"


# An object of the process or of a thread: in a function, or in a namespace. Constants of the language are none.
STATE = [
    re.compile(r"^\s+(?:\[\[[^]]*\]\] )?(?:constinit )?(?:static|thread_local)\b(?!.*\bconstexpr\b)[^(;]*(?:=|;)"),
    re.compile(r"^(?:inline )?(?!(?:using|return|constexpr|const|class|struct|enum|extern|friend|namespace|typedef)\b)"
               r"[A-Za-z_][\w:]*(?:<.*>)?[*&]? \w+(?: = [^()]*)?;$"),
    re.compile(r"^(?:\[\[[^]]*\]\] )?(?:inline )?(?:constinit )?thread_local\b[^(]*;$"),
]
CONSTANT = "// a constant"


def has_state(path):
    lines = path.read_text().splitlines()
    return any(pattern.match(line) for line in lines for pattern in STATE if CONSTANT not in line)


def wrong_state():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text[text.index("What the process has once"):text.index("A new one joins this list")]
    listed = set(re.findall(r"`([\w/]+\.[ch]pp)`", section))
    sources = [path for top in ("lib", "builder") for path in sorted((ROOT / top).rglob("*.?pp"))]
    for path in sources:
        name = str(path.relative_to(ROOT))
        is_listed = any(name == one or name.endswith("/" + one) for one in listed)
        if has_state(path) and not is_listed:
            yield f"{name}: has an object of the process or a thread that CONTRIBUTING.md does not list"
        if is_listed and not has_state(path):
            yield f"{name}: has no object of the process or a thread, though CONTRIBUTING.md lists one"
    for one in sorted(listed):
        if not any(f"/{path.relative_to(ROOT)}".endswith("/" + one) for path in sources):
            yield f"CONTRIBUTING.md: lists {one}, which is not there"


def main():
    problems = list(wrong_state()) + list(wrong_wholes(ROOT / "lib"))
    for top in ("lib", "builder", "include"):
        for path in sorted((ROOT / top).rglob("*.?pp")):
            problems += wrong_names(path)
            if top != "include" and path.parent.name != "pch":
                problems += wrong_includes(path, ROOT / "lib")
    if problems:
        sys.exit("\n".join(problems))


main()
