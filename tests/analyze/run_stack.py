#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`aotc analyze stack` and `size` on small programs whose answers are known.

Usage: run_stack.py --aotc PROGRAM [--analyze PROGRAM] --work DIR [--only TEXT]
       run_stack.py --aotc PROGRAM --work DIR --firmware MODEL[=BOARD,...]... [--levels LEVEL,...]
       run_stack.py --aotc PROGRAM --work DIR --every-model [--levels LEVEL,...]

The programs of stack/ are compiled for cores of each family. Their answers stand beside them: counted by hand for
assembly, sums of gcc's -fstack-usage for C. --analyze: aotc-analyze, which disassembles by LLVM, says the same.
--firmware: projects of models for emulated boards (without BOARD: all that `aotc boards` lists), whose self test
paints the stack: the bound of NAME_run is at least what was measured, and where no function of a library is below it,
at most 16 bytes more. --levels: compiled with -O of each. --every-model: those of ../shared and of this repository that are
small enough for some board. What does not fit a board is not counted.
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
ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("AOTC_SHARED", ROOT.parent / "shared"))
SKIP = 77
ARM = ["arm-none-eabi-gcc", "-mthumb", "-nostartfiles", "-Wl,-e,start", "--specs=nosys.specs"]
RISCV = ["riscv64-unknown-elf-gcc", "-misa-spec=2.2", "-march=rv32imac", "-mabi=ilp32", "-nostartfiles",
         "--specs=picolibc.specs", "-Wl,-e,start,--no-gc-sections"]
