#!/usr/bin/env python3
"""Loads a library that is built on cudag, as Python extensions are loaded, and runs a graph by it: load.py LIBRARY

The libraries behind it leave most of the static memory for thread-local variables to others: glibc has 1664 bytes of it for
all that dlopen loads."""
import ctypes
import struct
import sys
import threading
from pathlib import Path

MOST_BYTES = {"libcudag.so": 64, "libcudart-cpu.so": 512}
PT_TLS = 7


def thread_local_bytes(library):
    """What the program headers of a 64-bit ELF file say."""
    data = Path(library).read_bytes()
    start, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for at in range(start, start + size * count, size):
        kind, = struct.unpack_from("<I", data, at)
        if kind == PT_TLS:
            return struct.unpack_from("<Q", data, at + 40)[0]
    return 0


def check_thread_local_bytes():
    loaded = {line.split(maxsplit=5)[5].strip() for line in Path("/proc/self/maps").read_text().splitlines() if "/" in line}
    for library in loaded:
        for name, most in MOST_BYTES.items():
            if Path(library).name.startswith(name) and thread_local_bytes(library) > most:
                sys.exit(f"{library} has {thread_local_bytes(library)} bytes of thread-local variables, of which dlopen has "
                         f"1664 for all; at most {most} are meant: larger ones go behind a pointer")


def main():
    try:
        plugin = ctypes.CDLL(sys.argv[1])
    except OSError as error:
        sys.exit(f"dlopen cannot load a library that is built on cudag: {error}")
    check_thread_local_bytes()
    sums = []
    threads = [threading.Thread(target=lambda n=n: sums.append((n, plugin.plugin_sum_of_squares(n)))) for n in (10, 1000)]
    sums.append((100, plugin.plugin_sum_of_squares(100)))
    for thread in threads:
        thread.start()
        thread.join()
    for n, found in sums:
        expected = n * (n + 1) * (2 * n + 1) // 6
        if found != expected:
            sys.exit(f"the squares of 1 to {n} add up to {expected}, but the plugin's graph found {found}")


main()
