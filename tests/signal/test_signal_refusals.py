# SPDX-License-Identifier: Apache-2.0
"""What aotc refuses of signal operators: options and tables that would read outside, types that do not fit.

Each model is one that compiles but for one change; the message has to say what is wrong.
"""
from flatbuffers import flexbuffers
import make_models
import numpy as np
import refusals_of


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


def delay(shape=(8,), length=3):
    return single("SignalDelay", [("int16", shape)], [("int16", shape)], {"delay_length": length})


def framer(size=4, step=2, prefill=True, samples=6, out=None):
    out = (samples // step, size) if out is None and step > 0 else out or (1, 1)
    return single("SignalFramer", [("int16", (samples,))], [("int16", out), ("bool", ())],
                  {"frame_size": size, "frame_step": step, "prefill": prefill})


def stacker(left=1, right=1, step=1, said=3, channels=3, out=None):
    return single("SignalStacker", [("int16", (channels,))], [("int16", out or (9,)), ("bool", ())],
                  {"num_channels": said, "stacker_left_context": left, "stacker_right_context": right, "stacker_step": step})


def overlap(step=3, kind=7, shape=(2, 4), dtype="int16"):
    out = (*shape[:-2], shape[-2] * 3) if len(shape) > 1 else (3,)
    return single("SignalOverlapAdd", [(dtype, shape)], [(dtype, out)], {"T": kind, "frame_step": step})


def streams():
    yield "delay", delay(), None
    yield "delay_minus", delay(length=-1), "delay_length -1"
    yield "delay_huge", delay(length=0x7FFFFFFF), "delay_length 2147483647"
    yield "delay_rows", delay(shape=(1 << 15, 2), length=1 << 15), "are the most"
    yield "framer", framer(), None
    yield "framer_step", framer(step=4), "do not divide rows of 6"
    yield "framer_none", framer(step=0), "frame_step 0"
    yield "framer_minus", framer(step=-2), "frame_step -2"
    yield "framer_prefill", framer(size=1), "frame_size 1 is outside of 2.."
    yield "framer_empty", framer(size=0, prefill=False), "frame_size 0"
    yield "framer_short", framer(size=1, prefill=False), None
    yield "framer_result", framer(out=(3, 5)), "op-shape"
    yield "stacker", stacker(), None
    yield "stacker_channels", stacker(said=2), "3 channels, the options say 2"
    yield "stacker_left", stacker(left=-1), "stacker_left_context -1"
    yield "stacker_right", stacker(right=-1), "stacker_right_context -1"
    yield "stacker_none", stacker(step=0), "stacker_step 0"
    yield "stacker_step", stacker(step=4), "stacker_step 4 is outside of 1..3"
    yield "stacker_huge", stacker(left=1 << 20, right=1 << 20), "are the most"
    yield "stacker_result", stacker(out=(6,)), "op-shape"
    yield "overlap", overlap(), None
    yield "overlap_float", overlap(kind=0, dtype="float32"), None
    yield "overlap_type", overlap(kind=0), "option 'T'"
    yield "overlap_int32", overlap(kind=2, dtype="int32"), "option 'T'"
    yield "overlap_step", overlap(step=5), "frame_step 5 is outside of 1..4"
    yield "overlap_none", overlap(step=0), "frame_step 0"
    yield "overlap_rank", overlap(shape=(4,)), "op-"


def cases():
    yield from streams()
    packed = bytes(flexbuffers.Dumps({"shift": 3}))
    yield "whole", window({"shift": 3}), None
    yield "packed", window(packed), None
    for i in range(len(packed)):
        yield f"cut_{i}", window(packed[:i]), "not a FlexBuffer map"
    yield "no_option", window({"shaft": 3}), "have no 'shift'"
    yield "no_number", window({"shift": "3"}), "is not an integer"
    yield "wide", window({"shift": 1 << 40}), "but must be from"
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
    yield "subtraction_minus", subtraction(smoothing=-1), "smoothing -1 is outside of 0..1073741824"
    yield "subtraction_bits", subtraction(smoothing_bits=32), "smoothing_bits 32 is outside of 0..31"
    yield "pcan", pcan(), None
    yield "pcan_gains", pcan(gains=124), "124 gains"
    yield "pcan_shift", pcan(shift=33), "snr_shift 33"


test_check = refusals_of.test_of(cases())
