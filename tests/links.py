#!/usr/bin/env python3
"""Checks that the files and headings behind relative links exist, in README.md, CONTRIBUTING.md, CHANGELOG.md and docs/, and
that docs/index.md lists each page, docs/reference.md each header, and that no page is too long."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
REFERENCE = re.compile(r"\[([A-Z][^\[\]]*)\](?![(:\[])")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def anchors_of(page):
    """The anchors that GitHub gives the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


def mistakes_of(page):
    text = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), page.read_text())
    for link in LINK.finditer(text):
        if re.match(r"[a-z]+:", link[1]):
            continue
        path, _, anchor = link[1].partition("#")
        target = (page.parent / path).resolve() if path else page
        where = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, link.start()) + 1}: {link[1]}"
        if not target.exists():
            yield f"{where}: there is no such file"
        elif ROOT not in target.parents:
            yield f"{where}: this is outside of the repository"
        elif anchor and anchor not in anchors_of(target):
            yield f"{where}: there is no such heading; there are: {', '.join(anchors_of(target))}"


def undefined(page):
    """Links by name, `[Graph Management]`, to an address at the end of the page."""
    text = CODE.sub("", page.read_text())
    defined = set(re.findall(r"^\[([^\]]+)\]: https://\S+$", text, re.MULTILINE))
    for name in sorted(set(REFERENCE.findall(text)) - defined):
        yield f"{page.relative_to(ROOT)}: [{name}] has no address"


def main():
    docs = sorted((ROOT / "docs").glob("*.md"))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *docs]
    mistakes = [mistake for page in pages for mistake in [*mistakes_of(page), *undefined(page)]]
    listed = LINK.findall((ROOT / "docs" / "index.md").read_text())
    mistakes += [f"docs/index.md does not list {page.name}" for page in docs
                 if page.name not in listed and page.name != "index.md"]
    reference = (ROOT / "docs" / "reference.md").read_text()
    mistakes += [f"docs/reference.md does not list {header.name}" for header in sorted((ROOT / "include" / "cudag").glob("*.hpp"))
                 if f"`{header.name}`" not in reference]
    lengths = {page: page.read_text().count("\n") for page in docs}
    mistakes += [f"{page.relative_to(ROOT)} has {lines} lines; split it: 300 are enough" for page, lines in lengths.items() if lines > 300]
    if mistakes:
        sys.exit("\n".join(mistakes))


main()
