#!/usr/bin/env python3
"""The README's programs are those of examples/ between their two `README` comments, and its commands are those of CI."""
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def blocks(readme, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)


def main():
    readme = (ROOT / "README.md").read_text()
    for name in "readme.cpp", "captured.cpp":
        program = (ROOT / "examples" / name).read_text()
        region = re.search(r"^ *// README begins\n(.*?)^ *// README ends\n", program, re.MULTILINE | re.DOTALL)
        if not region or textwrap.dedent(region[1]) not in blocks(readme, "cpp"):
            sys.exit(f"README.md has no code block that is examples/{name} between `// README begins` and "
                     "`// README ends`")
    commands = (ROOT / ".ci" / "run").read_text()
    for command in blocks(readme, "sh")[0].splitlines():
        command = command.split("#")[0].strip()
        if not re.search(rf"^\s*step .* {re.escape(command)}$", commands, re.MULTILINE):
            sys.exit(f".ci/run does not run the README's `{command}` as it stands")


main()
