#!/usr/bin/env python3
"""Plants one-line defects in lib/ and builder/ at random, and tells which ones the tests do not notice.

    tests/mutate.py --build BUILD [--count 200] [--seed 1] [--jobs 2]

BUILD is a complete build for the CPU runtime; `meson setup BUILD -Dcuda-runtime=cpu -Doptimization=0` makes one that
compiles quickly. It is not written to: a defect goes into a copy of the sources, of which only what it touches is
compiled, and the tests run with the library that comes out. Prints a score, and each defect that passed; exits with 1 if
one passed that tests/mutants.txt does not explain.
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
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("lib", "builder")
EXCUSES = ROOT / "tests" / "mutants.txt"
# What can notice, the quickest first: executable, arguments, environment.
SUITES = (
    ("tests/unit/unit_tests", ["--abort"], {}),
    ("tests/graph/graph_tests", ["--abort"], {}),
    ("tests/graph/graph_tests", ["--abort", "[device]"], {"CUDART_CPU_DEVICES": "2"}),
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


def mutants_of(file):
    """Every defect that can be planted in a file of the library."""
    for number, line in enumerate((ROOT / file).read_text().splitlines()):
        if not is_code(line):
            continue
        code = line.split(" // ")[0].rstrip()
        for kind, pattern, make in KINDS:
            for match in re.finditer(pattern, code):
                if kind != "dropped call" and code[:match.start()].count('"') % 2:
                    continue  # inside a text
                after = code[:match.start()] + make(match) + code[match.end():]
                if after != code:
                    yield Mutant(file, number, code, after, kind)


def draw(seed):
    """All defects in random order: first the kind is drawn, so that rare kinds come as often as common ones."""
    by_kind = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.?pp")):
            for mutant in mutants_of(str(path.relative_to(ROOT))):
                by_kind.setdefault(mutant.kind, []).append(mutant)
    chance = random.Random(seed)
    for mutants in by_kind.values():
        chance.shuffle(mutants)
    while by_kind:
        kind = chance.choice(sorted(by_kind))
        yield by_kind[kind].pop()
        if not by_kind[kind]:
            del by_kind[kind]


def excuses():
    """{(file, before, after): reason}: the entries of mutants.txt are blocks of four lines, the reason last."""
    blocks = [[line for line in block.splitlines() if not line.startswith("#")] for block in EXCUSES.read_text().split("\n\n")] \
        if EXCUSES.exists() else []
    return {(file, before[2:], after[2:]): reason for file, before, after, reason in (block for block in blocks if block)}


class Build:
    """A complete build, of which a worker compiles the part that a defect touches."""

    def __init__(self, folder):
        self.folder = folder.resolve()
        self.library = next(path.name for path in self.folder.glob("libcudag.so.*") if path.is_file() and not path.is_symlink()
                            and path.suffix != ".symbols")
        self.commands = {}
        for entry in json.loads((self.folder / "compile_commands.json").read_text()):
            source = (Path(entry["directory"]) / entry["file"]).resolve()
            if any(source.is_relative_to(ROOT / part) for part in FOLDERS) and f"{self.library}.p/" in entry["output"]:
                # The precompiled header has the headers as they are here, not the copies that get the defects.
                command = re.sub(r" -include lib_pch\.hpp\b", "", entry["command"])
                self.commands[str(source.relative_to(ROOT))] = (command, entry["output"])
        if not self.commands:
            sys.exit(f"mutate: {folder} is no complete build of this source tree")
        self.users = self.users_of_headers()
        self.link = self.ninja("commands", "-s", self.library).splitlines()[-1].split(" && ")[0]

    def ninja(self, *query):
        return subprocess.run(["ninja", "-C", self.folder, "-t", *query], check=True, stdout=subprocess.PIPE, text=True).stdout

    def users_of_headers(self):
        """{header: sources of the library that include it}, from what the compiler told Ninja."""
        users, by_output = {}, {output: source for source, (_, output) in self.commands.items()}
        for block in self.ninja("deps").split("\n\n"):
            target, *needs = block.strip().splitlines() or [""]
            source = by_output.get(target.split(":")[0])
            for need in needs if source else []:
                path = (self.folder / need.strip()).resolve()
                if path.is_relative_to(ROOT):
                    users.setdefault(str(path.relative_to(ROOT)), []).append(source)
        return users


class Worker:
    """A copy of the sources beside an empty build folder, so that the build's own commands compile it."""

    def __init__(self, build):
        self.build = build
        self.root = Path(tempfile.mkdtemp(prefix="mutate-"))
        for part in (*FOLDERS, "include", "subprojects"):
            shutil.copytree(ROOT / part, self.root / part, symlinks=True)
        relative = build.folder.relative_to(ROOT) if build.folder.is_relative_to(ROOT) else Path("build")
        self.folder = self.root / relative
        (self.folder / f"{build.library}.p").mkdir(parents=True)
        for generated in build.folder.glob("include/**/*.hpp"):
            copy = self.folder / generated.relative_to(build.folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(generated, copy)
        self.libraries = self.root / "libraries"
        self.libraries.mkdir()

    def run(self, command, **more):
        return subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", **more)

    def compile(self, file):
        """Compiles what the defect touches and links it with the rest; False if it is no C++."""
        outputs = {}
        for source in [file] if file in self.build.commands else self.build.users.get(file, []):
            command, output = self.build.commands[source]
            if self.run(f"{command} -w", shell=True).returncode != 0:
                return False
            outputs[output] = self.folder / output
        words = []
        for word in shlex.split(self.build.link):
            if word in outputs:
                word = str(outputs[word])
            elif word == self.build.library:
                word = str(self.libraries / "libcudag.so.0")
            words.append(word)
        linked = subprocess.run(words, cwd=self.build.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return linked.returncode == 0

    def noticed_by(self, limit):
        """The suite that fails, or takes longer than `limit` seconds, or None."""
        for program, arguments, environment in SUITES:
            test = self.build.folder / program
            try:
                done = subprocess.run([test, *arguments], cwd=test.parent, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, timeout=limit,
                                      env={**os.environ, **environment, "LD_LIBRARY_PATH": str(self.libraries)})
            except subprocess.TimeoutExpired:
                return f"{program} (hangs)"
            if done.returncode != 0:
                return program
        return None

    def judge(self, mutant, limit):
        path = self.root / mutant.file
        original = path.read_text()
        lines = original.splitlines()
        lines[mutant.line] = mutant.after
        path.write_text("\n".join(lines) + "\n")
        try:
            return self.noticed_by(limit) or "survived" if self.compile(mutant.file) else "no C++"
        finally:
            path.write_text(original)

    def remove(self):
        shutil.rmtree(self.root)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--count", type=int, default=200, help="how many defects that compile (200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    build, explained = Build(options.build), excuses()
    workers = [Worker(build) for _ in range(options.jobs)]
    idle, candidates = list(workers), draw(options.seed)
    noticed, survivors, excused = 0, [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        started = time.monotonic()
        if workers[0].noticed_by(600):
            sys.exit("mutate: the tests fail without a defect")
        limit = 20 + 4 * (time.monotonic() - started)
        running = {}
        while running or noticed + len(survivors) + len(excused) < options.count:
            while idle and len(running) + noticed + len(survivors) + len(excused) < options.count:
                mutant = next(candidates, None)
                if mutant is None:
                    break
                worker = idle.pop()
                running[pool.submit(worker.judge, mutant, limit)] = (worker, mutant)
            if not running:
                break
            done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                worker, mutant = running.pop(future)
                idle.append(worker)
                verdict = future.result()
                if verdict == "no C++":
                    continue
                if verdict != "survived":
                    noticed += 1
                elif (mutant.file, mutant.before.strip(), mutant.after.strip()) in explained:
                    excused.append(mutant)
                else:
                    survivors.append(mutant)
                    print(f"survived: {mutant}", flush=True)
    for worker in workers:
        worker.remove()
    total = noticed + len(survivors)
    print(f"seed {options.seed}: {noticed} of {total} noticed ({100 * noticed / max(total, 1):.1f} %), {len(excused)} explained in "
          f"{EXCUSES.name}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
