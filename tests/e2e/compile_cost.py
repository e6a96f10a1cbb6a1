#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions and peak memory of `aotc compile`, for every model and for large graphs.

Usage: compile_cost.py --launcher PROGRAM --out FILE.json [--record] [--long]

Instructions are counted by valgrind, so a busy or slow machine gives the same figures. The test fails
where one is more than 10 % over compile_cost.json (--record writes it), or where peak memory is over
10 times the file. Not counted is the memory that any model takes: what the program needs for the
smallest one here, and 0.8 MB. Graphs of thousands of small operators are to cost in proportion to
their size, whether a plan is found or refused.
"""
import argparse
import json
import os
import pathlib
import re
import tempfile

import common
import large_graphs
import mobilenet

RECORD = pathlib.Path(__file__).with_suffix(".json")
WORSE = 1.10
MOBILENET_BOARDS = ("qemu_mps2_an386", "qemu_mps3_an547", "qemu_riscv32")  # the first; --long takes all
# Twice the graph may cost so many times as much.
MOST_GROWTH = 2.5
# (kind, element, operators of the smaller one, whether the larger one is refused: more tensors are
# alive at once than are planned; without --long, the smaller one is left out then). Lowering an int8 ADD is what costs there.
GRAPHS = (("chain", "float32", 2000, False), ("window", "float32", 2000, False),
          ("wide", "float32", 1100, True), ("chain", "int8", 100, False))
# 8,000 small operators of a kind, each with scales of its own: millions of instructions at most. Where this was
# written 7,500 million took 0.5 s, and 2 s are allowed: a plan is found or refused with at least three times to
# spare. Without --long there are a quarter as many.
MANY, FEWER, MOST_OF_MANY = 8000, 2000, 8000
MANY_KINDS = ("add", "mul", "relu", "concatenation", "pad", "fan_out")
# (command, graph, operators or layers of the smaller one): behind what the smallest model costs, twice the graph
# costs at most MOST_SLOPE times as much.
MOST_SLOPE = 2.3
SLOPES = (("compile", "images", 500), ("check", "images", 500), ("check --stream max", "images", 250),
          ("check --stream auto", "images", 250), ("compile --slice call", "images", 500),
          ("report --no-alternatives", "chain", 500), ("check", "planes", 150), ("check", "bytes", 500))
# 600 ADDs whose results are read 280 later: many large sets of tensors that are alive at once. Weighing them by all
# pairs of each set cost 1,926 million instructions, and by sorted distances 980.
FAR, FAR_DISTANCE, MOST_OF_FAR = 600, 280, 1300
AIM_TIMES_FILE = 10
FREE_BYTES = 800_000
# Of a program that runs for a moment most of the time goes into translating it: blocks do not go on beyond jumps.
COUNTER = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", "--vgdb=no",
           "--vex-guest-chase=no")


def instructions(command, expect=0):
    done = common.run([*COUNTER, *command], expect=None)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode != expect or not found:
        raise common.Failure(f"{command}: exit code {done.returncode}, not {expect}\n"
                             f"{done.stderr[-2000:]}")
    return int(found[1].replace(",", ""))


class Costs:
    def __init__(self, launcher, out, long):
        self.launcher, self.out, self.long = launcher, pathlib.Path(out), long
        # Without its symbols, which valgrind reads again for every model.
        self.program = self.out / "aotc"
        common.run(["strip", "-o", self.program, os.environ.get("AOTC") or common.ROOT / "build/release/compiler/aotc"])
        self.found, self.broken = {}, []

    def command(self, path, *options):
        return [self.program, "compile", path, *options, "-o", self.out / path.stem, "--quiet"]

    def peak(self, path):
        return int(common.run([self.launcher, *self.command(path)]).split()[-1])

    def count(self, name, path, *options, expect=0):
        self.found[name] = instructions(self.command(path, *options), expect)
        return self.found[name]

    def models(self):
        smallest = common.ROOT / "tests" / "models" / "ops" / "relu_int8.tflite"
        base = self.peak(smallest)
        print(f"{smallest.stem} takes {base / 1e6:.1f} MB\n"
              f"{'model':32} {'file':>10} {'million':>8} {'peak MB':>8} {'x file':>8}")
        for path in model_files():
            size, peak = path.stat().st_size, self.peak(path)
            times = max(0, peak - base) / size
            print(f"{path.stem:32} {size:10,} {self.count(path.stem, path) / 1e6:8,.0f} "
                  f"{peak / 1e6:8.1f} {times:8.1f}", flush=True)
            if peak - base > FREE_BYTES + AIM_TIMES_FILE * size:
                self.broken.append(f"{path.stem}: {times:.1f} times the file")

    def mobilenet(self):
        path = self.out / "mobilenet_v2.tflite"
        path.write_bytes(mobilenet.mobilenet_v2())
        for board in MOBILENET_BOARDS if self.long else MOBILENET_BOARDS[:1]:
            name = f"{path.stem} {board}"
            count = self.count(name, path, "--board", board)
            print(f"{name:32} {path.stat().st_size:10,} {count / 1e6:8,.0f}", flush=True)

    def graphs(self):
        for kind, element, smaller, larger_refused in GRAPHS:
            counts = []
            for size in (smaller, 2 * smaller) if self.long or not larger_refused else (2 * smaller,):
                path = self.out / f"{kind}_{element}_{size}.tflite"
                path.write_bytes(large_graphs.KINDS[kind](size, element))
                refused = larger_refused and size > smaller
                name = f"{kind} of {size} {element} ADDs"
                counts.append(self.count(name, path, expect=1 if refused else 0))
                print(f"{name:32} {path.stat().st_size:10,} {counts[-1] / 1e6:8,.0f}"
                      f"{'  refused' if refused else ''}", flush=True)
            growth = counts[-1] / counts[0]
            if growth > MOST_GROWTH:
                self.broken.append(f"{kind}: twice the graph costs {growth:.1f} times as much, at "
                                   f"most {MOST_GROWTH}")

    def slopes(self):
        for command, kind, smaller in SLOPES:
            name, *options = command.split()
            costs = []
            for size in (1, smaller, 2 * smaller):
                path = self.out / f"slope_{kind}_{size}.tflite"
                path.write_bytes(large_graphs.KINDS[kind](size))
                where = ["-o", self.out / f"slope_{size}", "--quiet"] if name == "compile" else []
                costs.append(instructions([self.program, name, path, *options, *where]))
            slope = (costs[2] - costs[0]) / (costs[1] - costs[0])
            print(f"{command:26} {kind:8} {smaller:6} and {2 * smaller:6}: {costs[1] / 1e6:8,.0f} {costs[2] / 1e6:8,.0f}, "
                  f"slope {slope:.2f}", flush=True)
            if slope > MOST_SLOPE:
                self.broken.append(f"{command} of {kind}: twice the graph costs {slope:.2f} times as much, at most {MOST_SLOPE}")

    def many(self):
        count = MANY if self.long else FEWER
        for kind in MANY_KINDS:
            path = self.out / f"many_{kind}.tflite"
            path.write_bytes(large_graphs.many(kind, count))
            millions = instructions(self.command(path)) / 1e6
            print(f"{count} int8 of {kind:20} {path.stat().st_size:10,} {millions:8,.0f}", flush=True)
            if millions > MOST_OF_MANY:
                self.broken.append(f"{count} of {kind} cost {millions:,.0f} million instructions, at most {MOST_OF_MANY:,}")

    def far(self):
        path = self.out / "far.tflite"
        path.write_bytes(large_graphs.window(FAR, distance=FAR_DISTANCE))
        millions = instructions([self.program, "check", path]) / 1e6
        print(f"{FAR} float32 ADDs, read {FAR_DISTANCE} later: {millions:8,.0f}", flush=True)
        if millions > MOST_OF_FAR:
            self.broken.append(f"{FAR} ADDs read {FAR_DISTANCE} later cost {millions:,.0f} million instructions, at most "
                               f"{MOST_OF_FAR:,}")


def model_files():
    models = sorted((common.SHARED / "models").glob("*.tflite"))
    if not models and os.environ.get("CI") == "true":
        raise common.Failure(f"{common.SHARED}/models is missing, and CI=true")
    for folder in ("digits", "gadget"):
        models += sorted((common.ROOT / "tests" / "models" / folder).glob("*.tflite"))
    return models


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launcher", required=True, help="cost_of.c")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--long", action="store_true", help="every board and graph, 8,000 operators of each kind")
    options = parser.parse_args()
    common.require("valgrind", "strip")
    with tempfile.TemporaryDirectory() as out:
        costs = Costs(options.launcher, out, options.long or options.record)
        costs.models()
        costs.mobilenet()
        costs.graphs()
        costs.slopes()
        costs.many()
        costs.far()
    options.out.write_text(json.dumps(costs.found, indent=1) + "\n")
    if options.record:
        RECORD.write_text(json.dumps(costs.found, indent=1) + "\n")
    recorded = json.loads(RECORD.read_text())
    for name, count in costs.found.items():
        if name not in recorded:
            costs.broken.append(f"{name} is not in {RECORD.name}; --record adds it")
        elif count > WORSE * recorded[name]:
            costs.broken.append(f"{name}: {count / 1e6:,.0f} million instructions, recorded are "
                                f"{recorded[name] / 1e6:,.0f}")
    print(f"{len(costs.found)} passed, 0 failed" if not costs.broken else "")
    if costs.broken:
        raise common.Failure("; ".join(costs.broken))


if __name__ == "__main__":
    common.main_of(main)
