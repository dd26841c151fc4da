"""The one-line defects of the library: what kinds there are, where each may stand, which are drawn, which explained."""
import dataclasses
import random
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("lib", "builder")
EXCUSES = ROOT / "tests" / "mutants.txt"


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str  # relative to the root
    line: int  # counted from 0
    before: str
    after: str
    kind: str

    def part(self):
        """What it changes: where that begins and ends in its line, and what takes its place."""
        begin = next((at for at, (a, b) in enumerate(zip(self.before, self.after)) if a != b), min(len(self.before), len(self.after)))
        tail = 0
        while tail < min(len(self.before), len(self.after)) - begin and self.before[-1 - tail] == self.after[-1 - tail]:
            tail += 1
        return begin, len(self.before) - tail, self.after[begin:len(self.after) - tail]

    def __str__(self):
        return f"{self.file}:{self.line + 1}: {self.kind}\n    - {self.before.strip()}\n    + {self.after.strip()}"


# Each kind of defect: its name, what it looks for in a line of code, and what it makes of a match.
SYMMETRIC = re.compile(r"min|max|swap|lock|equal|tie|same_\w+|is_same|are_\w+|have_\w+|common_\w+|commute|conflicts")


def swap_arguments(match):
    if SYMMETRIC.fullmatch(match["call"]):
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


def orders_only(line):
    """Whether a line says which of two comes first: what it says of equals changes nothing."""
    return re.search(r"\]\([^()]* &?(\w+), [^()]* &?(\w+)\)[^{]*\{ return .*\b\1\b.* < .*\b\2\b|\btie\(.*\) < std::tie\(", line) is not None


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
                if kind == "off by one" and orders_only(code):
                    continue
                after = code[:match.start()] + make(match) + code[match.end():]
                if after != code:
                    yield Mutant(file, number, code, after, kind)


def all_mutants():
    """Those of the whole library, in an order that depends on the sources only."""
    return [mutant for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.?pp"))
            for mutant in mutants_of(str(path.relative_to(ROOT)))]


def draw(mutants, seed):
    """All of `mutants` in random order: first the kind is drawn, so that rare kinds come as often as common ones."""
    by_kind = {}
    for mutant in mutants:
        by_kind.setdefault(mutant.kind, []).append(mutant)
    chance = random.Random(seed)
    for of_kind in by_kind.values():
        chance.shuffle(of_kind)
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
    """{(file, before, after): reason}: a block of mutants.txt is a file, lines before and after in turn, and the reason."""
    blocks = [[line for line in block.splitlines() if not line.startswith("#")] for block in EXCUSES.read_text().split("\n\n")] \
        if EXCUSES.exists() else []
    return {(file, before[2:], after[2:]): reason for file, *pairs, reason in filter(None, blocks)
            for before, after in zip(pairs[::2], pairs[1::2], strict=True)}


def outdated(explained):
    """The entries of mutants.txt whose lines are gone."""
    for file, before, _ in explained:
        lines = (ROOT / file).read_text().splitlines() if (ROOT / file).exists() else []
        if not any(line.split(" // ")[0].strip() == before for line in lines):
            yield f"{file}: {before}"
