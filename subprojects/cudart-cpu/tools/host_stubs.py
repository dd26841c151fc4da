"""Host stubs of kernels compiled as C++, like those that nvcc makes: a call from the host is a launch.

The input is preprocessed text with device.hpp's marks for __global__, __device__ and __constant__. The marks of hidden
symbols are for CUDA 13: its nvcc hides kernels and variables from other shared objects."""

from __future__ import annotations

import re

MARK = re.compile(r"\b__cudart_cpu_(?P<hidden>hidden_)?(?P<what>kernel|device)__")
HIDDEN = '__attribute__((visibility("hidden")))'
TOKEN = re.compile(r'(?m)(?P<line>^#.*$)|(?P<space>\s+)|(?P<word>\w+)|(?P<string>"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')|'
                   r"(?P<sign>::|->|\.\.\.|.)")
WITH_PARENTHESES = {"__attribute__", "__attribute", "__declspec", "alignas", "decltype", "noexcept", "__asm__", "asm"}
# Words at the end of a type: no parameter has such a name.
TYPES = {"void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "wchar_t", "char8_t",
         "char16_t", "char32_t", "const", "volatile", "__restrict__", "__restrict", "__const", "__volatile__", "auto",
         "__int128", "_Float16", "__bf16"}
NOT_TYPES = {"const", "volatile", "__const", "__volatile__", "struct", "class", "enum", "union", "typename", "register"}
CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


class NotUnderstood(Exception):
    """The place of a kernel definition in a form unknown to this file."""


class Reader:
    """A reader of the tokens after a place in the text: (kind, text, begin), without spaces and line markers."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at

    def next(self) -> tuple[str, str, int]:
        while True:
            match = TOKEN.match(self.text, self.at)
            if match is None:
                raise NotUnderstood("the end of the file")
            self.at = match.end()
            if match.lastgroup not in ("space", "line"):
                return match.lastgroup, match.group(), match.start()

    def peek(self) -> str:
        at = self.at
        token = self.next()[1]
        self.at = at
        return token

    def balanced(self, opening: str) -> list[tuple[str, str, int]]:
        """Returns the tokens up to the bracket that closes the one just read, without it."""
        tokens, expected = [], [CLOSING[opening]]
        while True:
            token = self.next()
            if token[1] == expected[-1]:
                expected.pop()
                if not expected:
                    return tokens
            elif token[0] == "sign" and token[1] in "([{" or token[1] == "<" and opening == "<":
                expected.append(CLOSING[token[1]])
            tokens.append(token)


def split(tokens: list[tuple[str, str, int]]) -> list[list[tuple[str, str, int]]]:
    """Splits at the commas outside of all brackets."""
    parts: list[list[tuple[str, str, int]]] = [[]]
    depth = 0
    for token in tokens:
        if token[0] == "sign" and token[1] in "([{<":
            depth += 1
        elif token[0] == "sign" and token[1] in ")]}>":
            depth -= 1
        if token[1] == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def name_of(parameter: list[tuple[str, str, int]]) -> str | None:
    """Returns the parameter's name; None if it has none. Throws NotUnderstood for a form that is rare in kernels."""
    words = [token[1] for token in parameter]
    if "=" in words:
        words = words[:words.index("=")]
    if words[-1] == "]":  # an array is a pointer
        words = words[:words.index("[")]
        if not words or not words[-1].isidentifier():
            raise NotUnderstood("an array without a name")
    if words[-1] == ")":
        for at in range(len(words) - 3):
            if words[at:at + 2] == ["(", "*"] and words[at + 3] == ")" and words[at + 2].isidentifier():
                return words[at + 2]
        raise NotUnderstood("a parameter in parentheses")
    before = [word for word in words[:-1] if word not in NOT_TYPES]
    if not words[-1].isidentifier() or words[-1] in TYPES or not before or words[-2] == "::":
        return None
    return words[-1]


def words_before(text: str, at: int) -> list[str]:
    """Returns the words before `at` in the same declaration."""
    begin = max(text.rfind(sign, 0, at) for sign in ";{}")
    return re.findall(r"\w+", text[begin + 1:at])


