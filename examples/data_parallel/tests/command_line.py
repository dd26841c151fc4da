#!/usr/bin/env python3
"""Runs `data_parallel` as a user does: command_line.py PROGRAM [test]... checks what it prints and refuses."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = str(Path(sys.argv.pop(1)).resolve())


def data_parallel(*arguments, devices=2):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                          env={**os.environ, "CUDART_CPU_DEVICES": str(devices)})


class Refusals(unittest.TestCase):
    """Bad input is one line on stderr and exit code 2. None of this needs a device, nor NCCL."""

    def refused(self, line, *arguments):
        done = data_parallel(*arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"data_parallel: {line}\n"))

    def test_wrong_options(self):
        self.refused("unknown option '--fast'; see --help", "--fast")
        self.refused("--dot needs a value; see --help", "--dot")
        for option, most in [("--devices", 64), ("--layers", 1000), ("--width", 8192), ("--batch", 8192),
                             ("--buckets", 1000), ("--steps", 1000000)]:
            self.refused(f"{option} needs a value; see --help", option)
            for number in ["-1", "ten", "0", str(most + 1)]:
                self.refused(f"{option} takes a number from 1 to {most}, not '{number}'", option, number)
        self.refused("--buckets is 3, and there are 2 layers", "--layers", "2", "--buckets", "3")

    def test_help(self):
        done = data_parallel("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^usage: data_parallel ")


class Runs(unittest.TestCase):
    """Good input, on the devices or the CPU runtime."""

    def trained(self, devices, *arguments):
        done = data_parallel("--devices", str(devices), "--width", "16", "--batch", "4", "--steps", "5", "--verify",
                             *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^launches into streams: +[0-9.]+ us per step$")
        self.assertRegex(done.stdout, r"(?m)^one graph: +[0-9.]+ us per step, [0-9.]+ times as fast$")
        self.assertRegex(done.stdout, r"(?m)^verified: all weights are right$")

    def test_one_and_two_devices(self):
        self.trained(1)
        self.trained(2)

    def test_buckets(self):
        self.trained(2, "--layers", "3", "--buckets", "1")
        self.trained(2, "--layers", "3", "--buckets", "3")

    def test_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            dot = Path(folder) / "step.dot"
            self.trained(1, "--dot", str(dot))
            self.assertIn("sum of gradients", dot.read_text())

    def test_too_many_devices(self):
        done = data_parallel("--devices", "64")
        self.assertEqual(done.returncode, 2)
        self.assertIn("data_parallel: --devices is 64, and there are ", done.stderr)


if __name__ == "__main__":
    unittest.main()
