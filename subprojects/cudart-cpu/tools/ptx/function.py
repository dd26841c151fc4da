"""The writer of one function's body."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from .instructions import HANDLERS
from .split import POINTS, NotSplit, PointMaker, Record
from .syntax import (SIZES, Block, BranchTargets, Function, Instruction, Label, Memory, Name, Negated, Number, Pair,
                     Prototype, Registers, Sum, UNKNOWN_FORM, Unsupported, Variable)

C_TYPES = {"pred": "bool", "b8": "u8", "u8": "u8", "s8": "i8", "b16": "u16", "u16": "u16", "s16": "i16", "f16": "f16",
           "bf16": "bf16", "b32": "u32", "u32": "u32", "s32": "i32", "f32": "f32", "f16x2": "f16x2",
           "bf16x2": "bf16x2", "tf32": "u32", "b64": "u64", "u64": "u64", "s64": "i64", "f64": "f64", "b128": "u128"}

SPECIAL = {
    "%laneid": "t.lane", "%warpid": "t.warp", "%smid": "0u", "%nsmid": "t.block->multiprocessors",
    "%nwarpid": "((t.block->ntid.x * t.block->ntid.y * t.block->ntid.z + 31) / 32)",
    "%gridid": "t.block->grid_id",
    "%lanemask_eq": "(1u << t.lane)", "%lanemask_lt": "((1u << t.lane) - 1)", "%lanemask_le": "((2u << t.lane) - 1)",
    "%lanemask_gt": "(~((2u << t.lane) - 1))", "%lanemask_ge": "(~((1u << t.lane) - 1))",
    "%clock": "static_cast<u32>(clock_now(t))", "%clock_hi": "static_cast<u32>(clock_now(t) >> 32)",
    "%clock64": "clock_now(t)", "%globaltimer": "timer_now(t)",
    "%globaltimer_lo": "static_cast<u32>(timer_now(t))",
    "%globaltimer_hi": "static_cast<u32>(timer_now(t) >> 32)",
    "%dynamic_smem_size": "t.block->dynamic_shared", "%total_smem_size": "t.block->total_shared",
    "%aggr_smem_size": "t.block->total_shared",
    "%envreg1": "static_cast<u32>(t.block->grid_workspace >> 32)",
    "%envreg2": "static_cast<u32>(t.block->grid_workspace)",
    "%current_graph_exec": "cudaGetCurrentGraphExec()",
    "%is_explicit_cluster": "(t.block->cluster.x * t.block->cluster.y * t.block->cluster.z > 1)",
    "%cluster_ctarank": "cluster_rank(*t.block)",
    "%cluster_nctarank": "(t.block->cluster.x * t.block->cluster.y * t.block->cluster.z)",
    "WARP_SZ": "32u",
}
for _axis in "xyz":
    SPECIAL |= {
        f"%tid.{_axis}": f"t.tid.{_axis}", f"%ntid.{_axis}": f"t.block->ntid.{_axis}",
        f"%ctaid.{_axis}": f"t.block->ctaid.{_axis}", f"%nctaid.{_axis}": f"t.block->nctaid.{_axis}",
        f"%cluster_ctaid.{_axis}": f"(t.block->ctaid.{_axis} % t.block->cluster.{_axis})",
        f"%cluster_nctaid.{_axis}": f"t.block->cluster.{_axis}",
        f"%clusterid.{_axis}": f"(t.block->ctaid.{_axis} / t.block->cluster.{_axis})",
        f"%nclusterid.{_axis}": f"(t.block->nctaid.{_axis} / t.block->cluster.{_axis})",
    }


def c_name(prefix: str, name: str) -> str:
    return prefix + "_" + re.sub(r"\W", "_", name.replace("%", "").replace("$", "S"))


def walk(statements: list):
    for statement in statements:
        if isinstance(statement, Block):
            yield from walk(statement.statements)
        else:
            yield statement


def names_in(operands: list):
    for operand in operands:
        if isinstance(operand, Name):
            yield operand.text
        elif isinstance(operand, Negated):
            yield from names_in([operand.operand])
        elif isinstance(operand, Sum):
            yield from names_in([operand.base])
        elif isinstance(operand, Pair):
            yield from names_in([operand.first, operand.second])
        elif hasattr(operand, "operands"):
            yield from names_in(operand.operands)


FLOAT_OPERATIONS = {"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2", "abs",
                    "neg", "min", "max", "selp", "setp", "ld", "st", "mov", "tanh"}


def float_registers(body: Block) -> dict[str, str]:
    """Returns the registers used mostly as floats but declared as bits: newer compilers declare only the width."""
    votes: Counter = Counter()
    for statement in walk(body.statements):
        if not isinstance(statement, Instruction):
            continue
        kind = statement.parts[-1]
        floats = kind in ("f32", "f64") and statement.parts[0] in FLOAT_OPERATIONS
        for operand in statement.operands:
            if isinstance(operand, Memory):
                continue
            for name in names_in([operand]):
                votes[name] += 1 if floats else -1
    return {name for name, count in votes.items() if count > 0}


@dataclass
class Place:
    """The meaning of a name."""

    kind: str  # register, array, parameter (of a kernel), shared
    c: str
    type: str = ""
    offset: int = 0


class FunctionWriter:
    """The C++ of one function; `module` has the variables, functions and places of shared variables."""

    def __init__(self, module, function: Function) -> None:
        self.module = module
        self.function = function
        self.lines: list[str] = []
        self.registers: dict[str, str] = {}  # C++ name: type
        self.scopes: list[dict] = []
        self.instruction: Instruction | None = None
        self.meets = False  # whether the function's threads wait for each other
        self.spins = False  # whether it has instructions that spinning loops use
        self.calls: set[str] = set()
        self.calls_unknown = False
        self.calls_other_files = False
        self.refusal: str | None = function.refusal
        self.back_edges = False
        self.local_bytes = 0
        self.grows = False  # whether it takes more stack while it runs
        self.labels_seen: set[str] = set()
        self.unique = 0
        self.floats = float_registers(function.body)
        self.uses_carry = False
        self.marked = (0, 0)
        # For kernels whose threads meet: the statements with the registers that they read and write.
        self.records: list[Record] = []
        self.uses: set[str] = set()
        self.defs: set[str] = set()
        self.local_arrays: list[tuple[str, int, int]] = []  # name, bytes, alignment
        self.depth = 0

    # Names.

    def fresh(self) -> int:
        self.unique += 1
        return self.unique

    def find(self, name: str):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
            match = re.fullmatch(r"(.*?)(\d+)", name)
            if match:
                for ranges in scope.get("<ranges>", ()):
                    if name.startswith(ranges[0]) and name[len(ranges[0]):].isdigit() and \
                            int(name[len(ranges[0]):]) < ranges[1]:
                        return self.declare(scope, name, ranges[2])
        return None

    def declare(self, scope: dict, name: str, kind: str) -> Place:
        c = c_name("v", name)
        if c in self.registers:
            c += f"_{self.fresh()}"
        type_ = C_TYPES[kind]
        if name in self.floats and kind in ("b32", "b64"):
            type_ = "f32" if kind == "b32" else "f64"
        self.registers[c] = type_
        scope[name] = Place("register", c, type_)
        return scope[name]

    # Operands.

    def literal(self, number: Number, type_: str) -> str:
        value = number.value
        if type_ == "bool":
            return "true" if value else "false"
        if type_ in ("f32", "f64"):
            if number.width == 0:
                value &= (1 << (32 if type_ == "f32" else 64)) - 1
            elif number.width == 8 and type_ == "f32":
                return f"static_cast<f32>(__builtin_bit_cast(f64, 0x{value:x}ull))"
            return f"__builtin_bit_cast({type_}, {hex(value)}{'u' if type_ == 'f32' else 'ull'})"
        if type_ in ("f16", "bf16"):
            return f"{type_}{{{value & 0xFFFF}}}"
        if type_ in ("f16x2", "bf16x2"):
            return f"as<{type_}>(0x{value & 0xFFFFFFFF:x}u)"
        size = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "u32": 4, "i32": 4, "u64": 8, "i64": 8, "u128": 8}[type_]
        return f"static_cast<{type_}>(0x{value & ((1 << 8 * size) - 1):x}{'u' if size <= 4 else 'ull'})"

    def symbol(self, name: str) -> str | None:
        """Returns the address of a variable or function within its own space."""
        place = self.find(name)
        if place is not None:
            if place.kind == "array":
                return f"address({place.c})"
            if place.kind == "parameter":
                return f"(address(t.block->params) + {place.offset})"
            return None
        return self.module.symbol(self, name)

    def value(self, operand, type_: str) -> str:
        if isinstance(operand, Number):
            return self.literal(operand, type_)
        if isinstance(operand, Negated):
            return f"(!{self.value(operand.operand, 'bool')})"
        if isinstance(operand, Sum):
            return f"as<{type_}>({self.value(operand.base, 'u64')} + static_cast<u64>({operand.offset}ll))"
        if isinstance(operand, Name):
            place = self.find(operand.text)
            if place is not None and place.kind == "register":
                self.uses.add(place.c)
                return place.c if place.type == type_ else f"as<{type_}>({place.c})"
            special = SPECIAL.get(operand.text)
            if special is not None:
                self.spins = self.spins or "_now(t)" in special
                return f"as<{type_}>({special})"
            symbol = self.symbol(operand.text)
            if symbol is not None:
                return f"as<{type_}>({symbol})"
            if operand.text.startswith("%"):
                raise Unsupported(f"{operand.text} in {self.instruction.name if self.instruction else ''}")
            raise Unsupported(f"the name {operand.text}")
        raise Unsupported(f"an operand of {self.instruction.name}")

    def put(self, operand, type_: str, expression: str) -> None:
        if isinstance(operand, Name) and operand.text == "_":
            self.line(f"static_cast<void>({expression});")
            return
        if not isinstance(operand, Name):
            raise Unsupported(f"a result of {self.instruction.name}")
        place = self.find(operand.text)
        if place is None or place.kind != "register":
            raise Unsupported(f"the result {operand.text}")
        self.defs.add(place.c)
        if place.type == type_:
            self.line(f"{place.c} = {expression};")
        else:
            self.line(f"put<{place.type}, {type_}>({place.c}, {expression});")

    def address(self, operand, space: str) -> str:
        """Returns the host's address of a memory operand."""
        memory = operand.operands[0] if isinstance(operand, Memory) else operand
        base, offset = (memory.base, memory.offset) if isinstance(memory, Sum) else (memory, 0)
        plus = f" + static_cast<u64>({offset}ll)" if offset else ""
        if space == "param" or space.startswith("param::"):
            symbol = self.symbol(base.text) if isinstance(base, Name) else None
            return f"({symbol or self.value(base, 'u64')}{plus})"
        if space == "shared::cluster":
            return f"cluster_shared(t, {self.value(base, 'u64')}{plus})"
        if space.startswith("shared"):
            return f"(address(t.block->shared) + {self.value(base, 'u64')}{plus})"
        return f"({self.value(base, 'u64')}{plus})"

    def checked(self, address: str, size: int | str, access: str, space: str) -> str:
        """Returns the address, checked if the runtime checks accesses."""
        if space.startswith("param"):
            return address
        order = 0 if space in ("local", "const") else self.module.next_order()
        return f"checked(t, {address}, {size}, Access::{access}, {self.place}, {order})"

    # Statements.

    def line(self, text: str) -> None:
        self.lines.append(text)

    @property
    def place(self) -> str:
        at = self.instruction.location
        return f"location({at.file}, {at.line})"

    def label(self, name: str) -> str:
        for scope in reversed(self.scopes):
            if ("label", name) in scope:
                return scope["label", name]
        raise Unsupported(f"the label {name}")

    def goto(self, name: str) -> str:
        c = self.label(name)
        if c in self.labels_seen:
            self.back_edges = True
        return f"goto {c};"

    def special_table(self, kind: str, name: str):
        for scope in reversed(self.scopes):
            if (kind, name) in scope:
                return scope[kind, name]
        return None

    def open_scope(self, block: Block) -> dict:
        scope: dict = {}
        for statement in block.statements:
            if isinstance(statement, Label):
                scope["label", statement.name] = c_name("L", statement.name) + f"_{self.fresh()}"
            elif isinstance(statement, BranchTargets):
                scope["targets", statement.name] = statement.targets
            elif isinstance(statement, Prototype):
                scope["prototype", statement.name] = statement
        self.scopes.append(scope)
        return scope

    def array(self, scope: dict, variable: Variable) -> None:
        size = max(1, SIZES[variable.type] * variable.count)
        c = c_name("a", variable.name) + f"_{self.fresh()}"
        scope[variable.name] = Place("array", c)
        if variable.space == "local":
            self.local_bytes += size
        declaration = f"alignas({max(variable.align, 8)}) unsigned char {c}[{size}];"
        self.line(declaration)
        if self.depth > 0 and variable.space == "param":
            self.records.append(Record("array", declaration))
        else:
            self.local_arrays.append((c, size, variable.align))

    def statements(self, block: Block) -> None:
        scope = self.scopes[-1]
        for statement in block.statements:
            if isinstance(statement, Registers):
                for name, count in statement.names:
                    if count is None:
                        self.declare(scope, name, statement.type)
                    else:
                        scope.setdefault("<ranges>", []).append((name, count, statement.type))
            elif isinstance(statement, Variable):
                if statement.space in ("local", "param"):
                    self.array(scope, statement)
                elif statement.space in ("global", "const"):
                    self.module.function_variable(self.function, statement)
            elif isinstance(statement, Block):
                self.line("{")
                self.open_scope(statement)
                begin = len(self.records)
                self.depth += 1
                self.statements(statement)
                self.depth -= 1
                self.scopes.pop()
                self.line("}")
                self.join_records(begin)
            elif isinstance(statement, Label):
                c = scope["label", statement.name]
                self.labels_seen.add(c)
                self.line(f"{c}:;")
                self.records.append(Record("label", c))
            elif isinstance(statement, Instruction):
                self.write(statement)

    def mark_line(self, at) -> None:
        """Maps the code to the .cu file, for debuggers and sanitizers."""
        if at.line and (at.file, at.line) != self.marked:
            self.marked = (at.file, at.line)
            self.lines.append(f"#line {at.line} {self.module.file_text(at.file)}")

    def write(self, instruction: Instruction) -> None:
        self.instruction = instruction
        self.mark_line(instruction.location)
        handler = HANDLERS.get(instruction.parts[0])
        begin = len(self.lines)
        self.uses, self.defs = set(), set()
        guard = ""
        try:
            if handler is None:
                raise Unsupported(instruction.name)
            if instruction.guard:
                name, negated = instruction.guard
                guard = f"{'!' if negated else ''}{self.value(Name(name), 'bool')}"
                self.line(f"if ({guard}) {{")
            met, self.meets = self.meets, False
            handler(self, instruction)
            if instruction.guard:
                self.line("}")
            self.record(instruction, guard, begin)
            self.meets = self.meets or met
        except Unsupported as reason:
            if self.refusal is None:
                at = instruction.location
                file = self.module.syntax.files.get(at.file, "?")
                self.refusal = f"{reason} at {file}:{at.line} has no translation"
        except UNKNOWN_FORM:
            if self.refusal is None:
                at = instruction.location
                file = self.module.syntax.files.get(at.file, "?")
                self.refusal = f"{instruction.name} with these operands at {file}:{at.line} has no translation"

    def record(self, instruction: Instruction, guard: str, begin: int) -> None:
        """Notes the instruction's lines, for the kernel's split form."""
        lines = self.lines[begin:]
        record = Record("plain", " ".join(lines), self.defs, self.uses, guard, [], instruction, instruction.location)
        name = instruction.parts[0]
        if name in ("bra", "brx"):
            record.kind = "branch"
            if name == "bra":
                record.text, record.targets = "", [self.label(instruction.operands[0].text)]
            else:
                if guard:
                    record.text = " ".join(lines[1:-1])
                targets = self.special_table("targets", instruction.operands[1].text)
                record.targets = [self.label(target) for target in targets]
        elif name == "ret" or (name == "exit" and self.function.is_kernel):
            record.kind = "end"
        elif name in POINTS and self.function.is_kernel:
            record.kind = "point"
            try:
                record.point = PointMaker(self, instruction).make()
            except NotSplit:
                record.kind = "unsplit"
        elif self.meets or (name == "isspacep" and "local" in instruction.parts):
            record.kind = "unsplit"
        if self.uses_carry and "carry" in record.text:
            record.defs.add("carry")
            record.uses.add("carry")
        self.records.append(record)

    def join_records(self, begin: int) -> None:
        """Makes one record of a block with arrays, which are parameters of a call."""
        records = self.records[begin:]
        if not any(record.kind == "array" for record in records):
            return
        kind = "plain" if all(record.kind in ("array", "plain") for record in records) else "unsplit"
        at = next((record.at for record in records if record.at is not None), None)
        joined = Record(kind, "{ " + " ".join(record.text for record in records) + " }", at=at)
        for record in records:
            joined.defs |= record.defs
            joined.uses |= record.uses
            joined.guard = joined.guard or record.guard
        self.records[begin:] = [joined]

    def run(self) -> None:
        scope: dict = {}
        self.scopes.append(scope)
        offset = 0
        for index, parameter in enumerate(self.function.results + self.function.parameters):
            size = SIZES[parameter.type] * parameter.count
            if self.function.is_kernel:
                offset = (offset + parameter.align - 1) // parameter.align * parameter.align
                scope[parameter.name] = Place("parameter", "", offset=offset)
                offset += size
            else:
                scope[parameter.name] = Place("array", f"p{index}")
        self.open_scope(self.function.body)
        self.statements(self.function.body)

    def text(self, head: str, first: str = "") -> str:
        by_type: dict[str, list[str]] = {}
        for c, type_ in self.registers.items():
            by_type.setdefault(type_, []).append(c)
        lines = [head + " {", first]
        for type_, names in by_type.items():
            lines.append(f"{type_} " + ", ".join(f"{name}{{}}" for name in names) + ";")
        if self.uses_carry:
            lines.append("bool carry = false;")
        return "\n".join(lines + self.physical_lines() + ["}"])

    def physical_lines(self) -> list[str]:
        """Joins the statements after each #line: a second line of them would count as the next line of the .cu file."""
        joined: list[str] = []
        for line in self.lines:
            if line.startswith("#line") or not joined or joined[-1].startswith("#line"):
                joined.append(line)
            else:
                joined[-1] += " " + line
        return joined
