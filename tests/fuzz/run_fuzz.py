#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one libFuzzer program from seeds; what it finds stays in WORK.

Usage: run_fuzz.py PROGRAM (--runs N | --seconds N) --work WORK SEEDS...

SEEDS are files and folders; they are copied, since libFuzzer adds to the folder that it is given. With
--runs and one program the inputs tried are always the same. The last line is a summary.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--runs", type=int)
    how.add_argument("--seconds", type=int)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("seeds", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    corpus, found = options.work / "corpus", options.work / "found"
    corpus.mkdir(parents=True)
    found.mkdir()
    files = [f for s in options.seeds for f in (sorted(s.iterdir()) if s.is_dir() else [s])]
    for file in files:
        shutil.copy(file, corpus / file.name)
    limit = f"-runs={options.runs}" if options.runs else f"-max_total_time={options.seconds}"
    # A single input may take long on a busy machine: no test looks at a clock.
    done = subprocess.run(
        [options.program, corpus, limit, "-seed=1", "-max_len=16384", "-timeout=100000",
         "-rss_limit_mb=4096", "-print_final_stats=1", f"-artifact_prefix={found}/"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
        errors="replace")
    tried = re.search(r"number_of_executed_units:\s*(\d+)", done.stdout)
    grown = len(list(corpus.iterdir())) - len(files)
    if done.returncode != 0 or not tried:
        print(done.stdout[-6000:])
        print(f"{options.program.name}: failed; the input is in {found}")
        return 1
    if grown == 0:
        print(f"{options.program.name}: {tried[1]} inputs, and not one took a new path: is the "
              f"program built with coverage?")
        return 1
    print(f"{options.program.name}: {tried[1]} inputs from {len(files)} seeds, {grown} of new paths, "
          f"nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
