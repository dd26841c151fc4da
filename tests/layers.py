#!/usr/bin/env python3
"""Checks which folder of lib/ includes from which, where CUDA's versions and the CPU runtime are named, that classes stay
small, and that CONTRIBUTING.md lists what the process has once."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Each folder, and those that it may include from, beside itself and the public headers.
MAY_INCLUDE = {
    "cuda": [],
    "owners": ["cuda"],
    "green": ["cuda"],
    "memory": ["cuda", "owners"],
    "node": ["cuda", "lists"],
    "lists": [],
    "edges": ["lists"],
    "plan": ["lists", "edges"],
    "accesses": ["lists", "edges"],
    "matching": ["lists"],
    "stream": ["cuda", "green", "owners", "node"],
    "graph": ["cuda", "owners", "node", "lists", "edges", "plan", "accesses"],
    "order": ["cuda", "node", "lists", "edges", "accesses", "graph"],
    "compare": ["cuda", "node", "lists", "edges", "matching", "graph"],
    "handles": ["cuda", "node", "lists", "edges", "accesses", "graph", "order"],
    "pictures": ["cuda", "node", "lists", "edges", "accesses", "graph", "order", "handles"],
    "read": ["cuda", "owners", "node", "lists", "edges", "graph"],
    "recorder": ["cuda", "node", "edges", "graph"],
    "exec": ["cuda", "owners", "node", "lists", "edges", "plan", "accesses", "matching", "graph", "order", "compare",
             "handles", "pictures", "recorder"],
    "buckets": ["cuda"],
    "capture": ["cuda", "owners", "node", "lists", "edges", "accesses", "stream", "graph", "order", "compare", "handles",
                "read", "exec", "segments", "buckets"],
    "segments": ["cuda", "owners", "node", "graph", "handles", "exec"],
    "text": ["cuda", "owners", "node", "lists", "edges", "plan", "graph", "order"],
    "probe": ["cuda"],
    "function": ["cuda", "lists", "edges", "accesses", "graph", "order"],
    "nccl": ["cuda"],
    "ranks": ["cuda", "lists", "graph", "text"],
    "footprint": ["cuda", "owners", "memory", "node", "edges", "graph", "handles", "exec"],
    "pools": ["cuda", "memory", "node", "graph", "exec", "footprint"],
    "release": ["cuda", "memory", "exec", "footprint"],
    "verify": ["cuda", "lists", "edges", "accesses", "graph", "order"],
    "profile": ["cuda", "owners", "node", "lists", "edges", "plan", "graph", "pictures", "exec"],
    "observe": ["cuda", "owners", "node", "lists", "edges", "plan", "graph", "pictures", "exec", "profile"],
    "builder": ["cuda", "green", "owners", "memory", "node", "lists", "edges", "plan", "accesses", "stream", "graph", "order",
                "handles", "read", "exec", "capture", "text"],
}
# The sources of these folders know graphs by their parts, each declared in a header of lib/graph; the listed ones make
# graphs or nodes, or change several parts together.
BY_PARTS = ["order", "compare", "handles", "read", "capture", "segments", "text"]
KNOWS_WHOLE_GRAPHS = ["lib/order/inferred_edges.cpp", "lib/handles/graph.cpp", "lib/read/reader.cpp"]
# CUDA's 40 functions of the runtime and 44 of the driver for nodes of one kind each.
OF_ONE_KIND = (r"\bcu(?:da)?Graph(?:"
               r"Add(?:Kernel|Memcpy|Memset|Host|ChildGraph|Empty|Event(?:Record|Wait)|ExternalSemaphores(?:Signal|Wait)"
               r"|BatchMemOp|Mem(?:Alloc|Free))Node"
               r"|(?:Exec)?(?:Kernel|Memcpy|Memset|Host|ExternalSemaphores(?:Signal|Wait)|BatchMemOp)Node[GS]etParams"
               r"|Mem(?:Alloc|Free)NodeGetParams"
               r"|(?:Exec)?Event(?:Record|Wait)Node[GS]etEvent"
               r"|ChildGraphNodeGetGraph|ExecChildGraphNodeSetParams)\b")
# A pattern, where it may stand, and why nowhere else.
ONLY_IN = [
    (r"\bCUDART_CPU\b", ["include/cudag/detail/runtime.hpp"], "one header knows the runtime"),
    (OF_ONE_KIND, ["lib/cuda/old_node_calls.cpp"], "CUDA 13.5 announces it as deprecated: take the function for any kind"),
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


# A class inside the library with more public functions than this is several: compose it of parts, as GraphState is.
MOST_FUNCTIONS = 40


def without_words(text):
    """Blanks comments, directives, texts and characters, which may hold braces."""
    return re.sub(r'//[^\n]*|^#[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', "", text, flags=re.MULTILINE)


def members_of(text, begin):
    """Yields the access and the first line of each member of the class whose body begins at `begin`, without the bodies
    of functions and of nested classes."""
    depth, member, place = 1, "", begin
    while depth > 0 and place < len(text):
        char = text[place]
        place += 1
        depth += (char == "{") - (char == "}")
        if depth == 1 and (char in ";}" or (char == ":" and re.fullmatch(r"\s*(?:public|private|protected)", member))):
            yield member.strip()
            member = ""
        elif depth == 1:
            member += char


def public_functions(text, begin, access):
    """Counts the public functions of a class, except for constructors, destructors and assignments."""
    count = 0
    for member in members_of(text, begin):
        if member in ("public", "private", "protected"):
            access = member
            continue
        if access != "public" or re.match(r"(?:friend|using|struct|class|enum|union|static_assert)\b", member):
            continue
        member = re.sub(r"^template\s*<[^{}]*?>\s*(?=\[|\w)", "", re.sub(r"\[\[[^]]*\]\]\s*", "", member))
        member = re.sub(r"^requires\b.*?\)\s*", "", member)
        name = re.match(r"[^(=]*?(operator\s*\S+?|~?\w+)\s*\(", member)
        # A constructor has no type before its name.
        if name and re.search(r"[\w>&*\]]\s+[&*]*" + re.escape(name[1]) + r"\s*\(",
                              re.sub(r"^(?:(?:explicit|constexpr|inline)\s+)+", "", member)):
            count += not name[1].startswith("operator=") or name[1].startswith("operator==")
    return count


def wrong_classes(path):
    text = without_words(path.read_text())
    for found in re.finditer(r"(?<!enum )\b(class|struct) (?:\w+\([^)]*\) )?(\w+)(?: final)?\s*(?::[^;{()]*)?\{", text):
        count = public_functions(text, found.end(), "private" if found[1] == "class" else "public")
        if count > MOST_FUNCTIONS:
            yield (f"{path.relative_to(ROOT)}: {found[2]} has {count} public functions, more than {MOST_FUNCTIONS}: "
                   "compose it of parts")


# An object of the process or of a thread: in a function, or in a namespace. Constants of the language are none.
STATE = [
    re.compile(r"^\s+(?:\[\[[^]]*\]\] )?(?:constinit )?(?:static|thread_local)\b(?!.*\bconstexpr\b)[^(;]*(?:=|;)"),
    re.compile(r"^(?:inline )?(?!(?:using|return|constexpr|const|class|struct|enum|extern|friend|namespace|typedef)\b)"
               r"[A-Za-z_][\w:]*(?:<.*>)?[*&]? \w+(?: = [^()]*)?;$"),
    re.compile(r"^(?:\[\[[^]]*\]\] )?(?:inline )?(?:constinit )?thread_local\b[^(]*;$"),
    re.compile(r".*\breturn never_destroyed<"),
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
                problems += wrong_classes(path)
    if problems:
        sys.exit("\n".join(problems))


main()
