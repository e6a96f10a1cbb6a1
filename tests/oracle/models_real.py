# SPDX-License-Identifier: Apache-2.0
"""Reference models of real functions, quotients and powers, element by element. See numpy_models.py."""

import math

import numpy as np
from fixed_point import (INT32_MAX, INT32_MIN, high_mul, quantize_multiplier, reciprocal_one_plus,
                         round_half_away, rounding_shift, scale)
from models_activation import (libm_float, clamp_float, clamp_quantized, expf, lookup_table, tanhf)

logf, sinf, cosf = libm_float("logf"), libm_float("sinf"), libm_float("cosf")
erfcf, expm1f = libm_float("erfcf"), libm_float("expm1f")
HALF, ONE = np.float32(0.5), np.float32(1)


def real(function, of_table=None):
    """`of_table`: what the table of int8 is made with, if that is another."""
    def model(call):
        x = call.arrays[0]
        if x.dtype == np.float32:
            return [np.asarray(function(x, call), np.float32)]
        return lookup_table(call, lambda v: np.asarray((of_table or function)(v, call), np.float32))
    return model


def _log_of_table(x, call):
    out = call.outputs[0]
    least = np.float32(np.float32(-128 - out.zero) * out.scale32)
    return np.where(x <= 0, least, logf(np.where(x <= 0, ONE, x)))


def _gelu(x, call, cube):
    if not call.options.get("approximate"):
        return HALF * x * erfcf(x * np.float32(-math.sqrt(0.5)))
    inner = np.float32(math.sqrt(2 / math.pi)) * (x + cube)
    return HALF * x * (ONE + tanhf(inner))


gelu = real(lambda x, call: _gelu(x, call, np.float32(0.044715) * (x * x * x)),
            lambda x, call: _gelu(x, call, np.float32(0.044715) * x * x * x))
elu = real(lambda x, call: np.where(x < 0, expm1f(x), x),
           lambda x, call: np.where(x < 0, expf(x) - ONE, x))


def round_(call):
    x = call.arrays[0]
    low = np.floor(x)
    above = x - low
    even = HALF * low == np.floor(HALF * low)
    return [np.where((above < HALF) | ((above == HALF) & even), low, low + ONE)]


def sign(call):
    x = call.arrays[0]
    known = (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)
    return [np.where(x == x, known, x)]


def sqrt(call):
    x, source, out = call.arrays[0], call.inputs[0], call.outputs[0]
    if x.dtype == np.float32:
        return [np.sqrt(x)]
    real_values = source.scale32 * (x.astype(np.int64) - source.zero).astype(np.float32)
    stored = np.trunc(np.sqrt(real_values) / out.scale32).astype(np.int64) + out.zero
    return [np.clip(stored, -128, 127).astype(np.int8)]


def _left(x, bits):
    return max(INT32_MIN, min(INT32_MAX, int(x) << bits))


def _inverse_root(value):
    """Multiplier and shift of 1 / sqrt(value), value a whole number from 1 on."""
    if value == 1:
        return INT32_MAX, 0
    pairs = (32 - value.bit_length() - 1) // 2 - 1
    shift = 11 - pairs
    x, given = 1 << 28, (value << 2 * pairs) >> 1
    half = int(rounding_shift(given, 1))
    for _ in range(5):
        cube = _left(high_mul(high_mul(x, x), x), 6)
        x = _left(int(high_mul((1 << 28) + (1 << 27), x)) - int(high_mul(half, cube)), 3)
    x = int(high_mul(x, 1518500250))
    return (x << -shift, 0) if shift < 0 else (x, -shift)


def rsqrt(call):
    x, source, out = call.arrays[0], call.inputs[0], call.outputs[0]
    if x.dtype == np.float32:
        return [ONE / np.sqrt(x)]
    product = np.float32(np.sqrt(source.scale32) * out.scale32)
    multiplier, shift = quantize_multiplier(1.0 / np.float64(product))
    table = {}
    for value in range(0, 256):
        if value == 0:
            table[value] = 127
            continue
        root, root_shift = _inverse_root(value)
        data = scale(np.int64(1), root, root_shift + 20)
        table[value] = int(scale(data, multiplier, shift - 20)) + out.zero
    values = [table[int(v)] for v in np.ravel(x.astype(np.int64) - source.zero)]
    return [np.clip(np.reshape(values, x.shape), -128, 127).astype(np.int8)]


# ---------------------------------------------------------------- of two operands


def libm_power(x, y):
    import ctypes
    from models_activation import _libm
    powf = _libm.powf
    powf.restype, powf.argtypes = ctypes.c_float, [ctypes.c_float, ctypes.c_float]
    return powf(x, y)


def pow_(call):
    a, b = np.broadcast_arrays(*call.arrays)
    if a.dtype == np.float32:
        flat = [libm_power(float(x), float(y)) for x, y in zip(np.ravel(a), np.ravel(b))]
        return [np.array(flat, np.float32).reshape(a.shape)]
    return [np.power(a.astype(np.int64), b.astype(np.int64)).astype(np.int32)]


