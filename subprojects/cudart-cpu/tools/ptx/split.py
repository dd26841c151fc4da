"""Kernels split at their meetings: each part between two meetings is a loop over threads, so no thread needs a stack.

The values that a thread keeps from one part to the next are in arrays, with an element for each thread."""

from __future__ import annotations

from dataclasses import dataclass, field

from .syntax import Location, Number, Pair

# The bytes of a thread that a meeting uses, see split.hpp.
OPERANDS = 32
TYPE_SIZES = {"bool": 1, "u8": 1, "i8": 1, "u16": 2, "i16": 2, "f16": 2, "bf16": 2, "u32": 4, "i32": 4, "f32": 4,
              "f16x2": 4, "bf16x2": 4, "u64": 8, "i64": 8, "f64": 8, "u128": 16}
# Instructions that depend on their operands only, and are no slower than a load.
CHEAP = {"mov", "add", "sub", "mul", "mad", "shl", "shr", "and", "or", "xor", "not", "neg", "abs", "min", "max", "cvt",
         "cvta", "setp", "selp", "bfe", "lop3", "mul24", "mad24", "prmt", "shf", "bfi"}
DEAR = {"div", "rem"}
# The operations of a thread that are repeated in each part instead of keeping their result.
LONGEST = 12
# A part may be copied into several loops up to this size.
GROWTH = 4


class NotSplit(Exception):
    """The kernel needs threads with stacks."""


@dataclass
class Record:
    """A statement of the body, or several."""

    kind: str  # plain, label, branch, end, point
    text: str = ""
    defs: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    guard: str = ""           # C++ of the condition
    targets: list[str] = field(default_factory=list)
    instruction: object = None
    at: Location | None = None
    point: object = None


@dataclass
class Point:
    """A meeting: the operands that it stores, and the results that it loads."""

    kind: str  # barrier, warp, pause
    call: str
    location: str = "0u"
    constants: dict[str, int] = field(default_factory=dict)
    before: str = ""
    after: str = ""
    defs: set[str] = field(default_factory=set)
    number: int = 0
    saved: list[str] = field(default_factory=list)


SLOTS = {"value": 0, "high": 4, "result": 8, "mask": 12, "first": 16, "second": 20, "flag": 26, "answer": 27}


def slot(name: str) -> str:
    type_ = "u8" if name in ("flag", "answer") else "u32"
    return f"slot<{type_}>(fr, fn, fi, {SLOTS[name]})"


