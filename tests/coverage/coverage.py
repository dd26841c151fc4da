#!/usr/bin/env python3
"""Checks tests/coverage/functions.txt against CUDA's header, cudag and its tests; coverage.md is made from it.

What must be in the mapping: the host functions of the header's group CUDART_GRAPH, those of its group CUDART_STREAM whose
names speak of capture, the enumerators of cudaGraphNodeType, and the functions of cuda_device_runtime_api.h about graphs and
programmatic edges, whose rows begin with `device:`. Of the driver's functions and kinds, those without a twin of the runtime:
their rows begin with `driver:`. The others share the row of the twin.
"""
import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CONFORMANCE = "subprojects/cudart-cpu/tests/conformance"
OLDEST = (12, 4)  # the oldest CUDA that cudag builds with


class Malformed(Exception):
    pass


@dataclass
class Row:
    topic: str
    name: str  # a function, device:function, driver:function, or an enumerator of a type of nodes
    since: tuple
    until: tuple  # None: to this day
    calls: list  # of cudag; empty: none, for the reason given
    reason: str
    tests: list
    line: int

    def exists_in(self, version):
        return self.since <= version and (self.until is None or version <= self.until)


def read_mapping(text):
    """Returns the rows of functions.txt, which says itself how it is written."""
    rows, topic = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("== "):
            topic = line[3:].strip()
            continue
        cells = [cell.strip() for cell in line.split("|")]
        head = re.fullmatch(r"((?:(?:device|driver):)?\w+)(?: \((\d+)\.(\d+)-(?:(\d+)\.(\d+))?\))?", cells[0])
        if not head or topic is None or not 3 <= len(cells) <= 4 or not all(cells):
            raise Malformed(f"functions.txt:{number}: not `name | calls | tests` or `name | - | reason | tests` below a topic: {line}")
        name, *digits = head.groups()
        since, until = [None if major is None else (int(major), int(minor)) for major, minor in (digits[:2], digits[2:])]
        refused = cells[1] == "-"
        if not refused and len(cells) == 4:
            raise Malformed(f"functions.txt:{number}: {name} has a cudag call and a fourth column")
        tests = cells[3] if len(cells) == 4 else "" if refused else cells[2]
        rows.append(Row(topic, name, since or OLDEST, until, [] if refused else re.split(r",\s*", cells[1]),
                        cells[2] if refused else "", re.split(r";\s*", tests) if tests else [], number))
    return rows


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)


def without_text(text):
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', without_comments(text))


def without_nested_arguments(text):
    """Takes out template arguments, from the innermost on."""
    shorter = re.sub(r"<[^<>]*>", "", text)
    return text if shorter == text else without_nested_arguments(shorter)


@dataclass
class Header:
    version: tuple
    names: set = field(default_factory=set)