def _clamp_int(call, values):
    low, high = {"RELU": (0, None), "RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1)}.get(
        call.options.get("activation"), (None, None))
    return values if low is None else np.clip(values, low, high)


def div(call):
    a, b = call.arrays
    if a.dtype == np.float32:
        return [clamp_float(call, a / b)]
    if a.dtype == np.int32:
        quotient = np.abs(a.astype(np.int64)) // np.abs(b.astype(np.int64))
        return [_clamp_int(call, quotient * np.sign(a) * np.sign(b)).astype(np.int32)]
    ta, tb, out = call.inputs[0], call.inputs[1], call.outputs[0]
    multiplier, shift = quantize_multiplier(
        np.float64(ta.scale32 / np.float32(tb.scale32 * out.scale32)))
    a, b = np.broadcast_arrays(a.astype(np.int64) - ta.zero, b.astype(np.int64) - tb.zero)
    a, b = np.where(b < 0, -a, a), np.abs(b)
    zeros = np.array([32 - v.bit_length() for v in range(256)])
    inverse = reciprocal_one_plus((b << zeros[b]) - (1 << 31))
    room = zeros[np.where(a < 0, -1 - a, a)] - 1
    scaled = high_mul(high_mul(a << room, inverse), multiplier)
    by = room + 31 - zeros[b] - shift
    half = np.where(by > 0, np.int64(1) << np.maximum(by - 1, 0), 0)
    y = (scaled + half - ((by > 0) & (scaled < 0))) >> by
    return [clamp_quantized(call, y + out.zero)]


def squared_difference(call):
    a, b = call.arrays
    if a.dtype != np.int8:
        return [(a - b) * (a - b)]
    ta, tb, out = call.inputs[0], call.inputs[1], call.outputs[0]
    twice = np.float64(np.float32(2) * max(ta.scale32, tb.scale32))
    ya, yb = (scale((x.astype(np.int64) - t.zero) << 7,
                    *quantize_multiplier(np.float64(t.scale32) / twice))
              for x, t in ((a, ta), (b, tb)))
    m = quantize_multiplier(twice * twice / np.float64(np.float32(np.float32(1 << 14) * out.scale32)))
    return [np.clip(scale((ya - yb) ** 2, *m) + out.zero, -128, 127).astype(np.int8)]


def prelu(call):
    x, alpha = call.arrays
    if x.dtype == np.float32:
        return [np.where(x >= 0, x, x * alpha)]
    tx, ta, out = call.inputs[0], call.inputs[1], call.outputs[0]
    above = quantize_multiplier(np.float64(np.float32(tx.scale32 / out.scale32)))
    below = quantize_multiplier(
        np.float64(np.float32(np.float32(tx.scale32 * ta.scale32) / out.scale32)))
    dx, da = x.astype(np.int64) - tx.zero, alpha.astype(np.int64) - ta.zero
    y = np.where(dx >= 0, scale(dx, *above), scale(dx * da, *below)) + out.zero
    info = np.iinfo(x.dtype)
    return [np.clip(y, info.min, info.max).astype(x.dtype)]


def right_shift(call):
    a, b = call.arrays
    width = a.dtype.itemsize * 8
    return [a >> np.clip(b.astype(np.int64), 0, width - 1).astype(a.dtype)]


def relu_0_to_1(call):
    x, source, out = call.arrays[0], call.inputs[0], call.outputs[0]
    if x.dtype == np.float32:
        y = np.where(x < 0, np.float32(0), x)
        return [np.where(ONE < y, ONE, y)]
    m = quantize_multiplier(np.float64(np.float32(source.scale32 / out.scale32)))
    info = np.iinfo(x.dtype)
    most = min(info.max, out.zero + int(round_half_away(np.float32(ONE / out.scale32))))
    y = scale(x.astype(np.int64) - source.zero, *m) + out.zero
    return [np.minimum(np.maximum(y, max(info.min, out.zero)), most).astype(x.dtype)]


MODELS = {
    "FLOOR": lambda call: [np.floor(call.arrays[0])],
    "CEIL": lambda call: [np.ceil(call.arrays[0])],
    "ROUND": round_,
    "SIGN": sign,
    "EXP": real(lambda x, call: expf(x)),
    "LOG": real(lambda x, call: logf(x), _log_of_table),
    "SIN": real(lambda x, call: sinf(x)),
    "COS": real(lambda x, call: cosf(x)),
    "SQUARE": lambda call: [call.arrays[0] * call.arrays[0]],
    "SQRT": sqrt,
    "RSQRT": rsqrt,
    "ELU": elu,
    "GELU": gelu,
    "DIV": div,
    "POW": pow_,
    "SQUARED_DIFFERENCE": squared_difference,
    "PRELU": prelu,
    "RELU_0_TO_1": relu_0_to_1,
    "BITWISE_XOR": lambda call: [call.arrays[0] ^ call.arrays[1]],
    "RIGHT_SHIFT": right_shift,
}
