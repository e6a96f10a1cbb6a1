#!/usr/bin/env python3
"""Models that aotc compiled for two devices, on the two cores of the AN521 and with failing hooks.

Usage: compiled.py transfer|faults|MODEL --work DIR

`transfer`: the simplex and duplex transfer graphs as models of int8 vectors, synchronous,
asynchronous and with hooks only. MODEL: a model of ../shared or of tests/models split between the
cores. Outputs are LiteRT's and those of one core; `aotc verify` compares every layer; without
instruction counting both cores run at once. The figures that print are those of instruction
counting: there the cores run in turn on one clock, and the overlap is what running at once saves.
`faults`: fails every call of every hook of the duplex graph in turn, on this machine.
"""
import argparse
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e"), str(HERE.parent / "oracle")]
import common  # noqa: E402
import faults  # noqa: E402
from tflite_builder import ModelBuilder  # noqa: E402

BOARD = "qemu_mps2_an521"
TICK = 50  # instructions in a tick of the timer under -icount shift=0
HOOKS = ["Activate", "Open", "Close", "Deactivate", "Copy"]

# Which operators of a model the second core takes.
SPLITS = {
    # The 1x1 convolutions beside the main path, and the blocks in front of them.
    "resnet": [{"op": "conv_2d", "tensor": "*conv2d_5/*"}, {"op": "conv_2d", "tensor": "*conv2d_8/*"}],
    "digits_int8": [{"op": "conv_2d"}],
}


def transfer_model(kind):
    m = ModelBuilder()
    shape = (1, 2048)

    def tensor(name, scale, zero):
        return m.tensor(name, "int8", shape, scale, zero)

    a, b, c = (tensor(name, 0.05, 3) for name in "abc")
    host = tensor("host_sum", 0.1, -5)
    m.op("ADD", [a, b], [host])
    if kind == "simplex":
        out = tensor("out", 0.15, 2)
        m.op("SUB", [host, c], [out])
        return m.finish([a, b, c], [out])
    d = tensor("d", 0.05, 3)
    device, left, right = tensor("device_sum", 0.11, 4), tensor("left", 0.2, 1), tensor("right", 0.19, -2)
    m.op("SUB", [c, d], [device])
    m.op("ADD", [host, device], [left])
    m.op("SUB", [device, host], [right])
    return m.finish([a, b, c, d], [left, right])


def devices_json(path, operators, launch, hooks=HOOKS):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"devices": [
        {"name": "cpu", "type": 1},
        {"name": "acc", "type": 12, "operators": operators, "hooks": hooks, "launch": launch}],
        "fallback": "cpu"}))
    return path


def outputs_of(found):
    return [r[3] for r in found if r[1] == 0xFFFFFFFE]


def without_counting(emulator):
    """The board's emulator with both cores at once."""
    argv = emulator["argv"]
    at = argv.index("-icount")
    return {**emulator, "argv": argv[:at] + argv[at + 2:]}


def run_at_once(folder, samples):
    counted = common.board

    def at_once(name):
        data = counted(name)
        return {**data, "emulator": without_counting(data["emulator"])}

    common.board = at_once
    try:
        return outputs_of(common.verify_on_board(folder, BOARD, samples)[0])
    finally:
        common.board = counted


def demo_figures(folder):
    text = common.run_firmware(folder, BOARD)
    pairs = dict(re.findall(r"(\w+)=(-?\d+)\b", text))
    return {key: int(value) for key, value in pairs.items()}


