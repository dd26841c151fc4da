"""Plants defects in C++ sources as switches: all in one build, each turned on by its number when a program runs."""
import bisect
import re

OPENERS, CLOSERS = "([{", ")]}"
SWITCH = "::cudag_defects::on"
CONSTANT = re.compile(r"(?:(?:static|inline) )*constexpr [\w:<>,*& ]+(?:\[[^]]*\])? ?(?:=|\{)")


def blanked(text):
    """A source with its comments, texts and directives as spaces, each character in its place."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match[0])
    return re.sub(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*',
                  spaces, text, flags=re.DOTALL | re.MULTILINE)


def without_comments(text):
    """On one line."""
    code = re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', lambda match: match[1] or " ", text, flags=re.DOTALL)
    return re.sub(r"\s*\n\s*", " ", code).strip()


def is_balanced(text):
    code = blanked(text)
    return all(code.count(opener) == code.count(closer) for opener, closer in zip(OPENERS, CLOSERS))


class Slot:
    """A part of a source that a defect replaces as a whole: a condition, an expression or a statement."""

    def __init__(self, begin, end, form):
        self.begin, self.end, self.form = begin, end, form

    def key(self):
        return self.begin, self.end, self.form


class Source:
    """Finds the slots of a source."""

    def __init__(self, text):
        self.text, self.code = text, blanked(text)
        self.match, self.enclosing, stack = {}, [], []
        self.openers = []  # (place, enclosing opener or None)
        for place, letter in enumerate(self.code):
            if letter in OPENERS:
                self.openers.append((place, stack[-1] if stack else None))
                stack.append(place)
            elif letter in CLOSERS and stack:
                self.match[stack.pop()] = place
        self.places = [place for place, _ in self.openers]
        self.outer = dict(self.openers)

    def around(self, begin, end):
        """The brackets that hold a part, the innermost first."""
        at = bisect.bisect_right(self.places, begin) - 1
        opener = self.places[at] if at >= 0 else None
        while opener is not None and self.match.get(opener, -1) < end:
            opener = self.outer[opener]
        while opener is not None:
            yield opener
            opener = self.outer[opener]

    def marks(self, begin, end, marks):
        """The places of `marks` between two places, outside of brackets there."""
        place = begin
        while place < end:
            if self.code[place] in OPENERS:
                place = self.match.get(place, end)
            elif self.code[place] in marks:
                yield place
            place += 1

    def before(self, place, length=400):
        return self.code[max(0, place - length):place].rstrip()

    def is_head_of(self, opener, words):
        return re.search(rf"\b(?:{words})$", self.before(opener, 20)) is not None

    def is_block(self, opener):
        """Whether a brace opens statements; a body of a function or a lambda, too."""
        before = self.before(opener)
        return before == "" or before[-1] in ";{})" or \
            re.search(r"\b(?:else|do|try|const|noexcept|override|mutable|final)$|->\s*[\w:<>,*& ]+$|[\])]\s*(?:mutable|noexcept)?$", before) is not None

    def is_lambda(self, opener):
        before = self.before(opener)
        before = re.sub(r"(?:\s*(?:mutable|noexcept)|\s*->\s*[\w:<>,*& ]+)+$", "", before).rstrip()
        if before.endswith(")"):
            closing = len(before) - 1 + max(0, opener - 400)
            start = next((place for place in reversed(self.places) if place < closing and self.match.get(place) == closing), None)
            before = self.before(start) if start is not None else before
        return before.endswith("]")

    def is_scope(self, opener):
        """Whether a brace opens a class, a union, or a namespace."""
        head = re.split(r"[;{}]", self.before(opener))[-1]
        return re.search(r"\b(?:struct|class|union|namespace)\b", head) is not None and "enum" not in head and "(" not in head

    def statement_begin(self, opener, place):
        """Where the statement, or the declaration, begins that holds a place in the braces of `opener`."""
        begin, at = opener + 1, opener + 1
        while at < place:
            letter = self.code[at]
            if letter in OPENERS:
                end = self.match.get(at)
                if end is None or end >= place:
                    break
                if letter == "{" and self.is_block(at) and not self.is_lambda(at):
                    begin = end + 1
                at = end
            elif letter == ";" or letter == ":" and ":" not in (self.code[at - 1], self.code[at + 1]) and \
                    re.search(r"\b(?:case [\w:]+|default|public|private|protected)$", self.before(at)):
                begin = at + 1
            at += 1
        return begin + len(self.code[begin:]) - len(self.code[begin:].lstrip())

    def statement_end(self, opener, place):
        """After its semicolon; None if a block comes before."""
        for end in self.marks(place, self.match[opener], ";"):
            return end + 1
        return None

    def is_constant(self, begin, end):
        """Whether a part initialises a constant of the compiler's, which no switch reaches."""
        return any(CONSTANT.match(self.code, self.statement_begin(opener, begin), begin) for opener in self.around(begin, end)
                   if self.code[opener] == "{" and (self.is_block(opener) or self.is_scope(opener)))

    def slot_of(self, begin, end):
        """The slot that holds a part of the source; None if there is none that a switch can replace."""
        if self.is_constant(begin, end):
            return None
        for opener in self.around(begin, end):
            closer = self.match[opener]
            if self.code[opener] == "(" and self.is_head_of(opener, "if|while"):
                start = max([opener, *self.marks(opener + 1, closer, ";")]) + 1
                if start > begin:
                    return None
                if self.equals_sign(start, closer) is not None:
                    return self.initialiser(start, closer, begin, end)
                return Slot(start, closer, "condition")
            if self.code[opener] == "(" and self.is_head_of(opener, "for"):
                return self.clause(opener, closer, begin, end)
            if self.code[opener] == "{" and (self.is_block(opener) or self.is_scope(opener)):
                return self.statement_slot(opener, begin, end) or self.argument_slot(begin, end)
        return None

    def initialiser(self, start, stop, begin, end):
        place = self.equals_sign(start, stop)
        return Slot(place + 1, stop, "expression") if place is not None and place < begin else None

    def equals_sign(self, start, stop):
        """The first that assigns or initialises, outside of brackets."""
        return next((place for place in self.marks(start, stop, "=")
                     if self.code[place + 1] != "=" and self.code[place - 1] not in "=!<>+-*/|&^%"), None)

    def clause(self, opener, closer, begin, end):
        semicolons = list(self.marks(opener + 1, closer, ";"))
        if len(semicolons) != 2:
            return None
        first, second = semicolons
        if first < begin and end <= second:
            return Slot(first + 1, second, "condition")
        if end <= first:
            comma = next(iter(self.marks(begin, first, ",")), first)
            return self.initialiser(opener + 1, comma, begin, end)
        return None

    def statement_slot(self, opener, begin, end):
        start = self.statement_begin(opener, begin)
        stop = self.statement_end(opener, end) if self.code[end - 1] != ";" else end
        if stop is None or start > begin:
            return None
        while head := re.match(r"(?:else\b\s*)?(?:(?:if constexpr|if|for|while)\s*(?=\()|else\b\s*)", self.code[start:]):
            start += head.end()
            if self.code[start] == "(":
                if self.match[start] >= begin:
                    return None
                start = self.match[start] + 1
            start += len(self.code[start:]) - len(self.code[start:].lstrip())
        statement = self.code[start:stop]
        if re.match(r"return\b|throw\b|co_", statement):
            return Slot(start, stop, "statement")
        if re.match(r"(?:using|static_assert|friend|template|case|enum|struct|class|delete|goto|break|continue)\b", statement):
            return None
        if self.is_scope(opener) or re.match(r"(?:static |thread_local |constexpr |constinit |const |mutable |inline |auto\b|unsigned |\[\[)", statement) or \
                re.match(r"[A-Za-z_][\w:]*(?:<[^;=]*>)?(?:::\w+)?[ *&]+(?:const )?[a-z_]\w*\s*(?:=[^=]|\{|;|\(|\[)", statement):
            return self.initialiser(start, stop - 1, begin, end)
        return Slot(start, stop, "statement")

    def argument_slot(self, begin, end):
        opener = next(self.around(begin, end))
        if self.code[opener] == "[" or self.code[opener] == "{" and (self.is_block(opener) or self.is_scope(opener)):
            return None
        commas = [opener, *self.marks(opener + 1, self.match[opener], ","), self.match[opener]]
        for left, right in zip(commas, commas[1:]):
            if left < begin and end <= right:
                return self.initialiser(left + 1, right, begin, end) or Slot(left + 1, right, "expression")
        return None


