#!/usr/bin/env python3
"""Compares code, output and pictures in README.md and docs/ with their programs, and the README's commands with CI.

A comment before a code block names its source:

    <!-- examples/readme.cpp -->                     the parts between `// README begins` and `// README ends`
    <!-- examples/pages/races.cpp: inferred -->      the parts between `// inferred begins` and `// inferred ends`
    <!-- tests/consumer/meson.build -->              a file without such comments: all of it after the first comment
    <!-- printed by examples/pages/races.cpp -->     some of the output of `pages races`, with any line breaks
    <!-- not compiled here -->                       another library's code

    <!-- picture: loop -->                           docs/build draws docs/pictures/loop.dot here

Every C++ block has a source, and a page shows every part of examples/pages/ and examples/cookbook/. Output and pictures are
compared if `--pages PROGRAM` gives the built program, and pictures of examples if `--examples FOLDER` gives the folder of all.
`--write` replaces the blocks of code by their sources, not those of output, and the pictures that the given programs draw.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = {  # with a picture, and their quickest runs
    "cg": ["--side", "8", "--repeat", "1"],
    "data_parallel": ["--devices", "1", "--layers", "4", "--buckets", "2", "--width", "8", "--batch", "2", "--steps", "1"],
    "decode": ["--steps", "1", "--repeat", "1"],
    "edges": ["--frames", "1", "--size", "64x48"],
    "heat": ["--side", "9", "--max-sweeps", "2", "--sweeps", "2"], # where there is MPI
    "jacobi": ["--side", "8", "--repeat", "1"],
    "photo": ["--generate", "1"],
    "shapes": ["--percent", "1", "when_all 2x2"],
}
BLOCK = re.compile(r"(?:^<!-- (?P<source>[^\n]*) -->\n)?^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
SOURCE = re.compile(r"(?P<printed>printed by )?(?P<path>[\w./]+)(?:: (?P<part>\w+))?$")


def part_of(path, part):
    """The code of a source that a page shows."""
    text = (ROOT / path).read_text()
    mark = r"^ *(?://|#) " + part + " {}\n"
    parts = re.findall(mark.format("begins") + "(.*?)" + mark.format("ends"), text, re.MULTILINE | re.DOTALL)
    if parts:
        return textwrap.dedent("\n".join(parts))
    if part != "README" or path.endswith((".cpp", ".cu", ".hpp")):
        sys.exit(f"{path} has no part between `{part} begins` and `{part} ends`")
    return re.sub(r"\A(#.*\n)+", "", text)


def words(text):
    """Text without its line breaks and without the folders of source locations."""
    return " ".join(re.sub(r"[^\s(]*/(\w+\.cpp:\d+)", r"\1", text).split())


def output_of(pages, path):
    return subprocess.run([pages, Path(path).stem], stdout=subprocess.PIPE, text=True, check=True).stdout


def check_page(page, pages, write):
    """Yields the mistakes of one page."""
    text = page.read_text()
    name = page.relative_to(ROOT)

    def new_block(block):
        source = block["source"] and SOURCE.match(block["source"])
        if not source or source["printed"]:
            return block[0]
        return f"{block[0][:block.start('code') - block.start()]}{part_of(source['path'], source['part'] or 'README')}```"

    if write:
        text = BLOCK.sub(new_block, text)
        page.write_text(text)
    for block in BLOCK.finditer(text):
        if block["source"] == "not compiled here":
            continue
        line = text.count("\n", 0, block.start("code"))
        source = block["source"] and SOURCE.match(block["source"])
        if not source:
            if block["language"] == "cpp" or block["source"]:
                yield f"{name}:{line}: no comment before this block names its program: <!-- PATH: PART -->"
        elif source["printed"]:
            if pages and (not block["code"].strip() or words(block["code"]) not in words(output_of(pages, source["path"]))):
                yield f"{name}:{line}: {source['path']} does not print this; its output:\n{output_of(pages, source['path'])}"
        elif block["code"] != part_of(source["path"], source["part"] or "README"):
            yield f"{name}:{line}: this is not the code of {block['source']}; tests/readme.py --write replaces it"


def check_parts(pages):
    """Yields the parts of the pages' programs that no page shows, and the recipes of the cookbook without a heading."""
    text = "\n".join(page.read_text() for page in pages)
    shown = {(source["path"], source["part"]) for source in map(SOURCE.match, re.findall(r"^<!-- (.*) -->$", text, re.MULTILINE))
             if source}
    for program in sorted([*(ROOT / "examples").glob("pages/*.c*"), *(ROOT / "examples").glob("cookbook/*.c*")]):
        name = str(program.relative_to(ROOT))
        for part in re.findall(r"^ *// (\w+) begins$", program.read_text(), re.MULTILINE):
            if (name, part) not in shown:
                yield f"{name}: no page shows the part `{part}`"
        for title in re.findall(r'\{"([^"]+)", \w+[,}]', program.read_text()) if "cookbook" in name else []:
            if f"\n## {title}\n" not in text:
                yield f"{name}: no page has the recipe \"{title}\""


