#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gains of the joint search over options, orders, streams and schedules, by model and core, beside the default.

A cell has the figure of the default, and the figure that the search reaches for this objective alone: estimated cycles
with `--objective ms`, RAM with `--objective ram`, constants with `--objective flash`.

  tests/bench/joint.py                          a table of the recorded int8 models
  tests/bench/joint.py --models A,B --targets m4,m55
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys

import measure

MODELS = ("kws", "vww", "resnet", "ad", "strww", "micro_speech")
TARGETS = ("m0", "m4", "m55", "rv32imac")
FIGURES = {"ms": "estimated_cycles", "ram": "ram", "flash": "constants_bytes"}


def figures(aotc, model, target, *options):
    """The figures of a compilation as `aotc check --json` prints them; None if the model does not fit the board."""
    command = [aotc, "check", measure.model_path(model), "--board", measure.TARGETS[target], "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == measure.EXIT_DOES_NOT_FIT:
        return None
    if done.returncode != 0:
        raise measure.Failure(f"{' '.join(map(str, command))}: {done.stderr}")
    out = json.loads(done.stdout)
    outside = sum(out[f"{what}_bytes"] for what in ("input", "output") if not out[f"{what}_in_arena"])
    return {**out, "ram": out["arena_bytes"] + outside}


def row(aotc, model, target):
    usual = figures(aotc, model, target)
    cells = []
    for objective, figure in FIGURES.items():
        found = figures(aotc, model, target, "--objective", objective)
        if usual is None or found is None:
            cells.append("does not fit" if found is None else f"{found[figure]:,}, default does not fit")
        else:
            gain = 100 * (found[figure] / usual[figure] - 1)
            cells.append(f"{usual[figure]:,} -> {found[figure]:,} ({gain:+.1f} %)")
    return f"| `{model}` | {target} | {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=lambda text: text.split(","), default=MODELS)
    parser.add_argument("--targets", type=lambda text: text.split(","), default=TARGETS)
    parser.add_argument("--aotc", default=measure.ROOT / "build/release/compiler/aotc")
    options = parser.parse_args()
    print("| model | core | cycles | RAM, bytes | constants, bytes |\n|:--|:--|--:|--:|--:|")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(row, options.aotc, m, t) for m in options.models for t in options.targets]
        for job in jobs:
            print(job.result(), flush=True)


if __name__ == "__main__":
    try:
        main()
    except measure.Failure as failure:
        sys.exit(f"joint: {failure}")