def read_header(folder):
    """Returns what the CUDA headers in `folder` declare that the mapping must have."""
    api = (folder / "cuda_runtime_api.h").read_text(errors="replace")
    version = int(re.search(r"#define\s+CUDART_VERSION\s+(\d+)", api)[1])
    header = Header((version // 1000, version % 1000 // 10))
    group = None
    for found in re.finditer(r"/\*.*?\*/|\bextern\b[^;{}/]*?\bCUDARTAPI(?:_CDECL)?\s+(\w+)\s*\(", api, re.DOTALL):
        if found[1] is None:
            group = ([group] + re.findall(r"\\(?:defgroup|addtogroup)\s+(\w+)", found[0]))[-1]
        elif not found[1].endswith("_ptsz") and (  # the second entry point of a function, for per-thread default streams
                group == "CUDART_GRAPH" or group == "CUDART_STREAM" and re.search("[Cc]aptur", found[1])):
            header.names.add(found[1])
    types = without_comments((folder / "driver_types.h").read_text(errors="replace"))
    kinds = re.search(r"enum\s+(?:\w+\s+)?cudaGraphNodeType\s*\{(.*?)\}", types, re.DOTALL)[1]
    header.names |= set(re.findall(r"\bcudaGraphNodeType\w+", kinds)) - {"cudaGraphNodeTypeCount"}
    device = without_comments((folder / "cuda_device_runtime_api.h").read_text(errors="replace"))
    for name in re.findall(r"\b__device__\b[^;{}]*?\bCUDARTAPI\s+(cuda\w+)\s*\(", device):
        if re.search("Graph|Programmatic|GridDependency", name) and not name.endswith("_ptsz"):
            header.names.add("device:" + name)
    header.names |= without_twin((folder / "cuda.h").read_text(errors="replace"), set(
        re.findall(r"\bCUDARTAPI(?:_CDECL)?\s+(\w+)\s*\(", api)) | header.names)
    return header


def without_twin(text, names):
    """Returns what cuda.h, as `text`, declares about graphs and captures and `names` of the runtime lack."""
    found, group = set(), None
    for declared in re.finditer(r"/\*.*?\*/|\bCUresult\s+CUDAAPI\s+(\w+)\s*\(", text, re.DOTALL):
        if declared[1] is None:
            group = ([group] + re.findall(r"\\(?:defgroup|addtogroup)\s+(\w+)", declared[0]))[-1]
        elif not re.search("_pt[sd]z$", declared[1]) and (
                group == "CUDA_GRAPH" or group == "CUDA_STREAM" and re.search("[Cc]aptur", declared[1])):
            twin = "cuda" + re.sub(r"_v\d+$", "", declared[1]).removeprefix("cu")
            if twin not in names:
                found.add("driver:" + declared[1])
    kinds = re.search(r"enum\s+CUgraphNodeType_enum\s*\{(.*?)\}", without_comments(text), re.DOTALL)[1]
    known = {re.sub("[^A-Z]", "", name.removeprefix("cudaGraphNodeType").upper()) for name in names}
    for kind in re.findall(r"\bCU_GRAPH_NODE_TYPE_(\w+)", kinds):
        spelt = kind.replace("EXT_SEMAS", "EXTSEMAPHORE").replace("_", "")
        if spelt not in known and not kind.startswith("RESERVED"):
            found.add("driver:CU_GRAPH_NODE_TYPE_" + kind)
    return found


def is_kind(row):
    return row.name.startswith(("cudaGraphNodeType", "driver:CU_GRAPH_NODE_TYPE_"))


def body_at(text, start):
    """Returns the text between the brace that opens at or after `start` and the one that closes it."""
    begin = text.index("{", start)
    depth = 0
    for at in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[begin + 1:at]
    raise Malformed("a brace is not closed")


class Library:
    """What cudag declares, what its sources call, and which tests there are."""

    def __init__(self, root):
        headers = sorted((root / "include" / "cudag").rglob("*.hpp"))
        self.types = {}  # the name of a class or enumeration -> (what it inherits from, its public part)
        self.functions = set()
        for path in headers:
            self.add_types(without_text(path.read_text()), path.parent.name == "detail")
        sources = headers + [path for folder in ("lib", "builder") for path in sorted((root / folder).rglob("*.?pp"))]
        called = {path: path.read_text() for path in sources}
        self.called = set(re.findall(r"\bcuda[A-Z]\w+", "\n".join(map(without_text, called.values()))))
        texts = "\n".join(called.values())
        fetched = re.findall(r'fetch(?:_needed|_optional)?\(\w+\.(\w+)(?:, \w+\.\w+)?, "cu(\w+)"', texts)
        fetched += re.findall(r'\.(\w+) = [\w:]*fetched<[^;]*>\("cu(\w+)"\)', texts)
        for pointer, function in fetched:
            if any(re.search(rf"\.{pointer}\(", without_text(text)) for text in called.values()):
                self.called.add("cuda" + function)
        self.called |= {"driver:" + name for name in re.findall(r'fetched<[^;]*?>\("(cu\w+)"\)', texts)}
        self.called |= {"driver:" + name for name in re.findall(r"\bCU_GRAPH_NODE_TYPE_\w+", without_text(texts))}
        in_headers = "\n".join(without_text(called[path]) for path in headers)
        self.called |= {"device:" + name for name in re.findall(r"\bcuda[A-Z]\w+", in_headers)}
        self.graph_tests, self.conformance_tests = self.tests(root / "tests" / "graph"), self.tests(root / CONFORMANCE)

    def add_types(self, text, is_detail):
        pattern = r"\b(?:enum class|class|struct)\s+(?:CUDAG_EXPORT\s+)?(\w+)(\s*:[^;{}()]*|\s*)\{"
        for found in re.finditer(pattern, text):
            body = body_at(text, found.end() - 1)
            public = re.sub(r"\b(?:private|protected):.*?(?=\bpublic:|\Z)", "", body, flags=re.DOTALL)
            bases = re.findall(r"(\w+)\s*(?:<|,|$)", without_nested_arguments(found[2].partition(":")[2]))
            self.types.setdefault(found[1], (bases, public))
        if not is_detail:
            self.functions |= set(re.findall(r"\b(\w+)\(", text))

    @staticmethod
    def tests(folder):
        names = set()
        for path in sorted(folder.rglob("*.cpp")):
            for found in re.finditer(r'\bTEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', path.read_text()):
                names.add("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found[1])))
        return names

    def declares(self, call):
        owner, _, member = call.rpartition("::")
        return self.has_member(owner, member) if owner else call in self.functions or call in self.types

    def has_member(self, owner, member):
        bases, public = self.types.get(owner, ([], ""))
        return re.search(rf"\b{member}\b", public) is not None or any(self.has_member(base, member) for base in bases)


def problems(rows, header, library):
    """Returns what is wrong with the mapping, a line each."""
    version = ".".join(map(str, header.version))
    found = []
    seen = set()
    for row in rows:
        where = f"functions.txt:{row.line}: {row.name}"
        if row.name in seen:
            found.append(f"{where} is there twice")
        seen.add(row.name)
        if row.exists_in(header.version) and row.name not in header.names:
            found.append(f"{where} does not exist in CUDA {version}; correct the name or the range of versions")
        if not row.exists_in(header.version) and row.name in header.names:
            found.append(f"{where} exists in CUDA {version}, which its range of versions leaves out")
        found += [f"{where}: include/cudag declares no {call}" for call in row.calls if not library.declares(call)]
        if row.calls and row.name not in library.called:
            found.append(f"{where} counts as covered, but lib/ and builder/ use neither it nor its twin of the driver")
        if not row.calls and row.name in library.called and not is_kind(row):
            found.append(f"{where} counts as not covered, but lib/, builder/ or include/ use it: name the cudag call and a test")
        known, place = (library.graph_tests, "tests/graph") if row.calls else (library.conformance_tests, CONFORMANCE)
        found += [f"{where}: {place} has no test \"{test}\"" for test in row.tests if test not in known]
    found += [f"{name} of CUDA {version} has no row in functions.txt" for name in sorted(header.names - seen)]
    return found


def status(row):
    return "covered" if row.calls else "not yet" if row.reason.startswith("not yet") else "not covered"


def versions(row):
    if row.until:
        return "{}.{} to {}.{}".format(*row.since, *row.until)
    return "" if row.since == OLDEST else "{}.{}".format(*row.since)


def markdown(rows):
    """Returns coverage.md."""
    lines = ["# Coverage", "",
             "<!-- Made by tests/coverage/coverage.py --write from tests/coverage/functions.txt: edit that file. -->", "",
             "Every host function of the graph section of `cuda_runtime_api.h`, every function about stream capture, every kind",
             "of node, and what kernels call for graphs, in CUDA 12.4 to 13.5: the part of cudag that uses it and tests that go",
             "through it, or why there is none. What cudag does not use may still be tested: in the CPU runtime's conformance suite.",
             "A function of the driver shares the row of its twin of the runtime: `cuGraphAddNode` that of `cudaGraphAddNode`. Those",
             "without a twin have rows of their own.", "",
             "| | covered | not yet | not covered |", "|---|---|---|---|"]
    kinds = [row for row in rows if is_kind(row)]
    device = [row for row in rows if row.name.startswith("device:")]
    driver = [row for row in rows if row.name.startswith("driver:") and row not in kinds]
    host = [row for row in rows if row not in kinds + device + driver]
    for title, counted in (("functions", host), ("kinds of node", kinds), ("functions of the device", device),
                           ("functions of the driver alone", driver)):
        states = [status(row) for row in counted]
        lines.append(f"| {title} | {states.count('covered')} | {states.count('not yet')} | {states.count('not covered')} |")
    topic = None
    for row in rows:
        if row.topic != topic:
            topic = row.topic
            lines += ["", f"## {topic}", "", "| CUDA | cudag | tests, or why not |", "|---|---|---|"]
        name = f"`{re.sub('^(device|driver):', '', row.name)}`" + (f" ({versions(row)})" if versions(row) else "")
        calls = ", ".join(f"`{call}`" for call in row.calls) or "–"
        lines.append(f"| {name} | {calls} | " + "; ".join(filter(None, [row.reason, *row.tests])) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--toolkit-include", type=Path, required=True, help="the folder of cuda_runtime_api.h")
    parser.add_argument("--write", action="store_true", help="write coverage.md instead of comparing it")
    given = parser.parse_args()
    try:
        rows = read_mapping((Path(__file__).parent / "functions.txt").read_text())
        found = problems(rows, read_header(given.toolkit_include), Library(ROOT))
    except Malformed as error:
        sys.exit(str(error))
    page = Path(__file__).parent / "coverage.md"
    if not found and given.write:
        page.write_text(markdown(rows))
    elif not found and (not page.exists() or page.read_text() != markdown(rows)):
        found = ["tests/coverage/coverage.md is not up to date; run tests/coverage/coverage.py with --write"]
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