class Planted:
    """A source with switches for its defects."""

    def __init__(self, text, defects):
        """`defects` are (number, begin, end, replacement)."""
        self.text = text
        source, by_key = Source(text), {}
        self.left_out = []
        for number, begin, end, replacement in defects:
            slot = source.slot_of(begin, end)
            variant = slot and text[slot.begin:begin] + replacement + text[end:slot.end]
            if slot is None or not is_balanced(variant):
                self.left_out.append(number)
                continue
            slot, variants = by_key.setdefault(slot.key(), (slot, []))
            variants.append((number, variant))
        slots = sorted(by_key.values(), key=lambda item: (item[0].begin, -item[0].end))
        self.roots, stack = [], []
        for slot, variants in slots:
            while stack and stack[-1][0].end <= slot.begin:
                stack.pop()
            if stack and (stack[-1][0].end < slot.end or stack[-1][0].key()[:2] == slot.key()[:2]):
                self.left_out += [number for number, _ in variants]  # across another, or over it in another form
                continue
            item = (slot, variants, [])
            (stack[-1][2] if stack else self.roots).append(item)
            stack.append(item)

    def rendered(self, dropped):
        """The source without the defects in `dropped`, which do not compile; each has a line of its own, which it ends."""
        return self._render(0, len(self.text), self.roots, dropped)

    def _render(self, begin, end, items, dropped):
        parts, at = [], begin
        for slot, variants, inner in items:
            parts.append(self.text[at:slot.begin])
            own = self._render(slot.begin, slot.end, inner, dropped)
            kept = [(number, without_comments(text)) for number, text in variants if number not in dropped]
            parts.append(self._switch(slot.form, kept, own) if kept else own)
            at = slot.end
        parts.append(self.text[at:end])
        return "".join(parts)

    @staticmethod
    def _switch(form, variants, own):
        numbers = ",".join(str(number) for number, _ in variants)
        begin, end = f"/*slot {numbers}*/", f"/*end {numbers}*/"
        if form == "statement":
            chosen = "".join(f"\nif ({SWITCH}({number})) {{ {text} }} else /*defect {number}*/" for number, text in variants)
            return f"{begin}{{{chosen}\n{{ {own}\n}}}}{end}"
        cast = "static_cast<bool>" if form == "condition" else ""
        chosen = "".join(f"\n{SWITCH}({number}) ? {cast}({text}) : /*defect {number}*/" for number, text in variants)
        return f"{begin}({chosen}\n{cast}({own}\n)){end}"


