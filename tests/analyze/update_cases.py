#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the JSON of every source in cases/ into the file beside it; test_analyze.py compares with these files.

Usage: update_cases.py [--analyze PROGRAM]
"""
import argparse
import json
import pathlib
import subprocess

CASES = pathlib.Path(__file__).resolve().parent / "cases"
PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "compiler" / "aotc-analyze"
# Name and sources of each case: a source alone, or several together.
GROUPS = {"plain": ["plain.c"], "packed": ["packed.c"], "other": ["other.c"], "linkage": ["linkage.c"],
          "language": ["language.cpp"], "merge": ["merge_a.c", "merge_b.c"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analyze", default=PROGRAM, type=pathlib.Path)
    program = parser.parse_args().analyze.resolve()
    for name, sources in GROUPS.items():
        found = json.loads(subprocess.run([program, "signatures", "--json", *sources], cwd=CASES, check=True,
                                          capture_output=True).stdout)
        # A function a line, so that a difference can be read.
        lines = {key: ",\n  ".join(json.dumps(entry) for entry in found[key]) for key in found}
        (CASES / f"{name}.json").write_text("{\n" + ",\n".join(
            f' "{key}": [\n  {text}\n ]' if text else f' "{key}": []' for key, text in lines.items()) + "\n}\n")


if __name__ == "__main__":
    main()
