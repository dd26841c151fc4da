#!/usr/bin/env python3
"""Runs `photo` as a user does: command_line.py PROGRAM [test]... checks what it prints, writes and refuses."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "program"))
from terminal import shown_on_terminal  # noqa: E402

PROGRAM = str(Path(sys.argv.pop(1)).resolve())


def photo(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def picture(self, name, magic, width, height, values):
        file = self.folder / name
        file.write_bytes(f"{magic}\n{width} {height}\n255\n".encode() + bytes(values))
        return file


class Refusals(WithFolder):
    """Bad input is one line on stderr and exit code 2. None of this needs a device."""

    def refused(self, line, *arguments):
        done = photo(*arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"photo: {line}\n"))

    def test_wrong_options(self):
        self.refused("unknown option '--fast'; see --help", "--fast")
        for option, least, most in [("--generate", 1, 1000), ("--clip", 0, 499), ("--sharpen", 0, 1000)]:
            self.refused(f"{option} needs a value; see --help", option)
            for number in [str(least - 1), "ten", "5x", "", str(most + 1)]:
                self.refused(f"{option} takes a number from {least} to {most}, not '{number}'", option, number)

    def test_wrong_pictures(self):
        self.refused("missing.ppm: No such file or directory", "missing.ppm")
        short = self.picture("short.ppm", "P6", 2, 2, range(11))
        self.refused(f"{short}: truncated: 11 of 12 pixel bytes", short)
        text = self.picture("text.pgm", "P2", 2, 2, range(4))
        self.refused(f"{text}: unsupported format P2; binary PGM (P5) and PPM (P6) are read", text)

    def test_an_output_that_cannot_be_made(self):
        file = self.picture("a.pgm", "P5", 1, 1, [7])
        self.refused(f"{file} cannot be made: Not a directory", "--output", file)

    def test_help(self):
        done = photo("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^usage: photo ")


class Runs(WithFolder):
    """Good input, on the device or the CPU runtime."""

    def test_generated_pictures(self):
        done = photo("--generate", 5, "--verify")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?m)^5 pictures, [0-9.]+ a second, with their files$")
        self.assertRegex(done.stdout, r"(?m)^graphs: 2 instantiated, 3 updated$")
        self.assertRegex(done.stdout, r"(?m)^verified: ")

    def test_files_of_different_sizes(self):
        files = [self.picture("grey.pgm", "P5", 3, 2, [10, 20, 30, 40, 50, 60]), self.picture("dot.ppm", "P6", 1, 1, [1, 2, 3]),
                 self.picture("flat.ppm", "P6", 7, 5, [200] * 105), self.picture("noise.pgm", "P5", 16, 9, os.urandom(144))]
        for clip, amount in [(0, 0), (5, 60), (499, 1000)]:
            done = photo(*files, "--output", self.folder / "out", "--verify", "--clip", clip, "--sharpen", amount)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(file.name for file in (self.folder / "out").iterdir()),
                         ["dot.ppm", "flat.ppm", "grey.ppm", "noise.ppm"])

    def test_levels_are_stretched(self):
        file = self.picture("grey.pgm", "P5", 2, 2, [50, 100, 150, 200])
        photo(file, "--output", self.folder, "--clip", 0, "--sharpen", 0)
        written = (self.folder / "grey.ppm").read_bytes()
        self.assertEqual(written, b"P6\n2 2\n255\n" + bytes([0] * 3 + [85] * 3 + [170] * 3 + [255] * 3))

    def test_progress_on_a_terminal(self):
        self.assertIn(b"\rpicture 3 of 3", shown_on_terminal(PROGRAM, "--generate", "3"))

    def test_picture_of_the_graph(self):
        self.assertEqual(photo("--generate", 1, "--dot", self.folder / "photo.dot").returncode, 0)
        self.assertIn("sharpen", (self.folder / "photo.dot").read_text())


class NoDevice(unittest.TestCase):
    """Without a GPU the program says so in one line."""

    def test_no_device(self):
        done = photo("--generate", 1)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^photo: cudag: [^\n]+\n$")


unittest.main()
