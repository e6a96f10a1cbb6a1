# SPDX-License-Identifier: Apache-2.0
"""Runs the driver of the AN521's second core in QEMU, with and without instruction counting.

The firmware is a generated project whose main.c is second_core_test.c. Without instruction counting
both cores run at the same time, with it in turn and repeatably; both must give the same results.
"""
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import common
import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = common.ROOT
BOARD = "qemu_mps2_an521"
sys.path.insert(0, str(ROOT / "tests" / "boards"))
from instantiate import instantiate  # noqa: E402

TIMEOUT, FAULT, NOT_STARTED = -5201, -5202, -5203
SAMPLE = struct.pack("<1024i", *((i * 2654435761 + 12345) % 2**32 - 2**31 for i in range(1024)))
TICK = 50  # instructions in a tick of the timer under -icount shift=0

SECOND_CORE = {"parts": ["second_core"],
               "definitions": ["SECOND_CORE_DEVICE=Acc", "SECOND_CORE_MEASURE=1"]}


def driver_test(folder, *definitions):
    """A firmware with the tests of the driver; its path."""
    instantiate(BOARD, ROOT / "tests" / "boards" / "toy_model", "toy", folder,
                parts=SECOND_CORE["parts"], definitions=SECOND_CORE["definitions"] + [*definitions])
    shutil.copy(HERE / "second_core_test.c", folder / "src" / "main.c")
    return build(folder)


def transfer_project(board, folder, asynchronous):
    """A project around the hand-written model for two devices; the path of its firmware."""
    binding = SECOND_CORE if board == BOARD else {"parts": ["inline_devices"],
                                                  "inline_devices": ["Acc"]}
    instantiate(board, HERE / "transfer_model", "transfer", folder, samples=[SAMPLE], **binding)
    (folder / "model" / "transfer_variant.h").write_text(f"#define TRANSFER_ASYNC {asynchronous}\n")
    return build(folder)


def build(folder):
    """Builds a project; the path of its firmware."""
    shutil.copytree(ROOT / "crt" / "include", folder / "runtime" / "include")
    common.run(["cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON"])
    common.run(["cmake", "--build", folder / "build"])
    return folder / "build" / "firmware.elf"


def emulate(board, image, arguments, counted=True, seconds=600):
    """Exit code and console of a firmware."""
    argv = common.board(board)["emulator"]["argv"]
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


def read_records(data):
    """(op, result, bytes) of the records of a verify run."""
    at, records = 4, []
    while at < len(data):
        _, op, result, size = struct.unpack_from("<4I", data, at)
        records.append((op, result, data[at + 16:at + 16 + size]))
        at += 16 + size
    return records


def values_of(line):
    return dict(re.findall(r"(\w+)=(\S+)", line))


def run(image, test, is_counted):
    """Lines of a test of the firmware as dictionaries."""
    code, text = emulate(BOARD, image, [test], is_counted)
    lines = [values_of(line) for line in text.splitlines() if line.startswith("@aotc ")]
    assert code == 0 and lines and lines[-1] == {"end": "1"}, f"{code} {text}"
    return lines


def merged(lines):
    return {key: int(value) for line in lines for key, value in line.items()}


@pytest.fixture(scope="module")
def firmware(tmp_path_factory):
    common.require("arm-none-eabi-gcc", "qemu-system-arm")
    work = tmp_path_factory.mktemp("second_core")
    return {"usual": driver_test(work / "usual"), "hasty": driver_test(work / "hasty", "SECOND_CORE_TIMEOUT_US=20000")}


counted = pytest.mark.parametrize("is_counted", [True, False], ids=["counted", "at-once"])


