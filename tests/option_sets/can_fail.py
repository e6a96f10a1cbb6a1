#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The option lane finds what it is there to find: another byte, a warning, a crash, a message without help, files that a
refused command left.

Usage: can_fail.py --work DIR [--aotc PROGRAM]
"""
import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Programs in the place of aotc, and what the lane is to say of each.
INSTEAD = {
    "crash": ("kill -SEGV $$", "crash: exit code"),
    "bug": ("echo 'x: error: it is broken [internal]' >&2; exit 70", "crash: exit code 70"),
    "silent": ("exit 1", "message without a slug"),
    "no_help": ("echo 'x: error: no [op-shape]' >&2; exit 1", r"message without help \[op-shape\]"),
    "unknown": ("printf 'x: error: no [no-such-slug]\\n  help: y\\n' >&2; exit 1", r"message \['no-such-slug'\]"),
    "leftovers": ("mkdir -p c c.tar; printf 'x: error: no [op-shape]\\n  help: y\\n' >&2; exit 1", "output of a refused command"),
}


def lane(work, *arguments):
    done = subprocess.run([sys.executable, HERE / "lane.py", "--work", work, "--reduce", "0", "--jobs", "1", *arguments],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--aotc", type=pathlib.Path, required=True)
    options = parser.parse_args()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    wrong, cases = [], 0

    def expect(name, said, pattern, count):
        nonlocal cases
        cases += 1
        found = len(re.findall(rf"^FAILED seed \d+ \(\w+\): {pattern}", said[1], re.M))
        if said[0] != 1 or found != count:
            wrong.append(f"{name}: exit code {said[0]}, {found} failures of {count}\n{said[1][-2000:]}")

    for name, (text, pattern) in INSTEAD.items():
        program = work / f"{name}.sh"
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
        expect(name, lane(work / name, "--aotc", program, "--count", "1", "--seed", "3"), pattern, 1)
    whole = lane(work / "whole", "--aotc", options.aotc, "--count", "4", "--seed", "3")
    ran = int(re.search(r"^ +(\d+) .* equal$", whole[1], re.M)[1])
    if whole[0] != 0 or ran < 1:
        wrong.append(f"the draws that are damaged below do not pass: {whole}")
    for damage, pattern in (("bytes", "differs: "), ("warning", "warning or error of ")):
        expect(damage, lane(work / damage, "--aotc", options.aotc, "--count", "4", "--seed", "3", "--damage", damage), pattern,
               ran)
    for text in wrong:
        print(f"FAILED: {text}")
    print(f"{cases - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
