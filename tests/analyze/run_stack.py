#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`aotc analyze stack` and `size` on firmware of models for emulated boards, whose self test paints the stack.

Usage: run_stack.py --aotc PROGRAM --work DIR --firmware MODEL[=BOARD,...]... [--levels LEVEL,...]
       run_stack.py --aotc PROGRAM --work DIR --every-model [--levels LEVEL,...]

The bound of NAME_run is at least what was measured, and where no function of a library is below it, at most 16 bytes more.
--firmware: models and boards (without BOARD: all that `aotc boards` lists). --levels: compiled with -O of each. --every-model:
those of ../shared and of this repository that are small enough for some board. What does not fit a board is not counted.
Ends with 'N passed, N failed'.
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
SHARED = pathlib.Path(os.environ.get("AOTC_SHARED", ROOT.parent / "shared"))


class Failure(Exception):
    pass


def run(*command, code=0, cwd=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=cwd, timeout=600)
    if code is not None and done.returncode != code:
        raise Failure(f"exit code {done.returncode}, not {code}: {' '.join(map(str, command))}\n"
                      f"{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aotc", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--firmware", nargs="+", metavar="MODEL[=BOARD,...]")
    what.add_argument("--every-model", action="store_true")
    parser.add_argument("--levels", default="", help="of -O, with commas between them (default: what aotc takes)")
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    passed, failures = check_firmwares(args.firmware or every_model(), args.levels.split(","), args.aotc.resolve(), args.work.resolve())
    for failure in failures:
        print(f"FAIL {failure}")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