class PointMaker:
    """Writes the two halves of a meeting."""

    def __init__(self, w, i) -> None:
        self.w, self.i = w, i
        self.point = Point("warp", "WarpCall::sync", w.place)

    def operand(self, name: str, operand, type_: str = "u32") -> None:
        if isinstance(operand, Number) and name in ("mask", "first", "second"):
            self.point.constants[name] = operand.value & 0xFFFFFFFF
            return
        value = self.w.value(operand, type_)
        if type_ == "u64":
            self.w.line(f"{slot('value')} = static_cast<u32>({value}); {slot('high')} = static_cast<u32>({value} >> 32);")
        else:
            self.w.line(f"{slot(name)} = {value};")

    def make(self) -> Point:
        w, i = self.w, self.i
        lines, defs = w.lines, w.defs
        w.lines, w.defs = [], set()
        try:
            after = self.operands()
            self.point.before = " ".join(w.lines)
            w.lines = []
            for to, type_, text in after:
                w.put(to, type_, text)
            self.point.after = " ".join(w.lines)
            self.point.defs = w.defs
        finally:
            w.lines, w.defs = lines, defs
        return self.point

    def results(self, to, value=True) -> list:
        if isinstance(to, Pair):
            return [(to.first, "u32", slot("result")), (to.second, "bool", f"({slot('answer')} != 0)")]
        return [(to, "u32", slot("result"))] if value else [(to, "bool", f"({slot('answer')} != 0)")]

    def operands(self) -> list:
        """Stores the operands; returns the results."""
        i, point = self.i, self.point
        name = i.parts[0]
        if name in ("bar", "barrier"):
            return self.barrier()
        if "sync" not in i.parts and name in ("shfl", "vote"):
            raise NotSplit
        if name == "shfl":
            point.call = "WarpCall::" + {"up": "shuffle_up", "down": "shuffle_down", "bfly": "shuffle_xor",
                                         "idx": "shuffle_index"}[i.parts[2]]
            for slot_name, operand in zip(("value", "first", "second", "mask"), i.operands[1:]):
                self.operand(slot_name, operand)
            return self.results(i.operands[0])
        if name == "vote":
            which = next(part for part in i.parts if part in ("all", "any", "uni", "ballot"))
            point.call = "WarpCall::" + ("vote_uniform" if which == "uni" else f"vote_{which}")
            self.w.line(f"{slot('value')} = {self.w.value(i.operands[1], 'bool')};")
            self.operand("mask", i.operands[2])
            return self.results(i.operands[0], which == "ballot")
        if name == "match":
            point.call = "WarpCall::match_any" if "any" in i.parts else "WarpCall::match_all"
            if "b64" in i.parts:
                self.operand("value", i.operands[1], "u64")
            else:
                self.operand("value", i.operands[1])
                self.w.line(f"{slot('high')} = 0;")
            self.operand("mask", i.operands[2])
            return self.results(i.operands[0])
        if name == "redux":
            operation = next(part for part in i.parts if part in ("add", "min", "max", "and", "or", "xor"))
            signed = "_signed" if "s32" in i.parts and operation in ("min", "max") else ""
            if "f32" in i.parts:
                raise NotSplit
            point.call = f"WarpCall::reduce_{operation}{signed}"
            self.operand("value", i.operands[1])
            self.operand("mask", i.operands[2])
            return self.results(i.operands[0])
        if name == "elect":
            point.call = "WarpCall::elect"
            self.operand("mask", i.operands[1])
            return self.results(i.operands[0])
        if name == "activemask":
            point.call = "WarpCall::active_mask"
            self.w.line(f"{slot('value')} = {self.w.fresh()}u; {slot('high')} = 0;")
            point.constants["mask"] = 0
            return self.results(i.operands[0])
        if name == "nanosleep":
            point.kind = "pause"
            return []
        raise NotSplit

    def barrier(self) -> list:
        i, point = self.i, self.point
        if i.parts[1] == "warp":
            self.operand("mask", i.operands[0])
            return []
        if "cluster" in i.parts:
            raise NotSplit
        point.kind = "barrier"
        reduces = "red" in i.parts
        which = ("count" if "popc" in i.parts else "all" if "and" in i.parts else "any") if reduces else \
            "arrive" if "arrive" in i.parts else "sync"
        point.call = f"BarrierCall::{which}"
        operands = i.operands[1:-1] if reduces else i.operands
        self.operand("first", operands[0])
        self.operand("second", operands[1] if len(operands) > 1 else Number(0))
        if not reduces:
            return []
        self.w.line(f"{slot('flag')} = {self.w.value(i.operands[-1], 'bool')};")
        if which == "count":
            return [(i.operands[0], "u32", slot("result"))]
        return [(i.operands[0], "bool", f"({slot('result')} != 0)")]


POINTS = {"bar", "barrier", "shfl", "vote", "match", "redux", "elect", "activemask", "nanosleep"}