def guilty(text, line):
    """The defects that an error in a line of a rendered source is laid to: its own, or all of the innermost switch around it."""
    lines = text.split("\n")
    if own := re.search(r"/\*defect (\d+)\*/$", lines[line - 1]):
        return {int(own[1])}
    stack = []
    for number, content in enumerate(lines[:line], 1):
        for kind, numbers in re.findall(r"/\*(slot|end) ([\d,]+)\*/", content):
            if kind == "slot":
                stack.append(numbers)
            elif stack and number < line:
                stack.remove(numbers)
    return {int(number) for number in stack[-1].split(",")} if stack else set()


SWITCH_HEADER = """\
#pragma once
#include <type_traits>
namespace cudag_defects {
[[gnu::visibility("hidden")]] bool is_on(unsigned number) noexcept;
constexpr bool on(unsigned number) noexcept { return std::is_constant_evaluated() ? false : is_on(number); }
}
"""

# The numbers of the defects that a process comes by are marked in a file that it shares with those that it starts.
SWITCH_SOURCE = """
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
namespace cudag_defects {
namespace {
struct Switches {
    unsigned on = 0;
    unsigned char* reached = nullptr;
};
Switches read_switches() noexcept {
    Switches switches;
    if (const char* const number = std::getenv("CUDAG_DEFECT")) switches.on = static_cast<unsigned>(std::atoi(number));
    if (const char* const path = std::getenv("CUDAG_REACHED")) {
        const int file = ::open(path, O_RDWR | O_CLOEXEC);
        void* const marks = ::mmap(nullptr, %d, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        ::close(file);
        if (marks != MAP_FAILED) switches.reached = static_cast<unsigned char*>(marks);
    }
    return switches;
}
}
bool is_on(unsigned number) noexcept {
    static const Switches switches = read_switches();
    if (switches.reached != nullptr) switches.reached[number] = 1;
    return number == switches.on;
}
}
"""
