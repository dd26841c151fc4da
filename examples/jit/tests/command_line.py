#!/usr/bin/env python3
"""Runs `jit` as a user does: command_line.py PROGRAM [test]... checks what it prints and refuses."""
import subprocess
import sys
import unittest
from pathlib import Path

PROGRAM = str(Path(sys.argv.pop(1)).resolve())


def jit(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


class Refusals(unittest.TestCase):
    """Bad input is one line on stderr and exit code 2. None of this needs a device."""

    def test_an_operation_that_does_not_exist(self):
        done = jit("scale", "cube")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (2, "", "jit: there is no operation 'cube'; see --help\n"))

    def test_help(self):
        done = jit("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^usage: jit ")


class Runs(unittest.TestCase):
    """Chains of operations, on the device."""

    def ran(self, *arguments):
        done = jit(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_usual_chain(self):
        self.assertEqual(self.ran().count("1000 values are right"), 3)

    def test_any_other_chain(self):
        text = self.ran("root", "scale", "relu", "scale")
        self.assertIn("v = sqrtf(fabsf(v));", text)
        self.assertEqual(text.count("1000 values are right"), 3)


unittest.main()
