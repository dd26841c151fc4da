#!/usr/bin/env python3
"""Runs `shapes` as a user does: command_line.py PROGRAM [test]... checks what it prints and refuses."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = str(Path(sys.argv.pop(1)).resolve())


def shapes(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


class Refusals(unittest.TestCase):
    """Bad input is one line on stderr and exit code 2. None of this needs a device."""

    def refused(self, line, *arguments):
        done = shapes(*arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"shapes: {line}\n"))

    def test_wrong_options(self):
        self.refused("unknown option '--fast'; see --help", "--fast")
        self.refused("unknown option 'other'; see --help", "one", "other")
        self.refused("--percent needs a value; see --help", "--percent")
        self.refused("--dot needs a value; see --help", "--dot")
        for number in ["0", "101", "-1", "ten", "5x", ""]:
            self.refused(f"--percent takes a number from 1 to 100, not '{number}'", "--percent", number)
        self.refused("there is no shape 'square' of that size; without options all names are printed", "square")
        for option in [["--tune"], ["--dot", "x.dot"]]:
            self.refused("--dot and --tune need a SHAPE; without options its names are printed", *option)

    def test_help(self):
        done = shapes("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^usage: shapes ")


class Runs(unittest.TestCase):
    """Good input, on the device or the CPU runtime."""

    def ran(self, *arguments):
        done = shapes(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_all_shapes(self):
        lines = self.ran("--percent", "5").splitlines()
        self.assertRegex(lines[0], r"^shape +nodes +edges +planned +empty kernels$")
        for line in lines[1:]:
            self.assertRegex(line, r"^\S.*? +\d+ +\d+ +\d+ +\d+$")

    def test_one_shape(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder) / "shape.dot"
            text = self.ran("line 100, each after 8", "--dot", str(picture))
            self.assertRegex(text, r"\n\d+ edges became \d+")
            self.assertIn("color=gray", picture.read_text())

    def test_tuning(self):
        self.assertRegex(self.ran("line 100", "--tune"), r"(?m)^as written ")

    def test_a_file_that_cannot_be_written(self):
        done = shapes("line 100", "--dot", "/no such folder/x.dot")
        self.assertEqual((done.returncode, done.stderr), (1, "shapes: cannot write /no such folder/x.dot\n"))


unittest.main()
