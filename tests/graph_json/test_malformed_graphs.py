# SPDX-License-Identifier: Apache-2.0
"""Graphs with one thing wrong, and exactly what aotc says.

malformed/NAME.json is read by `aotc graph inspect`; NAME.txt is the exit code, standard output and
standard error (AOTC_UPDATE=1 writes what is said now). Cases that are right are here as well, so that an error in all
of them is seen.
"""
import os
import pathlib
import subprocess

import common
import pytest

FOLDER = pathlib.Path(__file__).resolve().parent / "malformed"
CASES = [p.stem for p in sorted(FOLDER.glob("*.json"))]


@pytest.mark.parametrize("name", CASES)
def test_malformed(name):
    done = subprocess.run([common.AOTC, "graph", "inspect", f"{name}.json"], cwd=FOLDER, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=600)
    said, expected = f"exit {done.returncode}\n".encode() + done.stdout + done.stderr, FOLDER / f"{name}.txt"
    if "AOTC_UPDATE" in os.environ:
        expected.write_bytes(said)
    assert said.decode(errors="replace") == expected.read_bytes().decode(errors="replace")


def test_both_exit_codes():
    assert len(CASES) >= 40
    assert {(FOLDER / f"{name}.txt").read_bytes().split()[1] for name in CASES} == {b"0", b"1"}
