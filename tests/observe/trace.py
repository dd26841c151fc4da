#!/usr/bin/env python3
"""Checks cudag-trace with traces written by hand, in the formats of Nsight Systems and of Chrome."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import sqlite3
import sys
import tempfile
import types
import unittest
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "lib/package/cudag-trace"


sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("cudag_trace", str(PROGRAM))
program = importlib.util.module_from_spec(importlib.util.spec_from_loader("cudag_trace", loader))
loader.exec_module(program)


def node(number, kind, kernel="", label=""):
    return {"number": number, "kind": kind, "kernel": kernel, "label": label, "node": label, "location": "a.cpp:12"}


DECODE = {"cudag": 1, "pid": 1, "instance": 1, "graph": "decode", "made_at": "a.cpp:9", "nodes": [
    node(0, "memcpy", label="upload"), node(1, "kernel", "scale<float>", "double"), node(2, "kernel", "add", ""),
    node(3, "child", label="layer"), node(None, "kernel", "ns::inner", "inside")]}
OTHER = {"cudag": 1, "pid": 1, "instance": 2, "graph": "", "made_at": "a.cpp:20", "nodes": [
    node(0, "memset", label="clear"), node(1, "kernel", "mul", "times")]}
# The number of the executable graph, the number of the node, kernel ("": a copy), begin and end in nanoseconds.
RUNS = [(7, 0, "", 0, 1000), (7, 1, "void scale<float>(int, float, float*)", 1000, 4000),
        (7, 2, "add(int, const float*)", 4000, 6000), (7, 9, "void ns::inner<(int)4>(float*)", 6000, 6500),
        (9, 1, "mul(int)", 7000, 9000)]
LABELS = ["decode/upload", "decode/double (scale)", "decode/add", "decode/inside (inner)", "times (mul)"]


class Trace(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.labels = self.write("labels.jsonl", json.dumps(DECODE) + "\n" + json.dumps(OTHER) + "\n")

    def path(self, name):
        return Path(self.folder.name) / name

    def write(self, name, text):
        self.path(name).write_text(text)
        return self.path(name)

    def run_program(self, *arguments):
        out, error, code = io.StringIO(), io.StringIO(), 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            try:
                program.main([str(argument) for argument in arguments])
            except SystemExit as end:  # with a text, as the interpreter prints it
                code = 1
                print(end.code, file=error)
        return types.SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=error.getvalue())

    def check(self, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, text, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, 1)
        self.assertIn(text, done.stderr)
        self.assertTrue(done.stderr.startswith("cudag-trace: "), done.stderr)

    def sqlite(self, runs=RUNS):
        database = sqlite3.connect(self.path("run.sqlite"))
        database.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT)")
        database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, "
                         "streamId INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, "
                         "graphNodeId INTEGER)")
        database.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, "
                         "copyKind INTEGER, graphNodeId INTEGER)")
        for number, (graph, at, kernel, begin, end) in enumerate(runs):
            identity = graph << 32 | at
            if kernel:
                database.execute("INSERT INTO StringIds VALUES (?, ?)", (number, kernel))
                database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 7, ?, ?, ?)",
                                 (begin, end, number, number, identity))
            else:
                database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, 1, ?)", (begin, end, identity))
        database.execute("INSERT INTO StringIds VALUES (100, 'outside()')")
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 5, 7, 100, 100, NULL)")  # in no graph
        database.commit()
        database.close()
        return self.path("run.sqlite")

    def chrome(self, key="graph node id", runs=RUNS):
        events = [{"ph": "X", "pid": 0, "tid": 7, "name": kernel or "Memcpy HtoD", "ts": begin / 1000,
                   "dur": (end - begin) / 1000, "args": {key: graph << 32 | at, "stream": 7}}
                  for graph, at, kernel, begin, end in runs]
        events.append({"ph": "X", "pid": 0, "tid": 7, "name": "outside", "ts": 0, "dur": 1, "args": {}})
        return self.write("trace.json", json.dumps({"traceEvents": events}))

    def test_times_by_label_from_a_database(self):
        text = self.check(self.labels, self.sqlite())
        self.assertEqual([line.split("  ")[-1] for line in text.splitlines()[1:]],
                         [LABELS[1], LABELS[2], LABELS[4], LABELS[0], LABELS[3]])
        self.assertIn("       3.000        1      3.000  decode/double (scale)", text)

    def test_labels_become_names_in_a_copy_of_the_database(self):
        before = self.sqlite().read_bytes()
        self.check(self.labels, self.path("run.sqlite"), "-o", self.path("out.sqlite"))
        self.assertEqual(self.path("run.sqlite").read_bytes(), before)
        database = sqlite3.connect(self.path("out.sqlite"))
        names = database.execute("SELECT value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName "
                                 "ORDER BY start, end DESC").fetchall()
        self.assertEqual([name for name, in names], ["outside()", *LABELS[1:]])
        self.assertEqual(database.execute("SELECT cudagLabel FROM CUPTI_ACTIVITY_KIND_MEMCPY").fetchall(), [(LABELS[0],)])
        database.close()
        self.refused("-o names the trace itself", self.labels, self.path("run.sqlite"), "-o", self.path("run.sqlite"))

    def test_labels_become_names_in_a_chrome_trace(self):
        for key in ("graph node id", "graphNodeId", "graph_node_id"):
            self.check(self.labels, self.chrome(key), "-o", self.path("out.json"))
            events = json.loads(self.path("out.json").read_text())["traceEvents"]
            self.assertEqual([event["name"] for event in events], [*LABELS, "outside"])
            self.assertEqual(events[1]["args"]["cudagLocation"], "a.cpp:12")
            self.assertEqual(events[1]["ts"], 1)

    def test_lines_of_json_get_labels_beside_the_node(self):
        lines = [json.dumps({"CudaEvent": {"graphNodeId": str(7 << 32 | at), "startNs": "1"}}) for at in (0, 1)]
        trace = self.write("run.json", "\n".join(lines))
        self.check(self.labels, trace, "-o", self.path("out.json"))
        out = [json.loads(line) for line in self.path("out.json").read_text().splitlines()]
        self.assertEqual([line["CudaEvent"]["cudagLabel"] for line in out], LABELS[:2])

    def test_kernels_decide_which_graph_it_is(self):
        swapped = [(3, 1, "mul(int)", 0, 1000), (5, 1, "scale<float>(int)", 1000, 2000)]
        text = self.check(self.labels, self.chrome(runs=swapped))
        self.assertIn("times (mul)", text)
        self.assertIn("decode/double (scale)", text)

    def test_equal_graphs_are_taken_in_order(self):
        second = {**DECODE, "graph": "again", "instance": 2}
        self.write("labels.jsonl", json.dumps(DECODE) + "\n" + json.dumps(second) + "\n")
        runs = [(graph, 1, "scale<float>(int)", graph * 1000, graph * 1000 + 5) for graph in (8, 4)]
        self.check(self.labels, self.chrome(runs=runs), "-o", self.path("out.json"))
        events = json.loads(self.path("out.json").read_text())["traceEvents"]
        self.assertEqual([event["name"] for event in events[:2]], ["again/double (scale)", "decode/double (scale)"])

    def test_copies_are_no_kernels(self):
        kernels = {**DECODE, "nodes": [node(0, "kernel", "step", "first"), *DECODE["nodes"][1:]]}
        self.write("labels.jsonl", json.dumps(kernels) + "\n" + json.dumps(DECODE) + "\n")
        self.assertIn("decode/upload", self.check(self.labels, self.chrome(runs=RUNS[:1])))

    def test_inner_nodes_with_the_same_kernel_stay_unknown(self):
        twice = {**DECODE, "nodes": [*DECODE["nodes"], node(None, "kernel", "inner", "other")]}
        self.write("labels.jsonl", json.dumps(twice) + "\n")
        self.assertIn("unknown void ns::inner", self.check(self.labels, self.chrome(runs=RUNS[:4])))

    def test_runs_of_unknown_nodes_are_counted(self):
        done = self.run_program(self.labels, self.chrome(runs=[*RUNS, (11, 1, "strange()", 0, 1000)]))
        self.assertEqual(done.returncode, 0)
        self.assertIn("unknown strange()", done.stdout)
        self.assertEqual(done.stderr, "cudag-trace: 1 of 6 runs belong to no known node\n")

    def test_wrong_files_are_refused(self):
        self.refused("No such file", self.path("none"), self.chrome())
        self.refused("No such file", self.labels, self.path("none"))
        self.refused("no graphs", self.write("empty", ""), self.chrome())
        self.refused("line 1 is no line of CUDAG_TRACE", self.write("bad", "[1]"), self.chrome())
        self.refused("line 1 is no line of CUDAG_TRACE", self.write("bad", "{}"), self.chrome())
        self.refused("has version 2", self.write("new", json.dumps({**DECODE, "cudag": 2})), self.chrome())
        self.refused("neither SQLite nor JSON", self.labels, self.write("text", "hello"))
        self.refused("no graph nodes", self.labels, self.chrome(runs=[]))
        self.refused("no graph nodes", self.labels, self.sqlite(runs=[]))


unittest.main()
