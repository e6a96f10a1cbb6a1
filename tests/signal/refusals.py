#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What aotc refuses of signal operators: options and tables that would read outside, types that do not fit.

Usage: refusals.py --work DIR

Each model is one that compiles but for one change; the message has to say what is wrong.
"""
import argparse
import pathlib
import sys

import numpy as np
from flatbuffers import flexbuffers

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import common  # noqa: E402
import make_models  # noqa: E402


def single(name, inputs, outputs, options, consts=()):
    m = make_models.Model()
    operands = [m.input(*t) for t in inputs] + [m.const(array, dtype) for array, dtype in consts]
    m.builder.custom(name, operands, [m.output(*t) for t in outputs], options)
    return m.finish()


def window(options, width=8, samples=16):
    return single("SignalWindow", [("int16", (samples,))], [("int16", (samples,))], options,
                  [(np.ones(width), np.int16)])


def rfft(options, shape=(8,), out=(10,), dtype="int16"):
    return single("SignalRfft", [(dtype, shape)], [(dtype, out)], options)


def bank(starts=(0, 2), widths=(2, 2), first=(0, 1), weights=4, channels=1, out="int16"):
    m = make_models.Model()
    x, sums = m.input("uint32", (4,)), m.between("sums", "uint64", (channels,))
    tables = (np.ones(weights), np.ones(weights), first, starts, widths)
    m.builder.custom("SignalFilterBank", [x, *(m.const(t, np.int16) for t in tables)], [sums], {"num_channels": channels})
    if out == "port":
        m.outputs.append(sums)
    else:
        m.builder.custom("SignalFilterBankSquareRoot", [sums, m.const(0, np.int32)], [m.output("uint32", (channels,))])
    return m.finish()


def subtraction(**change):
    options = {**make_models.SUBTRACTION, "num_channels": 4, **change}
    return single("SignalFilterBankSpectralSubtraction", [("uint32", (4,))], [("uint32", (4,))] * 2, options)


def pcan(gains=125, shift=6):
    return single("SignalPCAN", [("uint32", (4,))] * 2, [("uint32", (4,))], {"snr_shift": shift},
                  [(np.ones(gains), np.int16)])


def energy(start, end, samples=8):
    return single("SignalEnergy", [("int16", (samples,))], [("uint32", (samples // 2,))],
                  {"start_index": start, "end_index": end})


def cases():
    packed = bytes(flexbuffers.Dumps({"shift": 3}))
    yield "whole", window({"shift": 3}), None
    yield "packed", window(packed), None
    for i in range(len(packed)):
        yield f"cut_{i}", window(packed[:i]), "no FlexBuffer map"
    yield "no_option", window({"shaft": 3}), "have no 'shift'"
    yield "no_number", window({"shift": "3"}), "is no whole number"
    yield "wide", window({"shift": 1 << 40}), "outside of"
    yield "shift", window({"shift": 32}), "shift 32"
    yield "minus", window({"shift": -1}), "shift -1"
    yield "window", window({"shift": 3}, width=5), "does not divide"
    yield "rfft", rfft({"T": 7, "fft_length": 8}), None
    yield "rfft_odd", rfft({"T": 7, "fft_length": 7}), "fft_length 7"
    yield "rfft_two", rfft({"T": 7, "fft_length": 2}), "fft_length 2"
    yield "rfft_seven", rfft({"T": 7, "fft_length": 14}), "fft_length 14"
    yield "rfft_huge", rfft({"T": 7, "fft_length": 1 << 30}), "fft_length"
    yield "rfft_short", rfft({"T": 7, "fft_length": 4}, out=(6,)), "rows of 8"
    yield "rfft_type", rfft({"T": 2, "fft_length": 8}), "option 'T'"
    yield "rfft_result", rfft({"T": 7, "fft_length": 8}, out=(8,)), "op-shape"
    yield "energy", energy(0, 4), None
    yield "energy_end", energy(0, 5), "bins 0..5"
    yield "energy_start", energy(-1, 4), "bins -1..4"
    yield "energy_turned", energy(3, 2), "bins 3..2"
    yield "bank", bank(), None
    yield "bank_bins", bank(first=(0, 3)), "channel 1"
    yield "bank_minus", bank(first=(-1, 1)), "channel 0"
    yield "bank_weights", bank(weights=3), "channel 1"
    yield "bank_starts", bank(starts=(-2, 2)), "channel 0"
    yield "bank_few", bank(widths=(2,)), "one more than channels"
    yield "bank_port", bank(out="port"), "uint64"
    yield "subtraction", subtraction(), None
    yield "subtraction_channels", subtraction(num_channels=5), "4 channels"
    yield "subtraction_minus", subtraction(smoothing=-1), "coefficient -1"
    yield "subtraction_bits", subtraction(smoothing_bits=32), "32 bits"
    yield "pcan", pcan(), None
    yield "pcan_gains", pcan(gains=124), "124 gains"
    yield "pcan_shift", pcan(shift=33), "snr_shift 33"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=pathlib.Path, required=True)
    work = common.fresh(parser.parse_args().work)
    passed, failed = 0, []
    for name, model, wanted in cases():
        path = work / f"{name}.tflite"
        path.write_bytes(model)
        done = common.aotc("check", path, expect=None)
        text = done.stdout + done.stderr
        good = done.returncode == 0 if wanted is None else done.returncode == 1 and wanted in text
        passed += good
        if not good:
            failed.append(name)
            print(f"{name}: exit code {done.returncode}, wanted {wanted!r}: {text[:400]}")
    print(f"{passed} passed, {len(failed)} failed")
    if failed:
        raise common.Failure(", ".join(failed))


if __name__ == "__main__":
    common.main_of(main)