class SplitKernel:
    """The parts of one kernel."""

    def __init__(self, writer, waits: bool) -> None:
        """`waits`: threads may wait for others in loops."""
        self.w = writer
        if writer.uses_carry:
            writer.registers["carry"] = "bool"
        self.records: list[Record] = writer.records
        if any(record.kind == "unsplit" for record in self.records):
            raise NotSplit
        self.points: list[Point] = []
        if waits:
            self.add_pauses()
        self.number_points()
        self.find_blocks()
        self.find_liveness()
        self.find_repeatable()
        self.choose_saved()

    # The control flow.

    def add_pauses(self) -> None:
        """Lets threads pause at the ends of loops that wait for other threads, or for time to pass."""
        records = self.records
        where = {record.text: at for at, record in enumerate(records) if record.kind == "label"}
        waiting = waiting_loops(records, where)
        out = []
        for at, record in enumerate(records):
            backward = [target for target in record.targets if record.kind == "branch" and where[target] <= at and
                        at in waiting and where[target] in waiting]
            if not backward:
                out.append(record)
                continue
            if len(record.targets) > 1:
                raise NotSplit
            over = f"L_over_{self.w.fresh()}"
            if record.guard:
                out.append(Record("branch", uses=record.uses, guard=f"!({record.guard})", targets=[over], at=record.at))
            out.append(Record("branch", guard="--t.patience != 0", targets=record.targets, at=record.at))
            out.append(Record("point", point=Point("pause", "WarpCall::sync"), at=record.at))
            out.append(Record("branch", targets=record.targets, at=record.at))
            if record.guard:
                out.append(Record("label", over))
        self.records = out

    def number_points(self) -> None:
        """Gives each point its number, and makes its results a record of their own, behind a label."""
        out = []
        for record in self.records:
            if record.kind != "point":
                out.append(record)
                continue
            point = record.point
            self.points.append(point)
            point.number = len(self.points)
            over = ""
            if record.guard:
                over = f"L_over_{self.w.fresh()}"
                out.append(Record("branch", uses=set(record.uses), guard=f"!({record.guard})", targets=[over], at=record.at))
            out.append(Record("point", point.before, uses=record.uses, point=point, at=record.at))
            out.append(Record("label", f"R_{point.number}"))
            if point.after:
                out.append(Record("plain", point.after, defs=point.defs, at=record.at))
            if over:
                out.append(Record("label", over))
        self.records = out

    def find_blocks(self) -> None:
        records = self.records
        starts = {0} | {at for at, r in enumerate(records) if r.kind == "label"}
        starts |= {at + 1 for at, r in enumerate(records) if r.kind in ("branch", "end", "point")}
        self.begins = sorted(at for at in starts if at < len(records))
        self.ends = self.begins[1:] + [len(records)]
        self.block_of_label = {}
        for number, begin in enumerate(self.begins):
            for at in range(begin, self.ends[number]):
                if records[at].kind == "label":
                    self.block_of_label[records[at].text] = number
        self.next_blocks: list[list[int]] = []
        for number, end in enumerate(self.ends):
            last = records[end - 1]
            after = []
            if last.kind == "branch":
                after += [self.block_of_label[target] for target in last.targets]
            falls = not (last.kind == "point" or (last.kind in ("branch", "end") and not last.guard))
            if falls and number + 1 < len(self.begins):
                after.append(number + 1)
            self.next_blocks.append(after)

    def find_liveness(self) -> None:
        """Computes the registers that each block reads before it writes them, and those live at its begin."""
        reads, writes = [], []
        for begin, end in zip(self.begins, self.ends):
            read: set[str] = set()
            written: set[str] = set()
            for record in self.records[begin:end]:
                read |= record.uses - written
                if not record.guard:
                    written |= record.defs
                else:
                    read |= record.defs - written
            reads.append(read)
            writes.append(written)
        live = [set(read) for read in reads]
        before: list[list[int]] = [[] for _ in live]
        for number, after in enumerate(self.next_blocks):
            for one in after:
                before[one].append(number)
        for number, end in enumerate(self.ends):  # a point continues behind it
            if self.records[end - 1].kind == "point":
                before[number + 1].append(number)
        pending = list(range(len(live)))
        while pending:
            number = pending.pop()
            for one in before[number]:
                more = (live[number] - writes[one]) - live[one]
                if more:
                    live[one] |= more
                    pending.append(one)
        self.live = live

    # Values that each part computes anew.

    def find_repeatable(self) -> None:
        definitions: dict[str, list[Record]] = {}
        for record in self.records:
            for name in record.defs:
                definitions.setdefault(name, []).append(record)
        self.repeats: dict[str, tuple[Record, int] | None] = {}
        for root in definitions:
            pending = [root]
            while pending:
                name = pending[-1]
                if name in self.repeats:
                    pending.pop()
                    continue
                made = definitions.get(name, [])
                if len(made) != 1 or not self.is_pure(made[0]):
                    self.repeats[name] = None
                    pending.pop()
                    continue
                missing = [use for use in made[0].uses if use not in self.repeats]
                if any(use in pending for use in missing):  # depends on itself
                    self.repeats[name] = None
                    pending.pop()
                    continue
                if missing:
                    pending += missing
                    continue
                pending.pop()
                self.repeats[name] = self.cost(made[0])

    @staticmethod
    def is_pure(record: Record) -> bool:
        i = record.instruction
        if record.kind != "plain" or i is None or record.guard or "_now(t)" in record.text:
            return False
        return i.parts[0] in CHEAP | DEAR or (i.parts[0] == "ld" and i.parts[1] == "param")

    def cost(self, record: Record):
        """Returns the record and the operations of a thread that it takes; None if it is better kept."""
        total = 0
        for use in record.uses:
            if self.repeats[use] is None:
                return None
            total += self.repeats[use][1]
        if total > 0:
            total += 1
            if record.instruction.parts[0] in DEAR:
                return None
        elif "t.tid" in record.text or "t.lane" in record.text or "t.warp" in record.text:
            total = 1
        return (record, total) if total <= LONGEST else None

    def choose_saved(self) -> None:
        """Gives each register that lives over a point its place in the frame."""
        needed: set[str] = set()
        for point in self.points:
            live = self.live[self.block_of_label[f"R_{point.number}"]]
            point.saved = sorted(name for name in live if self.repeats.get(name) is None and name in self.w.registers)
            needed |= set(point.saved)
        self.offsets: dict[str, int] = {}
        at = OPERANDS
        for name in sorted(needed, key=lambda name: (-TYPE_SIZES[self.w.registers[name]], name)):
            size = TYPE_SIZES[self.w.registers[name]]
            at = (at + size - 1) // size * size
            self.offsets[name] = at
            at += size
        self.arrays: list[str] = []
        for c, size, align in self.w.local_arrays:
            align = max(align, 16)
            size = (size + align - 1) // align * align
            at = (at + 15) // 16 * 16
            self.arrays.append(f"unsigned char* const {c} = fr + u64{{{at}}} * fn + u64{{{size}}} * fi;")
            at += size
        self.frame_bytes = (at + 15) // 16 * 16

    # The text.

    def reached(self, start: int) -> set[int]:
        found, pending = set(), [start]
        while pending:
            number = pending.pop()
            if number not in found:
                found.add(number)
                pending += self.next_blocks[number]
        return found

    def start_of(self, number: int) -> int:
        return 0 if number == 0 else self.block_of_label[f"R_{number}"]

    def needs(self, start: int) -> tuple[list[Record], list[str]]:
        """Returns the records that a part repeats at its begin, and the registers that it loads."""
        live = self.live[start]
        ordered: list[Record] = []
        seen: set[str] = set()
        loaded: set[str] = set()

        def visit(name: str) -> None:
            stack = [(name, False)]
            while stack:
                one, done = stack.pop()
                if done:
                    ordered.append(self.repeats[one][0])
                elif one not in seen:
                    seen.add(one)
                    if self.repeats.get(one) is None:
                        loaded.add(one)
                    else:
                        stack.append((one, True))
                        stack += [(use, False) for use in self.repeats[one][0].uses]
        for name in sorted(live):
            visit(name)
        unique = []
        for record in ordered:
            if not any(record is other for other in unique):
                unique.append(record)
        return unique, sorted(name for name in loaded if name in self.offsets)

    def place(self, name: str) -> str:
        return f"slot<{self.w.registers[name]}>(fr, fn, fi, {self.offsets[name]})"

    def loads(self, number: int) -> list[Record]:
        start = self.start_of(number)
        repeated, loaded = self.needs(start) if number else ([], [])
        records = [Record("plain", r.text, r.defs, r.uses, at=r.at) for r in repeated]
        records += [Record("plain", f"{name} = {self.place(name)};", defs={name}) for name in loaded]
        return records

    def body(self, blocks: set[int], defined: set[str] | None) -> list[Record]:
        """Returns the statements of blocks. Points save the registers in `defined`: others are saved already."""
        out = []
        for number in sorted(blocks):
            for record in self.records[self.begins[number]:self.ends[number]]:
                if record.kind == "label":
                    out.append(Record("label", f"{record.text}:;"))
                elif record.kind == "branch":
                    out.append(Record("plain", self.branch_text(record), uses=record.uses, at=record.at))
                elif record.kind == "end":
                    text = f"if ({record.guard}) {{ return split_end; }}" if record.guard else "return split_end;"
                    out.append(Record("plain", text, uses=record.uses, at=record.at))
                elif record.kind == "point":
                    saved = [name for name in record.point.saved if defined is None or name in defined]
                    text = record.text + " " + " ".join(f"{self.place(name)} = {name};" for name in saved)
                    out.append(Record("plain", f"{text} return {record.point.number};", uses=record.uses | set(saved),
                                      at=record.at))
                else:
                    out.append(record)
        out.append(Record("plain", "return split_end;"))
        return out

    @staticmethod
    def branch_text(record: Record) -> str:
        text = record.text or f"goto {record.targets[0]};"
        return f"if ({record.guard}) {{ {text} }}" if record.guard else text

    def function(self, name: str, records: list[Record], parameters: str) -> str:
        registers = self.w.registers
        used: set[str] = set()
        for record in records:
            used |= record.defs | record.uses
        by_type: dict[str, list[str]] = {}
        for one in sorted(used & set(registers)):
            by_type.setdefault(registers[one], []).append(one)
        lines = [f"__attribute__((always_inline)) inline u32 {name}({parameters}) {{"]
        lines += [f"{type_} " + ", ".join(f"{one}{{}}" for one in names) + ";" for type_, names in by_type.items()]
        lines += self.arrays
        marked = (0, 0)
        joined: list[str] = []
        for record in records:
            at = record.at
            if at is not None and at.line and (at.file, at.line) != marked:
                marked = (at.file, at.line)
                joined.append(f"#line {at.line} {self.w.module.file_text(at.file)}")
                joined.append(record.text)
            elif joined and not joined[-1].startswith("#line"):
                joined[-1] += " " + record.text
            else:
                joined.append(record.text)
        return "\n".join(lines + joined + ["}"])

    def text(self, name: str, step: str) -> str:
        """Returns the functions of all parts, and `step`, which runs one of them for some threads."""
        sizes = []
        parts = range(len(self.points) + 1)
        reached = [self.reached(self.start_of(number)) for number in parts]
        for blocks in reached:
            sizes.append(sum(self.ends[one] - self.begins[one] for one in blocks))
        functions, cases = [], []
        fixed = "Unchecked& t, unsigned char* const fr, const u64 fn, const u64 fi"
        if sum(sizes) <= GROWTH * len(self.records) + 400:
            for number, blocks in zip(parts, reached):
                defined: set[str] = set()
                exits: set[int] = set()
                for one in blocks:
                    for record in self.records[self.begins[one]:self.ends[one]]:
                        defined |= record.defs
                        if record.kind == "point":
                            exits.add(record.point.number)
                        elif record.kind == "end":
                            exits.add(0xFFFF)
                    if self.ends[one] == len(self.records) and self.records[-1].kind not in ("point", "end", "branch"):
                        exits.add(0xFFFF)
                start = self.start_of(number)
                records = self.loads(number)
                if start != min(blocks):
                    records.append(Record("plain", f"goto R_{number};"))
                records += self.body(blocks, defined if number else None)
                functions.append(self.function(f"{name}_{number}", records, fixed))
                run = f"[&](Unchecked& t, u64 fi) __attribute__((always_inline)) {{ return {name}_{number}(t, fr, fn, fi); }}"
                loop = "same_threads" if len(exits) == 1 else "each_thread"
                cases.append(f"case {number}: return {loop}(own, begin, end, next, {run});")
        else:
            blocks = set().union(*reached)
            records = [Record("plain", "switch (state) {")]
            for number in parts:
                if number:
                    records.append(Record("plain", f"case {number}:"))
                    records += self.loads(number)
                    records.append(Record("plain", f"goto R_{number};"))
            records.append(Record("plain", "default: break; }"))
            records += self.body(blocks, None)
            functions.append(self.function(name, records, "const u32 state, " + fixed))
            cases.append(f"default: return each_thread(own, begin, end, next, [&](Unchecked& t, u64 fi) "
                         f"__attribute__((always_inline)) {{ return {name}(state, t, fr, fn, fi); }});")
        if not cases[0].startswith("default"):
            cases.append("default: __builtin_unreachable();")
        functions.append(f"u32 {step}(Block& block, u32 state, u32 begin, u32 end) {{ Block own = block; "
                         f"unsigned char* const fr = block.frame; const u64 fn = block.frame_threads; "
                         f"u16* const next = &slot<u16>(fr, fn, 0, 24); switch (state) {{\n" + "\n".join(cases) + " } }")
        return "\n".join(functions)

    def table(self) -> str:
        rows = ["{}"]
        for point in self.points:
            constants = point.constants
            known = sum(bit for bit, one in ((1, "mask"), (2, "first"), (4, "second")) if one in constants)
            call = point.call
            known += 0 if slot("answer") in point.after else 8
            rows.append(f"{{SplitKind::{point.kind}, static_cast<u8>({call}), {known}, {point.location}, "
                        f"{constants.get('mask', 0)}u, {constants.get('first', 0)}u, {constants.get('second', 0)}u}}")
        return ", ".join(rows)


