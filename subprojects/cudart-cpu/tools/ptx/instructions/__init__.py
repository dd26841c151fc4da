"""One module for each class of instructions; each enters its handlers here.

A handler takes the writer of the function and the instruction, and writes C++ lines."""

from __future__ import annotations

import importlib

HANDLERS: dict = {}


def instruction(*names: str):
    def enter(handler):
        for name in names:
            HANDLERS[name] = handler
        return handler
    return enter


for _module in ("integer", "logic", "floating", "compare", "convert", "moves", "memory", "atomics", "control", "matrix", "meet", "texture", "video"):
    importlib.import_module(f".{_module}", __name__)
