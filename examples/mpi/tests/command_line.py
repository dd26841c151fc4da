#!/usr/bin/env python3
"""Runs `mpi` as a user does: command_line.py PROGRAM [test]... checks what it prints, and that no rank waits for a lost one."""
import os
import re
import subprocess
import sys
import time
import unittest
from pathlib import Path

PROGRAM = str(Path(sys.argv.pop(1)).resolve())
# Two ranks on a machine of one core, also as root, as in containers.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_plm": "isolated"}  # without ssh


def mpi(*arguments, ranks=None, options=(), timeout=60):
    mpirun = [] if ranks is None else ["mpirun", "-n", str(ranks), *options]
    return subprocess.run([*mpirun, PROGRAM, *arguments], capture_output=True, text=True, env=ENVIRONMENT, timeout=timeout)


class Refusals(unittest.TestCase):
    """Bad input is one line on stderr and exit code 2. None of this needs a device, nor MPI."""

    def refused(self, line, *arguments):
        done = mpi(*arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"mpi: {line}\n"))

    def test_wrong_options(self):
        self.refused("unknown option '--fast'; see --help", "--fast")
        self.refused("--lose needs a value; see --help", "--lose")
        self.refused("--lose takes a number from 0 to 1000, not '-1'", "--lose", "-1")
        self.refused("--deadline takes a number from 1 to 3600000, not '0'", "--deadline", "0")

    def test_help(self):
        done = mpi("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^usage: mpirun -n RANKS mpi ")


class Runs(unittest.TestCase):
    """Ranks on the device or the CPU runtime."""

    def test_one_rank_is_its_own_neighbour(self):
        done = mpi()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_two_ranks_exchange_stop_at_once_and_name_a_different_graph_within_a_second(self):
        done = mpi(ranks=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = re.findall(r"rank (\d) after ([0-9.]+) ms: (agree: .*\n.*\n.*\n)", done.stdout)
        self.assertEqual(sorted(rank for rank, _, _ in told), ["0", "1"], done.stdout)
        self.assertEqual(told[0][2], told[1][2])
        self.assertIn('rank 0: node 1: kernel "only on rank 0"', told[0][2])
        self.assertIn("rank 1: no further node", told[0][2])
        for _, milliseconds, _ in told:
            self.assertLess(float(milliseconds), 1000)

    def lost(self, *options):
        begin = time.monotonic()
        done = mpi("--lose", "1", "--deadline", "700", ranks=2, options=options)
        self.assertLess(time.monotonic() - begin, 20)
        return done

    def test_a_rank_that_waits_for_a_killed_one_says_where_it_waits(self):
        done = self.lost("--enable-recovery")  # mpirun leaves the other rank alone, and then returns 0
        self.assertRegex(done.stderr, r"rank 0: cudag: Stream::synchronize at .*: the work has not finished within 0.7 s; "
                                      r'nodes begun and not ended: host "end exchange" inside child ')

    def test_mpirun_ends_the_rank_that_waits_for_a_killed_one(self):
        self.assertNotEqual(self.lost().returncode, 0)


unittest.main()
