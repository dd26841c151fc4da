#!/usr/bin/env python3
"""Plants one-line defects in lib/ and builder/ at random, and tells which ones the tests do not notice.

    tests/mutate.py --build BUILD [--reached FILE] [--in PATH]... [--count 200] [--seed 1] [--jobs 2]
    tests/mutate.py --build BUILD --again FILE

BUILD is a complete build for the CPU runtime; `meson setup BUILD -Dcuda-runtime=cpu -Doptimization=0` makes one that
compiles quickly. It is not written to: a defect goes into a copy of the sources, of which only what it touches is
compiled (the precompiled header, too, if it has the defect), and the tests run with the library that comes out. Prints
each defect that passed and, in the end or when it is interrupted, a score; exits with 1 if one passed that
tests/mutants.txt does not explain. With --again it judges those anew that an earlier output, FILE, says survived.
With --in only sources whose path begins so get defects: lib/exec/, or lib/graph/planning.cpp.
With --reached only the tests that run a defect's line judge it, as tests/reached.py recorded them: some times faster.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("lib", "builder")
EXCUSES = ROOT / "tests" / "mutants.txt"
PERTURBED = {"MALLOC_PERTURB_": "165"}  # as under `meson test`: what has been freed is read as garbage
UNCACHED = {**os.environ, "CCACHE_DISABLE": "1"}  # nothing is compiled twice
CORE = "tests/core/core_tests"  # consists of the library's objects: it is linked anew for each defect
# What can notice, the quickest first: executable, arguments, environment.
SUITES = (
    (CORE, ["--abort"], {}),
    ("tests/unit/version_tests", ["--abort"], {}),
    *(("tests/unit/version_tests", ["--abort", f"[driver-{number // 1000}.{number // 10 % 100}]"],
       {"CUDART_CPU_DRIVER": str(number)}) for number in (12030, 12040, 12080, 12090)),
    *(("tests/unit/watched_writes", [how], {"CUDART_CPU_CHECK": "writes"})
      for how in ("update", "less", "more", "updated")),
    ("tests/graph/graph_tests", ["--abort", "[device]"], {"CUDART_CPU_DEVICES": "2"}),
    ("tests/graph/graph_tests", ["--abort", "[plan]"], {"CUDART_CPU_DRIVER": "12040"}),  # which has no empty kernels
    ("tests/fuzz/fuzz", ["--only", "memory", "--seeds", "100"], {}),
    ("tests/fuzz/fuzz", ["--only", "whole", "--seeds", "60"], {}),
    ("tests/fuzz/fuzz", ["--only", "dag", "--seeds", "100"], {}),
    ("tests/fuzz/fuzz", ["--only", "conditional", "--seeds", "50"], {}),
    *(("tests/fuzz/fuzz", ["--only", kind, "--seeds", "100"], {})
      for kind in ("races", "captures", "regions", "programs", "caches")),
    ("tests/unit/unit_tests", ["--abort"], {}),
    ("tests/graph/graph_tests", ["--abort"], {}),
    ("tests/fuzz/fuzz", ["--only", "calls", "--seeds", "100"], {}),
    ("tests/fuzz/fuzz", ["--only", "new", "--seeds", "200"], {}),
)


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str  # relative to the root
    line: int  # counted from 0
    before: str
    after: str
    kind: str

    def __str__(self):
        return f"{self.file}:{self.line + 1}: {self.kind}\n    - {self.before.strip()}\n    + {self.after.strip()}"


# Each kind of defect: its name, what it looks for in a line of code, and what it makes of a match.
def swap_arguments(match):
    if match["call"] in ("min", "max", "swap"):
        return match[0]  # the same either way
    return f"{match['call']}({match['second']}, {match['first']})"


OPERAND = r"[\w.*&:\->]+(?:\(\))?"
KINDS = [
    ("negated condition", r"\b(?P<word>if|while) \((?P<condition>(?!auto|const |cuda)[^;]+)\)(?P<rest>$| \{| [a-z_]+[^;]*;$)",
     lambda m: f"{m['word']} (!({m['condition']})){m['rest']}"),
    ("negated result", r"\breturn (?P<value>[^;]*(?:==|!=|&&|\|\|)[^;]*);", lambda m: f"return !({m['value']});"),
    ("the other bool", r"\b(?:true|false)\b", lambda m: "false" if m[0] == "true" else "true"),
    ("and for or", r"&&|\|\|", lambda m: "||" if m[0] == "&&" else "&&"),
    ("unequal for equal", r" (?:==|!=) ", lambda m: " != " if m[0] == " == " else " == "),
    ("off by one", r" (?:<=|>=|<|>) (?=[\w(*])", lambda m: {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > "}[m[0]]),
    ("off by one", r" [+-] 1\b(?!\.)", lambda m: ""),
    ("off by one", r"(?<== )0(?=;)", lambda m: "1"),
    ("dropped call", r"^(?P<indent> +)(?!return|throw|delete|using|case|else|if|for|while)[a-z_][\w:.>-]*(?:\[[^]]*\])?(?:\.|->|::)?\w+\([^=]*\);$",
     lambda m: f"{m['indent']};"),
    ("dropped assignment", r"^(?P<indent> +)[a-z_][\w.>\-]*(?:\[[^]]*\])? (?:\||\+|-|&)?= [^;]+;$", lambda m: f"{m['indent']};"),
    ("dropped flag", r" \| \w+(?:::\w+)*", lambda m: ""),
    ("swapped arguments", rf"(?P<call>\b\w+)\((?P<first>{OPERAND}), (?P<second>{OPERAND})\)", swap_arguments),
]


def is_code(line):
    text = line.strip()
    return bool(text) and not text.startswith(("//", "#", "static_assert", "template", "using ", "friend ", "class ", "struct ")) \
        and "namespace" not in text


def is_written_first(line, next_lines):
    """Whether a line defines a variable that a call writes through its address before anything reads it."""
    name = re.match(r" +[\w: ]+ (\w+) = \w+;", line)
    return name is not None and re.search(rf"&{name[1]}\b", " ".join(next_lines)) is not None


def mutants_of(file):
    """Every defect that can be planted in a file of the library."""
    lines = (ROOT / file).read_text().splitlines()
    for number, line in enumerate(lines):
        if not is_code(line) or is_written_first(line, lines[number + 1:number + 4]):
            continue
        code = line.split(" // ")[0].rstrip()
        for kind, pattern, make in KINDS:
            for match in re.finditer(pattern, code):
                if kind != "dropped call" and code[:match.start()].count('"') % 2:
                    continue  # inside a text
                after = code[:match.start()] + make(match) + code[match.end():]
                if after != code:
                    yield Mutant(file, number, code, after, kind)


def draw(seed, places):
    """All defects of `places` in random order: first the kind is drawn, so that rare kinds come as often as common ones."""
    by_kind = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.?pp")):
            file = str(path.relative_to(ROOT))
            for mutant in mutants_of(file) if file.startswith(places) else ():
                by_kind.setdefault(mutant.kind, []).append(mutant)
    chance = random.Random(seed)
    for mutants in by_kind.values():
        chance.shuffle(mutants)
    while by_kind:
        kind = chance.choice(sorted(by_kind))
        yield by_kind[kind].pop()
        if not by_kind[kind]:
            del by_kind[kind]


def survivors_of(output):
    """The defects that an earlier output says survived, as far as their lines are still there."""
    for file, before, after in re.findall(r"^survived: (.+?):\d+: .*\n    - (.*)\n    \+ (.*)$", output, re.MULTILINE):
        same = [mutant for mutant in mutants_of(file) if (mutant.before.strip(), mutant.after.strip()) == (before, after)] \
            if (ROOT / file).exists() else []
        if same:
            yield same[0]
        else:
            print(f"no longer: {file}\n    - {before}\n    + {after}", flush=True)


def excuses():
    """{(file, before, after): reason}: the entries of mutants.txt are blocks of four lines, the reason last."""
    blocks = [[line for line in block.splitlines() if not line.startswith("#")] for block in EXCUSES.read_text().split("\n\n")] \
        if EXCUSES.exists() else []
    return {(file, before[2:], after[2:]): reason for file, before, after, reason in (block for block in blocks if block)}


def outdated(explained):
    """The entries of mutants.txt whose lines are gone."""
    for file, before, _ in explained:
        lines = (ROOT / file).read_text().splitlines() if (ROOT / file).exists() else []
        if not any(line.split(" // ")[0].strip() == before for line in lines):
            yield f"{file}: {before}"


def name_of(suite):
    program, arguments, environment = suite
    return " ".join([*(f"{name}={value}" for name, value in environment.items()), Path(program).name, *arguments])


@dataclasses.dataclass(frozen=True)
class Trial:
    """What a worker runs to judge a defect: a suite, or some of its tests, and the seconds after which it hangs."""
    suite: tuple
    limit: float
    names: tuple = ()  # of its tests; empty: the whole suite


class Reached:
    """Which tests run which lines, as tests/reached.py recorded it."""

    def __init__(self, file):
        recorded = json.loads(file.read_text())
        self.tests = recorded["tests"]
        self.sets = [int(bits, 16) for bits in recorded["sets"]]
        self.lines = {source: {int(line): number for line, number in lines.items()} for source, lines in recorded["lines"].items()}

    def tests_of(self, source, line):
        """The tests that run a line; of a line without code of its own, as in the middle of a statement, those of its neighbours."""
        lines = self.lines.get(source, {})
        near = [line] if line in lines else [other for other in range(line - 4, line + 3) if other in lines]
        if not near:
            return None
        bits = 0
        for other in near:
            bits |= self.sets[lines[other]]
        return [test for number, test in enumerate(self.tests) if bits >> number & 1]

    def trials_of(self, mutant):
        """The trials that can notice a defect, the quickest first; None for a line of which nothing is known."""
        tests = self.tests_of(mutant.file, mutant.line + 1)
        if tests is None:
            return None
        by_suite = {}
        for suite, name, seconds in tests:
            names, total = by_suite.get(suite, ((), 0))
            by_suite[suite] = (names + (name,) if name else (), total + seconds)
        quickest = sorted(by_suite.items(), key=lambda item: item[1][1])
        return [Trial(SUITES[suite], 20 + 5 * seconds, names) for suite, (names, seconds) in quickest]


def quoted(name):
    """A Catch2 test specification that selects exactly the test of this name."""
    escaped = re.sub(r'([\\",])', r"\\\1", name)
    return f'"{escaped}"'


class Build:
    """A complete build, of which a worker compiles the part that a defect touches."""

    def __init__(self, folder):
        self.folder = folder.resolve()
        self.library = next((path.name for path in self.folder.glob("libcudag.so.*") if path.is_file() and not path.is_symlink()
                             and path.suffix != ".symbols"), None)
        missing = [program for program, _, _ in SUITES if not (self.folder / program).is_file()]
        if self.library is None or missing:
            sys.exit(f"mutate: {folder} is no complete build for the CPU runtime: it lacks {missing[0] if missing else 'libcudag.so'}")
        self.runtime = self.folder / "subprojects" / "cudart-cpu"
        self.commands = {}
        for entry in json.loads((self.folder / "compile_commands.json").read_text()):
            source = (Path(entry["directory"]) / entry["file"]).resolve()
            if entry["output"].startswith((f"{self.library}.p/", f"{CORE}.p/")) and source.is_relative_to(ROOT):
                self.commands[str(source.relative_to(ROOT))] = (entry["command"], entry["output"])
        if not self.commands:
            sys.exit(f"mutate: {folder} is no build of this source tree")
        if not any(source.startswith(FOLDERS) for source in self.commands):
            sys.exit(f"mutate: {folder} compiles many sources at a time, and this needs each alone: -Dunity_build=false")
        self.links = {target: shlex.split(self.command_of(target).split(" && ")[0]) for target in (self.library, CORE)}
        self.users = {}
        for source in self.commands:
            for header in headers_of(ROOT / source):
                self.users.setdefault(str(header.relative_to(ROOT)), []).append(source)
        precompiled = [f"{self.library}.p/lib_pch.hpp.{suffix}" for suffix in ("gch", "pch")]  # g++'s and clang++'s
        self.precompile = next((self.command_of(header) for header in precompiled if (self.folder / header).is_file()), None)
        self.precompiled = {str(header.relative_to(ROOT)) for header in headers_of(ROOT / "lib/pch/lib_pch.hpp")} \
            if self.precompile else set()

    def command_of(self, target):
        return subprocess.run(["ninja", "-C", self.folder, "-t", "commands", "-s", target], check=True, stdout=subprocess.PIPE,
                              text=True).stdout.splitlines()[-1]


def headers_of(source):
    """The headers of the library that a source includes, directly or not. Ninja does not know those that are precompiled."""
    found, waiting = set(), [source]
    while waiting:
        path = waiting.pop()
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
            header = next((file for file in (path.parent / name, ROOT / "lib" / name, ROOT / name) if file.is_file()), None)
            if header is not None and header.resolve() not in found:
                found.add(header.resolve())
                waiting.append(header.resolve())
    return found


class Worker:
    """A copy of the sources beside an empty build folder, so that the build's own commands compile it."""

    def __init__(self, build):
        self.build = build
        self.root = Path(tempfile.mkdtemp(prefix="mutate-"))
        for part in (*FOLDERS, "include", "subprojects", "tests/core"):
            shutil.copytree(ROOT / part, self.root / part, symlinks=True)
        for header in (ROOT / "tests").glob("*.hpp"):
            shutil.copy(header, self.root / "tests")
        relative = build.folder.relative_to(ROOT) if build.folder.is_relative_to(ROOT) else Path("build")
        self.folder = self.root / relative
        for target in build.links:
            (self.folder / f"{target}.p").mkdir(parents=True)
        for generated in build.folder.glob("include/**/*.hpp"):
            copy = self.folder / generated.relative_to(build.folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(generated, copy)
        self.results = self.root / "results"
        self.results.mkdir()
        self.linked = {build.library: self.results / "libcudag.so.0", CORE: self.results / Path(CORE).name}
        self.lock = threading.Lock()
        self.process, self.stopped = None, False
        self.has_precompiled = build.precompile is None

    def run(self, command, folder, limit=None, **more):
        """The exit status of a command, or None if it was stopped after `limit` seconds or by stop()."""
        with self.lock:
            if self.stopped:
                return None
            self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL, start_new_session=True, **more)
        try:
            return self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.kill()
            return None
        finally:
            with self.lock:
                self.process = None

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)  # with the processes that it started
        self.process.wait()

    def stop(self):
        with self.lock:
            self.stopped = True
            if self.process is not None and self.process.returncode is None:
                os.killpg(self.process.pid, signal.SIGKILL)

    def compile(self, file):
        """Compiles what the defect touches and links it with the rest; False if it is no C++."""
        outputs = {}
        if not self.has_precompiled or file in self.build.precompiled:
            self.has_precompiled = file not in self.build.precompiled  # else it is of no use to the next defect
            if self.run(self.build.precompile, self.folder, shell=True, env=UNCACHED) != 0:
                return False
        for source in [file] if file in self.build.commands else self.build.users.get(file, []):
            command, output = self.build.commands[source]
            if self.run(f"{command} -w", self.folder, shell=True, env=UNCACHED) != 0:
                return False
            outputs[output] = str(self.folder / output)
        for target, command in self.build.links.items():
            replaced = {**outputs, target: str(self.linked[target])}
            if self.run([replaced.get(word, word) for word in command], self.build.folder) != 0:
                return False
        return True

    def run_trial(self, trial):
        """The exit status of a trial, or None if it hangs."""
        program, arguments, environment = trial.suite
        if trial.names:
            chosen = self.root / "chosen-tests"
            chosen.write_text("".join(f"{quoted(name)}\n" for name in trial.names))
            arguments = ["--abort", "--warn", "NoTests", "--input-file", chosen]
        test = self.linked.get(program, self.build.folder / program)
        return self.run([test, *arguments], (self.build.folder / program).parent, trial.limit,
                        env={**os.environ, **environment, **PERTURBED, "LD_LIBRARY_PATH": f"{self.results}:{self.build.runtime}"})

    def noticed_by(self, trials):
        """The suite that fails, or takes longer than its limit of seconds, or None."""
        for trial in trials:
            status = self.run_trial(trial)
            if status != 0:
                return f"{name_of(trial.suite)}{' (hangs)' if status is None else ''}"
        return None

    def judge(self, mutant, trials):
        """What notices the defect; "survived", "no C++", or None if it was stopped."""
        path = self.root / mutant.file
        original = path.read_text()
        lines = original.splitlines()
        lines[mutant.line] = mutant.after
        path.write_text("\n".join(lines) + "\n")
        try:
            verdict = self.noticed_by(trials) or "survived" if self.compile(mutant.file) else "no C++"
            return None if self.stopped else verdict
        finally:
            path.write_text(original)

    def remove(self):
        shutil.rmtree(self.root)


