# SPDX-License-Identifier: Apache-2.0
"""Constants packed as TFLM_DECODE reads them: the three ways of TensorFlow Lite Micro's compression tool.

`cases(kind, rng)` yields (values, scale, zero point, axis, (data, how)): `how` begins with 16 bytes, of which the
first says the way and the second the version, the fifth the version of the way; tables follow.
"""
import heapq

import numpy as np

TYPES = ("int8", "int16", "int32", "int64", "float32", "bool")
KINDS = ("lut", "pruned", "huffman")
LUT, HUFFMAN, PRUNED = 0, 1, 2


def head(kind, *more):
    return bytes([kind, 1, 0, 0, 1, *more]).ljust(16, b"\0")


def bits_of(numbers, width):
    """Numbers of `width` bits one behind the other, the highest bit of each byte first."""
    text = "".join(format(n, f"0{width}b") for n in numbers)
    return to_bytes(text, 8)


def to_bytes(text, unit):
    text = text.ljust(-(-max(len(text), 1) // unit) * unit, "0")
    return bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))


def lut(values, channel, channels, width, stride):
    """`channel`: of each element, flat."""
    tables = np.zeros((channels, stride), values.dtype)
    numbers = []
    flat = values.reshape(-1)
    for c in range(channels):
        distinct = np.unique(flat[channel == c])
        assert len(distinct) <= min(stride, 1 << width)
        tables[c, :len(distinct)] = distinct
    for value, c in zip(flat, channel, strict=True):
        numbers.append(int(np.flatnonzero(tables[c] == value)[0]))
    return bits_of(numbers, width), head(LUT, width, stride) + tables.tobytes()


def pruned(values, channel, zeros):
    flat = values.reshape(-1)
    kept = flat != np.asarray(zeros, values.dtype)[channel]
    return to_bytes("".join("01"[int(k)] for k in kept), 8), head(PRUNED) + flat[kept].tobytes()


def code_of(flat):
    """A prefix code: symbol to bits."""
    symbols, counts = np.unique(flat, return_counts=True)
    heap = [(int(n), i, {int(s): ""}) for i, (s, n) in enumerate(zip(symbols, counts, strict=True))]
    heapq.heapify(heap)
    if len(heap) == 1:
        return {int(symbols[0]): "0"}
    while len(heap) > 1:
        (n, i, a), (k, _, b) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (n + k, i, {**{s: "0" + c for s, c in a.items()}, **{s: "1" + c for s, c in b.items()}}))
    return heap[0][2]


def huffman(values, first, step, wide):
    """Tables of `first` bits, then of `step`; entries of 32 bits if `wide`."""
    count_shift, found = (27, 1 << 31) if wide else (11, 1 << 15)
    mask = 0xFFFF if values.dtype == np.int16 else 0xFF
    code, entries = code_of(values.reshape(-1)), []

    def table(prefix, width):
        begin = len(entries)
        entries.extend([0] * (1 << width))
        for i in range(1 << width):
            bits = prefix + format(i, f"0{width}b")
            here = [(s, c) for s, c in code.items() if bits.startswith(c)]
            if here:
                symbol, c = here[0]
                entries[begin + i] = found | (len(c) - len(prefix)) << count_shift | symbol & mask
            elif any(c.startswith(bits) for c in code.values()):
                # How far the next table is from here.
                entries[begin + i] = (step - 1) << count_shift | len(entries) - begin - i
                table(bits, step)
        return begin

    table("", first)
    text = "".join(code[int(v)] for v in values.reshape(-1))
    how = head(HUFFMAN, (first - 1) << 4 | int(wide))
    return to_bytes(text, 32), how + np.array(entries, "<u4" if wide else "<u2").tobytes()


def channels_of(shape, axis, count):
    if count == 1:
        return np.zeros(int(np.prod(shape)), int)
    return np.broadcast_to(np.arange(count).reshape([-1 if d == axis else 1 for d in range(len(shape))]), shape).reshape(-1)


def layouts(dtype, shape):
    """(shape, scale, zero point, axis); those of several channels are weights of convolutions."""
    yield (shape, *((0.5, 0, 0) if dtype in ("int8", "int16") else (None, 0, 0)))
    if dtype == "int8":
        yield shape, 0.25, -3, 0
        yield (4, 1, 3, 5), [0.5, 0.25, 0.125, 1.0], [0] * 4, 0
        yield (1, 3, 2, 6), [0.5, 0.25, 0.125, 1.0, 0.5, 2.0], [0] * 6, 3


SHAPES = ((4, 37), (3, 5, 3), (1, 1))


def lut_cases(rng):
    for dtype in TYPES:
        for width in range(1, 8):
            for first in SHAPES[:1] if dtype == "int8" else ((7,), (64,), (1,)) if dtype == "int64" else SHAPES:
                for shape, scale, zero, axis in layouts(dtype, first):
                    count = len(np.atleast_1d(scale)) if scale is not None else 1
                    channel = channels_of(shape, axis, count)
                    flat = np.zeros(channel.size, dtype)
                    for c in range(count):
                        values = (rng.standard_normal(1 << width) * 50).astype(dtype)
                        flat[channel == c] = rng.choice(values, int((channel == c).sum()))
                    flat = flat.reshape(shape)
                    yield flat, scale, zero, axis, lut(flat, channel, count, width, min(1 << width, 127))


def pruned_cases(rng):
    for dtype in TYPES:
        for kept in (0, 0.1, 0.4, 0.8, 1) if dtype == "int8" else (0, 0.05, 0.2, 0.4, 0.6, 0.8, 1):
            for first in ((9,), (64,), (1,)) if dtype == "int64" else SHAPES:
                for shape, scale, zero, axis in layouts(dtype, first):
                    zeros = np.atleast_1d(zero)
                    channel = channels_of(shape, axis, zeros.size)
                    values = (rng.standard_normal(channel.size) * 30).astype(dtype)
                    values = np.where(rng.random(channel.size) < kept, values, zeros.astype(dtype)[channel]).reshape(shape)
                    yield values, scale, zero, axis, pruned(values, channel, zeros)


def huffman_cases(rng):
    for dtype, wide in (("int8", False), ("int8", True), ("int16", True)):
        for spread in (0, 1, 4, 20, 60):
            for first, step in ((1, 1), (3, 2), (8, 4), (5, 5)):
                values = np.round(rng.standard_normal((3, 40)) * spread).astype(dtype)
                if not wide and len(np.unique(values)) > 40:
                    continue
                yield values, 0.5, 0, 0, huffman(values, first, step, wide)


def cases(kind, rng):
    return {"lut": lut_cases, "pruned": pruned_cases, "huffman": huffman_cases}[kind](rng)
