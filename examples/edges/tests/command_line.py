#!/usr/bin/env python3
"""Runs `edges` as a user does: command_line.py PROGRAM [test]... checks what it prints, writes and refuses."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "program"))
from terminal import shown_on_terminal  # noqa: E402

PROGRAM = str(Path(sys.argv.pop(1)).resolve())


def pgm(width, height, pixels):
    return b"P5\n%d %d\n255\n" % (width, height) + bytes(pixels)


def ppm(width, height, pixels):
    return b"P6\n%d %d\n255\n" % (width, height) + bytes(pixels)


def picture(width, height, seed):
    """One byte per pixel, with edges in it."""
    return [(x // 5 + y // 3) * seed * 37 % 256 for y in range(height) for x in range(width)]


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="edges-")))

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return name

    def edges(self, *arguments, **options):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, **options)


class Refusals(CommandLine):
    """Bad input is one line on stderr and exit code 2. None of this needs a device."""

    def refused(self, line, *arguments):
        done = self.edges(*arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"edges: {line}\n"))

    def test_missing_file(self):
        self.refused("nowhere.pgm: no such file or directory", "nowhere.pgm")

    def test_device_file(self):
        self.refused("/dev/null: neither a file nor a directory", "/dev/null")

    def test_directory_without_images(self):
        self.write("photos/notes.txt", b"")
        self.refused("photos: the directory holds no *.pgm or *.ppm file", "photos")

    def test_truncated_image(self):
        self.write("a.ppm", ppm(4, 4, range(47)))
        self.refused("a.ppm: truncated: 47 of 48 pixel bytes", "a.ppm")

    def test_truncated_image_after_good_ones(self):
        self.write("frames/1.pgm", pgm(4, 4, range(16)))
        self.write("frames/2.pgm", b"P5\n4")
        self.refused("frames/2.pgm: truncated: it ends before its height", "frames")

    def test_unsupported_images(self):
        self.write("a.pgm", b"P5\n1 1\n65535\nab")
        self.refused("a.pgm: unsupported maximum value 65535; only 255 is read", "a.pgm")
        self.write("b.pgm", b"P2\n1 1\n255\n7\n")
        self.refused("b.pgm: unsupported format P2; binary PGM (P5) and PPM (P6) are read", "b.pgm")
        self.write("c.pgm", b"\x89PNG\r\n")
        self.refused("c.pgm: not a PGM or PPM image", "c.pgm")

    def test_zero_size(self):
        self.write("a.pgm", pgm(0, 4, []))
        self.refused("a.pgm: its width is 0", "a.pgm")

    def test_mixed_sizes(self):
        self.write("a.pgm", pgm(4, 4, range(16)))
        self.write("b.ppm", ppm(2, 4, range(24)))
        self.refused("frames of different sizes: a.pgm is 4x4, b.ppm is 2x4", "a.pgm", "b.ppm")

    def test_wrong_options(self):
        self.refused("unknown option '--fast'; see --help", "--fast")
        self.refused("--frames needs a value; see --help", "--frames")
        for frames in ["0", "-1", "ten", "5x", "", "1000001"]:
            self.refused(f"--frames takes a number from 1 to 1000000, not '{frames}'", "--frames", frames)
        for size in ["0x4", "4", "4x", "x4", "4x4x4", "16385x1", "4X4"]:
            self.refused(f"--size takes WIDTHxHEIGHT, each from 1 to 16384, not '{size}'", "--size", size)
        self.refused("--size is for generated frames; it cannot be used with files", "--size", "4x4", "a.pgm")

    def test_output_that_cannot_be_made(self):
        self.write("taken", b"")
        self.refused("taken: cannot be made: Not a directory", "--size", "8x8", "--output", "taken")

    def test_help(self):
        done = self.edges("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^usage: edges ")

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "edges: stdout cannot be written: No space left on device\n"))
        done = subprocess.run([PROGRAM, "--help"], preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "edges: stdout cannot be written: Bad file descriptor\n"))


class Runs(CommandLine):
    """Good input, on the device or the CPU runtime."""

    def run_edges(self, *arguments):
        done = self.edges(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def results(self, folder):
        return {path.name: path.read_bytes() for path in sorted((self.folder / folder).iterdir())}

    def test_generated_frames(self):
        printed = self.run_edges("--frames", "3", "--size", "70x41", "--verify", "--output", "new/results")
        self.assertRegex(printed, r"(?m)^3 frames of 70x41 on .+$")
        self.assertRegex(printed, r"(?m)^plain launches on one stream: +[0-9.]+ frames/s$")
        self.assertRegex(printed, r"(?m)^graph of 13 nodes: +[0-9.]+ frames/s, [0-9.]+ times as fast$")
        self.assertRegex(printed, r"(?m)^verified: ")
        results = self.results("new/results")
        self.assertEqual(list(results), ["0000.pgm", "0001.pgm", "0002.pgm"])
        for image in results.values():
            self.assertEqual(len(image), len(pgm(70, 41, [])) + 70 * 41)
            self.assertEqual(image[:13], b"P5\n70 41\n255\n")
            self.assertEqual(set(image[13:]), {0, 255})

    def test_grey_and_colour_files_of_one_picture_give_one_result(self):
        for seed in (1, 2):
            pixels = picture(33, 20, seed)
            self.write(f"grey/{seed}.pgm", pgm(33, 20, pixels))
            self.write(f"colour/{seed}.ppm", ppm(33, 20, [part for pixel in pixels for part in 3 * [pixel]]))
        self.run_edges("grey", "--verify", "--output", "from_grey")
        self.run_edges("colour", "--verify", "--output", "from_colour")
        self.assertEqual(list(self.results("from_grey")), ["0000_1.pgm", "0001_2.pgm"])
        self.assertEqual(self.results("from_grey"), self.results("from_colour"))

    def test_directories_are_read_in_sorted_order_and_files_as_given(self):
        for name in ["b.pgm", "frames/z.pgm", "frames/a.ppm", "frames/m.pgm", "frames/ignored.png"]:
            self.write(name, ppm(8, 8, 3 * picture(8, 8, 3)))
        self.run_edges("b.pgm", "frames", "b.pgm", "--output", "results")
        self.assertEqual(list(self.results("results")),
                         ["0000_b.pgm", "0001_a.pgm", "0002_m.pgm", "0003_z.pgm", "0004_b.pgm"])

    def test_dot(self):
        self.run_edges("--frames", "1", "--size", "8x8", "--dot", "graph.dot")
        text = (self.folder / "graph.dot").read_text()
        for label in ["upload", "blur rows", "sobel x", "threshold", "read histogram"]:
            self.assertIn(label, text)
        if shutil.which("dot"):
            picture = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=True)
            self.assertEqual(picture.stdout.count('class="node"'), 13)
            self.assertEqual(picture.stdout.count('class="edge"'), 13)

    def test_progress_is_shown_on_a_terminal(self):
        self.assertIn(b"\rframe 2 of 2", shown_on_terminal(PROGRAM, "--frames", "2", "--size", "8x8"))


class NoDevice(CommandLine):
    """Without a GPU the program says so in one line."""

    def test_no_device(self):
        done = self.edges("--frames", "1", "--size", "8x8")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^edges: cudag: [^\n]+\n$")


unittest.main()
