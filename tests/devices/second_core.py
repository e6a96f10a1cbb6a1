#!/usr/bin/env python3
"""Runs the driver of the AN521's second core in QEMU, with and without instruction counting.

Usage: second_core.py --work DIR [--tests a,b]

The firmware is a generated project whose main.c is second_core_test.c. Without instruction counting
both cores run at the same time, with it in turn and repeatably; both must give the same results.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BOARD = "qemu_mps2_an521"
sys.path.insert(0, str(ROOT / "tests" / "boards"))
from instantiate import instantiate  # noqa: E402

TIMEOUT, FAULT, NOT_STARTED = -5201, -5202, -5203
TICK = 50  # instructions in a tick of the timer under -icount shift=0

failures = 0


def check(good, what, detail=""):
    global failures
    failures += not good
    print(f"{'pass' if good else 'FAIL'}: {what}" + (f"\n      {detail}" if not good else ""), flush=True)
    return good


def build(folder, *definitions):
    """The path of a firmware; exits if it does not build."""
    shutil.rmtree(folder, ignore_errors=True)
    instantiate(BOARD, ROOT / "tests" / "boards" / "toy_model", "toy", folder,
                parts=["second_core"],
                definitions=["SECOND_CORE_DEVICE=Acc", "SECOND_CORE_MEASURE=1", *definitions])
    shutil.copy(HERE / "second_core_test.c", folder / "src" / "main.c")
    shutil.copytree(ROOT / "crt" / "include", folder / "runtime" / "include")
    for command in (["cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build",
                     "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON"],
                    ["cmake", "--build", folder / "build"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"the firmware does not build:\n{done.stdout}{done.stderr}")
    return folder / "build" / "firmware.elf"


def run(image, test, counted, seconds=60):
    """Lines of the test as dictionaries; the exit code is checked."""
    argv = json.loads((ROOT / "boards" / BOARD / "board.json").read_text())["emulator"]["argv"]
    if not counted:
        at = argv.index("-icount")
        argv = argv[:at] + argv[at + 2:]
    command = [a.format(image=image, arguments=f",arg=fw,arg={test}") for a in argv]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds,
                              stdin=subprocess.DEVNULL)
        text, code = done.stdout, done.returncode
    except subprocess.TimeoutExpired as late:
        text, code = (late.stdout or b"").decode(), "timeout"
    lines = [dict(re.findall(r"(\w+)=(\S+)", line)) for line in text.splitlines()
             if line.startswith("@aotc ")]
    name = f"{test}{'' if counted else ' without icount'}"
    check(code == 0 and lines and lines[-1] == {"end": "1"}, f"{name}: ends", f"{code} {text}")
    return name, lines


def merged(lines):
    return {key: int(value) for line in lines for key, value in line.items()}


def expect(image, test, counted, **wanted):
    name, lines = run(image, test, counted)
    found = merged(lines)
    check(found == {**wanted, "end": 1}, f"{name}: every status is the right one",
          f"{found}\n      {wanted}")


def test_transfer(image, counted):
    name, lines = run(image, "transfer", counted)
    graphs = {(g["graph"], int(g["asynchronous"])): g for g in lines if "graph" in g}
    check(len(graphs) == 4, f"{name}: runs four graphs", lines)
    for (graph, asynchronous), g in graphs.items():
        label = f"{name}: {graph} {'asynchronous' if asynchronous else 'synchronous'}"
        check((g["failed"], g["equal"]) == ("0", "1"), f"{label}: outputs as on one core", g)
        check(int(g["launches"]) == (2 if graph == "duplex" else 1), f"{label}: launches", g)
    if not counted:
        return
    handover = int(merged([line for line in lines if "handover_sixteenths" in line])
                   ["handover_sixteenths"]) / 16
    print(f"{name}: hand-over (launch and sync of nothing) {handover * TICK:.0f} instructions")
    for (graph, asynchronous), g in graphs.items():
        total, device, overlap = (int(g[k]) for k in ("ticks", "device", "overlap"))
        print(f"{name}: {graph} {'async' if asynchronous else 'sync '}: both cores together "
              f"{total * TICK} instructions, device {device * TICK}; side by side "
              f"{(total - overlap) * TICK}, overlap {overlap * TICK} ({100 * overlap / total:.1f} %)")
        check(g["disturbed"] == "0", f"{name}: {graph}: segments ran undisturbed", g)
        # What the cores do is the same in every mode, up to a tick at each end of a segment.
    sync, unsync = (graphs["duplex", a] for a in (0, 1))
    check(abs(int(sync["device"]) - int(unsync["device"])) <= 4 and
          int(sync["ticks"]) * 0.97 <= int(unsync["ticks"]) <= int(sync["ticks"]) * 1.03,
          f"{name}: duplex does the same work in both modes", f"{sync} {unsync}")
    check(int(sync["overlap"]) <= 4 and int(graphs["simplex", 1]["overlap"]) <= 2,
          f"{name}: nothing overlaps in synchronous mode and in a chain", f"{sync}")
    # Device and host do the same work between launch and sync, so half of it disappears.
    check(int(unsync["overlap"]) > 0.9 * int(unsync["device"]),
          f"{name}: duplex overlaps when asynchronous", unsync)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    options = parser.parse_args()
    for tool, package in (("arm-none-eabi-gcc", "gcc-arm-none-eabi"),
                          ("qemu-system-arm", "qemu-system-arm")):
        if shutil.which(tool) is None:
            sys.exit(f"'{tool}' is not installed: apt-get install {package}")
    image = build(options.work.resolve() / "second_core")
    hasty = build(options.work.resolve() / "second_core_hasty", "SECOND_CORE_TIMEOUT_US=20000")
    for counted in (True, False):
        test_transfer(image, counted)
        expect(image, "status", counted, early_launch=NOT_STARTED, early_sync=NOT_STARTED, start=0,
               again=0, idle=0, launch=0, sync=-7, once=0, first=0, second=-7, after=0,
               lookalike_launch=0, lookalike=FAULT, good_launch=0, good=0)
        for fault in ("fault", "overflow"):
            expect(image, fault, counted, start=0, launch=0, sync=FAULT, again=FAULT, refused=FAULT,
                   open=FAULT)
        expect(hasty, "hang", counted, start=0, launch=0, sync=TIMEOUT, refused=TIMEOUT,
               open=TIMEOUT, still=TIMEOUT, back=0, next=0, fresh=-11)
        expect(image, "soak", counted, wrong=0, commands=20000)
    print(f"{failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
