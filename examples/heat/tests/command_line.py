#!/usr/bin/env python3
"""Runs `heat` as a user does: command_line.py PROGRAM [test]... checks what it prints and refuses, by one and two ranks."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = str(Path(sys.argv.pop(1)).resolve())
# Two ranks on a machine of one core, also as root, as in containers.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_plm": "isolated"}  # without ssh


def heat(*arguments, ranks=None, options=()):
    mpirun = [] if ranks is None else ["mpirun", "-n", str(ranks), *options]
    return subprocess.run([*mpirun, PROGRAM, *arguments], capture_output=True, text=True, env=ENVIRONMENT, timeout=100)


class Refusals(unittest.TestCase):
    """Bad input is one line on stderr and exit code 2. None of this needs a device, nor MPI."""

    def refused(self, line, *arguments):
        done = heat(*arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"heat: {line}\n"))

    def test_wrong_options(self):
        self.refused("unknown option '--fast'; see --help", "--fast")
        self.refused("--output needs a value; see --help", "--output")
        for option, least, most in [("--side", 1, 16384), ("--max-sweeps", 1, 10000000), ("--sweeps", 2, 1000)]:
            self.refused(f"{option} needs a value; see --help", option)
            for number in ["-1", "ten", "5x", "", str(least - 1), str(most + 1)]:
                self.refused(f"{option} takes a number from {least} to {most}, not '{number}'", option, number)
        self.refused("--sweeps takes an even number, not '7'", "--sweeps", "7")
        self.refused("--tolerance takes a number above 0, at most 1, not '0'", "--tolerance", "0")
        self.refused("--deadline takes a number from 1 to 86400, not '0'", "--deadline", "0")

    def test_help(self):
        done = heat("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^usage: mpirun -n RANKS heat ")


class Solutions(unittest.TestCase):
    """Runs that are checked value by value."""

    def solved(self, ranks, side, *arguments):
        done = heat("--side", str(side), "--verify", *arguments, ranks=ranks)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^launches into a stream: +[0-9.]+ us per sweep$")
        self.assertRegex(done.stdout, r"(?m)^graph of +[0-9]+ sweeps: +[0-9.]+ us per sweep, [0-9.]+ times as fast$")
        self.assertRegex(done.stdout, r"(?m)^verified: ")
        return re.search(rf"(?m)^{side}x{side} values, {ranks or 1} ranks, ([0-9]+) sweeps", done.stdout)[1]

    def lost(self, *arguments):
        """What rank 0 says when rank 1 is killed, and mpirun leaves it alone."""
        done = heat("--side", "17", "--tolerance", "1e-9", "--lose", "1", "--deadline", "1", *arguments, ranks=2,
                    options=["--enable-recovery"])
        return done.stderr


class Loops(Solutions):
    """Solutions by NCCL, or its stand-in, in one launch: its ranks are processes."""

    def test_one_and_two_ranks_stop_at_once(self):
        sweeps = self.solved(None, 17, "--tolerance", "1e-3", "--exchange", "nccl")
        self.assertEqual(self.solved(2, 17, "--tolerance", "1e-3", "--exchange", "nccl"), sweeps)

    def test_a_rank_ends_when_another_one_is_killed(self):
        self.assertRegex(self.lost("--exchange", "nccl"), r"heat: rank 0: turn [0-9]+ of the loop has not ended; another")


class Runs(Solutions):
    """Good input, on the device or the CPU runtime."""

    def test_a_rank_ends_when_another_one_is_killed(self):
        self.assertRegex(self.lost("--exchange", "mpi"), r"heat: rank 0: .*the work has not finished within 1 s")

    def test_one_two_and_three_ranks_stop_at_once(self):
        sweeps = self.solved(None, 17, "--tolerance", "1e-3")
        self.assertEqual(self.solved(2, 17, "--tolerance", "1e-3"), sweeps)
        self.assertEqual(self.solved(3, 17, "--tolerance", "1e-3"), sweeps)

    def test_the_limit_of_sweeps(self):
        self.assertEqual(self.solved(2, 9, "--max-sweeps", "8", "--sweeps", "4"), "8")

    def test_too_many_ranks(self):
        done = heat("--side", "5", ranks=2)
        self.assertEqual(done.returncode, 2)
        self.assertIn("heat: a side of 5 values is for 1 ranks at most, with three rows each; there are 2\n", done.stderr)

    def test_pictures(self):
        with tempfile.TemporaryDirectory() as folder:
            picture, dot = Path(folder) / "plate.ppm", Path(folder) / "heat.dot"
            self.solved(2, 9, "--max-sweeps", "2", "--sweeps", "2", "--output", str(picture), "--dot", str(dot))
            self.assertIn("exchange", dot.read_text())
            content = picture.read_bytes()
            self.assertEqual(content[:11], b"P6\n9 9\n255\n")
            pixels = content[11:]
            self.assertEqual(len(pixels), 9 * 9 * 3)
            self.assertGreater(pixels[3 * 4], 0)  # the row below the hot frame
            self.assertEqual(pixels[-3 * 4:], bytes(12))

    def test_an_unwritable_file_ends_all_ranks(self):
        done = heat("--side", "9", "--max-sweeps", "2", "--sweeps", "2", "--output", "/nowhere/plate.ppm", ranks=2)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("heat: rank 0: /nowhere/plate.ppm", done.stderr)


unittest.main()