def can_be_hidden(text: str, mark: re.Match) -> bool:
    """Whether the mark's declaration has external linkage, and may take an attribute."""
    reader = Reader(text, mark.end())
    words = words_before(text, mark.start())
    if reader.peek() in ("extern", "template"):
        return False  # attributes cannot stand before these
    while True:
        kind, token, _ = reader.next()
        if MARK.fullmatch(token):
            continue
        if kind == "word":
            words.append(token)
        elif token in ("=", ";", "{", "[", "("):
            break
    if mark["what"] == "device" and token == "(":
        return False  # a device function has no host stub
    return not {"static", "const", "constexpr", "template", "friend", "using", "typedef"} & set(words)


class Kernel:
    """The declaration after one mark: `is_definition`, and then `body`, the beginning of its body."""

    def __init__(self, text: str, mark: re.Match) -> None:
        reader = Reader(text, mark.end())
        self.is_template = "template" in words_before(text, mark.start())
        self.is_definition = False
        name: list[str] = []
        while True:
            _, token, _ = reader.next()
            if token in WITH_PARENTHESES and reader.peek() == "(":
                reader.next()
                reader.balanced("(")
            elif token == "[":
                reader.balanced("[")
            elif token == "<":
                reader.balanced("<")
                self.is_template = True
            elif token == "(":
                break
            elif token in (";", "{", "=", "}"):
                return
            elif token == "::" or (name and name[-1] == "::"):
                name.append(token)
            else:
                name = [token]
        self.name = "".join(name)
        self.parameters = reader.balanced("(")
        while True:
            _, token, at = reader.next()
            if token in WITH_PARENTHESES and reader.peek() == "(":
                reader.next()
                reader.balanced("(")
            elif token == "[":
                reader.balanced("[")
            elif token in (";", ","):
                return
            elif token == "{":
                self.is_definition = True
                self.body = at + 1
                return
            elif token != "noexcept":
                raise NotUnderstood(f"'{token}' behind the parameters")

    def insertions(self) -> list[tuple[int, str]]:
        """Returns the insertions into its definition, with their places."""
        outside = "if(__builtin_expect(::gridDim.x==0,0))return ::cudart_cpu::detail::"
        try:
            parts = split(self.parameters)
            if [token[1] for part in parts for token in part] == ["void"]:
                parts = []
            if self.is_template or not self.name.replace("::", "").isidentifier():
                raise NotUnderstood("a template")
            names, inserted = [], []
            for number, part in enumerate(parts):
                name = name_of(part)
                if name is None:
                    name = f"cudart_cpu_{number}"
                    last = [token for token in part if token[1] != "="]
                    if len(last) != len(part):
                        raise NotUnderstood("a default without a name")
                    inserted.append((last[-1][2] + len(last[-1][1]), f" {name}"))
                names.append(name)
            if self.name in names or "..." in [token[1] for token in self.parameters]:
                raise NotUnderstood("a name of two things")
        except NotUnderstood:
            return [(self.body, outside + "refuse_host_call(__PRETTY_FUNCTION__);")]
        types = ",".join(f"decltype({name})" for name in names)
        places = ",".join(f"::cudart_cpu::detail::place({name})" for name in names)
        return inserted + [(self.body, f"{outside}Stub<void({types}),&{self.name}>::launch({{{places}}});")]


def place_of(text: str, at: int) -> str:
    """Returns the source's file and line, by the last line marker."""
    marker = None
    for marker in re.finditer(r'(?m)^# (\d+) "([^"]*)".*\n', text[:at]):
        pass
    if marker is None:
        return "the source"
    return f"{marker.group(2)}:{int(marker.group(1)) + text.count(chr(10), marker.end(), at)}"


def with_stubs(text: str) -> str:
    """Returns the text with stubs. Throws NotUnderstood, with the place, for a definition of an unusual form."""
    edits: list[tuple[int, int, str]] = []  # begin, end, replacement
    for mark in MARK.finditer(text):
        try:
            attribute = HIDDEN if mark["hidden"] and can_be_hidden(text, mark) else ""
            edits.append((mark.start(), mark.end(), attribute))
            if mark["what"] == "device":
                continue
            kernel = Kernel(text, mark)
            if kernel.is_definition:
                edits += [(at, at, inserted) for at, inserted in kernel.insertions()]
        except NotUnderstood as reason:
            raise NotUnderstood(f"{place_of(text, mark.start())}: a kernel's definition is not understood: {reason}") from None
    parts, done = [], 0
    for begin, end, inserted in sorted(edits):
        parts += [text[done:begin], inserted]
        done = end
    return "".join(parts + [text[done:]])
