#!/usr/bin/env python3
"""Runs `jacobi` as a user does: command_line.py PROGRAM [test]... checks what it prints and refuses."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "program"))
from terminal import shown_on_terminal  # noqa: E402

PROGRAM = str(Path(sys.argv.pop(1)).resolve())


def jacobi(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


class Refusals(unittest.TestCase):
    """Bad input is one line on stderr and exit code 2. None of this needs a device."""

    def refused(self, line, *arguments):
        done = jacobi(*arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"jacobi: {line}\n"))

    def test_wrong_options(self):
        self.refused("unknown option '--fast'; see --help", "--fast")
        self.refused("unknown option '64'; see --help", "64")
        for option, most in [("--side", 4096), ("--max-sweeps", 10000000), ("--repeat", 1000)]:
            self.refused(f"{option} needs a value; see --help", option)
            for number in ["0", "-1", "ten", "5x", "", str(most + 1)]:
                self.refused(f"{option} takes a number from 1 to {most}, not '{number}'", option, number)
        for number in ["0", "-1e-3", "nan", "inf", "2", "1e-5x", ""]:
            self.refused(f"--tolerance takes a number above 0, at most 1, not '{number}'", "--tolerance", number)

    def test_help(self):
        done = jacobi("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^usage: jacobi ")

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "jacobi: stdout cannot be written: No space left on device\n"))
        done = subprocess.run([PROGRAM, "--help"], preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "jacobi: stdout cannot be written: Bad file descriptor\n"))


class Runs(unittest.TestCase):
    """Good input, on the device or the CPU runtime."""

    def test_both_loops(self):
        done = jacobi("--side", "15", "--tolerance", "1e-3", "--repeat", "2", "--verify")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?m)^15x15 values on .+, [0-9]+ sweeps, the last of which changes no value by more than [0-9.e-]+$")
        self.assertRegex(done.stdout, r"(?m)^loop on the host: +[0-9.]+ us per sweep$")
        self.assertRegex(done.stdout, r"(?m)^loop on the device: +[0-9.]+ us per sweep, [0-9.]+ times as fast$")
        self.assertRegex(done.stdout, r"(?m)^verified: ")

    def test_picture_of_the_graph(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "jacobi.dot"
            self.assertEqual(jacobi("--side", "4", "--repeat", "1", "--dot", str(file)).returncode, 0)
            self.assertIn("sweeps\\nwhile", file.read_text())

    def test_progress_on_a_terminal(self):
        shown = shown_on_terminal(PROGRAM, "--side", "8", "--repeat", "2")
        self.assertIn(b"\rloop on the host, run 3 of 3", shown)
        self.assertIn(b"\rloop on the device, run 3 of 3", shown)


class NoDevice(unittest.TestCase):
    """Without a GPU the program says so in one line."""

    def test_no_device(self):
        done = jacobi("--side", "8")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^jacobi: cudag: [^\n]+\n$")


unittest.main()
