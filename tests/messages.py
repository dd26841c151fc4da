#!/usr/bin/env python3
"""Checks that docs/messages*.md have every text of the library's errors, and no other.

A text is a string literal of include/, lib/ or builder/ with four words or more, or of three with a verb. Values in it, `{}`,
are `…` on the pages. A row has the whole text, or its beginning. Texts of pictures and reports are left out: see OTHER_FILES
and OTHER_TEXTS. Sentences of the compiler, in static_assert, have their own page.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OTHER_FILES = {
    "lib/footprint/footprint.cpp": "footprints, shown on docs/footprint.md",
    "lib/pictures/dot.cpp": "pictures",
    "lib/exec/plan_report.cpp": "the report of a plan, shown on docs/plan.md",
    "lib/exec/tune_report.cpp": "the report of tune",
    "lib/observe/event_text.cpp": "events, listed on docs/tracing.md",
    "lib/observe/label_map.cpp": "the labels of a trace",
    "lib/profile/chrome_trace.cpp": "traces",
    "lib/release/released_memory.cpp": "the amounts of a release, shown on docs/release.md",
    "lib/segments/segment_report.cpp": "the report of a SegmentedGraph, shown on docs/segments.md",
    "lib/verify/verification.cpp": "the result of verify, shown on docs/compare-with-eager.md",
    "lib/profile/profile_diff.cpp": "the comparison of profiles",
    "lib/profile/profile_dot.cpp": "pictures",
    "lib/profile/profile_texts.cpp": "profiles, shown on docs/profile.md",
}
OTHER_TEXTS = {
    "condition {}: no initial value",  # lines of to_text()
    "condition {}: unknown initial value",
    "number of its condition, in the order in which they were made",  # fields of diff()
    "address of graph memory",
    "bytes of an element",
    "launch: order of disabled ",  # the label of a node
    "launch: disabled copies of ",
    "order {}, flags {}, source at {} {}, destination at {} {}",  # a field
    "{} edges became {}; {} joins, {} empty kernels, {} lanes, {} early edges",  # in events
    "unsigned long long",
}
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|\w+|[^\s]""", re.DOTALL)
VALUE = re.compile(r"\{\d*(?::[^{}]*)?\}|%s")
ROW = re.compile(r"^\| (.*?) \|", re.MULTILINE)


def literals(path):
    """Yields line and text of each string literal, joined with its neighbours; in static_assert, those for users only."""
    text = path.read_text()
    joined, line, depth, omitted, before = None, 0, 0, None, ""
    for token in TOKEN.finditer(text):
        word = token[0]
        if word.startswith(("//", "/*")):
            continue
        if word.startswith('"'):
            if joined is None:
                joined, line = "", text.count("\n", 0, token.start()) + 1
            joined += word[1:-1]
            continue
        if joined is not None:
            if before not in ("include", "error") and (omitted is None or joined.startswith("cudag: ")):
                yield line, joined
            joined = None
        if word == "(":
            depth += 1
            if before == "static_assert":
                omitted = depth
        elif word == ")":
            if omitted == depth:
                omitted = None
            depth -= 1
        before = word


def normalised(text):
    text = text.replace("\\n", " ").replace('\\"', '"').replace("{{", "\x01").replace("}}", "\x02")
    text = re.sub("…+", "…", VALUE.sub("…", text)).replace("\x01", "{").replace("\x02", "}")
    return re.sub(r"\s+", " ", text).strip().lstrip("… ")


def is_message(text):
    words = [word for word in VALUE.sub(" ", text).split() if re.search("[A-Za-z]{2}", word)]
    return (len(words) >= 4 or len(words) == 3 and "is" in words) and ".reg" not in text and ".param" not in text  # PTX


def texts_of_sources():
    for folder in ("include", "lib", "builder"):
        for path in sorted((ROOT / folder).rglob("*.?pp")):
            name = str(path.relative_to(ROOT))
            for line, text in literals(path):
                if name not in OTHER_FILES and is_message(text) and text not in OTHER_TEXTS:
                    yield f"{name}:{line}", normalised(text)


def main():
    pages = sorted((ROOT / "docs").glob("messages*.md"))
    rows = [(page.name, code) for page in pages for row in ROW.findall(page.read_text()) for code in re.findall(r"`([^`]+)`", row)]
    shown = {normalised(code): page for page, code in rows}
    sources = list(texts_of_sources())
    used = set()
    mistakes = []
    for place, text in sources:
        fits = [code for code in shown if text.startswith(code) or text.rstrip(" …:;") in code]
        used.update(fits)
        if not fits:
            mistakes.append(f"{place}: no row of docs/messages*.md has this text: | `{text}` | | |")
    whole = "\n".join(text for path in ("include", "lib", "builder") for source in sorted((ROOT / path).rglob("*.?pp"))
                      for _, text in map(lambda found: (found[0], normalised(found[1])), literals(source)))
    for code, page in shown.items():
        if code not in used and not all(part.strip() in whole for part in code.split("…") if part.strip()):
            mistakes.append(f"docs/{page}: no source has the text `{code}`")
    if mistakes:
        sys.exit("\n".join(mistakes))
    print(f"{len(sources)} texts, {len(shown)} rows")


main()
