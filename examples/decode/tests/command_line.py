#!/usr/bin/env python3
"""Runs `decode` as a user does: command_line.py PROGRAM [test]... checks what it prints and refuses."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = str(Path(sys.argv.pop(1)).resolve())


def decode(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


class Refusals(unittest.TestCase):
    """Bad input is one line on stderr and exit code 2. None of this needs a device."""

    def refused(self, line, *arguments):
        done = decode(*arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"decode: {line}\n"))

    def test_wrong_options(self):
        self.refused("unknown option '--fast'; see --help", "--fast")
        self.refused("unknown option '64'; see --help", "64")
        for option, most in [("--steps", 256), ("--seed", 1000000000), ("--repeat", 1000)]:
            self.refused(f"{option} needs a value; see --help", option)
            for number in ["0", "-1", "ten", "5x", "", str(most + 1)]:
                self.refused(f"{option} takes a number from 1 to {most}, not '{number}'", option, number)

    def test_help(self):
        done = decode("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^usage: decode ")

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "decode: stdout cannot be written: No space left on device\n"))
        done = subprocess.run([PROGRAM, "--help"], preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "decode: stdout cannot be written: Bad file descriptor\n"))


class Runs(unittest.TestCase):
    """Good input, on the device or the CPU runtime."""

    def run_decode(self, *arguments):
        done = decode(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_both_ways(self):
        printed = self.run_decode("--steps", "12", "--repeat", "2", "--verify")
        self.assertRegex(printed, r"(?m)^12 tokens of a model of 4 layers on .+:( [0-9]+){8} \.\.\.$")
        self.assertRegex(printed, r"(?m)^plain launches on one stream: +[0-9.]+ us per token$")
        self.assertRegex(printed, r"(?m)^graph of 27 nodes: +[0-9.]+ us per token, [0-9.]+ times as fast$")
        self.assertRegex(printed, r"(?m)^verified: ")

    def test_picture_of_the_graph(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "decode.dot"
            self.run_decode("--steps", "1", "--repeat", "1", "--dot", str(file))
            self.assertIn("layer 3: project", file.read_text())

    def test_another_seed_is_another_model(self):
        first, second = (self.run_decode("--steps", "4", "--repeat", "1", "--seed", seed).splitlines()[0] for seed in "12")
        self.assertNotEqual(first, second)


class NoDevice(unittest.TestCase):
    """Without a GPU the program says so in one line."""

    def test_no_device(self):
        done = decode("--steps", "1")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^decode: cudag: [^\n]+\n$")


unittest.main()