def split_on_board(name, path, operators, work):
    """Returns the instructions of one core and, by launch, those of two and what they overlap."""
    oracle = common.Oracle(path, 2)
    expected = [a.tobytes() for arrays in oracle.outputs for a in arrays]
    single = work / name / "single"
    common.fresh(single).rmdir()
    common.create_project(path, BOARD, single)
    found, figures = common.verify_on_board(single, BOARD, oracle.samples)
    if outputs_of(found) != expected:
        raise common.Failure(f"{name} on one core: outputs are not LiteRT's")
    print(f"{name}: one core {figures['instructions']:,} instructions")
    won = {}
    for launch in ("none", "sync", "async"):
        folder = work / name / launch
        common.fresh(folder).rmdir()
        common.create_project(path, BOARD, folder, "--devices",
                              devices_json(work / name / f"{launch}.json", operators, launch))
        found, figures = common.verify_on_board(folder, BOARD, oracle.samples)
        if outputs_of(found) != expected:
            raise common.Failure(f"{name}, {launch}: outputs are not those of one core")
        for _ in range(3):
            if run_at_once(folder, oracle.samples) != expected:
                raise common.Failure(f"{name}, {launch}, both cores at once: other outputs")
        common.aotc("verify", folder, "--samples", "2", "--quiet")
        demo = demo_figures(folder)
        total = demo["instructions"]
        overlap = demo.get("device_overlap_ticks", 0) * TICK
        if demo.get("device_disturbed"):
            raise common.Failure(f"{name}, {launch}: segments were disturbed: {demo}")
        won[launch] = (total, overlap, demo.get("device_launches", 0))
        print(f"{name} {launch:5}: bit-exact; both cores together {total:,} instructions, "
              f"{demo.get('device_launches', 0)} launches, device "
              f"{demo.get('device_ticks', 0) * TICK:,}; side by side {total - overlap:,}, "
              f"overlap {overlap:,} ({100 * overlap / total:.1f} %)")
    if won["sync"][2] == 0 or won["sync"][1] > won["sync"][2] * TICK:
        raise common.Failure(f"{name}: synchronous launches overlap with nothing: {won}")
    return figures["instructions"], won


def test_transfer(work):
    for kind in ("simplex", "duplex"):
        path = work / f"{kind}.tflite"
        work.mkdir(parents=True, exist_ok=True)
        path.write_bytes(transfer_model(kind))
        _, won = split_on_board(kind, path, [{"op": "sub"}], work)
        total, overlap, launches = won["async"]
        if kind == "simplex" and overlap > launches * TICK:
            raise common.Failure(f"a chain has nothing to overlap: {won}")
        if kind == "duplex" and overlap < total // 4:
            raise common.Failure(f"both sides of duplex are independent: {won}")


def test_model(name, work):
    path = common.model_path(name)
    _, won = split_on_board(name, path, SPLITS[name], work)
    if name == "resnet" and won["async"][1] <= won["async"][2] * TICK:
        raise common.Failure(f"{name}: nothing overlaps: {won}")


def test_faults(work):
    """Also with fewer hooks: what is not listed is not called."""
    work.mkdir(parents=True, exist_ok=True)
    path = work / "duplex.tflite"
    path.write_bytes(transfer_model("duplex"))
    for hooks in (HOOKS, ["Open", "Close"], ["Activate", "Deactivate"], []):
        for launch in ("sync", "async"):
            label = f"{launch}_{len(hooks)}{''.join(hooks)[:4]}"
            folder = work / f"faults_{label}"
            common.fresh(folder).rmdir()
            common.aotc("compile", path, "-o", folder, "--devices",
                        devices_json(work / f"faults_{label}.json", [{"op": "sub"}], launch, hooks))
            ran = faults.inject(folder, "duplex", ["Acc"])
            if ran is None or ran.returncode != 0:
                raise common.Failure(f"{launch}, hooks {hooks}: {ran and ran.stdout + ran.stderr}")
            print(f"{launch}, hooks {' '.join(hooks) or '(none)'}: {ran.stdout.splitlines()[-1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what")
    parser.add_argument("--work", required=True, type=pathlib.Path)
    options = parser.parse_args()
    work = options.work.resolve() / "compiled"
    if options.what == "faults":
        test_faults(work)
        return
    common.require("qemu-system-arm", "arm-none-eabi-gcc")
    if options.what == "transfer":
        test_transfer(work)
    else:
        test_model(options.what, work)


if __name__ == "__main__":
    common.main_of(main)
