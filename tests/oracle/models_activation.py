# SPDX-License-Identifier: Apache-2.0
"""Reference models of activations, softmax and the clamps fused into other operators."""

import ctypes

import models_int16 as int16
import numpy as np
from fixed_point import (INT16_MAX, INT16_MIN, exp_q5, high_mul, quantize_multiplier,
                         reciprocal_one_plus, round_half_away, rounding_shift, scale)

_libm = ctypes.CDLL("libm.so.6")


def libm_float(name):
    function = getattr(_libm, name)
    function.restype, function.argtypes = ctypes.c_float, [ctypes.c_float]
    return lambda x: np.array([function(float(v)) for v in np.ravel(x)],
                              np.float32).reshape(np.shape(x))


expf, tanhf = libm_float("expf"), libm_float("tanhf")
_LIMITS = {"RELU": (0.0, None), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}


def quantized_range(activation, out):
    """Smallest and largest stored value: type range cut to the activation's bounds, each bound
    divided by the scale in float32 and rounded half away from zero."""
    info = np.iinfo(out.dtype)
    low, high = _LIMITS.get(activation, (None, None))
    stored = lambda v: out.zero + int(round_half_away(np.float32(v) / out.scale32))
    return (info.min if low is None else max(info.min, stored(low)),
            info.max if high is None else min(info.max, stored(high)))


def clamp_quantized(call, values):
    low, high = quantized_range(call.options.get("activation"), call.outputs[0])
    return np.minimum(np.maximum(values, low), high).astype(call.outputs[0].dtype)


def clamp_float(call, values):
    """Without an activation the bounds are the largest finite floats: infinities do not survive.
    Written as comparisons because -0.0 under RELU stays -0.0 and NaN stays NaN."""
    limit = np.finfo(np.float32).max
    low, high = _LIMITS.get(call.options.get("activation"), (-limit, limit))
    low, high = np.float32(low), limit if high is None else np.float32(high)
    values = np.where(values < low, low, values)
    return np.where(high < values, high, values).astype(np.float32)


def relu_family(low, high):
    def model(call):
        x, out = call.arrays[0], call.outputs[0]
        if x.dtype == np.float32:
            # Comparisons, so that -0.0 and NaN stay what they are.
            y = np.where(x < np.float32(low), np.float32(low), x)
            return [y if high is None else np.where(np.float32(high) < y, np.float32(high), y)]
        real = np.float32(call.inputs[0].scale32 / out.scale32)  # divided in float32
        y = out.zero + scale(x.astype(np.int64) - call.inputs[0].zero, *quantize_multiplier(real))
        info = np.iinfo(out.dtype)
        bottom = max(info.min, out.zero + int(round_half_away(np.float32(low) / out.scale32)))
        top = info.max
        if high is not None:
            top = min(top, out.zero + int(round_half_away(np.float32(high) / out.scale32)))
        return [np.minimum(np.maximum(y, bottom), top).astype(out.dtype)]
    return model


relu = relu_family(0.0, None)
relu6 = relu_family(0.0, 6.0)
relu_n1_to_1 = relu_family(-1.0, 1.0)


def leaky_relu(call):
    x, out = call.arrays[0], call.outputs[0]
    alpha = np.float32(call.options["alpha"])
    if x.dtype == np.float32:
        return [np.where(x > 0, x, x * alpha)]
    in_scale = call.inputs[0].scale32
    identity = quantize_multiplier(np.float32(in_scale / out.scale32))
    negative = quantize_multiplier(np.float32(np.float32(in_scale * alpha) / out.scale32))
    d = x.astype(np.int64) - call.inputs[0].zero
    sign = -1 if negative[0] < 0 else 1
    below = sign * scale(d, abs(negative[0]), negative[1])
    y = out.zero + np.where(d >= 0, scale(d, *identity), below)
    info = np.iinfo(out.dtype)
    return [np.clip(y, info.min, info.max).astype(out.dtype)]


def _high_mul16(a, b):
    product = a * b
    nudged = product + np.where(product >= 0, 1 << 14, 1 - (1 << 14))
    result = np.where(nudged >= 0, nudged >> 15, -((-nudged) >> 15))
    return np.where((a == b) & (a == INT16_MIN), INT16_MAX, result)


def wrap16(x):
    return ((np.asarray(x, np.int64) + (1 << 15)) & 0xFFFF) - (1 << 15)


def _rounding_shift16(x, exponent):
    """As rounding_shift, but mask and threshold are 16 bit numbers: past 15 they degenerate."""
    mask = wrap16((1 << exponent) - 1)
    threshold = wrap16((mask >> 1) + (x < 0))
    return wrap16((x >> exponent) + (wrap16(x & mask) > threshold))


def _halve_multiplier(multiplier):
    if multiplier >= (1 << 31) - 1 - (1 << 15):
        return INT16_MAX
    return (multiplier + (1 << 15)) >> 16


