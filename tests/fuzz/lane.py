#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fuzzes a target from its corpus for a fixed number of inputs.

Usage: lane.py --program TARGET --runs N [--seed N] [--edges N] [--dict FILE] --work DIR SEEDS...
       lane.py --program planted_fuzz --runs N --planted --work DIR

Seed and order are fixed and nothing is read again while it runs: the same program tries the same inputs
wherever it runs. --seed N is for others. Fails on what a sanitizer, a
broken promise, 60 s for one input, or 2 GB report; the input is left in DIR/found, and running the
target with it alone shows the report again. Fails as well if fewer edges are seen than --edges, as
when the target does not see where inputs go. Inputs that reach something new are left in DIR/new.
--planted demands that each kind of bug in planted_fuzz is found, and shows again. The last line
counts inputs and edges.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

PLANTED = ("overflow", "undefined", "leak", "hang", "memory", "promise")


class Run:
    """One run of libFuzzer; `found` are the inputs that failed."""

    def __init__(self, program, runs, work, seeds, settings=(), environment=None, seed=1):
        self.program, self.work = program, work
        shutil.rmtree(work, ignore_errors=True)
        self.new, self.artifacts = work / "new", work / "found"
        for folder in (self.new, self.artifacts):
            folder.mkdir(parents=True)
        asan = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_leaks=1"]))
        self.environment = {**os.environ, "UBSAN_OPTIONS": "abort_on_error=1:print_stacktrace=1",
                            "ASAN_OPTIONS": asan, **(environment or {})}
        # A folder would be read in the file system's order; what was found would be read again each second.
        listed = work / "seeds"
        files = [file for path in seeds for file in ([path] if path.is_file() else sorted(path.rglob("*")))
                 if file.is_file()]
        listed.write_text(",".join(map(str, files)))
        done = self.call([f"-runs={runs}", f"-seed={seed}", "-reload=0", "-max_len=16384", "-timeout=60",
                          "-rss_limit_mb=2048", f"-artifact_prefix={self.artifacts}/", f"-seed_inputs=@{listed}",
                          *settings, self.new])
        (work / "log").write_text(done)
        self.found = sorted(self.artifacts.iterdir())
        counts = re.search(r"^#(\d+)\s+DONE\s+cov: (\d+) ", done, re.M)
        self.executions, self.edges = map(int, counts.groups()) if counts else (0, 0)
        self.kept = len(list(self.new.iterdir()))

    def call(self, args):
        done = subprocess.run([self.program, *map(str, args)], env=self.environment, cwd=self.work,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace")
        self.code = done.returncode
        return done.stdout


def lane(options):
    words = [f"-dict={options.dict}"] if options.dict else []
    run = Run(options.program, options.runs, options.work, options.seeds, words, seed=options.seed)
    name = options.program.name
    if run.code != 0 or run.found:
        print((options.work / "log").read_text()[-6000:])
        for path in run.found:
            print(f"again: {options.program} {path}")
        print(f"{name}: failed with exit code {run.code}")
        return 1
    print(f"{name}: {run.executions} executions, {run.edges} edges, {run.kept} inputs kept, no failure")
    if run.edges < options.edges:
        print(f"{name}: at least {options.edges} edges must be seen")
        return 1
    return 0


def planted(options):
    missed = 0
    options.work.mkdir(parents=True, exist_ok=True)
    seed = options.work / "seed"
    shutil.rmtree(seed, ignore_errors=True)
    seed.mkdir()
    (seed / "plain").write_bytes(b"nothing of it")
    for kind in PLANTED:
        settings = ["-timeout=5"] if kind == "hang" else ["-rss_limit_mb=500"] if kind == "memory" else []
        run = Run(options.program, options.runs, options.work / kind, [seed], settings, {"AOTC_PLANTED": kind})
        again = 0
        for path in run.found:
            run.call([*settings, path])
            again += run.code != 0
        print(f"{kind}: {', '.join(p.name[:16] for p in run.found) or 'NOT FOUND'}", flush=True)
        if again == 0 or not all(p.read_bytes().startswith(b"aotc++") for p in run.found):
            missed += 1
    # Where no bug is, none is found.
    sound = Run(options.program, options.runs, options.work / "sound", [seed], (), {"AOTC_PLANTED": "none"})
    print(f"none: {sound.executions} executions, {sound.edges} edges, exit code {sound.code}")
    print(f"{len(PLANTED) - missed} of {len(PLANTED)} bugs found")
    return 1 if missed or sound.code != 0 or sound.found else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--runs", required=True, type=int)
    parser.add_argument("--edges", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dict", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--work", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("seeds", nargs="*", type=lambda p: pathlib.Path(p).resolve())
    options = parser.parse_args()
    return planted(options) if options.planted else lane(options)


if __name__ == "__main__":
    sys.exit(main())
