#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints cycles of models on the cores that LLVM has models of, for docs/cycles.md, beside what another program makes of the
same counts.

Usage: cycles_table.py --aotc PROGRAM --work DIR [--prototype PROGRAM] MODEL...

--prototype: tools/cycles/cyc.py of ../shared, if it is there.
"""
import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from common import SHARED, run  # noqa: E402


def counts_of_one_call(board, elf, function, work):
    """Of every address: how often it ran in the first call of the function, how often it was not followed by the next."""
    plugin, out = work / "counts.so", work / "counts.txt"
    run(["cc", "-shared", "-fPIC", "-O2", "-w", "-o", plugin, ROOT / "compiler/driver/emulator/counts.c"])
    symbols = [line.split() for line in run(["arm-none-eabi-nm", "-S", elf]).splitlines()]
    begin, size = next((int(s[0], 16), int(s[1], 16)) for s in symbols if s[-1] == function)
    first = begin & ~0xfffff  # code is in a megabyte
    argv = json.loads((ROOT / "boards" / board / "board.json").read_text())["emulator"]["argv"]
    argv = [a.replace("{image}", str(elf)).replace("{arguments}", "") for a in argv]
    options = f"{plugin},out={out},from={first:x},to={first + 0x100000:x},root={begin:x},root_end={begin + size:x},nth=1"
    run([argv[0], "-plugin", options, *argv[1:]])
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
    said = run([sys.executable, prototype, elf, work / "prototype.txt", "net", "m55" if core == "m55" else "m4"])
    return int(re.search(r"cycles (\d+)", said)[1])


def print_table(aotc, work, models, prototype):
    """Cycles by the table, by LLVM's model and by the prototype."""
    print("| model | core | cycles by the table | by LLVM's model | off | by the prototype | off |\n"
          "| :--- | :--- | ---: | ---: | ---: | ---: | ---: |")
    for model in models:
        for board, core in (("qemu_mps2_an386", "m4"), ("qemu_mps2_an500", "m7"), ("qemu_mps2_an505", "m33"), ("qemu_mps3_an547", "m55")):
            folder = work / f"{model.stem}_{core}"
            run([aotc, "create", model, "--board", board, "-o", folder, "--prefix", "net", "--force", "--quiet"])
            run([aotc, "build", folder, "--quiet"])
            j = json.loads(run([aotc, "analyze", "cycles", folder, "--json"]))

            def beside(cycles, ours=j["cycles"]):
                return f"{cycles:,} | {100 * cycles / ours - 100:+.1f} %" if cycles else "- | -"

            other = prototype_cycles(prototype, folder, board, core, work)
            print(f"| `{model.stem}` | {core} | {j['cycles']:,} | {beside(j.get('llvm_cycles'))} | {beside(other)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotc", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--prototype", type=pathlib.Path, default=SHARED / "tools" / "cycles" / "cyc.py")
    parser.add_argument("models", type=pathlib.Path, nargs="+", metavar="MODEL")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    print_table(options.aotc.resolve(), options.work.resolve(), options.models, options.prototype)


if __name__ == "__main__":
    main()
