#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts what `aotc help --markdown` prints into docs/cli.md.

Usage: manual.py --write [--aotc PROGRAM]
"""
import argparse
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "cli.md"
BEGIN, END = "<!-- aotc help --markdown -->\n", "<!-- end -->\n"


def split_page():
    before, rest = PAGE.read_text().split(BEGIN)
    inside, after = rest.split(END)
    return before, inside, after


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotc", default=ROOT / "build" / "release" / "compiler" / "aotc")
    parser.add_argument("--write", action="store_true", required=True)
    said = subprocess.run([parser.parse_args().aotc, "help", "--markdown"], check=True, capture_output=True, text=True).stdout
    before, _, after = split_page()
    PAGE.write_text(before + BEGIN + said + END + after)


if __name__ == "__main__":
    main()