def measured_trials(worker):
    """All suites, each with a limit by the time that it takes. Ends the program if one fails without a defect."""
    trials = []
    for suite in SUITES:
        started = time.monotonic()
        if worker.run_trial(Trial(suite, 600)) != 0:
            sys.exit(f"mutate: {name_of(suite)} fails without a defect")
        trials.append(Trial(suite, 20 + 5 * (time.monotonic() - started)))
    return trials


class Score:
    """What came of the defects that compile."""

    def __init__(self):
        self.explained = excuses()
        self.noticed, self.survived, self.excused = 0, 0, 0

    def judged(self):
        return self.noticed + self.survived + self.excused

    def add(self, mutant, verdict):
        if verdict in ("no C++", None):
            return
        if verdict != "survived":
            self.noticed += 1
            print(f"noticed: {mutant.file}:{mutant.line + 1}: {mutant.kind}, by {verdict}", flush=True)
        elif (mutant.file, mutant.before.strip(), mutant.after.strip()) in self.explained:
            self.excused += 1
        else:
            self.survived += 1
            print(f"survived: {mutant}", flush=True)

    def __str__(self):
        total = self.noticed + self.survived
        return f"{self.noticed} of {total} noticed ({100 * self.noticed / max(total, 1):.1f} %), " \
            f"{self.excused} explained in {EXCUSES.name}"


