"""The syntax tree of a PTX text."""

from __future__ import annotations

from dataclasses import dataclass, field


class Unsupported(Exception):
    """An instruction or directive that is not translated: its kernel cannot run."""


# Errors of the translator in PTX of an unknown form. Users get a message instead of Python's text.
UNKNOWN_FORM = (IndexError, AttributeError, KeyError, StopIteration, TypeError, ValueError)


@dataclass
class Location:
    file: int = 0
    line: int = 0


@dataclass
class Name:
    """A register, label, variable or function."""

    text: str


@dataclass
class Number:
    """A literal. `width` is 4 or 8 for a float given by its bits, held by `value`; else 0."""

    value: int
    width: int = 0


@dataclass
class Negated:
    operand: object


@dataclass
class Sum:
    """An address relative to a variable or a register."""

    base: object
    offset: int


@dataclass
class Memory:
    """A memory operand: [base + offset]; some instructions have further operands in the brackets."""

    operands: list


@dataclass
class Vector:
    operands: list


@dataclass
class Pair:
    """Two results: d|p."""

    first: object
    second: object


@dataclass
class Group:
    """The parameters of a call: (a, b)."""

    operands: list


@dataclass
class Instruction:
    parts: list[str]
    operands: list
    guard: tuple[str, bool] | None
    location: Location

    @property
    def name(self) -> str:
        return ".".join(self.parts)


@dataclass
class Label:
    name: str


@dataclass
class BranchTargets:
    name: str
    targets: list[str]


@dataclass
class Prototype:
    name: str
    results: int
    parameters: int


@dataclass
class Registers:
    type: str
    names: list[tuple[str, int | None]]  # with a count: name0, name1...


@dataclass
class Variable:
    space: str
    type: str
    name: str
    align: int
    count: int  # elements; 0 without a size
    scalar: bool
    initial: list = field(default_factory=list)
    managed: bool = False
    external: bool = False
    linkage: str = ""  # visible or weak: known to other files


@dataclass
class Block:
    statements: list


@dataclass
class Function:
    name: str
    is_kernel: bool
    results: list[Variable]
    parameters: list[Variable]
    body: Block | None
    attributes: dict[str, list[int]]
    location: Location
    refusal: str | None = None  # its body could not be read
    linkage: str = ""


@dataclass
class Module:
    functions: list[Function] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    files: dict[int, str] = field(default_factory=dict)
    architecture: int = 0  # such as 90


SIZES = {"pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4,
         "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "u16x2": 4, "s16x2": 4, "tf32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16}