def waiting_loops(records: list[Record], where: dict[str, int]) -> set[int]:
    """Returns the records in loops whose branches depend on what other threads or the clock do."""
    loops = loops_of(records, where)
    found: set[int] = set()
    for loop in loops:
        sources = [records[at] for at in loop if is_source(records[at])]
        if not sources:
            continue
        tainted: set[str] = set().union(*(record.defs for record in sources))
        spilled = {name for at in loop if loads_stack(records[at]) for name in records[at].defs}
        tainted |= spilled
        changed = True
        while changed:
            changed = False
            for at in loop:
                record = records[at]
                if record.defs and record.uses & tainted and not record.defs <= tainted:
                    tainted |= record.defs
                    changed = True
        if any(records[at].kind == "branch" and (records[at].uses & tainted) for at in loop):
            found |= loop
    return found


def is_source(record: Record) -> bool:
    text = record.text
    return "load_strong" in text or "= atom_" in text or ", atom_" in text or "_now(t)" in text or \
        (record.kind == "point" and record.point.kind == "pause")


def loads_stack(record: Record) -> bool:
    i = record.instruction
    return i is not None and i.parts[0] == "ld" and "local" in i.parts


def loops_of(records: list[Record], where: dict[str, int]) -> list[set[int]]:
    """Returns the strongly connected records."""
    def after(at: int) -> list[int]:
        record = records[at]
        found = [where[target] for target in record.targets] if record.kind == "branch" else []
        if at + 1 < len(records) and not (record.kind in ("branch", "end") and not record.guard):
            found.append(at + 1)
        return found
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found = []
    for root in range(len(records)):
        if root in order:
            continue
        work = [(root, iter(after(root)))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            at, rest = work[-1]
            for one in rest:
                if one not in order:
                    order[one] = low[one] = len(order)
                    stack.append(one)
                    on_stack.add(one)
                    work.append((one, iter(after(one))))
                    break
                if one in on_stack:
                    low[at] = min(low[at], order[one])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == order[at]:
                    loop = set()
                    while True:
                        one = stack.pop()
                        on_stack.discard(one)
                        loop.add(one)
                        if one == at:
                            break
                    if len(loop) > 1 or at in after(at):
                        found.append(loop)
    return found
