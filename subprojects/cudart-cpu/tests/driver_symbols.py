#!/usr/bin/env python3
"""Checks that libcuda.so.1 has the functions that programs compiled by cuda.h call: driver_symbols.py LIBRARY HEADER.
Functions newer than the table's CUDA 13.0 are none of its own."""
import re
import subprocess
import sys

library, header = sys.argv[1:]
NEWEST = 13000


def declared(text):
    """The functions, and their symbols for both default streams."""
    own = text[:text.rindex("#if defined(__CUDA_API_VERSION_INTERNAL)")]
    renamed = dict(re.findall(r"#define (cu[A-Z]\w*) +((?:__CUDA_API_PT[DS][SZ]\()?cu\w+)", own))
    for name in set(re.findall(r"CUresult\s+CUDAAPI\s+(cu[A-Z]\w*)", own)):
        kind, _, symbol = renamed.get(name, name).rpartition("(")
        yield symbol
        if kind:
            yield symbol + ("_ptds" if "PTDS" in kind else "_ptsz")


with open(header, encoding="utf-8") as file:
    text = file.read()
version = int(re.search(r"#define CUDA_VERSION (\d+)", text)[1])
listing = subprocess.run(["readelf", "--dyn-syms", "--wide", library], check=True, stdout=subprocess.PIPE, text=True).stdout
there = {line.split()[7].split("@")[0] for line in listing.splitlines()
         if len(line.split()) > 7 and line.split()[3] == "FUNC" and line.split()[6] != "UND"}
foreign = {name for name in there if not re.fullmatch(r"cu[A-Z]\w*", name)}
missing = set(declared(text)) - there
print(f"CUDA {version}: {len(there)} functions; missing: {len(missing)} {' '.join(sorted(missing))}")
if len(there) < 400 or foreign:
    sys.exit(f"too few functions, or those of no driver: {foreign}")
if missing and version <= NEWEST:
    sys.exit("these are missing")
