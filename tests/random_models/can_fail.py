#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that the lane can fail: an operator's results and emitted C are spoiled, and it must notice,
make the model small, and keep a file that repeats the failure.

Usage: can_fail.py --program check_models --work DIR --cc COMPILER
"""

import argparse
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from model import Model  # noqa: E402

# What is spoiled, and what the model that is left must consist of.
DAMAGES = {"relu6": {"RELU6"}, "emitted": None}


def check(lane, damage, wanted, work):
    """Problems found."""
    done = subprocess.run(
        lane + ["--count", "40", "--jobs", "1", "--damage", damage, "--work", work],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 1:
        return [f"{damage} spoiled: exit code {done.returncode}, expected 1"]
    found = re.findall(r"reduced to (\d+) operator.*\n  repeat: scripts/random-models --file (\S+) ",
                       done.stdout)
    if not found:
        return [f"{damage} spoiled: nothing was reduced:\n{done.stdout}"]
    problems = []
    for count, path in found:
        model = Model.read(pathlib.Path(path).read_bytes())
        kinds = {op.kind for op in model.ops}
        if len(model.ops) > 2 or int(count) != len(model.ops):
            problems.append(f"{damage} spoiled: {path} has {len(model.ops)} operators")
        if wanted is not None and not kinds & wanted:
            problems.append(f"{damage} spoiled: {path} is left with {kinds}")
        repeat = lane + ["--file", path, "--work", work]
        for extra, expected in ((["--damage", damage], 1), ([], 0)):
            code = subprocess.run(repeat + extra, stdout=subprocess.DEVNULL).returncode
            if code != expected:
                problems.append(f"--file {path} {extra} ends with {code}, expected {expected}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--cc", default="gcc -O1")
    options = parser.parse_args()
    lane = [sys.executable, str(pathlib.Path(__file__).resolve().with_name("lane.py")),
            "--program", options.program, "--cc", options.cc]
    problems = []
    for damage, wanted in DAMAGES.items():
        problems += check(lane, damage, wanted, str(options.work / damage))
    for problem in problems:
        print(f"FAILED: {problem}")
    print(f"{len(DAMAGES)} damages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
