# SPDX-License-Identifier: Apache-2.0
"""Models that aotc compiled for two devices, on the two cores of the AN521 and with failing hooks.

test_transfer: the simplex and duplex transfer graphs as models of int8 vectors, synchronous,
asynchronous and with hooks only. test_model: a model of ../shared or of tests/models split between the
cores. Outputs are LiteRT's and those of one core; `aotc verify` compares every layer; without
instruction counting both cores run at once. The figures that print are those of instruction
counting: there the cores run in turn on one clock, and the overlap is what running at once saves.
test_faults: fails every call of every hook of the duplex graph in turn, on this machine.
"""
import json
import re

import common
import pytest
import test_hook_faults
from tflite_builder import ModelBuilder

BOARD = "qemu_mps2_an521"
TICK = 50  # instructions in a tick of the timer under -icount shift=0
HOOKS = ["Activate", "Open", "Close", "Deactivate", "Copy"]

# Which operators of a model the second core takes.
SPLITS = {
    # The 1x1 convolutions beside the main path: all that does not depend on the rest.
    "resnet": [{"op": "conv_2d", "tensor": "model/conv2d_5/*"},
               {"op": "conv_2d", "tensor": "model/conv2d_8/*"}],
    "digits_int8": [{"op": "conv_2d"}],
    # What is behind the loop over the steps.
    "gru_steps_int8": [{"op": "fully_connected", "tensor": "StatefulPartitionedCall*"}],
}
LOOPS = {"gru_steps_int8"}  # calls of the host that come again and again


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


def three_sided_model():
    """Adds for the host, subtractions and multiplications for two devices."""
    m = ModelBuilder()
    a, b, c = (m.tensor(name, "int8", (1, 300), 0.05, 3) for name in "abc")
    names = ("host", "acc", "npu", "out_acc", "out_npu", "out_host")
    host, acc, npu, *outs = (m.tensor(n, "int8", (1, 300), 0.1 + 0.01 * i, i)
                             for i, n in enumerate(names))
    m.op("ADD", [a, b], [host])
    m.op("SUB", [b, c], [acc])
    m.op("MUL", [a, c], [npu])
    m.op("SUB", [npu, host], [outs[0]])
    m.op("MUL", [acc, host], [outs[1]])
    m.op("ADD", [acc, npu], [outs[2]])
    return m.finish([a, b, c], outs)


def devices_json(path, operators, launch, hooks=HOOKS):
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
    """Outputs with both cores at once. The times of a run differ from those of the next, so it has no verdict."""
    counted = common.board(BOARD)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(common, "run_program",
                      lambda command, reads=(), writes=(), timeout=600, cwd=None: common.run(command, timeout=timeout, cwd=cwd))
        patch.setattr(common, "board", lambda _: {**counted, "emulator": without_counting(counted["emulator"])})
        return outputs_of(common.verify_on_board(folder, BOARD, samples)[0])


def demo_figures(folder):
    text = common.run_firmware(folder, BOARD)
    pairs = dict(re.findall(r"(\w+)=(-?\d+)\b", text))
    return {key: int(value) for key, value in pairs.items()}


def split_on_board(name, path, operators, work):
    """Returns what the device did in asynchronous mode, and how much of it beside the host."""
    common.require("qemu-system-arm", "arm-none-eabi-gcc")
    oracle = common.Oracle(path, 2)
    expected = [a.tobytes() for arrays in oracle.outputs for a in arrays]
    single = work / "single"
    common.create_project(path, BOARD, single)
    found, figures = common.verify_on_board(single, BOARD, oracle.samples)
    if outputs_of(found) != expected:
        raise common.Failure(f"{name} on one core: outputs are not LiteRT's")
    print(f"{name}: one core {figures['instructions']:,} instructions")
    won = {}
    for launch in ("none", "sync", "async"):
        folder = work / launch
        common.create_project(path, BOARD, folder, "--devices",
                              devices_json(work / f"{launch}.json", operators, launch))
        source = (folder / "model" / f"{name}.c").read_text()
        if name in LOOPS and "++turn" not in source:
            raise common.Failure(f"{name}, {launch}: the steps are no loop")
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
        won[launch] = {"overlap": overlap, "device": demo.get("device_ticks", 0) * TICK,
                       "launches": demo.get("device_launches", 0)}
        print(f"{name} {launch:5}: bit-exact; both cores together {total:,} instructions, "
              f"{demo.get('device_launches', 0)} launches, device "
              f"{demo.get('device_ticks', 0) * TICK:,}; side by side {total - overlap:,}, "
              f"overlap {overlap:,} ({100 * overlap / total:.1f} %)")
    if won["sync"]["launches"] == 0 or won["sync"]["overlap"] > won["sync"]["launches"] * TICK:
        raise common.Failure(f"{name}: synchronous launches overlap with nothing: {won}")
    return won["async"]


@pytest.mark.parametrize("kind", ["simplex", "duplex"])
def test_transfer(kind, tmp_path):
    path = tmp_path / f"{kind}.tflite"
    path.write_bytes(transfer_model(kind))
    won = split_on_board(kind, path, [{"op": "sub"}], tmp_path)
    if kind == "simplex":
        assert won["overlap"] <= won["launches"] * TICK, "a chain has nothing to overlap"
    else:  # the host's side is the longer one: the device's disappears behind it
        assert won["overlap"] >= won["device"] * 9 // 10, "both sides of duplex are independent"


@pytest.mark.parametrize("name", SPLITS)
def test_model(name, tmp_path):
    won = split_on_board(name, common.model_path(name), SPLITS[name], tmp_path)
    assert name != "resnet" or won["overlap"] >= won["device"] * 9 // 10


def inject(path, config, names, hooks, *slices):
    folder = config.with_suffix("")
    common.aotc("compile", path, "-o", folder, "--devices", config, *slices)
    missing = ["FAULTY_SLICES"] if slices else []
    missing += [f"FAULTY_NO_{hook.upper()}" for hook in ("Activate", "Open") if hook not in hooks]
    ran = test_hook_faults.inject(folder, path.stem, names, *missing)
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[:2000]


in_slices = pytest.mark.parametrize("slices", [(), ("--slice", "call")], ids=["whole", "slices"])


@in_slices
@pytest.mark.parametrize("launch", ["sync", "async"])
@pytest.mark.parametrize("hooks", [HOOKS, ["Open", "Close"], ["Activate", "Deactivate"], []], ids=lambda hooks: "-".join(hooks) or "none")
def test_faults_of_two_devices(hooks, launch, slices, tmp_path):
    """Also with fewer hooks: what is not listed is not called."""
    path = tmp_path / "duplex.tflite"
    path.write_bytes(transfer_model("duplex"))
    inject(path, devices_json(tmp_path / "devices.json", [{"op": "sub"}], launch, hooks), ["Acc"], hooks, *slices)


@in_slices
@pytest.mark.parametrize("launches", [("async", "async"), ("async", "sync"), ("sync", "none")], ids="-".join)
def test_faults_of_three_devices(launches, slices, tmp_path):
    """Two devices at once."""
    path = tmp_path / "three.tflite"
    path.write_bytes(three_sided_model())
    config = devices_json(tmp_path / "devices.json", [{"op": "sub"}], launches[0])
    described = json.loads(config.read_text())
    described["devices"].append({"name": "npu", "type": 9, "operators": ["mul"], "hooks": HOOKS, "launch": launches[1]})
    config.write_text(json.dumps(described))
    inject(path, config, ["Acc", "Npu"], HOOKS, *slices)
