# SPDX-License-Identifier: Apache-2.0
"""Writes models of TensorFlow Lite Micro's signal operators: each has many of one kind side by side.

`inputs.json` beside them says who computes them (tflite-micro) and the ranges of inputs. Tables come from
formulas and from a seed that is the same each time. front_end.tflite is a whole audio front end, from 30 ms of
samples at 16 kHz to 40 channels of int8.
"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))
from tflite_builder import TENSOR_TYPES, ModelBuilder  # noqa: E402

SUBTRACTION = dict(num_channels=40, smoothing=409, one_minus_smoothing=15975, alternate_smoothing=983,
                   alternate_one_minus_smoothing=15401, min_signal_remaining=819, smoothing_bits=10,
                   spectral_subtraction_bits=14, clamping=False)


class Model:
    """One model of several operators; `ranges` of its inputs."""

    def __init__(self):
        self.builder, self.inputs, self.outputs, self.ranges = ModelBuilder(), [], [], {}

    def input(self, dtype, shape, low=None, high=None):
        name = f"x{len(self.inputs)}"
        self.inputs.append(self.builder.tensor(name, dtype, shape))
        if low is not None:
            self.ranges[name] = [low, high]
        return self.inputs[-1]

    def output(self, dtype, shape):
        self.outputs.append(self.builder.tensor(f"y{len(self.outputs)}", dtype, shape))
        return self.outputs[-1]

    def between(self, name, dtype, shape):
        return self.builder.tensor(name, dtype, shape)

    def const(self, array, dtype=None):
        array = np.asarray(array, dtype)
        return self.builder.const(f"c{len(self.builder._tensors)}", array)

    def finish(self):
        return self.builder.finish(self.inputs, self.outputs)


def window(rng):
    m = Model()
    for i, (shape, width) in enumerate((((1, 480), 480), ((480,), 480), ((2, 3, 8), 8), ((16,), 4), ((5,), 1), ((1, 7), 7))):
        for shift in (0, 12, 15, 31)[i % 2:]:
            table = rng.integers(-32768, 32767, width, endpoint=True) if shift != 12 else \
                np.round(4096 * (0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(width) + 0.5) / width)))
            m.builder.custom("SignalWindow", [m.input("int16", shape), m.const(table, np.int16)],
                             [m.output("int16", shape)], {"shift": shift})
    return m


def auto_scale(rng):
    m = Model()
    for size in (1, 2, 3, 7, 32):
        for low, high in ((-32768, 32767), (-32768, -32765), (-3, 3), (0, 0), (-1, 0), (-100, 700)):
            x = m.input("int16", (size,), low, high)
            m.builder.custom("SignalFftAutoScale", [x], [m.output("int16", (size,)), m.output("int32", ())])
    return m


def energy(rng):
    """Outside of the bins asked for, the reference leaves what was there: they are cut off."""
    m = Model()
    for bins in (1, 2, 5, 17, 257):
        for start, end in ((0, bins), (bins // 3, bins), (bins // 2, bins - bins // 4), (0, 1)):
            spectrum = m.between(f"e{len(m.outputs)}", "uint32", (bins,))
            m.builder.custom("SignalEnergy", [m.input("int16", (2 * bins,))], [spectrum],
                             {"start_index": start, "end_index": end})
            cast = m.between(f"i{len(m.outputs)}", "int32", (bins,))
            m.builder.op("CAST", [spectrum], [cast], in_type="uint32", out_type="int32")
            ends = [m.const([v], np.int32) for v in (start, end, 1)]
            m.builder.op("STRIDED_SLICE", [cast, *ends], [m.output("int32", (end - start,))])
    return m


def add_bank(m, x, channels, widths, rng, bins, low=0, most=4096):
    """SignalFilterBank of uint32 `x`; the tensor of its sums."""
    weights = rng.integers(low, most, sum(widths), endpoint=True)
    frequencies = [int(rng.integers(0, bins - w, endpoint=True)) for w in widths]
    starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    sums = m.between(f"sums{len(m.outputs)}", "uint64", (channels,))
    m.builder.custom("SignalFilterBank", [x, *(m.const(t, np.int16) for t in (
        weights, most - weights, frequencies, starts, widths))], [sums], {"num_channels": channels})
    return sums


def filter_bank(rng):
    m = Model()
    for channels, bins in ((1, 4), (3, 9), (10, 33), (40, 257)):
        for most in (0xFFFFFFFF, 70000, 300, 3):
            for low in (0, -4096):
                x = m.input("uint32", (bins,), 0, most)
                widths = rng.integers(0, min(bins, 12), channels + 1, endpoint=True).tolist()
                sums = add_bank(m, x, channels, widths, rng, bins, low)
                m.builder.custom("SignalFilterBankSquareRoot", [sums, m.input("int32", (), 0, 31 if low else 3)],
                                 [m.output("uint32", (channels,))])
    # Beside 2^32, where roots are rounded in another way.
    for low, high in ((0xFFFE0000, 0xFFFFFFFF), (0xFFFFFF00, 0xFFFFFFFF), (0x7FFF0000, 0x80010000)):
        for one in (1, 2):
            sums = add_bank(m, m.input("uint32", (8,), low, high), 8, [1] * 9, rng, 8, one, one)
            m.builder.custom("SignalFilterBankSquareRoot", [sums, m.const(0, np.int32)], [m.output("uint32", (8,))])
    return m


def subtraction(rng):
    m = Model()
    changes = ({}, {"clamping": True}, {"smoothing_bits": 0}, {"smoothing_bits": 20, "clamping": True},
               {"min_signal_remaining": 16384}, {"alternate_smoothing": 409, "alternate_one_minus_smoothing": 15975},
               {"spectral_subtraction_bits": 0, "smoothing": 1, "one_minus_smoothing": 1})
    for options in changes:
        for channels, most in ((40, 0xFFFFFFFF), (5, 100000), (1, 3)):
            noise = m.output("uint32", (channels,))
            m.builder.custom("SignalFilterBankSpectralSubtraction", [m.input("uint32", (channels,), 0, most)],
                             [m.output("uint32", (channels,)), noise], {**SUBTRACTION, **options, "num_channels": channels})
    return m


def gains(strength=0.95, offset=80.0, bits=21, shift=10):
    """Offset and two slopes of a parabola for each power of two of the noise."""
    def gain(x):
        return min(32767, int((1 << bits) * (x / (1 << shift) + offset) ** -strength + 0.5))

    table = np.zeros(125, np.int64)
    table[0], table[1] = gain(0), gain(1)
    for interval in range(2, 33):
        x0 = 1 << (interval - 1)
        x1, x2 = x0 + (x0 >> 1), min((1 << interval) - 1, 0xFFFFFFFF)
        y0, y1, y2 = gain(x0), gain(x1), gain(x2)
        a1, a2 = y1 - y0, y2 - y0
        table[4 * interval - 6:4 * interval - 3] = y0, 4 * a1 - a2, a2 - (4 * a1 - a2)
    table[2] = gain(2)
    return table


def pcan(rng):
    m = Model()
    for table in (gains(), rng.integers(-32768, 32767, 125, endpoint=True), rng.integers(0, 900, 130)):
        for shift in (0, 6, 17, 32):
            for most in (0xFFFFFFFF, 5000, 4):
                x, noise = (m.input("uint32", (24,), 0, most) for _ in range(2))
                m.builder.custom("SignalPCAN", [x, noise, m.const(table, np.int16)], [m.output("uint32", (24,))],
                                 {"snr_shift": shift})
    return m


def log(rng):
    m = Model()
    for most in (0xFFFFFFFF, 1 << 20, 600, 3):
        for bits, scale in ((0, 64), (3, 64), (3, 1600), (9, 2000000), (31, 1), (0, -3)):
            m.builder.custom("SignalFilterBankLog", [m.input("uint32", (40,), 0, most)], [m.output("int16", (40,))],
                             {"input_correction_bits": bits, "output_scale": scale})
    return m


LENGTHS = (4, 6, 8, 10, 12, 16, 18, 20, 24, 30, 32, 36, 40, 50, 60, 64, 90, 128, 150, 256, 480, 512)
FFT_TYPES = ("int16", "int32", "float32")


def transform(dtype, back):
    def make(rng):
        m = Model()
        for at, n in enumerate(LENGTHS):
            rows = ((), (1,), (2,), (2, 3))[at % 4]
            shape = (*rows, n + 2) if back else (*rows, n - at % 3)
            m.builder.custom("SignalIrfft" if back else "SignalRfft", [m.input(dtype, shape)],
                             [m.output(dtype, (*rows, n if back else n + 2))],
                             {"T": TENSOR_TYPES[dtype], "fft_length": n})
        return m
    return make


def delay(rng):
    m = Model()
    for shape in ((8,), (1, 8), (3, 5), (2, 3, 4), (1,), (160,)):
        for length in (1, 3, shape[-1], 2 * shape[-1] + 1, 0):
            m.builder.custom("SignalDelay", [m.input("int16", shape)], [m.output("int16", shape)], {"delay_length": length})
    return m


def shown_if_whole(m, frames, whole, shape):
    """Frames that are not whole are what memory held in the reference: they become 0."""
    wide, flag = m.between(f"w{len(m.outputs)}", "int32", shape), m.between(f"f{len(m.outputs)}", "int32", ())
    m.builder.op("CAST", [frames], [wide], in_type="int16", out_type="int32")
    m.builder.op("CAST", [whole], [flag], in_type="bool", out_type="int32")
    m.builder.op("MUL", [wide, flag], [m.output("int32", shape)])
    m.outputs.append(whole)


def framer(rng):
    m = Model()
    for shape, size, step in (((8,), 12, 4), ((8,), 10, 4), ((1, 8), 8, 8), ((1, 160), 480, 160), ((320,), 400, 160),
                              ((2, 6), 7, 3), ((2, 2, 4), 9, 2), ((5,), 1, 1), ((6,), 2, 3), ((3,), 40, 3)):
        for prefill in (True, False)[size < step:]:
            parts = (*shape[:-1], shape[-1] // step, size)
            frames, whole = m.between(f"p{len(m.outputs)}", "int16", parts), m.between(f"v{len(m.outputs)}", "bool", ())
            m.builder.custom("SignalFramer", [m.input("int16", shape)], [frames, whole],
                             {"frame_size": size, "frame_step": step, "prefill": prefill})
            shown_if_whole(m, frames, whole, parts)
    return m


def stacker(rng):
    m = Model()
    for channels in (1, 2, 10, 40):
        for left, right, step in ((0, 0, 1), (1, 0, 1), (0, 1, 1), (0, 1, 2), (1, 1, 2), (3, 0, 4), (2, 3, 3), (0, 4, 5), (2, 2, 1)):
            shape = ((left + right + 1) * channels,)
            stack, whole = m.between(f"p{len(m.outputs)}", "int16", shape), m.between(f"v{len(m.outputs)}", "bool", ())
            m.builder.custom("SignalStacker", [m.input("int16", (channels,))], [stack, whole],
                             {"num_channels": channels, "stacker_left_context": left, "stacker_right_context": right,
                              "stacker_step": step})
            shown_if_whole(m, stack, whole, shape)
    return m


def overlap_add(dtype):
    def make(rng):
        m = Model()
        for shape in ((1, 8), (3, 8), (2, 3, 5), (2, 2, 2, 6), (5, 1), (1, 1), (4, 33)):
            for step in {1, (shape[-1] + 1) // 2, max(shape[-1] * 3 // 4, 1), shape[-1]}:
                out = (*shape[:-2], shape[-2] * step)
                m.builder.custom("SignalOverlapAdd", [m.input(dtype, shape)], [m.output(dtype, out)],
                                 {"T": TENSOR_TYPES[dtype], "frame_step": step})
        return m
    return make


def front_end(rng, *loudness):
    m = Model()
    b, frame, bins, channels = m.builder, 480, 257, 40

    def then(kind, dtype, shape, *operands, **options):
        result = m.between(f"{kind.lower()}_{len(b._tensors)}", dtype, shape)
        if kind.startswith("Signal"):
            b.custom(kind, list(operands), [result], options or None)
        else:
            b.op(kind, list(operands), [result], **options)
        return result

    def cast(x, from_, to, shape):
        return then("CAST", to, shape, x, in_type=from_, out_type=to)

    hann = np.round(4096 * (0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(frame) + 0.5) / frame)))
    x = then("SignalWindow", "int16", (1, frame), m.input("int16", (1, frame), *loudness), m.const(hann, np.int16), shift=12)
    x = then("RESHAPE", "int16", (frame,), x, m.const([frame], np.int32))
    scaled, bits = m.between("scaled", "int16", (frame,)), m.between("bits", "int32", ())
    b.custom("SignalFftAutoScale", [x], [scaled, bits])
    x = then("SignalRfft", "int16", (514,), scaled, T=TENSOR_TYPES["int16"], fft_length=512)
    x = then("SignalEnergy", "uint32", (bins,), x, start_index=5, end_index=241)
    x = cast(x, "uint32", "int32", (bins,))
    x = then("STRIDED_SLICE", "int32", (236,), x, *(m.const([v], np.int32) for v in (5, 241, 1)))
    x = then("CONCATENATION", "int32", (bins,), m.const(np.zeros(5), np.int32), x, m.const(np.zeros(16), np.int32), axis=0)
    x = cast(x, "int32", "uint32", (bins,))
    x = add_bank(m, x, channels, [4] * 12 + [6] * 12 + [9] * 17, rng, bins)
    x = then("SignalFilterBankSquareRoot", "uint32", (channels,), x, bits)
    clean, noise = (m.between(n, "uint32", (channels,)) for n in ("clean", "noise"))
    b.custom("SignalFilterBankSpectralSubtraction", [x], [clean, noise], SUBTRACTION)
    x = then("SignalPCAN", "uint32", (channels,), clean, noise, m.const(gains(), np.int16), snr_shift=6)
    x = then("SignalFilterBankLog", "int16", (channels,), x, input_correction_bits=3, output_scale=64)
    x = cast(x, "int16", "int32", (channels,))
    for kind, number in (("MUL", 256), ("ADD", 333), ("DIV", 666), ("ADD", -128), ("MINIMUM", 127), ("MAXIMUM", -128)):
        x = then(kind, "int32", (channels,), x, m.const(number, np.int32))
    b.op("CAST", [x], [m.output("int8", (channels,))], in_type="int32", out_type="int8")
    return m


def preprocessor(rng):
    """The front end under the names that TensorFlow Lite Micro's example gives its input and output."""
    m = front_end(rng)
    for tensor, name in ((m.inputs[0], "audio_frame"), (m.outputs[0], "output_0")):
        m.builder._tensors[tensor]["name"] = name
    return m


MODELS = {"window": window, "fft_auto_scale": auto_scale, "energy": energy, "filter_bank": filter_bank,
          "spectral_subtraction": subtraction, "pcan": pcan, "log": log, "delay": delay, "framer": framer,
          "stacker": stacker, "overlap_add_int16": overlap_add("int16"), "overlap_add_float32": overlap_add("float32"),
          "front_end": front_end,
          "front_end_quiet": lambda rng: front_end(rng, -60, 60),
          "front_end_silent": lambda rng: front_end(rng, -1, 1),
          **{f"rfft_{t}": transform(t, False) for t in FFT_TYPES},
          **{f"irfft_{t}": transform(t, True) for t in FFT_TYPES}}


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    about = {}
    for name, make in MODELS.items():
        model = make(np.random.default_rng([1, len(name), ord(name[0])]))
        (folder / f"{name}.tflite").write_bytes(model.finish())
        about[name] = {"oracle": "tflite-micro", "inputs": model.ranges}
    (folder / "inputs.json").write_text(json.dumps(about, indent=1) + "\n")
