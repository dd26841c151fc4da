#!/usr/bin/env python3
"""Checks CUDAG_LOG, CUDAG_DOT and CUDAG_TRACE with the program of docs/tracing.md: environment.py PAGES"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

pages = sys.argv[1]


def check(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def run(**variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CUDAG_")}
    done = subprocess.run([pages, "tracing"], env=kept | variables, capture_output=True, text=True)
    check(done.returncode == 0, f"exit {done.returncode}: {done.stderr}")
    check("4 nodes instantiated" in done.stdout, f"the observer of the program: {done.stdout}")
    return done.stderr


with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    check(run() == "", "a program without variables prints nothing")

    check(run(CUDAG_LOG=str(folder / "log"), CUDAG_DOT=str(folder), CUDAG_TRACE=str(folder / "labels-%p")) == "", "stderr")
    lines = (folder / "log").read_text().splitlines()
    check(len(lines) == 2, lines)
    check(re.fullmatch(r'cudag \d+ \d+\.\d{6} instantiated the graph "decode" made at .*tracing\.cpp:\d+ in \d+\.\d{3} ms: '
                       r'4 nodes, 3 edges; plan: .+', lines[0]), lines[0])
    check(re.fullmatch(r'cudag \d+ \d+\.\d{6} updated an exec to the graph "decode" made at .+ by order in .+ ms', lines[1]),
          lines[1])
    pid = lines[0].split()[1]
    dot = (folder / f"cudag-{pid}-0001-decode.dot").read_text()
    check(dot.startswith('digraph cudag {\n    label="decode";') and "double" in dot, dot)
    labels = (folder / f"labels-{pid}").read_text().splitlines()
    check(len(labels) == 1, labels)
    graph = json.loads(labels[0])
    check(graph["cudag"] == 1 and graph["pid"] == int(pid) and graph["instance"] == 1 and graph["graph"] == "decode", graph)
    check([(node["number"], node["kind"], node["label"]) for node in graph["nodes"]] ==
          [(0, "memcpy", "upload"), (1, "kernel", "double"), (2, "kernel", "triple"), (3, "memcpy", "download")], graph)
    check("scale" in graph["nodes"][1]["kernel"] and "tracing.cpp:" in graph["nodes"][1]["location"], graph)

    run(CUDAG_LOG=str(folder / "log"))
    check(len((folder / "log").read_text().splitlines()) == 4, "a log is continued")
    check(run(CUDAG_LOG="stderr").count("\n") == 2, "CUDAG_LOG=stderr")
    check(run(CUDAG_LOG="", CUDAG_DOT="", CUDAG_TRACE="") == "", "an empty variable is none")

    nowhere = str(folder / "none" / "file")
    for variable in ("CUDAG_LOG", "CUDAG_TRACE"):
        text = run(**{variable: nowhere})
        check(text == f"cudag: {variable}={nowhere}: the file cannot be opened for writing: No such file or directory; name a "
              "file in an existing folder. Nothing is written for this variable\n", text)
    text = run(CUDAG_DOT=nowhere)
    check(text == f"cudag: CUDAG_DOT={nowhere}: the folder cannot be written: No such file or directory; make it before the "
          "program starts. No pictures are written\n", text)
    text = run(CUDAG_DOT=str(folder / "log"))
    check("the folder cannot be written: Not a directory" in text, text)
    if Path("/dev/full").exists():
        text = run(CUDAG_LOG="/dev/full")
        check(text == "cudag: CUDAG_LOG=/dev/full: a line could not be written: No space left on device\n", text)
