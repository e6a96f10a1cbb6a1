#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`aotc analyze stack` and `size` on small programs whose answers are known.

Usage: run_stack.py --aotc PROGRAM [--analyze PROGRAM] --work DIR [--only TEXT]

The programs of stack/ are compiled for cores of each family. Their answers stand beside them: counted by hand for
assembly, sums of gcc's -fstack-usage for C. --analyze: aotc-analyze, which disassembles by LLVM, says the same.
Ends with 'N passed, N failed'; 77 if a toolchain is missing.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent / "stack"
SKIP = 77
ARM = ["arm-none-eabi-gcc", "-mthumb", "-nostartfiles", "-Wl,-e,start", "--specs=nosys.specs"]
RISCV = ["riscv64-unknown-elf-gcc", "-misa-spec=2.2", "-march=rv32imac", "-mabi=ilp32", "-nostartfiles",
         "--specs=picolibc.specs", "-Wl,-e,start,--no-gc-sections"]
AVR = ["avr-gcc"]
# name: compiler and flags, assembly, bytes that a call pushes
CORES = {
    "m0plus": (ARM + ["-mcpu=cortex-m0plus", "-O2"], "thumb.S", 0),
    "m0plus-small": (ARM + ["-mcpu=cortex-m0plus", "-Os"], "thumb.S", 0),
    "m4": (ARM + ["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-O2"], "thumb.S", 0),
    "m55": (ARM + ["-mcpu=cortex-m55", "-mfloat-abi=hard", "-O3"], "thumb.S", 0),
    "rv32": (RISCV + ["-O2"], "riscv.S", 0),
    "rv32-small": (RISCV + ["-Os", "-msave-restore"], "riscv.S", 0),
    "mega328": (AVR + ["-mmcu=atmega328p", "-O2"], "avr.S", 2),
    "mega328-small": (AVR + ["-mmcu=atmega328p", "-Os", "-mcall-prologues"], "avr.S", 2),
}
FILES = ["programs.c", "other.c"]


class Failure(Exception):
    pass