def hard_swish(call):
    x, out = call.arrays[0], call.outputs[0]
    if x.dtype == np.float32:
        inner = np.minimum(np.float32(6), np.maximum(np.float32(0), x + np.float32(3)))
        return [x * inner / np.float32(6)]
    hires = np.float32(np.float32(1.0 / 128.0) * call.inputs[0].scale32)
    out_multiplier, out_shift = quantize_multiplier(np.float32(hires / out.scale32))
    gate_multiplier, gate_shift = quantize_multiplier(
        np.float32(hires / np.float32(np.float32(3.0) / np.float32(32768.0))))
    d = (x.astype(np.int64) - call.inputs[0].zero) * 128
    scaled = _high_mul16(d, _halve_multiplier(out_multiplier))
    gate = d  # becomes 32768 * relu6(x + 3) / 6
    if gate_shift > 0:
        gate = np.clip(gate << (gate_shift - 1), INT16_MIN, INT16_MAX)
    gate = _high_mul16(gate, _halve_multiplier(gate_multiplier))
    if gate_shift > 0:
        gate = np.clip(gate << 1, INT16_MIN, INT16_MAX)
    if gate_shift < 0:
        gate = _rounding_shift16(gate, -gate_shift)
    gate = (gate + (1 << 15)) >> 1
    product = gate * scaled
    product = np.where(product >= 0, product >> 15, -((-product) >> 15))  # truncates
    y = wrap16(_rounding_shift16(product, -out_shift) + out.zero)
    info = np.iinfo(out.dtype)
    return [np.clip(y, info.min, info.max).astype(out.dtype)]


def lookup_table(call, function):
    """int8: a table over all 256 inputs, computed in float32 throughout."""
    x, source, out = call.arrays[0], call.inputs[0], call.outputs[0]
    info = np.iinfo(out.dtype)
    stored = np.arange(info.min, info.max + 1, dtype=np.int64)
    real = source.scale32 * (stored - source.zero).astype(np.float32)
    inverse = np.float32(1) / out.scale32
    rounded = round_half_away(function(real) * inverse)
    table = np.clip((rounded + np.float32(out.zero)).astype(np.int64), info.min, info.max)
    return [table[x.astype(np.int64) - info.min].astype(out.dtype)]


def logistic(call):
    x = call.arrays[0]
    if x.dtype == np.int16:
        return [int16.logistic(call)]
    one = np.float32(1)
    if x.dtype != np.float32:
        return lookup_table(call, lambda v: one / (one + expf(-v)))
    middle = one / (one + expf(-x))
    y = np.where(x < np.float32(-9), expf(x), middle)
    return [np.where(x > np.float32(16.619047164916992188), one, y).astype(np.float32)]


def tanh(call):
    x = call.arrays[0]
    if x.dtype == np.int16:
        return [int16.tanh(call)]
    return [tanhf(x)] if x.dtype == np.float32 else lookup_table(call, tanhf)


def _softmax_float(call):
    x = call.arrays[0]
    rows = x.reshape(-1, x.shape[-1])
    e = expf((rows - rows.max(axis=1, keepdims=True)) * np.float32(call.options["beta"]))
    total = np.zeros(rows.shape[0], np.float32)
    for c in range(rows.shape[1]):
        total = total + e[:, c]
    return [(e / total[:, None]).reshape(x.shape)]


def softmax_parameters(beta, in_scale):
    """Multiplier and left shift that bring an input difference to Q5, and the smallest
    difference that still counts."""
    real = min(float(np.float32(beta)) * float(np.float32(in_scale)) * (1 << 26), (1 << 31) - 1.0)
    multiplier, shift = quantize_multiplier(real)
    return multiplier, shift, -int(np.floor(31.0 * (1 << 26) / 2.0**shift))


def softmax(call):
    x = call.arrays[0]
    if x.dtype == np.float32:
        return _softmax_float(call)
    if x.dtype == np.int16:
        return [int16.softmax(call)]
    multiplier, shift, diff_min = softmax_parameters(call.options["beta"], call.inputs[0].scale32)
    rows = x.reshape(-1, x.shape[-1]).astype(np.int64)
    diff = rows - rows.max(axis=1, keepdims=True)
    counted = diff >= diff_min
    e = exp_q5(scale(np.where(counted, diff, 0), multiplier, shift))
    total = np.where(counted, rounding_shift(e, 12), 0).sum(axis=1)  # Q12
    y = np.empty_like(rows)
    bits = 8 * np.dtype(call.outputs[0].dtype).itemsize
    headroom = 32 - np.floor(np.log2(total)).astype(np.int64) - 1  # leading zeros of 32 bits
    for h in np.unique(headroom):
        r = headroom == h
        inverse = reciprocal_one_plus((total[r] << h) - (1 << 31))[:, None]
        # 12 - h integer bits in the sum, 31 less the bits of the result.
        y[r] = rounding_shift(high_mul(inverse, e[r]), 12 - h + 31 - bits)
    info = np.iinfo(call.outputs[0].dtype)
    y = np.where(counted, np.clip(y + info.min, info.min, info.max), info.min)
    return [y.reshape(x.shape).astype(call.outputs[0].dtype)]
