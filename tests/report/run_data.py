#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `aotc verify --data --labels`: classes and confusion against those of LiteRT's outputs (tests/models/digits).

Usage: run_data.py --aotc PROGRAM --work DIRECTORY

Ends with a line "N passed, N failed".
"""
import argparse
import json
import pathlib
import subprocess
import sys

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/models/digits"
MODEL, INPUTS, LABELS = FOLDER / "digits_int8.tflite", FOLDER / "test_inputs_int8.npy", FOLDER / "test_labels.npy"
BOARD = "qemu_mps2_an386"


class Tests:
    def __init__(self, aotc, work):
        self.aotc, self.work = aotc, work
        self.passed = self.failed = 0
        self.classes = numpy.load(FOLDER / "test_outputs_int8.npy").reshape(-1, 10).argmax(1)
        self.labels = numpy.load(LABELS).astype(int).reshape(-1)

    def verify(self, target, *arguments, code=0):
        done = subprocess.run([self.aotc, "verify", target, *map(str, arguments)], capture_output=True, text=True, cwd=self.work, check=False)
        assert done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stderr}"
        return done

    def places(self, target, *arguments, code=0):
        return json.loads(self.verify(target, *arguments, "--json", code=code).stdout)["accuracy"]

    def is_right(self, place, count):
        confusion = numpy.zeros((10, 10), int)
        for label, found in zip(self.labels[:count], self.classes[:count]):
            confusion[label, found] += 1
        assert place["confusion"] == confusion.tolist(), place
        assert place["right"] == int(confusion.trace()) and place["inputs"] == count
        assert place["passed"] and place["equal"] == place["same_class"] == count, place

    def test_accuracy(self):
        places = self.places(MODEL, "--data", INPUTS, "--labels", LABELS)
        assert [p["place"] for p in places] == ["reference", "host C"]
        for place in places:
            self.is_right(place, len(self.labels))

    def test_text(self):
        said = self.verify(MODEL, "--data", INPUTS, "--labels", LABELS).stdout.splitlines()
        right, all_of = int((self.classes == self.labels).sum()), len(self.labels)
        assert said[1].startswith(f"host C: {right} of {all_of} ("), said[1]
        assert len(said) == 2 + 1 + 10 and said[3].split()[0] == "0", said

    def test_rows_of_labels(self):
        for kind in ("float32", "float64", "uint8"):
            numpy.save(self.work / "rows.npy", numpy.eye(10, dtype=kind)[self.labels])
            self.is_right(self.places(MODEL, "--data", INPUTS, "--labels", "rows.npy")[1], len(self.labels))

    def test_without_labels(self):
        place, = self.places(MODEL, "--data", INPUTS)
        assert "right" not in place and place["equal"] == len(self.labels)

    def test_floats(self):
        inputs = FOLDER / "test_inputs_f32.npy"
        places = self.places(FOLDER / "digits_f32.tflite", "--data", inputs, "--labels", LABELS)
        outputs = numpy.load(FOLDER / "test_outputs_f32.npy").reshape(-1, 10)
        assert places[1]["right"] == int((outputs.argmax(1) == self.labels).sum()) and places[1]["passed"]

    def test_on_a_board(self):
        count = 8
        numpy.save(self.work / "few.npy", numpy.load(INPUTS)[:count])
        numpy.save(self.work / "few_labels.npy", self.labels[:count])
        subprocess.run([self.aotc, "create", MODEL, "--board", BOARD, "-o", "app", "--force", "-q"], check=True, cwd=self.work, capture_output=True)
        places = self.places("app", "--data", "few.npy", "--labels", "few_labels.npy")
        assert [p["place"] for p in places] == ["reference", "host C", BOARD]
        for place in places:
            self.is_right(place, count)

    def test_outputs_that_differ(self):
        """The firmware of a project computes something else: its weights are changed."""
        subprocess.run([self.aotc, "create", MODEL, "--board", "host", "-o", "other", "--force", "-q"], check=True, cwd=self.work, capture_output=True)
        data = next((self.work / "other").rglob("digits_int8_data.c"))
        text = data.read_text()
        begin = text.index("{", text.index("_bias[") if "_bias[" in text else text.index("const ")) + 1
        end = text.index(",", begin)
        data.write_text(text[:begin] + " 77" + text[end:])
        done = self.verify("other", "--data", INPUTS, "--labels", LABELS, code=4)
        assert "[verify-differs]" in done.stderr, done.stderr

    def test_bad_labels(self):
        for name, array in (("few", self.labels[:-1]), ("many", self.labels + 1), ("less", self.labels - 1),
                            ("floats", self.labels.astype("float32")), ("doubles", self.labels.astype("float64")), ("empty", self.labels[:0])):
            numpy.save(self.work / f"{name}.npy", array)
            assert "[labels-invalid]" in self.verify(MODEL, "--data", INPUTS, "--labels", f"{name}.npy", code=1).stderr, name
        assert "[npy-invalid]" in self.verify(MODEL, "--data", INPUTS, "--labels", MODEL, code=1).stderr
        assert "[usage]" in self.verify(MODEL, "--labels", LABELS, code=2).stderr
        assert "[usage]" in self.verify(MODEL, "--data", INPUTS, "--input", INPUTS, code=2).stderr

    def all(self):
        for name in [n for n in dir(self) if n.startswith("test_")]:
            try:
                getattr(self, name)()
                self.passed += 1
            except AssertionError as e:
                self.failed += 1
                print(f"FAILED {name}: {e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotc", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    tests = Tests(args.aotc.resolve(), args.work)
    tests.all()
    print(f"{tests.passed} passed, {tests.failed} failed")
    return 1 if tests.failed else 0


if __name__ == "__main__":
    sys.exit(main())