AVR = ["avr-gcc"]
# name: compiler and flags, assembly
CORES = {
    "m0plus": (ARM + ["-mcpu=cortex-m0plus", "-O2"], "thumb.S"),
    "m0plus-small": (ARM + ["-mcpu=cortex-m0plus", "-Os"], "thumb.S"),
    "m4": (ARM + ["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-O2"], "thumb.S"),
    "m55": (ARM + ["-mcpu=cortex-m55", "-mfloat-abi=hard", "-O3"], "thumb.S"),
    "rv32": (RISCV + ["-O2"], "riscv.S"),
    "rv32-small": (RISCV + ["-Os", "-msave-restore"], "riscv.S"),
    "mega328": (AVR + ["-mmcu=atmega328p", "-O2"], "avr.S"),
    "mega328-small": (AVR + ["-mmcu=atmega328p", "-Os", "-mcall-prologues"], "avr.S"),
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

    def values(self, frames):
        def frame(match):
            word = match[0]
            if word == "or":
                return word
            if not word.isdigit() and word not in frames:
                raise Failure(f"{self.name}: gcc wrote no frame of {word}")
            return f"Frame({frames.get(word, word)})"
        # a + b is a sum, a | b the larger.
        text = re.sub(r"[a-z_]\w*|\d+", frame, self.sum)
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


def frames_of(work, stem):
    """Bytes of every function of a source, by gcc."""
    out = {}
    for line in (work / f"{stem}.su").read_text().splitlines():
        place, size, _ = line.split("\t")
        function = place.split(":")[-1].split(".")[0]
        out[function] = max(out.get(function, 0), int(size))
    return out


def build(core, work):
    command, assembly = CORES[core]
    link = [f for f in command if f.startswith("-Wl") or f.startswith("--specs") or f == "-nostartfiles"]
    compile_flags = [f for f in command if f not in link or f.startswith("--specs=pico")]
    for name in FILES + [assembly]:
        run(*compile_flags, "-ffunction-sections", "-fstack-usage", "-c", HERE / name, "-o",
            work / (pathlib.Path(name).stem + ".o"), cwd=work)
    elf = work / "programs.elf"
    objects = [work / (pathlib.Path(name).stem + ".o") for name in FILES + [assembly]]
    extra = ["-nostartfiles", "-Wl,-e,start"] if command[0] == "avr-gcc" else []
    run(*command, *extra, *objects, "-o", elf)
    return elf, assembly


def symbols_of(core, elf):
    tool = CORES[core][0][0].replace("-gcc", "-nm")
    return {line.split()[-1] for line in run(tool, elf).stdout.splitlines()}


def check_program(expected, found, frames):
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
    values, bytes_ = expected.values(frames), found["bytes"]
    value = max(values)
    holds = {"=": bytes_ in values, ">=": bytes_ >= value, "<=": value <= bytes_ <= value + 64}
    if not holds[expected.relation]:
        raise Failure(f"{expected.name}: {found['bytes']} bytes, not {expected.relation} {value}: {found['chain']}")


def check_core(core, aotc, analyze, work):
    """(passed, failures)"""
    elf, assembly = build(core, work)
    defined = symbols_of(core, elf)
    everything = []
    for name in FILES + [assembly]:
        frames = frames_of(work, pathlib.Path(name).stem) if name.endswith(".c") else {}
        everything += [(e, frames) for e in expectations(HERE / name, defined)]
    roots = [word for e, _ in everything for word in ("--root", e.name)]
    report = json.loads(run(aotc, "analyze", "stack", "--json", elf, *roots).stdout)
    failures, passed = [], 0
    if len(report["roots"]) != len(everything):
        raise Failure(f"{len(report['roots'])} roots, not {len(everything)}")
    for (expected, frames), found in zip(everything, report["roots"]):
        try:
            check_program(expected, found, frames)
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
    for check in (check_size, check_limits, check_messages, check_stripped):
        try:
            check(core, aotc, elf, work)
            passed += 1
        except Failure as failure:
            failures.append(f"{core}: {check.__name__}: {failure}")
    return passed, failures


def emulated_boards(aotc):
    listed = json.loads(run(aotc, "boards", "--emulated", "--json").stdout)
    return [b["name"] for b in listed if b["name"].startswith("qemu_")]


def check_firmware(model, board, level, aotc, work):
    """What it takes, measured and bounded; False if the board has not the memory."""
    folder = work / f"{model.stem}-{board}{'-' if level else ''}{level}"
    made = run(aotc, "create", model, "--board", board, "-o", folder, "--prefix", "net", "--force", "--quiet",
               *(["-O", level] if level else []), code=None)
    if made.returncode and "[does-not-fit]" in made.stderr:
        return False
    if made.returncode:
        raise Failure(f"{folder.name}: {made.stderr[-1500:]}")
    run(aotc, "build", folder, "--quiet")
    said = run(aotc, "run", folder).stdout
    found = re.search(r"stack (\d+) bytes", said)
    if not found:
        raise Failure(f"{folder.name}: no measurement: {said[:300]}")
    measured = int(found[1])
    elf = folder / "build" / "firmware.elf"
    bound = json.loads(run(aotc, "analyze", "stack", elf, "--root", "net_run", "--json").stdout)["roots"][0]
    ours = all(link["function"].startswith("net_") for link in bound["chain"])
    if bound["state"] == "unbounded" or bound["bytes"] < measured or (ours and bound["bytes"] > measured + 16):
        raise Failure(f"{folder.name}: measured {measured}, bound {bound}")
    unknown = check_attributed(aotc, elf)
    print(f"{folder.name:<40} {unknown:.2f} % of the bytes unknown, stack measured {measured:>5}, bound {bound['bytes']:>5}, {bound['state']}",
          flush=True)
    shutil.rmtree(folder)
    return True


def check_attributed(aotc, elf):
    """Every byte of the image is in a row, and at most 1 % of them in rows that nothing names. Gives the share in percent."""
    report = json.loads(run(aotc, "analyze", "size", elf, "--json").stdout)
    total = sum(s["bytes"] for s in report["sections"])
    unknown = sum(r["bytes"] for r in report["rows"] if r["part"] == "unknown")
    if sum(r["bytes"] for r in report["rows"]) != total or not total or unknown > 0.01 * total:
        raise Failure(f"{elf.parent.parent.name}: {unknown} of {total} bytes are unknown, rows {report['rows'][:5]}")
    return 100 * unknown / total


def check_firmwares(given, levels, aotc, work):
    passed, failures, misfits = 0, [], 0
    for item in given:
        model, _, boards = str(item).partition("=")
        for board in boards.split(",") if boards else emulated_boards(aotc):
            for level in levels:
                try:
                    fits = check_firmware(pathlib.Path(model).resolve(), board, level, aotc, work)
                    passed += fits
                    misfits += not fits
                except Failure as failure:
                    failures.append(str(failure))
    if misfits:
        print(f"{misfits} do not fit their board")
    return passed, failures


def every_model():
    """Of this repository and of ../shared."""
    found = [*(ROOT / "tests" / "models" / "digits").glob("*.tflite"), *(ROOT / "tests" / "models" / "gadget").glob("*.tflite"),
             *(SHARED / "models").glob("*.tflite")]
    if not (SHARED / "models").is_dir():
        print(f"there is no {SHARED / 'models'}")
    return sorted(found, key=lambda p: p.name)


def check_size(core, aotc, elf, _work):
    """Rows add up to what `size -A` of the toolchain says of each section."""
    report = json.loads(run(aotc, "analyze", "size", "--json", elf).stdout)
    said = {}
    for line in run(CORES[core][0][0].replace("-gcc", "-size"), "-A", elf).stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[1].isdigit() and int(words[1]):
            said[words[0]] = int(words[1])
    rows = {}
    for row in report["rows"]:
        rows[row["section"]] = rows.get(row["section"], 0) + row["bytes"]
    ours = {s["name"]: s["bytes"] for s in report["sections"]}
    if ours != rows or not ours or any(said.get(name) != size for name, size in ours.items()):
        raise Failure(f"sections {ours}, rows {rows}, size -A {said}")
    totals = report["totals"]
    if sum(totals[k] for k in ("code", "constants", "data", "zero")) != sum(ours.values()):
        raise Failure(f"{totals} is not the sum of {ours}")


def check_limits(_core, aotc, elf, _work):
    totals = json.loads(run(aotc, "analyze", "size", "--json", elf).stdout)["totals"]
    run(aotc, "analyze", "size", elf, "--max-code", totals["flash"], "--max-ram", totals["ram"])
    for option in (["--max-code", totals["flash"] - 1], ["--max-stack", 0, "--root", "chain"],
                   ["--max-stack", 1 << 30, "--root", "recursive"]):
        said = run(aotc, "analyze", "size", elf, *option, code=3).stderr
        if "[does-not-fit]" not in said:
            raise Failure(said)
    for name in ("--max-code", "--max-ram", "--max-stack"):
        for text in ("", " ", "many", "-1", "1.5", "1e9", "1k", "5 ", "99999999999999999999"):
            for given in ([name, text], [f"{name}={text}"]):
                said = run(aotc, "analyze", "size", elf, *given, code=2)
                wanted = f"option '{name}' needs a value" if given == [f"{name}="] else f"{name}: "
                if wanted not in said.stderr or "[usage]" not in said.stderr or said.stdout:
                    raise Failure(f"{given}: {said}")
    run(aotc, "analyze", "size", elf, "--max-stack", 1 << 30, "--root", "chain")
    said = run(aotc, "analyze", "size", elf, "--compare", elf).stdout
    if "0 rows are of another size" not in said:
        raise Failure(said[-300:])


def check_messages(_core, aotc, elf, work):
    """What a user gets wrong, and what --strict and --indirect do."""
    run(aotc, "analyze", "stack", elf, "--root", "chain", "--strict")
    for root in ("through_parameter", "recursive"):
        run(aotc, "analyze", "stack", elf, "--root", root, "--strict", code=3)
    lines = work / "calls.txt"
    lines.write_text("# what the table holds\nthrough_parameter: of_table_a\n")
    run(aotc, "analyze", "stack", elf, "--root", "through_parameter", "--strict", "--indirect", lines)
    one = json.loads(run(aotc, "analyze", "stack", elf, "--root", "through_parameter", "--json",
                         "--indirect", lines).stdout)["roots"][0]
    if [link["function"] for link in one["chain"]][:2] != ["through_parameter", "of_table_a"]:
        raise Failure(f"{one['chain']}")
    levels = json.loads(run(aotc, "analyze", "stack", elf, "--root", "nothing", "--json", "--interrupts",
                            "chain=1,nothing=1", "--interrupts", "huge=2").stdout)
    by_name = {i["function"]: i["bytes"] + i["frame_bytes"] for i in levels["interrupts"]}
    wanted = levels["roots"][0]["bytes"] + max(by_name["chain"], by_name["nothing"]) + by_name["huge"]
    if levels["roots"][0]["with_interrupts"] != wanted:
        raise Failure(f"{levels['roots'][0]['with_interrupts']} with interrupts, not {wanted}")
    check_own_stack(aotc, elf)
    lines.write_text("through_parameter of_table_a\nnobody: nowhere\n")
    for options, code, text in ((["--root", "no_such"], 1, "[function-unknown]"),
                                (["--indirect", lines], 1, "calls.txt:1"),
                                (["--interrupts", "chain=x"], 2, "HANDLER=PRIORITY"),
                                (["--objdump", "no-such-objdump"], 5, "[tool-missing]"),
                                (["--objdump", "false"], 1, "[tool-failed]")):
        said = run(aotc, "analyze", "stack", elf, *options, code=code).stderr
        if text not in said:
            raise Failure(f"{options}: {said}")
    check_odd_name(aotc, elf, work)


def check_own_stack(aotc, elf):
    """--interrupt-stack: the root gets one frame, and all else of the handlers is on the other stack."""
    given = ["analyze", "stack", elf, "--root", "chain", "--interrupts", "nothing=1,huge=2", "--interrupt-stack"]
    found = json.loads(run(aotc, *given, "--json").stdout)
    handlers = found["interrupts"]
    frame = handlers[0]["frame_bytes"]
    apart = sum(i["bytes"] + frame for i in handlers) - frame
    if (found["roots"][0]["with_interrupts"] != found["roots"][0]["bytes"] + frame or found["interrupt_stack_bytes"] != apart
            or f"the stack of the interrupts: {apart:,} bytes" not in run(aotc, *given).stdout):
        raise Failure(f"{apart} bytes expected on the stack of the interrupts: {found}")
    alone = json.loads(run(aotc, *given[:5], "--interrupt-stack", "--json").stdout)
    if alone["interrupt_stack_bytes"] != 0 or alone["roots"][0]["with_interrupts"] != alone["roots"][0]["bytes"]:
        raise Failure(f"without interrupts: {alone}")


def check_stripped(core, aotc, elf, work):
    """Without symbols a root is an address, and where no table is jumped through the bound is the same."""
    known = json.loads(run(aotc, "analyze", "stack", elf, "--root", "chain", "--json").stdout)["roots"][0]
    bare = work / "stripped.elf"
    run(CORES[core][0][0].replace("-gcc", "-strip"), "-o", bare, elf)
    found = json.loads(run(aotc, "analyze", "stack", bare, "--root", hex(known["address"]), "--json").stdout)["roots"][0]
    if (found["bytes"], found["state"]) != (known["bytes"], known["state"]):
        raise Failure(f"{found}, with symbols {known}")


def check_odd_name(aotc, elf, work):
    """JSON is UTF-8 whatever the file is called."""
    odd = pathlib.Path(os.fsdecode(os.fsencode(str(work)) + b"/odd\xff.elf"))
    shutil.copy(elf, odd)
    for command in (["stack", "--root", "chain"], ["size"]):
        report = json.loads(run(aotc, "analyze", command[0], odd, "--json", *command[1:]).stdout)
        if not report["file"].endswith("odd\ufffd.elf"):
            raise Failure(f"{report['file']!r}")


def ended(passed, failures):
    for failure in failures:
        print(f"FAIL {failure}")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotc", required=True, type=pathlib.Path)
    parser.add_argument("--analyze", type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="", help="cores whose name has this")
    parser.add_argument("--firmware", nargs="+", metavar="MODEL[=BOARD,...]")
    parser.add_argument("--every-model", action="store_true")
    parser.add_argument("--levels", default="", help="of -O, with commas between them (default: what aotc takes)")
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    missing = [c[0][0] for c in CORES.values() if not shutil.which(c[0][0])]
    if missing and not os.environ.get("CI"):
        print(f"skipped: {', '.join(sorted(set(missing)))} not installed")
        return SKIP
    aotc = args.aotc.resolve()
    if args.firmware or args.every_model:
        args.work.mkdir(parents=True)
        return ended(*check_firmwares(args.firmware or every_model(), args.levels.split(","), aotc, args.work.resolve()))
    passed, failures = 0, []
    for core in CORES:
        if args.only not in core:
            continue
        work = args.work / core
        work.mkdir(parents=True)
        try:
            more, wrong = check_core(core, aotc, args.analyze and args.analyze.resolve(), work.resolve())
        except Failure as failure:
            more, wrong = 0, [f"{core}: {failure}"]
        passed += more
        failures += wrong
    return ended(passed, failures)


if __name__ == "__main__":
    sys.exit(main())