def draw(folder, program, examples):
    """Lets the programs write their pictures into a folder."""
    if program:
        subprocess.run([program, "--pictures", folder], stdout=subprocess.DEVNULL, check=True)
    for name, options in EXAMPLES.items() if examples else []:
        if name in ("data_parallel", "heat") and not (Path(examples) / name / name).exists():
            continue
        subprocess.run([Path(examples) / name / name, *options, "--dot", Path(folder) / f"{name}.dot"],
                       stdout=subprocess.DEVNULL, check=True, env={**os.environ, "OMPI_MCA_plm": "isolated"})  # without ssh


def lasting(picture):
    """A picture without what is measured anew in each run: times, their colours, and the critical path."""
    return re.sub(r'\\n[0-9.]+ us|, fillcolor="0\.05 [^"]*"| \[penwidth=2\.5\]|, penwidth=2\.5', "", picture)


def check_pictures(pages, program, examples, write):
    """Yields the pictures that no page shows, those that are missing, and those that the program draws otherwise."""
    folder = ROOT / "docs" / "pictures"
    shown = set(re.findall(r"^<!-- picture: (\S+) -->$", "\n".join(page.read_text() for page in pages), re.MULTILINE))
    with tempfile.TemporaryDirectory() as drawn:
        draw(drawn, program, examples)
        for picture in sorted(Path(drawn).iterdir()):
            kept = folder / picture.name
            if write:
                kept.write_text(picture.read_text())
            elif not kept.exists() or lasting(kept.read_text()) != lasting(picture.read_text()):
                yield f"docs/pictures/{picture.name}: the program draws another graph; tests/readme.py --write keeps it"
    kept = {picture.stem for picture in folder.glob("*.dot")}
    yield from (f"docs/pictures/{name}.dot: no page shows this picture" for name in sorted(kept - shown))
    yield from (f"docs/pictures/{name}.dot: a page shows this picture, which does not exist" for name in sorted(shown - kept))


def check_commands():
    readme = (ROOT / "README.md").read_text()
    commands = (ROOT / ".ci" / "run").read_text()
    block = re.search(r"^```sh\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    for command in block[1].splitlines():
        command = command.split("#")[0].strip()
        if not re.search(rf"^\s*step .* {re.escape(command)}$", commands, re.MULTILINE):
            yield f".ci/run does not run the README's `{command}` as it stands"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", help="the built program `pages`, to compare its output")
    parser.add_argument("--examples", help="the folder of the built examples, to compare their pictures")
    parser.add_argument("--write", action="store_true", help="write the code of the sources into the blocks")
    given = parser.parse_args()
    mistakes = list(check_commands())
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for page in pages:
        mistakes += check_page(page, given.pages, given.write)
    mistakes += check_parts(pages)
    mistakes += check_pictures(pages, given.pages, given.examples, given.write)
    if mistakes:
        sys.exit("\n".join(mistakes))


main()
