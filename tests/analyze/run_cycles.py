#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`aotc analyze cycles` on the firmware of projects: what it counts is what the firmware counts itself.

Usage: run_cycles.py --aotc PROGRAM --work DIR [--boards A,B] [--analyze PROGRAM]
       run_cycles.py --aotc PROGRAM --work DIR --table MODEL... [--prototype PROGRAM]

For every board a project of the digits sample is built and run; the firmware prints how many instructions one inference
took. The same number, with parts that add up to it, is to come from the plugin's counts. Then command lines that are to
be refused. With aotc-analyze, the cycles by LLVM's models: where there is one, what the reason is elsewhere, and that a loop takes
what llvm-mca says. --table prints cycles of models on the cores that LLVM has models of, for docs/cycles.md, beside what
--prototype (tools/cycles/cyc.py of ../shared) makes of the same counts. Ends with 'N passed, N failed'; 77 if an emulator or a
toolchain is missing.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
SHARED = pathlib.Path(os.environ.get("AOTC_SHARED") or ROOT.parent / "shared")
SKIP = 77
KINDS = ("load", "store", "multiply", "branch")


class Failure(Exception):
    pass


def run(*command, code=0, env=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=600, env=env)
    if done.returncode != code:
        raise Failure(f"exit code {done.returncode}, not {code}: {' '.join(map(str, command))}\n"
                      f"{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done


def expect(what, is_so):
    if not is_so:
        raise Failure(what)


def check_estimate(report, measured):
    """What was estimated before anything was compiled is within a tenth, by instructions that are counted."""
    estimated, cycles = report["estimated_cycles"], measured["cycles"]
    expect(f"{estimated:,} cycles estimated, {cycles:,} of the firmware", abs(estimated - cycles) < 0.1 * cycles)
    expect("a layer without an estimate", all(layer["estimated_cycles"] > 0 for layer in report["layers"]))
    layers = sum(layer["estimated_cycles"] for layer in report["layers"])
    expect(f"layers are estimated at {layers:,} cycles", layers == estimated)


def check_firmware(aotc, work, board):
    folder = work / board
    shutil.rmtree(folder, ignore_errors=True)
    run(aotc, "create", MODEL, "--board", board, "-o", folder, "--quiet")
    run(aotc, "build", folder, "--quiet")
    counted = json.loads(run(aotc, "run", folder, "--json").stdout)["instructions"]
    j = json.loads(run(aotc, "analyze", "cycles", folder / "build" / "firmware.elf", "--json").stdout)
    expect(f"{j['instructions']:,} instructions, and the firmware counts {counted:,}", j["instructions"] == counted)
    expect("something was not disassembled", j["unknown_instructions"] == 0)
    expect("not every layer was seen", all(j["layers"]) and len(j["layers"]) == 11)
    inside = sum(f["instructions"] for f in j["functions"])
    expect(f"functions have {inside:,} instructions", inside == counted)
    layers = sum(layer["instructions"] for layer in j["layers"])
    expect(f"layers have {layers:,} instructions, and all {counted:,}", 0 <= counted - layers < 400)
    cycles = sum(f["cycles"] for f in j["functions"])
    expect("functions do not add up to the cycles", abs(cycles - j["cycles"]) <= len(j["functions"]))
    kinds = sum(j[f"{kind}_cycles"] for kind in KINDS)
    expect("parts are more than the whole", 0 < kinds <= j["cycles"] + len(KINDS))
    lines = sum(f["code_lines"] for f in j["functions"])
    expect(f"functions have {lines:,} of {j['code_lines']:,} lines", lines == j["code_lines"])
    # Two to eight instructions stand in a line, and a branch leaves it earlier.
    expect(f"{lines:,} lines of code for {counted:,} instructions", counted / 8 < lines < counted)
    expect("a loop without its function", all(not loop["function"].startswith("0x") for loop in j["loops"]))
    expect("an implausible number of cycles", 0.5 * counted < j["cycles"] < 3 * counted)
    expect("no loop", j["loops"] and j["loops"][0]["cycles"] > 0.05 * j["cycles"])
    check_estimate(json.loads(run(aotc, "report", folder, "--no-alternatives", "--json").stdout), j)
    one = j["layers"][4]
    again = json.loads(run(aotc, "analyze", "cycles", folder, "--root", one["function"], "--json").stdout)
    expect(f"{one['function']} alone has {again['instructions']:,} instructions",
           again["instructions"] == one["instructions"])


def check_model(aotc, analyze, work):
    """Cycles by LLVM's model of the core, of firmware that is there already."""
    environment = dict(os.environ, AOTC_ANALYZE=str(analyze))

    def cycles(board, *more, env=environment):
        return json.loads(run(aotc, "analyze", "cycles", work / board, "--json", *more, env=env).stdout)

    for board, cpu, model in (("qemu_mps2_an386", "cortex-m4", "cortex-m4"), ("qemu_mps2_an386", "cortex-m7", "cortex-m7"),
                              ("qemu_mps2_an386", "cortex-m33", "cortex-m4"), ("qemu_mps3_an547", "cortex-m55", "cortex-m55")):
        j = cycles(board, "--cpu", cpu)
        expect(f"{cpu}: model {j['llvm']}", j["llvm"].get("model") == model)
        expect(f"{cpu}: {j['llvm_cycles']:,} of {j['instructions']:,} instructions",
               0.6 * j["instructions"] < j["llvm_cycles"] < 2 * j["instructions"])
        for part in ("functions", "loops"):
            expect(f"{cpu}: {part} without LLVM's cycles", all(row["llvm_cycles"] > 0 for row in j[part] if row["cycles"] > 10))
        inside = sum(f["llvm_cycles"] for f in j["functions"])
        expect(f"{cpu}: functions have {inside:,} of {j['llvm_cycles']:,}", abs(inside - j["llvm_cycles"]) <= len(j["functions"]))
        text = run(aotc, "analyze", "cycles", work / board, "--cpu", cpu, env=environment).stdout
        expect(f"{cpu}: whose model it is", ("cortex-m4 model, which it takes for cortex-m33" in text) == (cpu == "cortex-m33"))
    for board, what in (("qemu_microbit", "cortex-m0"), ("qemu_riscv32", "rv32imac")):
        j = cycles(board)
        expect(f"{board}: {j['llvm']}", j["llvm"] == {"reason": f"LLVM has no scheduling model of {what}"} and "llvm_cycles" not in j)
    without = cycles("qemu_microbit", env=dict(os.environ, AOTC_ANALYZE="/no/such"))
    expect(f"without it: {without['llvm']}", without["llvm"] == {"reason": "aotc-analyze is not installed"})


LOOP = """\
.syntax unified
.thumb
.global _start
.thumb_func
_start:
 ldrsb r3, [r0], #1
 ldr r4, [r1], #4
 smlad r2, r3, r4, r2
 mul r5, r3, r4
 add r6, r6, r5
 subs r7, r7, #1
 bne _start
last:
 bx lr
"""


def check_llvm_mca(analyze, work):
    """A loop takes as long as by LLVM's own program."""
    source, elf = work / "loop.s", work / "loop.elf"
    source.write_text(LOOP)
    (work / "body.s").write_text(LOOP.split("last:")[0])
    run("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-nostdlib", "-Wl,-Ttext=0x8000", source, "-o", elf)
    names = {line.split()[2]: int(line.split()[0], 16) for line in run("arm-none-eabi-nm", elf).stdout.splitlines()}
    (work / "blocks").write_text(f"{names['_start']:x} {names['last']:x} 1\n")
    for cpu in ("cortex-m4", "cortex-m7", "cortex-m55"):
        ours = json.loads(run(analyze, "model-cycles", elf, "--cpu", cpu, "--blocks", work / "blocks").stdout)["blocks"][0]
        total = {}
        for turns in (1, 51):
            said = run("llvm-mca-19", "-mtriple=thumbv7em-none-eabi", f"-mcpu={cpu}", f"-iterations={turns}", work / "body.s").stdout
            total[turns] = int(next(line.split()[2] for line in said.splitlines() if line.startswith("Total Cycles")))
        expect(f"{cpu}: {ours} cycles a turn, llvm-mca says {(total[51] - total[1]) / 50}", ours == (total[51] - total[1]) / 50)


def counts_of_one_call(board, elf, function, work):
    """Of every address: how often it ran in the first call of the function, how often it was not followed by the next."""
    plugin, out = work / "counts.so", work / "counts.txt"
    run("cc", "-shared", "-fPIC", "-O2", "-w", "-o", plugin, ROOT / "compiler/driver/emulator/counts.c")
    symbols = [line.split() for line in run("arm-none-eabi-nm", "-S", elf).stdout.splitlines()]
    begin, size = next((int(s[0], 16), int(s[1], 16)) for s in symbols if s[-1] == function)
    first = begin & ~0xfffff  # code is in a megabyte
    argv = json.loads((ROOT / "boards" / board / "board.json").read_text())["emulator"]["argv"]
    argv = [a.replace("{image}", str(elf)).replace("{arguments}", "") for a in argv]
    run(argv[0], "-plugin", f"{plugin},out={out},from={first:x},to={first + 0x100000:x},root={begin:x},root_end={begin + size:x},nth=1", *argv[1:])
    counts = {}
    for line in out.read_text().splitlines():
        words = line.split()
        if len(words) == 3:
            counted = counts.setdefault(words[0], [0, 0])
            counted[0] += int(words[1], 16)
            counted[1] += int(words[2], 16)
    return counts


def prototype_cycles(prototype, folder, board, core, work):
    """What another program makes of the same counts, or None: it knows Cortex-M4 and M55, and M33 by the numbers of the M4."""
    if core == "m7" or not prototype.exists():
        return None
    elf = folder / "build" / "firmware.elf"
    counts = counts_of_one_call(board, elf, "net_run", work)
    (work / "prototype.txt").write_text("".join(f"{at} {n} {taken}\n" for at, (n, taken) in counts.items()))
    said = run(sys.executable, prototype, elf, work / "prototype.txt", "net", "m55" if core == "m55" else "m4").stdout
    return int(re.search(r"cycles (\d+)", said)[1])


def print_table(aotc, work, models, prototype):
    """Cycles by the table, by LLVM's model and by the prototype."""
    print("| model | core | cycles by the table | by LLVM's model | off | by the prototype | off |\n"
          "| :--- | :--- | ---: | ---: | ---: | ---: | ---: |")
    for model in models:
        for board, core in (("qemu_mps2_an386", "m4"), ("qemu_mps2_an500", "m7"), ("qemu_mps2_an505", "m33"), ("qemu_mps3_an547", "m55")):
            folder = work / f"{model.stem}_{core}"
            run(aotc, "create", model, "--board", board, "-o", folder, "--prefix", "net", "--force", "--quiet")
            run(aotc, "build", folder, "--quiet")
            j = json.loads(run(aotc, "analyze", "cycles", folder, "--json").stdout)

            def beside(cycles, ours=j["cycles"]):
                return f"{cycles:,} | {100 * cycles / ours - 100:+.1f} %" if cycles else "- | -"

            other = prototype_cycles(prototype, folder, board, core, work)
            print(f"| `{model.stem}` | {core} | {j['cycles']:,} | {beside(j.get('llvm_cycles'))} | {beside(other)} |", flush=True)


def check_speed(aotc):
    """-O speed is by the estimate never slower than the default: of the sample, and of the real models that are here."""
    models = [MODEL, *(SHARED / "models" / f"{name}.tflite" for name in ("kws", "ad", "strww", "micro_speech"))]
    for model in models:
        for board in ("qemu_mps2_an385", "qemu_mps2_an386", "qemu_mps2_an505", "qemu_mps3_an547"):
            if not model.exists():
                continue
            least, fast = (json.loads(run(aotc, "check", model, "--board", board, "-O", level, "--json").stdout)["estimated_cycles"]
                           for level in ("balanced", "speed"))
            expect(f"{model.stem} on {board}: {fast:,} cycles at -O speed, {least:,} by default", fast <= 1.001 * least)


def check_refusals(aotc, work, board):
    elf = work / board / "build" / "firmware.elf"
    lone = work / "lone.elf"
    shutil.copy(elf, lone)
    short = work / "short.elf"
    short.write_bytes(elf.read_bytes()[:100])
    programs = work / "programs"
    shutil.rmtree(programs, ignore_errors=True)
    programs.mkdir()
    objdump = "riscv64-unknown-elf-objdump" if "riscv" in board else "arm-none-eabi-objdump"
    for name in ("cc", "gcc", "as", "ld", objdump):
        (programs / name).symlink_to(shutil.which(name))
    without_qemu = dict(os.environ, PATH=str(programs))
    (programs / "cc-less").mkdir()
    without_cc = dict(os.environ, PATH=str(programs / "cc-less"))
    for slug, code, text, env, arguments in (
            ("board-missing", 1, "--board", None, [lone]),
            ("board-unknown", 1, "", None, [lone, "--board", "qemu"]),
            ("board-mismatch", 1, "the instructions of rv32imac", None, [elf, "--board", "qemu_riscv32"]),
            ("board-mismatch", 1, "locked up", None, [elf, "--board", "qemu_mps2_an505"]),
            ("no-emulator", 5, "qemu_mps2_an386", None, [elf, "--board", "host", "--cpu", "cortex-m4"]),
            ("cycles-unknown", 1, "cortex-m4", None, [elf, "--cpu", "z80"]),
            ("function-unknown", 1, "", None, [elf, "--root", "no_such"]),
            ("root-not-run", 1, "--call", None, [elf, "--call", "1000"]),
            ("elf-invalid", 1, "", None, [short, "--board", board]),
            ("file-read", 1, "", None, [work / "none.elf"]),
            ("tool-missing", 5, "apt-get install qemu-system", without_qemu, [elf]),
            ("tool-missing", 5, "apt-get install gcc", without_cc, [elf])):
        said = run(aotc, "analyze", "cycles", *arguments, code=code, env=env).stderr
        expect(f"no [{slug}] with '{text}' in: {said}", f"[{slug}]" in said and text in said)
    for arguments in (["--call", "0"], ["--timeout", "0"], ["--call", "x"]):
        run(aotc, "analyze", "cycles", elf, *arguments, code=2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--aotc", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--boards", default="qemu_mps2_an386,qemu_microbit,qemu_mps3_an547,qemu_riscv32")
    parser.add_argument("--analyze", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, nargs="+")
    parser.add_argument("--prototype", type=pathlib.Path, default=SHARED / "tools" / "cycles" / "cyc.py")
    options = parser.parse_args()
    boards = options.boards.split(",")
    for program in ("arm-none-eabi-gcc", "riscv64-unknown-elf-gcc", "qemu-system-arm", "qemu-system-riscv32", "cc"):
        if shutil.which(program) is None:
            print(f"SKIPPED: '{program}' is not installed")
            return 1 if os.environ.get("CI") == "true" else SKIP
    options.work.mkdir(parents=True, exist_ok=True)
    work = options.work.resolve()
    if options.table:
        print_table(options.aotc, work, options.table, options.prototype)
        return 0
    checks = [(f"firmware on {board}", lambda b=board: check_firmware(options.aotc, work, b)) for board in boards]
    if options.analyze:
        analyze = options.analyze.resolve()
        checks.append(("models of cores", lambda: check_model(options.aotc, analyze, work)))
        if shutil.which("llvm-mca-19"):
            checks.append(("llvm-mca", lambda: check_llvm_mca(analyze, work)))
    checks.append(("speed", lambda: check_speed(options.aotc)))
    checks.append(("refusals", lambda: check_refusals(options.aotc, work, boards[0])))
    failed = 0
    for name, check in checks:
        try:
            check()
        except Failure as failure:
            failed += 1
            print(f"FAILED {name}: {failure}")
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
