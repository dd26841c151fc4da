#!/usr/bin/env python3
"""Runs `cg` as a user does: command_line.py PROGRAM [test]... checks what it prints and refuses."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = str(Path(sys.argv.pop(1)).resolve())


def cg(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


class Refusals(unittest.TestCase):
    """Bad input is one line on stderr and exit code 2. None of this needs a device."""

    def refused(self, line, *arguments):
        done = cg(*arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"cg: {line}\n"))

    def test_wrong_options(self):
        self.refused("unknown option '--fast'; see --help", "--fast")
        self.refused("unknown option '64'; see --help", "64")
        self.refused("--dot needs a value; see --help", "--dot")
        for option, most in [("--side", 4096), ("--max-iterations", 10000000), ("--repeat", 1000)]:
            self.refused(f"{option} needs a value; see --help", option)
            for number in ["0", "-1", "ten", "5x", "", str(most + 1)]:
                self.refused(f"{option} takes a number from 1 to {most}, not '{number}'", option, number)
        for number in ["0", "-1e-3", "nan", "inf", "2", "1e-5x", ""]:
            self.refused(f"--tolerance takes a number above 0, at most 1, not '{number}'", "--tolerance", number)

    def test_help(self):
        done = cg("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^usage: cg ")


class Runs(unittest.TestCase):
    """Good input, on the device or the CPU runtime."""

    def test_both_loops(self):
        done = cg("--side", "17", "--repeat", "1", "--verify")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?m)^17x17 unknowns, [0-9]+ iterations, relative residual [0-9.e-]+$")
        self.assertRegex(done.stdout, r"(?m)^loop on the host: +[0-9.]+ us per iteration$")
        self.assertRegex(done.stdout, r"(?m)^loop on the device: +[0-9.]+ us per iteration, [0-9.]+ times as fast$")
        self.assertRegex(done.stdout, r"(?m)^verified: ")

    def test_one_unknown(self):
        self.assertRegex(cg("--side", "1", "--repeat", "1", "--verify").stdout, r"(?m)^1x1 unknowns, 1 iterations")

    def test_the_limit_of_iterations(self):
        done = cg("--side", "17", "--repeat", "1", "--max-iterations", "3")
        self.assertRegex(done.stdout, r"(?m)^17x17 unknowns, 3 iterations")

    def test_a_wrong_solution_is_reported(self):
        done = cg("--side", "17", "--repeat", "1", "--max-iterations", "3", "--verify")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^cg: the loop on the host is wrong: its residual is ")

    def test_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "cg.dot"
            self.assertEqual(cg("--side", "4", "--repeat", "1", "--dot", str(file)).returncode, 0)
            self.assertIn("iterations\\nwhile", file.read_text())
            done = cg("--side", "4", "--dot", folder)
            self.assertEqual((done.returncode, done.stderr), (2, f"cg: {folder}: cannot be written\n"))


class NoDevice(unittest.TestCase):
    """Without a GPU the program says so in one line."""

    def test_no_device(self):
        done = cg("--side", "8")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^cg: cudag: [^\n]+\n$")


unittest.main()
