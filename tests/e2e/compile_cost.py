#!/usr/bin/env python3
"""Time and peak memory of `aotc compile` for every model.

Usage: compile_cost.py --out FILE.json [--repeat N]

The aims are 100 ms and 10 times the file. Time is the fastest of N, and fails at twice its aim
because machines differ; peak memory counts what the program itself needs to start as free.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time

import common

AIM_SECONDS = 0.1
AIM_TIMES_FILE = 10


def cost(command):
    """(seconds, peak resident bytes) of one run."""
    started = time.perf_counter()
    child = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - started
    if status != 0:
        raise common.Failure(f"exit status {status}: {command}")
    return seconds, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    models = sorted((common.SHARED / "models").glob("*.tflite"))
    if not models and os.environ.get("CI") == "true":
        raise common.Failure(f"{common.SHARED}/models is missing, and CI=true")
    for folder in ("digits", "gadget"):
        models += sorted((common.ROOT / "tests" / "models" / folder).glob("*.tflite"))
    program = os.environ.get("AOTC") or common.ROOT / "build" / "release" / "compiler" / "aotc"
    base = min(cost([program, "--version"])[1] for _ in range(3))
    print(f"starting the program takes {base / 1e6:.1f} MB\n"
          f"{'model':20} {'file':>10} {'ms':>8} {'peak MB':>8} {'x file':>8}")
    found, broken = [], []
    with tempfile.TemporaryDirectory() as out:
        for path in models:
            command = [program, "compile", path, "-o", f"{out}/{path.stem}", "--quiet"]
            runs = [cost(command) for _ in range(options.repeat)]
            seconds, peak = min(r[0] for r in runs), min(r[1] for r in runs)
            size = path.stat().st_size
            times = max(0, peak - base) / size
            print(f"{path.stem:20} {size:10,} {seconds * 1e3:8.1f} {peak / 1e6:8.1f} {times:8.1f}")
            found.append({"model": path.stem, "file_bytes": size, "seconds": seconds,
                          "peak_bytes": peak, "times_file": times})
            if seconds > 2 * AIM_SECONDS:
                broken.append(f"{path.stem}: {seconds * 1e3:.0f} ms")
            # Small models: the constant part of compiling is more than 10 times a few kilobytes.
            if size > 50_000 and times > AIM_TIMES_FILE:
                broken.append(f"{path.stem}: {times:.1f} times the file")
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    if broken:
        raise common.Failure("; ".join(broken))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    common.main_of(main)
