# SPDX-License-Identifier: Apache-2.0
"""Models of the functions that int16 activations have tables for. See numpy_models.py."""

import numpy as np
from fixed_point import quantize_multiplier, round_half_away, scale

# sigmoid(i / 24) with 16 fractional bits, i = 0 .. 255: rounded, and in these places one more.
_ONE_MORE = (4, 8, 12, 14, 15, 16, 17, 19, 20, 21, 22, 25, 27, 28, 29, 30, 31, 33, 34, 35, 37, 39, 40,
             41, 43, 44, 45, 46, 49, 50, 54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255)
_SIGMOID = np.floor(65536 / (1 + np.exp(-np.arange(256) / 24.0)) + 0.5).astype(np.int64)
_SIGMOID[list(_ONE_MORE)] += 1


def whole_log2(scale32):
    """log2 of a scale if that is a whole number, as far as LiteRT looks at it."""
    log2 = np.float32(np.log(scale32) * np.float32(np.float32(1) / np.log(np.float32(2))))
    whole = round_half_away(log2)
    return int(whole) if abs(np.float32(log2 - whole)) < np.float32(1e-3) else None


def _table_argument(call, shifts):
    """The stored values in units of 1 / (3 * 4096), of which the table has 2^17 on either side.
    Scales of 2^-12, times a power of two among `shifts`, are multiplied without a rounding."""
    x = call.arrays[0].astype(np.int64)
    source = call.inputs[0].scale32
    exponent = whole_log2(source)
    if exponent is not None and 12 + exponent in shifts:
        return x * (3 << (12 + exponent))
    real, right = float(source) * 4096.0 * 3.0, 0
    while real <= 32767.0 / 2.0 and right <= 30:
        real, right = real * 2.0, right + 1
    return (x * int(real) + ((1 << (right - 1)) if right > 0 else 0)) >> right


def _interpolated(magnitude, bits, saturated):
    index = magnitude >> bits
    at = np.minimum(index, 254)
    rest = magnitude & ((1 << bits) - 1)
    value = (_SIGMOID[at] << bits) + rest * (_SIGMOID[at + 1] - _SIGMOID[at])
    return np.where(index >= 255, saturated, value)


def logistic(call):
    x = _table_argument(call, (0,))
    y = _interpolated(np.abs(x), 9, 0x7FFF << 10)
    y = np.where(x >= 0, y + (1 << 9), (1 << 25) - y + (1 << 9) - 1)
    return (y >> 10).astype(np.int16)


def tanh(call):
    x = _table_argument(call, (0, 1))
    y = _interpolated(np.abs(x), 8, 0xFFFF << 8)
    y = np.where(x >= 0, y - (1 << 23) + (1 << 7), -y + (1 << 23) + (1 << 7) - 1)
    return (y >> 8).astype(np.int16)


def table513(low, high, function):
    """`function` at 513 places of [low, high] with 15 fractional bits, each moved by half of what a
    straight line to the next would be off in the middle."""
    step = (high - low) / 512
    out_scale = 2.0 / 65535
    inverse = 65536.0 / (out_scale * 32767 - out_scale * -32768)
    at = low + np.arange(512) * step
    value, middle, following = function(at), function(at + step / 2), function(
        low + np.arange(1, 513) * step)
    sample = round_half_away(value * inverse)
    line = round_half_away((following * inverse + sample) / 2)
    bias = round_half_away((line - round_half_away(middle * inverse)) / 2)
    last = round_half_away(function(np.array([high])) * inverse)
    return np.clip(np.append(sample - bias, last), -32768, 32767).astype(np.int64)


def lookup(table, x):
    index, rest = 256 + (x >> 7), x & 127
    slope = table[index + 1] - table[index]
    return table[index] + ((slope * rest + 64) >> 7)


# The formulas spell out how the ends are computed: 10 / 65535 times -65535 is not quite -10.
_EXP = table513(10.0 / 65535 * -65535, 10.0 / 65535 * 0, np.exp)
_INVERSE = table513(1.0 / 65535 * 0, 1.0 / 65535 * 65535, lambda v: 1.0 / (1.0 + v))


def softmax(call):
    x = call.arrays[0]
    beta = np.float32(call.options["beta"])
    real = np.float64(np.float32(call.inputs[0].scale32 * beta)) / (10.0 / 65535.0)
    rows = x.reshape(-1, x.shape[-1]).astype(np.int64)
    distance = scale(rows - rows.max(axis=1, keepdims=True), *quantize_multiplier(real))
    e = lookup(_EXP, np.clip(distance + 32767, -32768, 32767))
    total = e.sum(axis=1)
    zeros = 31 - np.floor(np.log2(total)).astype(np.int64)  # leading zeros of 32 bits
    shifted = ((total << (zeros - 1)) + (1 << 13)) >> 14
    inverse = lookup(_INVERSE, np.clip(shifted - (1 << 15) - (1 << 16), -32768, 32767))
    right = (31 - zeros)[:, None]
    y = (e * inverse[:, None] + (np.int64(1) << (right - 1))) >> right
    return np.clip(y, 0, 32767).reshape(x.shape).astype(np.int16)
