"""A lexer: splits PTX text into tokens."""

import re

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<line>\.(?:loc|file|version|target|address_size)\b[^\n]*)
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<float>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16})
  | (?P<number>0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+\.\d*(?:[eE][-+]?\d+)?|\d+U?)
  | (?P<directive>\.[A-Za-z_][\w]*(?:::[\w]+)*)
  | (?P<word>[%$A-Za-z_][\w$]*(?:(?:\.|::)[A-Za-z0-9_][\w$]*)*)
  | (?P<punctuation>[-+{}()\[\],;:@!|<>=~*/&^?])
""", re.VERBOSE | re.DOTALL)


def tokens(text: str) -> list[tuple[str, str]]:
    """Returns the kind and text of each token. An instruction with its dotted parts is one word."""
    found = []
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise SyntaxError(f"PTX line {text.count(chr(10), 0, at) + 1}: unexpected {text[at:at + 20]!r}")
        if match.lastgroup != "skip":
            found.append((match.lastgroup, match.group()))
        at = match.end()
    return found
