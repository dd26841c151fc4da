"""Runs the tests with defects switched on, those alone that come by each."""
import dataclasses
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from xml.etree import ElementTree

PERTURBED = {"MALLOC_PERTURB_": "165"}  # as under `meson test`: what has been freed is read as garbage
# What can notice, the quickest first: executable, arguments, environment. The fuzzer forks no process for its seeds.
SUITES = (
    ("tests/core/core_tests", ["--abort"], {}),
    ("tests/core/core_tests", ["--abort", "[first]"], {}),
    ("tests/core/fetched_driver", ["--abort"], {}),
    ("tests/unit/version_tests", ["--abort"], {}),
    *(("tests/unit/version_tests", ["--abort", f"[driver-{number // 1000}.{number // 10 % 100}]"],
       {"CUDART_CPU_DRIVER": str(number)}) for number in (12030, 12040, 12080, 12090)),
    *(("tests/unit/watched_writes", [how], {"CUDART_CPU_CHECK": "writes"})
      for how in ("update", "less", "more", "updated")),
    ("tests/graph/graph_tests", ["--abort", "[device]"], {"CUDART_CPU_DEVICES": "2"}),
    ("tests/graph/graph_tests", ["--abort", "[plan]"], {"CUDART_CPU_DRIVER": "12040"}),  # which has no empty kernels
    ("tests/fuzz/fuzz", ["--only", "memory", "--jobs", "0", "--seeds", "100"], {}),
    ("tests/fuzz/fuzz", ["--only", "whole", "--jobs", "0", "--seeds", "60"], {}),
    ("tests/fuzz/fuzz", ["--only", "dag", "--jobs", "0", "--seeds", "100"], {}),
    ("tests/fuzz/fuzz", ["--only", "conditional", "--jobs", "0", "--seeds", "50"], {}),
    *(("tests/fuzz/fuzz", ["--only", kind, "--jobs", "0", "--seeds", "100"], {})
      for kind in ("races", "captures", "regions", "programs", "caches")),
    ("tests/unit/unit_tests", ["--abort"], {}),
    ("tests/graph/graph_tests", ["--abort"], {}),
    ("tests/fuzz/fuzz", ["--only", "calls", "--jobs", "0", "--seeds", "100"], {}),
    ("tests/fuzz/fuzz", ["--only", "new", "--jobs", "0", "--seeds", "200"], {}),
)


@dataclasses.dataclass(frozen=True)
class Test:
    suite: int  # index in SUITES
    name: str | None  # None: the whole suite, which has no tests of its own

    def __str__(self):
        program, arguments, environment = SUITES[self.suite]
        return " ".join([*(f"{name}={value}" for name, value in environment.items()), Path(program).name,
                         *arguments, *([quoted(self.name)] if self.name else [])])


def name_of(suite):
    return str(Test(suite, None))


def quoted(name):
    """A Catch2 test specification that selects exactly the test of this name."""
    escaped = re.sub(r'([\\",])', r"\\\1", name)
    return f'"{escaped}"'


def has_catch2_2(build):
    """Whether the programs are of version 2, which lists tests plainly and does not mind having none to run."""
    listed = subprocess.run([build / SUITES[0][0], "--help"], stdout=subprocess.PIPE, text=True)
    return "--list-test-names-only" in listed.stdout


def names_in(build, suite):
    """The names of a suite's tests. Version 2 exits with their number."""
    program, arguments, environment = SUITES[suite]
    filters = [argument for argument in arguments if argument.startswith("[")]

    def output_of(*arguments):
        return subprocess.run([build / program, *arguments], env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True).stdout

    if has_catch2_2(build):
        return output_of(*filters, "--list-test-names-only").splitlines()
    listed = ElementTree.fromstring(output_of(*filters, "--list-tests", "--reporter", "xml"))
    return [name.text for name in listed.iter("Name")]


def tests_of(build):
    for suite, (_, arguments, _) in enumerate(SUITES):
        if "--abort" in arguments:  # a program of Catch2
            yield from (Test(suite, name) for name in names_in(build, suite))
        else:
            yield Test(suite, None)


class Runner:
    """Runs programs until it is stopped."""

    def __init__(self, build):
        self.build = build
        self.refusing_none = ["--warn", "NoTests"] if has_catch2_2(build) else []
        self.lock, self.running, self.stopped = threading.Lock(), set(), False

    def run(self, suite, names, limit, **environment):
        """The exit status of tests, or None if they take more than `limit` seconds, or it has been stopped."""
        program, arguments, own = SUITES[suite]
        with tempfile.NamedTemporaryFile("w", prefix="chosen-tests-") as chosen:
            if names:
                chosen.write("".join(f"{quoted(name)}\n" for name in names))
                chosen.flush()
                arguments = ["--abort", *self.refusing_none, "--input-file", chosen.name]
            with self.lock:
                if self.stopped:
                    return None
                process = subprocess.Popen([self.build / program, *arguments], cwd=(self.build / program).parent,
                                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                           start_new_session=True, env={**os.environ, **own, **PERTURBED, **environment})
                self.running.add(process)
            try:
                return process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # with the processes that it started
                process.wait()
                return None
            finally:
                with self.lock:
                    self.running.remove(process)

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.running:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)


class Records:
    """Which defects each test comes by, and how long it takes, kept in a file from run to run."""

    def __init__(self, file, key):
        self.file, self.key, self.of_test = file, key, {}
        kept = json.loads(file.read_text()) if file.exists() else {}
        if kept.get("key") == key:
            self.of_test = {Test(suite, name): (seconds, int(bits, 16)) for suite, name, seconds, bits in kept["tests"]}

    def write(self):
        self.file.write_text(json.dumps({"key": self.key, "tests": [
            [test.suite, test.name, seconds, format(bits, "x")] for test, (seconds, bits) in self.of_test.items()]}))

    def keep_only(self, tests):
        self.of_test = {test: self.of_test[test] for test in tests if test in self.of_test}


def record(runner, test, defects):
    """The seconds that a test takes and the numbers of the defects that it comes by, as bits; None if it fails without any."""
    with tempfile.NamedTemporaryFile(prefix="reached-") as marks:
        marks.truncate(defects + 1)
        started = time.monotonic()
        status = runner.run(test.suite, [test.name] if test.name else [], 600, CUDAG_REACHED=marks.name)
        seconds = time.monotonic() - started
        if status != 0:
            return None
        reached = 0
        for place, mark in enumerate(Path(marks.name).read_bytes()):
            if mark:
                reached |= 1 << place
        return round(seconds, 2), reached


def judge(runner, number, records):
    """What notices a defect; "survived", "unreached", or None if it was stopped."""
    by_suite = {}
    for test, (seconds, reached) in records.of_test.items():
        if reached >> number & 1:
            names, total = by_suite.get(test.suite, ([], 0))
            by_suite[test.suite] = (names + [test.name] if test.name else [], total + seconds)
    for suite, (names, seconds) in sorted(by_suite.items(), key=lambda item: item[1][1]):
        status = runner.run(suite, names, 20 + 5 * seconds, CUDAG_DEFECT=str(number))
        if runner.stopped:
            return None
        if status != 0:
            return f"{name_of(suite)}{' (hangs)' if status is None else ''}"
    return "survived" if by_suite else "unreached"
