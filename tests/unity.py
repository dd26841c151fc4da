#!/usr/bin/env python3
"""Writes unity files of test sources, since headers cost most of the time of each.

The sources are spread over the unity files in their order. In a file each source has a namespace of its own behind the headers
of all, so that helpers of one name do not clash. What a source defines for others, by a header of its
own name, in a named namespace or for the whole program, stands outside.
"""
import argparse
import re
from pathlib import Path

HEADER = re.compile(r'#include (?:"(.*)"|<.*>)$')


def stands_outside(source):
    text = source.read_text()
    return f'#include "{source.stem}.hpp"' in text or \
        re.search(r"^(namespace \w|template <>|void\* operator new)", text, re.MULTILINE)


def unity_file_of(sources):
    """One source of many."""
    headers, bodies, outside = [], [], []
    for number, source in enumerate(sources):
        include = f'#include "{source}"'
        if stands_outside(source):
            outside.append(include)
            continue
        condition = None  # the #if around an include
        for line in source.read_text().splitlines():
            condition = line if line.startswith("#if") else None if line.startswith("#endif") else condition
            header = HEADER.match(line)
            if header:
                path = source.parent / header[1] if header[1] else None
                found = f'#include "{path}"' if path and path.exists() else line
                headers.append(f"{condition}\n{found}\n#endif" if condition else found)
        bodies.append(f"namespace source_{number} {{\n{include}\n}}")
    return "\n".join([*dict.fromkeys(headers), *bodies, *outside, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", nargs="+", required=True, type=Path)
    parser.add_argument("--sources", nargs="+", required=True, type=Path)
    given = parser.parse_args()
    sources = [source.resolve() for source in given.sources]
    for number, file in enumerate(given.files):
        first, end = (len(sources) * i // len(given.files) for i in (number, number + 1))
        text = unity_file_of(sources[first:end])
        if not file.exists() or file.read_text() != text:
            file.write_text(text)  # else it is not compiled again for this


if __name__ == "__main__":
    main()
