# SPDX-License-Identifier: Apache-2.0
"""The option lane finds what it is there to find: another byte, a warning, a crash, a message without help, files that a
refused command left."""
import json
import pathlib
import re
import subprocess
import sys

import common
import pytest

LANE = pathlib.Path(__file__).with_name("lane.py")

# Programs in the place of aotc, and what the lane is to say of each.
INSTEAD = {
    "crash": ("kill -SEGV $$", "crash: exit code"),
    "bug": ("echo 'x: error: it is broken [internal]' >&2; exit 70", "crash: exit code 70"),
    "silent": ("exit 1", "message without a slug"),
    "no_help": ("echo 'x: error: no [op-shape]' >&2; exit 1", r"message without help \[op-shape\]"),
    "unknown": ("printf 'x: error: no [no-such-slug]\\n  help: y\\n' >&2; exit 1", r"message \['no-such-slug'\]"),
    "leftovers": ("mkdir -p c c.tar; printf 'x: error: no [op-shape]\\n  help: y\\n' >&2; exit 1", "output of a refused command"),
}


def run(work, aotc, count, *more):
    """Runs the lane: (its exit code, what it printed)."""
    done = subprocess.run([sys.executable, LANE, "--work", work, "--reduce", "0", "--jobs", "1", "--aotc", aotc, "--count", str(count),
                           "--seed", "3", *more], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def failures(text, pattern):
    return len(re.findall(rf"^FAILED seed \d+ \(\w+\): {pattern}", text, re.M))


@pytest.mark.parametrize("name", INSTEAD)
def test_programs(name, tmp_path):
    text, pattern = INSTEAD[name]
    program = tmp_path / f"{name}.sh"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    code, said = run(tmp_path / "work", program, 1)
    assert code == 1 and failures(said, pattern) == 1, said


def test_every_cpu_is_drawn():
    names = [cpu["name"] for cpu in json.loads(common.aotc("cpus", "--json"))]
    code = "import options; print(*sorted(options.HOST_CPUS))"
    drawn = subprocess.run([sys.executable, "-c", code], cwd=LANE.parent, capture_output=True, text=True, check=True).stdout.split()
    assert drawn == sorted(names)


@pytest.fixture(scope="module")
def equal(tmp_path_factory):
    """How many of the draws that are damaged are equal without."""
    code, said = run(tmp_path_factory.mktemp("whole"), common.AOTC, 4)
    ran = int(re.search(r"^ +(\d+) .* equal$", said, re.M)[1])
    assert code == 0 and ran >= 1, said
    return ran


@pytest.mark.parametrize("damage, pattern", (("bytes", "differs: "), ("warning", "warning or error of ")), ids=("bytes", "warning"))
def test_damage(damage, pattern, equal, tmp_path):
    code, said = run(tmp_path / "work", common.AOTC, 4, "--damage", damage)
    assert code == 1 and failures(said, pattern) == equal, said
