#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rewrites sources one after the other, so that changes are numbered through; writes list.txt."""
import argparse
import pathlib
import subprocess


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--every", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("sources", nargs="+")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    flags = ["-std=c++20", "-DNDEBUG", *(f"-I{folder}" for folder in options.include)]
    number, lines = "1", ""
    for source in options.sources:
        flat = source.split("/compiler/")[-1].replace("/", "_")
        part = options.out / f"{flat}.list"
        done = subprocess.run(
            [options.tool, source, "--out", options.out / flat, "--list", part, "--first", number,
             "--every", options.every, "--", *flags], stdout=subprocess.PIPE, text=True, check=True)
        number = done.stdout.split()[-1]
        lines += part.read_text()
    (options.out / "list.txt").write_text(lines)


if __name__ == "__main__":
    main()
