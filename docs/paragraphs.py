#!/usr/bin/env python3
"""Copies headers for Doxygen, with an empty line wherever a paragraph or a list of a comment ends: `paragraphs.py FROM TO`.

A line that ends a sentence, with room for the next word, ends its paragraph. A line without indentation ends a list."""
import re
import sys
from pathlib import Path

WIDTH = 120  # as in .clang-format


def text_of(line):
    comment = re.fullmatch(r" */// ?(.*)", line)
    return comment[1] if comment else ""


def with_paragraphs(lines):
    in_list = False
    for line, following in zip(lines, [*lines[1:], ""]):
        text, next_text = text_of(line), text_of(following)
        in_list = text.lstrip().startswith("- ") or in_list and text.startswith("  ")
        yield line
        if text and next_text and not next_text.startswith(("  ", "- ")):
            if in_list or text.endswith(".") and len(line) + 1 + len(next_text.split()[0]) <= WIDTH:
                yield line[: line.index("///") + 3]


def main():
    source, target = map(Path, sys.argv[1:])
    for header in source.rglob("*.hpp"):
        copy = target / header.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text("\n".join(with_paragraphs(header.read_text().splitlines())) + "\n")


main()
