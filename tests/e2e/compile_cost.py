#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time and peak memory of `aotc compile` for every model.

Usage: compile_cost.py --launcher PROGRAM --out FILE.json [--repeat N]

The aims are 100 ms (1.5 s for a MobileNetV2 of 4 MB, on every kind of core) and 10 times the file; the test fails at twice the time, because machines differ.
Time is that of the processor, the least of N runs. Not counted is the memory that any model takes:
what the program needs for the smallest one here, and 0.8 MB.
"""
import argparse
import json
import os
import pathlib
import tempfile

import common
import mobilenet

AIM_SECONDS = 0.1
AIM_MOBILENET_SECONDS = 1.5
MOBILENET_BOARDS = ("qemu_mps2_an386", "qemu_mps3_an547", "qemu_riscv32")
AIM_TIMES_FILE = 10
FREE_BYTES = 800_000


def cost(launcher, command):
    """(seconds, peak resident bytes) of one run."""
    seconds, peak = common.run([launcher, *command]).split()[-2:]
    return float(seconds), int(peak)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launcher", required=True, help="cost_of.c")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    models = sorted((common.SHARED / "models").glob("*.tflite"))
    if not models and os.environ.get("CI") == "true":
        raise common.Failure(f"{common.SHARED}/models is missing, and CI=true")
    for folder in ("digits", "gadget"):
        models += sorted((common.ROOT / "tests" / "models" / folder).glob("*.tflite"))
    program = os.environ.get("AOTC") or common.ROOT / "build" / "release" / "compiler" / "aotc"
    smallest = common.ROOT / "tests" / "models" / "ops" / "relu_int8.tflite"
    found, broken = [], []
    with tempfile.TemporaryDirectory() as out:
        command = [program, "compile", smallest, "-o", f"{out}/smallest", "--quiet"]
        base = min(cost(options.launcher, command)[1] for _ in range(3))
        print(f"{smallest.stem} takes {base / 1e6:.1f} MB\n"
              f"{'model':20} {'file':>10} {'ms':>8} {'peak MB':>8} {'x file':>8}")
        for path in models:
            command = [program, "compile", path, "-o", f"{out}/{path.stem}", "--quiet"]
            runs = [cost(options.launcher, command) for _ in range(options.repeat)]
            seconds, peak = min(r[0] for r in runs), min(r[1] for r in runs)
            size = path.stat().st_size
            times = max(0, peak - base) / size
            print(f"{path.stem:20} {size:10,} {seconds * 1e3:8.1f} {peak / 1e6:8.1f} {times:8.1f}")
            found.append({"model": path.stem, "file_bytes": size, "seconds": seconds,
                          "peak_bytes": peak, "times_file": times})
            if seconds > 2 * AIM_SECONDS:
                broken.append(f"{path.stem}: {seconds * 1e3:.0f} ms")
            if peak - base > FREE_BYTES + AIM_TIMES_FILE * size:
                broken.append(f"{path.stem}: {times:.1f} times the file")
        path = pathlib.Path(out) / "mobilenet_v2.tflite"
        path.write_bytes(mobilenet.mobilenet_v2())
        for board in MOBILENET_BOARDS:
            command = [program, "compile", path, "--board", board, "-o", f"{out}/{board}", "--quiet"]
            seconds, peak = cost(options.launcher, command)
            print(f"{path.stem:20} {path.stat().st_size:10,} {seconds * 1e3:8.1f} {peak / 1e6:8.1f}  "
                  f"{board}")
            found.append({"model": path.stem, "board": board, "file_bytes": path.stat().st_size,
                          "seconds": seconds, "peak_bytes": peak})
            if seconds > 2 * AIM_MOBILENET_SECONDS:
                broken.append(f"{path.stem} for {board}: {seconds * 1e3:.0f} ms")
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    if broken:
        raise common.Failure("; ".join(broken))


if __name__ == "__main__":
    common.main_of(main)