def judge_all(candidates, workers, count, score, reached):
    if not workers[0].compile(None):
        sys.exit("mutate: what was built does not link")
    all_trials = measured_trials(workers[0]) if reached is None else [Trial(suite, 600) for suite in SUITES]
    idle, running = list(workers), {}
    with concurrent.futures.ThreadPoolExecutor(len(workers)) as pool:
        try:
            while True:
                while idle and len(running) + score.judged() < count and (mutant := next(candidates, None)) is not None:
                    worker = idle.pop()
                    trials = reached.trials_of(mutant) if reached else None
                    running[pool.submit(worker.judge, mutant, all_trials if trials is None else trials)] = (worker, mutant)
                if not running:
                    return
                done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    worker, mutant = running.pop(future)
                    idle.append(worker)
                    score.add(mutant, future.result())
        finally:
            for worker in workers:
                worker.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--count", type=int, default=200, help="how many defects that compile (200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--in", dest="places", action="append", metavar="PATH", help="only in sources whose path begins so")
    parser.add_argument("--again", type=Path, metavar="FILE", help="judge the survivors of an earlier output")
    parser.add_argument("--reached", type=Path, metavar="FILE", help="what tests/reached.py recorded")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    build, score = Build(options.build), Score()
    reached = Reached(options.reached) if options.reached else None
    for entry in outdated(score.explained):
        print(f"{EXCUSES.name} explains what is no longer there: {entry}", flush=True)
    places = tuple(options.places or FOLDERS)
    candidates = survivors_of(options.again.read_text()) if options.again else draw(options.seed, places)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    workers = []
    try:
        for _ in range(options.jobs):
            workers.append(Worker(build))
        judge_all(candidates, workers, options.count, score, reached)
        interrupted = False
    except KeyboardInterrupt:
        interrupted = True
    for worker in workers:
        worker.remove()
    print(f"{'survivors' if options.again else f'seed {options.seed}'}: {score}{', interrupted' if interrupted else ''}")
    return 1 if score.survived or interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