def run(*command, code=0, cwd=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=cwd, timeout=600)
    if code is not None and done.returncode != code:
        raise Failure(f"exit code {done.returncode}, not {code}: {' '.join(map(str, command))}\n"
                      f"{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done


class Expected:
    """One `root:` line."""

    def __init__(self, file, line):
        self.file = file
        rest, _, tail = line.partition(";")
        words = tail.split() if tail else rest.split()[1:]
        self.name = rest.split()[0]
        self.state, self.kinds = words[0], set(words[1:])
        what = rest.split(None, 1)[1].strip() if tail and len(rest.split()) > 1 else ""
        self.relation, self.sum = "=", what
        for relation in (">=", "<=", "="):
            if what.startswith(relation):
                self.relation, self.sum = relation, what[len(relation):].strip()
                break

    def value(self, frames, pushed):
        def frame(match):
            name = match[0]
            if name not in frames:
                raise Failure(f"{self.name}: gcc wrote no frame of {name}")
            return f"Frame({frames[name]})"
        # a + b is a sum, a | b the larger.
        text = re.sub(r"\b\d+\b", lambda m: f"Frame({m[0]})", self.sum)
        text = re.sub(r"[a-z_]\w*(?!\()\b", lambda m: m[0] if m[0] in ("or", "Frame") else frame(m), text) if not self.sum.isdigit() else text
        return [eval(way, {"Frame": Frame}).bytes for way in text.split(" or ")]


class Frame:
    def __init__(self, number):
        self.bytes = number

    def __add__(self, other):
        return Frame(self.bytes + other.bytes)

    def __or__(self, other):
        return Frame(max(self.bytes, other.bytes))


def expectations(source, defined):
    """Those of a source; assembly's only where the function is in the program."""
    lines = re.findall(r"^\W*root: (.*)$", source.read_text(), re.M)
    found = [Expected(source.name, line) for line in lines]
    if len(found) != len(lines) or not found:
        raise Failure(f"{source.name}: no expectations")
    return [e for e in found if e.name in defined]


def frames_of(work, names):
    """Bytes of every function by gcc, of the file that is asked first."""
    out = {}
    for name in names:
        for line in (work / f"{name}.su").read_text().splitlines():
            place, size, _ = line.split("\t")
            function = place.split(":")[-1].split(".")[0]
            out[function] = max(out.get(function, 0), int(size))
    return out


def build(core, work):
    command, assembly, pushed = CORES[core]
    link = [f for f in command if f.startswith("-Wl") or f.startswith("--specs") or f == "-nostartfiles"]
    compile_flags = [f for f in command if f not in link or f.startswith("--specs=pico")]
    for name in FILES + [assembly]:
        run(*compile_flags, "-ffunction-sections", "-fstack-usage", "-c", HERE / name, "-o",
            work / (pathlib.Path(name).stem + ".o"), cwd=work)
    elf = work / "programs.elf"
    objects = [work / (pathlib.Path(name).stem + ".o") for name in FILES + [assembly]]
    extra = ["-nostartfiles", "-Wl,-e,start"] if command[0] == "avr-gcc" else []
    run(*command, *extra, *objects, "-o", elf)
    return elf, assembly, pushed


def symbols_of(core, elf):
    tool = CORES[core][0][0].replace("-gcc", "-nm")
    return {line.split()[-1] for line in run(tool, elf).stdout.splitlines()}


def check_program(expected, found, frames, pushed):
    if found["state"] != expected.state:
        raise Failure(f"{expected.name}: {found['state']}, not {expected.state}: {found['problems']}")
    kinds = {p["kind"] for p in found["problems"]}
    # Where nothing is known of the stack pointer any more, other things are not known either.
    if not (kinds == expected.kinds or (expected.state == "unbounded" and kinds >= expected.kinds)):
        raise Failure(f"{expected.name}: {kinds}, not {expected.kinds}: {found['problems']}")
    if sum(link["bytes"] for link in found["chain"]) != found["bytes"]:
        raise Failure(f"{expected.name}: the chain is not the bound: {found}")
    if not expected.sum or expected.state == "unbounded":
        return
    values, bytes_ = expected.value(frames, pushed), found["bytes"]
    value = max(values)
    holds = {"=": bytes_ in values, ">=": bytes_ >= value, "<=": value <= bytes_ <= value + 64}
    if not holds[expected.relation]:
        raise Failure(f"{expected.name}: {found['bytes']} bytes, not {expected.relation} {value}: {found['chain']}")


def check_core(core, aotc, analyze, work):
    """(passed, failures)"""
    elf, assembly, pushed = build(core, work)
    defined = symbols_of(core, elf)
    everything = []
    for name in FILES + [assembly]:
        frames = frames_of(work, [pathlib.Path(name).stem, "programs"][:1]) if name.endswith(".c") else {}
        everything += [(e, frames) for e in expectations(HERE / name, defined)]
    roots = [word for e, _ in everything for word in ("--root", e.name)]
    report = json.loads(run(aotc, "analyze", "stack", "--json", elf, *roots).stdout)
    failures, passed = [], 0
    if len(report["roots"]) != len(everything):
        raise Failure(f"{len(report['roots'])} roots, not {len(everything)}")
    for (expected, frames), found in zip(everything, report["roots"]):
        try:
            check_program(expected, found, frames, pushed)
            passed += 1
        except Failure as failure:
            failures.append(f"{core}: {failure}")
    if analyze:
        by_llvm = json.loads(run(analyze, "stack", "--json", elf, *roots).stdout)
        for a, b in zip(report["roots"], by_llvm["roots"]):
            if a == b:
                passed += 1
            else:
                failures.append(f"{core}: {a['function']}: objdump {a}\nLLVM {b}")
    return passed, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotc", required=True, type=pathlib.Path)
    parser.add_argument("--analyze", type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="", help="cores whose name has this")
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    missing = [c[0][0] for c in CORES.values() if not shutil.which(c[0][0])]
    if missing and not os.environ.get("CI"):
        print(f"skipped: {', '.join(sorted(set(missing)))} not installed")
        return SKIP
    passed, failures = 0, []
    for core in CORES:
        if args.only not in core:
            continue
        work = args.work / core
        work.mkdir(parents=True)
        try:
            more, wrong = check_core(core, args.aotc.resolve(), args.analyze and args.analyze.resolve(), work.resolve())
        except Failure as failure:
            more, wrong = 0, [f"{core}: {failure}"]
        passed += more
        failures += wrong
    for failure in failures:
        print(f"FAIL {failure}")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