@counted
def test_transfer(is_counted, firmware):
    lines = run(firmware["usual"], "transfer", is_counted)
    graphs = {(g["graph"], int(g["asynchronous"])): g for g in lines if "graph" in g}
    assert len(graphs) == 4
    for (graph, _), g in graphs.items():
        assert (g["failed"], g["equal"]) == ("0", "1"), "outputs as on one core"
        assert int(g["launches"]) == (2 if graph == "duplex" else 1)
    if not is_counted:
        return
    handover = merged([line for line in lines if "handover_sixteenths" in line])["handover_sixteenths"] / 16
    print(f"hand-over (launch and sync of nothing) {handover * TICK:.0f} instructions")
    for (graph, asynchronous), g in graphs.items():
        total, device, overlap = (int(g[k]) for k in ("ticks", "device", "overlap"))
        print(f"{graph} {'async' if asynchronous else 'sync '}: both cores together "
              f"{total * TICK} instructions, device {device * TICK}; side by side "
              f"{(total - overlap) * TICK}, overlap {overlap * TICK} ({100 * overlap / total:.1f} %)")
        assert g["disturbed"] == "0", "segments ran undisturbed"
    # What the cores do is the same in every mode, up to a tick at each end of a segment.
    sync, unsync = (graphs["duplex", a] for a in (0, 1))
    assert abs(int(sync["device"]) - int(unsync["device"])) <= 4
    assert int(sync["ticks"]) * 0.97 <= int(unsync["ticks"]) <= int(sync["ticks"]) * 1.03
    assert int(sync["overlap"]) <= 4 and int(graphs["simplex", 1]["overlap"]) <= 2, "nothing overlaps in a chain"
    # Device and host do the same work between launch and sync, so half of it disappears.
    assert int(unsync["overlap"]) > 0.9 * int(unsync["device"])


FAULTS = {"start": 0, "launch": 0, "sync": FAULT, "again": FAULT, "refused": FAULT, "open": FAULT}
STATUSES = {  # test of the firmware: every status that it prints
    "status": {"early_launch": NOT_STARTED, "early_sync": NOT_STARTED, "start": 0, "again": 0, "idle": 0, "launch": 0, "sync": -7,
               "once": 0, "first": 0, "second": -7, "after": 0, "lookalike_launch": 0, "lookalike": FAULT, "good_launch": 0,
               "good": 0},
    "fault": FAULTS,
    "overflow": FAULTS,
    "hang": {"start": 0, "launch": 0, "sync": TIMEOUT, "refused": TIMEOUT, "open": TIMEOUT, "still": TIMEOUT, "back": 0, "next": 0,
             "fresh": -11},
    "soak": {"wrong": 0, "commands": 20000},
}


@counted
@pytest.mark.parametrize("test", STATUSES)
def test_statuses(test, is_counted, firmware):
    image = firmware["hasty" if test == "hang" else "usual"]
    assert merged(run(image, test, is_counted)) == {**STATUSES[test], "end": 1}


@pytest.mark.parametrize("is_async", [0, 1], ids=["synchronous", "asynchronous"])
@pytest.mark.parametrize("board", [BOARD, "host"])
def test_project(board, is_async, tmp_path):
    """The whole template around a model with a device: demo and verify, here and on two cores."""
    image = transfer_project(board, tmp_path / "project", is_async)
    results, outputs = transfer_results()
    source, target = tmp_path / "in.bin", tmp_path / "out.bin"
    source.write_bytes(struct.pack("<2I", 0x43544F41, 1) + SAMPLE)
    for is_counted in (True, False) if board == BOARD else (True,):
        code, text = emulate(board, image, [], is_counted)
        found = values_of(text)
        assert (code, found.get("guard_ok"), found.get("status")) == (0, "1", "0"), text
        if board == BOARD:
            assert found.get("device_launches") == "2"
            assert not is_counted or (int(found.get("device_overlap_ticks", -1)) > 2) == bool(is_async)
        target.unlink(missing_ok=True)
        code, text = emulate(board, image, ["verify", source, target], is_counted)
        assert code == 0, text
        records = read_records(target.read_bytes())
        by_op = {op: data for op, _, data in records if op < 6}
        assert [by_op.get(op) for op in range(6)] == results, "the operators' results"
        assert [data for op, _, data in records if op == 0xFFFFFFFE] == outputs
