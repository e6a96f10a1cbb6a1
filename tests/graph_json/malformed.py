#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Graphs with one thing wrong, and exactly what aotc says: malformed.py AOTC [--update].

malformed/NAME.json is read by `aotc graph inspect`; NAME.txt is the exit code, standard output and
standard error. Cases that are right are here as well, so that an error in all of them is seen.
"""
import argparse
import pathlib
import subprocess
import sys

CASES = pathlib.Path(__file__).resolve().parent / "malformed"


def said(aotc, name):
    done = subprocess.run([aotc, "graph", "inspect", name], cwd=CASES, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=600)
    text = done.stdout + done.stderr
    return f"exit {done.returncode}\n".encode() + text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("aotc", type=pathlib.Path)
    parser.add_argument("--update", action="store_true", help="write what is said now")
    options = parser.parse_args()
    aotc, update = str(options.aotc.resolve()), options.update
    cases = sorted(CASES.glob("*.json"))
    failed, exits = 0, set()
    for case in cases:
        have, expected = said(aotc, case.name), case.with_suffix(".txt")
        exits.add(have.split()[1])
        if update:
            expected.write_bytes(have)
        elif not expected.exists() or have != expected.read_bytes():
            failed += 1
            print(f"FAILED {case.name}\n{have.decode(errors='replace')}")
    if len(cases) < 40 or exits != {b"0", b"1"}:
        failed += 1
        print(f"FAILED: {len(cases)} cases with exit codes {exits}")
    print(f"{len(cases)} cases, {failed} failed")
    return failed != 0


sys.exit(main())
