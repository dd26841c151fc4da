#!/usr/bin/env python3
"""include/meson.build lists every header that there is: listed.py FOLDER HEADER..."""
import sys
from pathlib import Path


def main():
    folder, listed = Path(sys.argv[1]), set(sys.argv[2:])
    there = {str(path.relative_to(folder)) for path in folder.rglob("*.hpp")}
    if there != listed:
        sys.exit("include/meson.build lists other headers than there are: " + ", ".join(sorted(there ^ listed)))


main()
