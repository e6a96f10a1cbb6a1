#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""aotc bench --ops on a board: every result right, and the times those of the model's own run.

Usage: bench_ops.py BOARD --aotc PATH --work DIR
"""
import argparse
import json
import os
import pathlib
import shutil
import sys

from boards import ROOT, SKIPPED, Failed, check, missing_tools, run

# What a call through the registry may take more than a direct one.
MOST_OVERHEAD = 400


def operator_times(aotc, model, board, work):
    """Instructions of each operator of the model's file, from a run of the whole model."""
    project = work / "model"
    run([aotc, "create", model, "--board", board, "-o", project])
    run([aotc, "build", "-q", project], seconds=300)
    run([aotc, "run", project], seconds=120)
    layers = json.loads(run([aotc, "report", project, "--no-alternatives", "--json"]).stdout)["layers"]
    return {layer["op_index"]: layer["instructions"] for layer in layers if "instructions" in layer}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("board")
    parser.add_argument("--aotc", required=True)
    parser.add_argument("--work", required=True)
    options = parser.parse_args()
    missing = missing_tools(options.board)
    if missing:
        print(f"skipped: {', '.join(missing)} not there", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else SKIPPED
    work = pathlib.Path(options.work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    model = ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
    command = [options.aotc, "bench", "--ops", model, "--board", options.board, "--json", "-q",
               "-o", work / "firmware"]
    first = json.loads(run(command, seconds=300).stdout)
    check(first["operators"] and all(o["right"] for o in first["operators"]),
          "every operator gives on the device what it means", first)
    again = json.loads(run(command, seconds=300).stdout)
    check(first == again, "a second time the same to the instruction")
    times = operator_times(options.aotc, model, options.board, work)
    compared = 0
    for operator in first["operators"]:
        alone = [times[op] for op in operator["ops"] if op in times]
        for direct in alone:
            compared += 1
            overhead = operator["mean"] - direct
            # In the model several functions may be one that reads its sizes, which is slower; and
            # here the inputs are random, which clamps with branches show.
            check(-direct / 10 <= overhead <= MOST_OVERHEAD + direct / 100,
                  f"{operator['name']}: {operator['mean']} instructions, {overhead} more than in "
                  f"the model", operator)
    check(compared >= 4, "operators were compared", compared)
    if options.board == "qemu_mps2_an386":
        estimated = [o for o in first["operators"] if "estimated_instructions" in o]
        check(estimated and all(0.7 < o["mean"] / o["estimated_instructions"] < 1.4
                                for o in estimated if o["macs"] > 20000),
              "estimates are near", estimated)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        sys.exit(1)
