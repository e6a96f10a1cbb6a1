#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the driver of the AN521's second core in QEMU, with and without instruction counting.

Usage: second_core.py --work DIR

The firmware is a generated project whose main.c is second_core_test.c. Without instruction counting
both cores run at the same time, with it in turn and repeatably; both must give the same results.
"""
import argparse
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BOARD = "qemu_mps2_an521"
sys.path.insert(0, str(ROOT / "tests" / "boards"))
from instantiate import instantiate  # noqa: E402

TIMEOUT, FAULT, NOT_STARTED = -5201, -5202, -5203
SAMPLE = struct.pack("<1024i", *((i * 2654435761 + 12345) % 2**32 - 2**31 for i in range(1024)))
TICK = 50  # instructions in a tick of the timer under -icount shift=0

failures = 0


def check(good, what, detail=""):
    global failures
    failures += not good
    print(f"{'pass' if good else 'FAIL'}: {what}" + (f"\n      {detail}" if not good else ""), flush=True)
    return good


SECOND_CORE = {"parts": ["second_core"],
               "definitions": ["SECOND_CORE_DEVICE=Acc", "SECOND_CORE_MEASURE=1"]}


def driver_test(folder, *definitions):
    """A firmware with the tests of the driver; its path."""
    shutil.rmtree(folder, ignore_errors=True)
    instantiate(BOARD, ROOT / "tests" / "boards" / "toy_model", "toy", folder,
                parts=SECOND_CORE["parts"], definitions=SECOND_CORE["definitions"] + [*definitions])
    shutil.copy(HERE / "second_core_test.c", folder / "src" / "main.c")
    return build(folder)


def transfer_project(board, folder, asynchronous):
    """A project around the hand-written model for two devices; the path of its firmware."""
    shutil.rmtree(folder, ignore_errors=True)
    binding = SECOND_CORE if board == BOARD else {"parts": ["inline_devices"],
                                                  "inline_devices": ["Acc"]}
    instantiate(board, HERE / "transfer_model", "transfer", folder, samples=[SAMPLE], **binding)
    (folder / "model" / "transfer_variant.h").write_text(f"#define TRANSFER_ASYNC {asynchronous}\n")
    return build(folder)


def build(folder):
    """Builds a project; the path of its firmware. Exits if it does not build."""
    shutil.copytree(ROOT / "crt" / "include", folder / "runtime" / "include")
    for command in (["cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build",
                     "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON"],
                    ["cmake", "--build", folder / "build"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"the firmware does not build:\n{done.stdout}{done.stderr}")
    return folder / "build" / "firmware.elf"


def emulate(board, image, arguments, counted=True, seconds=600):
    """Exit code and console of a firmware."""
    argv = json.loads((ROOT / "boards" / board / "board.json").read_text())["emulator"]["argv"]
    if not counted and board == BOARD:
        at = argv.index("-icount")
        argv = argv[:at] + argv[at + 2:]
    extra = "".join(f",arg={a}" for a in ("fw", *arguments)) if arguments else ""
    command = []
    for item in argv:
        if item == "{arguments}":
            command += [str(a) for a in arguments]
        else:
            command.append(item.format(image=image, arguments=extra))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds,
                              stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        return "timeout", (late.stdout or b"").decode()


def run(image, test, counted, seconds=600):
    """Lines of the test as dictionaries; the exit code is checked."""
    code, text = emulate(BOARD, image, [test], counted, seconds)
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


def transfer_results():
    """What the model gives for SAMPLE: results of its operators, in order."""
    a, b, c, d = (struct.unpack_from("<256i", SAMPLE, 1024 * i) for i in range(4))

    def packed(function, x, y):
        values = [(function(p, q) + 2**31) % 2**32 - 2**31 for p, q in zip(x, y)]
        return values, struct.pack("<256i", *values)

    device_sum, device_bytes = packed(lambda p, q: p + q, c, d)
    host_sum, host_bytes = packed(lambda p, q: p + q, a, b)
    right = packed(lambda p, q: p - q, device_sum, host_sum)[1]
    left = packed(lambda p, q: p - q, host_sum, device_sum)[1]
    return [device_bytes, host_bytes, host_bytes, device_bytes, right, left], [left, right]


def test_project(board, work, asynchronous):
    """The whole template around a model with a device: demo and verify, here and on two cores."""
    name = f"{board}: {'asynchronous' if asynchronous else 'synchronous'} model"
    folder = work / f"transfer_{board}_{asynchronous}"
    image = transfer_project(board, folder, asynchronous)
    results, outputs = transfer_results()
    for counted in (True, False) if board == BOARD else (True,):
        code, text = emulate(board, image, [], counted)
        found = dict(re.findall(r"(\w+)=(\S+)", text))
        check(code == 0 and found.get("guard_ok") == "1" and found.get("status") == "0",
              f"{name}: demo", f"{code} {text}")
        if board == BOARD:
            overlap = int(found.get("device_overlap_ticks", -1))
            check(found.get("device_launches") == "2" and
                  (not counted or (overlap > 2) == bool(asynchronous)),
                  f"{name}: demo reports the second core", found)
        source, target = folder / "in.bin", folder / "out.bin"
        source.write_bytes(struct.pack("<2I", 0x43544F41, 1) + SAMPLE)
        target.unlink(missing_ok=True)
        code, text = emulate(board, image, ["verify", source, target], counted)
        records = read_records(target.read_bytes()) if code == 0 else []
        by_op = {op: data for op, _, data in records if op < 6}
        check([by_op.get(op) for op in range(6)] == results,
              f"{name}: verify writes the operators' results", f"{code} {text}")
        check([data for op, _, data in records if op == 0xFFFFFFFE] == outputs,
              f"{name}: verify writes the outputs", f"{code} {text}")


def read_records(data):
    """(op, result, bytes) of the records of a verify run."""
    at, records = 4, []
    while at < len(data):
        _, op, result, size = struct.unpack_from("<4I", data, at)
        records.append((op, result, data[at + 16:at + 16 + size]))
        at += 16 + size
    return records


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    options = parser.parse_args()
    for tool, package in (("arm-none-eabi-gcc", "gcc-arm-none-eabi"),
                          ("qemu-system-arm", "qemu-system-arm")):
        if shutil.which(tool) is None:
            sys.exit(f"'{tool}' is not installed: apt-get install {package}")
    work = options.work.resolve()
    image = driver_test(work / "second_core")
    hasty = driver_test(work / "second_core_hasty", "SECOND_CORE_TIMEOUT_US=20000")
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
    for board in (BOARD, "host"):
        for asynchronous in (0, 1):
            test_project(board, work, asynchronous)
    print(f"{failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
