#!/usr/bin/env python3
"""Loads a library that is built on cudag, as Python extensions are loaded, and runs a graph by it: load.py LIBRARY"""
import ctypes
import sys
import threading


def main():
    try:
        plugin = ctypes.CDLL(sys.argv[1])
    except OSError as error:
        sys.exit(f"dlopen cannot load a library that is built on cudag: {error}")
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
