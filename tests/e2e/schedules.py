#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""C of the schedules that `aotc schedules` lists: no compiler warns, and it computes what LiteRT does.

Usage: schedules.py --work DIR [--all | --models A,B] [--cpus X,Y] [--every N] [--run N]

A compilation takes the next alternative of every operator, so there are as many as the operator with the most has. With
--all every alternative of all models of tests/models and ../shared/models is compiled. One compilation in N (--every,
default 1) is taken, and one in N of those (--run) runs on this machine.
"""
import argparse
import json
import pathlib
import shutil

import bundle
import common
import emitted_c
import emitted_cases
import records

CPUS = ("host", "cortex-m4f", "cortex-m55f", "cortex-m0plus", "rv32imac")
# What `aotc schedules` lists under other limits: a column of two outputs, which once began a third.
MORE = {"depthwise_column_int8": [[(0, {"algorithm": "columns", "channels": 1, "rows": 2})]]}


def of_cpu(cpu):
    return [] if cpu == "host" else ["--cpu", cpu]


def rounds(path, cpu):
    """Lists of (operator, schedule): every alternative of each operator is in one."""
    listed = json.loads(common.aotc("schedules", path, *of_cpu(cpu), "--json"))["operators"]
    ways = {op["op_index"]: [a["schedule"] for a in op["alternatives"]] for op in listed}
    most = max((len(w) for w in ways.values()), default=0)
    return MORE.get(path.stem, []) + [[(op, w[k % len(w)]) for op, w in ways.items() if w] for k in range(most)]


def models(options):
    if options.models:
        return [found(name) for name in options.models.split(",")]
    own = sorted((common.ROOT / "tests" / "models").rglob("*.tflite"))
    return [p for p in own + sorted((common.SHARED / "models").glob("*.tflite")) if p.stem not in bundle.REFUSED]


def found(name):
    special = common.ROOT / "tests" / "models" / "strict" / f"{name}.tflite"
    return special if special.exists() else common.model_path(name)


class Lane:
    def __init__(self, work, options):
        self.work, self.options = work, options
        self.texts, self.commands, self.running, self.oracles = set(), [], {}, {}
        self.alternatives = self.refused = 0

    def take(self, path, cpu):
        taken = rounds(path, cpu)[::self.options.every]
        for number, calls in enumerate(taken):
            prefix = f"{common.prefix_of(path.stem)}_{CPUS.index(cpu)}_{number}"
            folder = self.work / prefix
            file = self.work / f"{prefix}.json"
            file.write_text(json.dumps({"calls": [{"op_index": op, "schedule": schedule} for op, schedule in calls]}))
            made = common.aotc("compile", path, "--prefix", prefix, "-o", folder, *of_cpu(cpu), "--schedules", file,
                               "--quiet", "--json", expect=None)
            if made.returncode:
                self.refused += 1
                print(f"{path.stem} {cpu} {calls}: {made.stderr.strip()[:300]}")
                continue
            self.alternatives += len(calls)
            text = (folder / f"{prefix}.c").read_text().replace(prefix, "").replace(prefix.upper(), "")
            if text in self.texts:
                continue
            self.texts.add(text)
            emitted_c.check_text(folder)
            for compiler in ("gcc", "clang-19"):
                self.commands.append([*common.cached(compiler), *emitted_c.STRICT, "-O1", "-c", folder / f"{prefix}.c", "-o", "/dev/null"])
            if self.options.run and len(self.texts) % self.options.run == 0:
                self.running[prefix] = (path, json.loads(made.stdout)["layers"])

    def run(self):
        """Samples of those that were compiled, as one program."""
        folder = common.fresh(self.work / "running")
        for prefix, (path, _) in self.running.items():
            for file in (self.work / prefix).glob(f"{prefix}*.[ch]"):
                shutil.copy(file, folder)
            if path not in self.oracles:
                self.oracles[path] = common.Oracle(path, 2)
            (folder / f"{prefix}.in").write_bytes(records.pack_inputs(self.oracles[path].samples))
        units = bundle.write_sources(folder, list(self.running), 4)
        image = bundle.build(emitted_cases.TARGETS["gcc"], folder, units, ["-O1"])
        print(common.run([image]).strip())
        for prefix, (path, layers) in self.running.items():
            common.compare(self.oracles[path], layers, records.unpack_results((folder / f"{prefix}.out").read_bytes()))
        print(f"{len(self.running)} programs as LiteRT's")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--models", default="")
    parser.add_argument("--cpus", default=",".join(CPUS))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--run", type=int, default=0)
    options = parser.parse_args()
    if options.all == bool(options.models):
        parser.error("--all or --models")
    common.require("gcc", "clang-19")
    lane = Lane(common.fresh(options.work.resolve()), options)
    for path in models(options):
        for cpu in options.cpus.split(","):
            lane.take(path, cpu)
    print(f"{lane.alternatives} alternatives, {len(lane.texts)} texts, {lane.refused} refused")
    if lane.refused or not lane.texts:
        raise common.Failure("a schedule that is listed was refused")
    if lane.running:
        lane.run()
    emitted_c.run_all(lane.commands)
    print(f"{len(lane.commands)} passed, 0 failed")


if __name__ == "__main__":
    common.main_of(main)
