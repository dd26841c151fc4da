"""A parser: reads PTX text into a Module."""

from __future__ import annotations

import os.path
import re

from .lexer import tokens
from .syntax import (SIZES, Block, BranchTargets, Function, Group, Instruction, Label, Location, Memory, Module, Name,
                     Negated, Number, Pair, Prototype, Registers, Sum, UNKNOWN_FORM, Unsupported, Variable, Vector)

LINKAGE = {".visible", ".extern", ".weak", ".common"}


def linkage_of(words: set[str]) -> str:
    """Returns "visible" or "weak" for what other files see, else an empty text."""
    return "weak" if words & {".weak", ".common"} else "visible" if ".visible" in words else ""

SPACES = {".global": "global", ".const": "const", ".shared": "shared", ".local": "local", ".param": "param"}


class Parser:
    def __init__(self, text: str) -> None:
        self.tokens = tokens(text)
        self.at = 0
        self.module = Module()
        self.location = Location()

    # Tokens.

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at][1] if at < len(self.tokens) else ""

    def kind(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at][0] if at < len(self.tokens) else "end"

    def take(self) -> str:
        text = self.peek()
        self.at += 1
        return text

    def expect(self, text: str) -> None:
        got = self.take()
        if got != text:
            raise SyntaxError(f"PTX: expected {text!r}, found {got!r} near {[t for _, t in self.tokens[self.at-6:self.at+6]]}")

    def accept(self, text: str) -> bool:
        if self.peek() == text:
            self.at += 1
            return True
        return False

    def number(self) -> int:
        sign = -1 if self.accept("-") else 1
        return sign * int(self.take().rstrip("U"), 0)

    # Modules.

    def parse(self) -> Module:
        while self.at < len(self.tokens):
            self.top_level()
        return self.module

    def top_level(self) -> None:
        if self.kind() == "line":
            self.line(self.take())
        elif self.peek() == ".section":
            self.skip_section()
        elif self.peek() == ".alias":
            self.take()
            name = self.take()
            self.expect(",")
            self.module.aliases[name] = self.take()
            self.expect(";")
        elif self.peek() == ".pragma":
            self.skip_statement()
        elif self.accept(";"):
            pass
        else:
            linkage = set()
            while self.peek() in LINKAGE:
                linkage.add(self.take())
            if self.peek() in (".entry", ".func"):
                self.function(linkage)
            else:
                self.module.variables += self.variables(".extern" in linkage, linkage)

    def line(self, text: str) -> None:
        words = text.replace(",", " ").split()
        if words[0] == ".target":
            self.module.architecture = int(re.match(r"sm_(\d+)", words[1]).group(1))
        if words[0] == ".file":
            name = re.search(r'"((?:[^"\\]|\\.)*)"', text)
            self.module.files[int(words[1])] = os.path.normpath(name.group(1)) if name else "?"
        elif words[0] == ".loc":
            file, line = int(words[1]), int(words[2])
            if "inlined_at" in words:  # a line of the user's file is more useful than one of a header
                at = words.index("inlined_at")
                file, line = int(words[at + 1]), int(words[at + 2])
            self.location = Location(file, line)

    def skip_section(self) -> None:
        while self.peek() != "{":
            self.take()
        depth = 0
        while True:
            text = self.take()
            depth += {"{": 1, "}": -1}.get(text, 0)
            if depth == 0:
                return

    def skip_statement(self) -> None:
        while self.take() != ";":
            pass

    # Declarations.

    def variables(self, external: bool = False, linkage: set[str] = frozenset()) -> list[Variable]:
        space = SPACES[self.take()]
        found = [self.declared(space, external)]
        while self.accept(","):
            first = found[0]
            found.append(self.declared(space, external, first.type, first.align))
        self.expect(";")
        for variable in found:
            variable.linkage = linkage_of(linkage)
        return found

    def declared(self, space: str, external: bool, kind: str = "", align: int = 0) -> Variable:
        managed = False
        elements = 1
        while self.kind() == "directive":
            word = self.take()
            if word == ".align":
                align = self.number()
            elif word == ".attribute":
                self.expect("(")
                while not self.accept(")"):
                    managed |= self.take() == ".managed"
            elif word == ".ptr":
                while self.kind() == "directive" and self.peek() in (".global", ".const", ".shared", ".local", ".align"):
                    if self.take() == ".align":
                        self.number()
            elif word in (".v2", ".v4"):
                elements = int(word[2:])
            elif word[1:] in SIZES:
                kind = word[1:]
            else:
                raise Unsupported(f"{word} variables")
        name = self.take()
        count, scalar = 1, True
        while self.accept("["):
            scalar = False
            if self.accept("]"):
                count = 0
            else:
                count *= self.number()
                self.expect("]")
        initial = []
        if self.accept("="):
            self.initialiser(initial)
            if scalar is False and count == 0:
                count = len(initial)
        return Variable(space, kind, name, align or SIZES[kind] * elements, count * elements, scalar, initial, managed,
                        external)

    def initialiser(self, into: list) -> None:
        if self.accept("{"):
            while not self.accept("}"):
                self.initialiser(into)
                self.accept(",")
        else:
            into.append(self.constant())

    def constant(self) -> object:
        """Reads a number or an address."""
        if self.peek() in ("-", "~") or self.kind() in ("number", "float"):
            return self.literal()
        text = self.take()
        if self.accept("("):  # generic(x), mask(x)
            if text.startswith("mask"):
                raise Unsupported("mask() in an initialiser")
            value = self.constant()
            self.expect(")")
        else:
            value = Name(text)
        if self.peek() in ("+", "-"):
            sign = -1 if self.take() == "-" else 1
            value = Sum(value, sign * self.number())
        return value

    def literal(self) -> Number:
        sign = 1
        while self.peek() in ("-", "+"):
            sign *= -1 if self.take() == "-" else 1
        inverted = self.accept("~")
        kind, text = self.kind(), self.take()
        if kind == "float":
            width = 4 if text[1] in "fF" else 8
            value = int(text[2:], 16)
            return Number(value ^ (1 << (width * 8 - 1)) if sign < 0 else value, width)
        if "." in text:
            import struct
            return Number(struct.unpack("<Q", struct.pack("<d", sign * float(text)))[0], 8)
        value = sign * int(text.rstrip("U"), 0)
        return Number(~value if inverted else value)

    def function(self, linkage: set[str]) -> None:
        is_kernel = self.take() == ".entry"
        results = []
        if self.peek() == ".attribute":
            self.take()
            while self.take() != ")":
                pass
        if self.peek() == "(":
            results = self.parameters()
        name = self.take()
        parameters = self.parameters() if self.peek() == "(" else []
        attributes: dict[str, list[int]] = {}
        while self.kind() == "directive" and self.peek() not in (".loc",):
            word = self.take()
            numbers = []
            if word == ".pragma":
                self.skip_statement()
                continue
            while self.kind() == "number":
                numbers.append(self.number())
                self.accept(",")
            attributes[word[1:]] = numbers
        start = Location(self.location.file, self.location.line)
        body = refusal = None
        if self.peek() == "{":
            self.take()
            begin = self.at
            try:
                body = self.block()
            except (Unsupported, SyntaxError) as reason:
                refusal = f"{reason}, which has no translation"
            except UNKNOWN_FORM:
                file = self.module.files.get(self.location.file, "?")
                refusal = f"a statement after {file}:{self.location.line} has no translation"
            if body is None:
                body = Block([])
                self.skip_body(begin)
        else:
            self.expect(";")
        self.module.functions.append(Function(name, is_kernel, results, parameters, body, attributes, start, refusal,
                                             linkage_of(linkage)))

    def skip_body(self, begin: int) -> None:
        self.at = begin
        depth = 1
        while depth > 0:
            depth += {"{": 1, "}": -1}.get(self.take(), 0)

    def parameters(self) -> list[Variable]:
        self.expect("(")
        found = []
        while not self.accept(")"):
            if self.peek() == ".reg":
                raise Unsupported("parameters in registers")
            space = SPACES[self.take()]
            found.append(self.declared(space, False))
            self.accept(",")
        return found

    # Bodies.

    def block(self) -> Block:
        statements = []
        while not self.accept("}"):
            self.statement(statements)
        return Block(statements)

    def statement(self, into: list) -> None:
        kind, text = self.kind(), self.peek()
        if kind == "line":
            self.line(self.take())
        elif text == "{":
            self.take()
            into.append(self.block())
        elif text == ";":
            self.take()
        elif text == ".reg":
            self.take()
            into.append(self.registers())
        elif text in SPACES or text in LINKAGE:
            external = False
            while self.peek() in LINKAGE:
                external |= self.take() == ".extern"
            into += self.variables(external)
        elif text == ".pragma":
            self.skip_statement()
        elif text == ".section":
            self.skip_section()
        elif kind == "word" and self.peek(1) == ":":
            self.take()
            self.take()
            if self.peek() == ".branchtargets":
                self.take()
                targets = []
                while not self.accept(";"):
                    targets.append(self.take())
                    self.accept(",")
                into.append(BranchTargets(text, targets))
            elif self.peek() == ".callprototype":
                into.append(self.prototype(text))
            else:
                into.append(Label(text))
        else:
            into.append(self.instruction())

    def prototype(self, name: str) -> Prototype:
        self.take()
        results = self.parameters() if self.peek() == "(" else []
        self.take()  # _
        parameters = self.parameters() if self.peek() == "(" else []
        while self.kind() == "directive":
            self.take()
        self.expect(";")
        return Prototype(name, len(results), len(parameters))

    def registers(self) -> Registers:
        kind = self.take()[1:]
        while self.kind() == "directive":  # .v2
            raise Unsupported("vector registers")
        names = []
        while not self.accept(";"):
            name = self.take()
            count = None
            if self.accept("<"):
                count = self.number()
                self.expect(">")
            names.append((name, count))
            self.accept(",")
        return Registers(kind, names)

    def instruction(self) -> Instruction:
        guard = None
        if self.accept("@"):
            negated = self.accept("!")
            guard = (self.take(), negated)
        parts = self.take().split(".")
        while self.kind() == "directive":
            parts += self.take()[1:].split(".")
        operands = []
        while not self.accept(";"):
            operands.append(self.operand())
            self.accept(",")
        return Instruction(parts, operands, guard, self.location)

    def operand(self) -> object:
        first = self.simple_operand()
        if self.accept("|"):
            return Pair(first, self.simple_operand())
        return first

    def simple_operand(self) -> object:
        text = self.peek()
        if text == "[":
            self.take()
            inside = []
            while not self.accept("]"):
                inside.append(self.operand())
                self.accept(",")
            return Memory(inside)
        if text == "{":
            self.take()
            inside = []
            while not self.accept("}"):
                inside.append(self.operand())
                self.accept(",")
            return Vector(inside)
        if text == "(":
            self.take()
            inside = []
            while not self.accept(")"):
                inside.append(self.operand())
                self.accept(",")
            return Group(inside)
        if text == "!":
            self.take()
            return Negated(self.simple_operand())
        if self.kind() in ("number", "float") or text in ("-", "~"):
            return self.literal()
        name = Name(self.take())
        if self.peek() in ("+", "-") and self.kind(1) == "number" or (self.peek() == "+" and self.peek(1) == "-"):
            sign = -1 if self.take() == "-" else 1
            return Sum(name, sign * self.number())
        return name


def parse(text: str) -> Module:
    return Parser(text).parse()
