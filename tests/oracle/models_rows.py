# SPDX-License-Identifier: Apache-2.0
"""Reference models of operators that go through rows in order. See numpy_models.py."""

import numpy as np
from fixed_point import (exp_q5, high_mul, quantize_multiplier, reciprocal_one_plus, rounding_shift,
                         saturating_left_shift, scale)
from models_activation import clamp_float, libm_float, softmax_parameters
from models_real import libm_power

_TOP = (1 << 31) - 1


def add_n(call):
    total = call.arrays[0].copy()
    for x in call.arrays[1:]:
        total = total + x
        if x.dtype == np.float32:
            total = clamp_float(call, total)
    return [np.asarray(total)]


def cumsum(call):
    x, axis = call.arrays[0], int(np.ravel(call.arrays[1])[0])
    rows = np.moveaxis(x, axis, 0)
    if call.options.get("reverse"):
        rows = rows[::-1]
    out, total = np.empty_like(rows), np.zeros(rows.shape[1:], x.dtype)
    for i, row in enumerate(rows):
        if call.options.get("exclusive"):
            out[i] = total
        total = total + row
        if not call.options.get("exclusive"):
            out[i] = total
    return [np.moveaxis(out[::-1] if call.options.get("reverse") else out, 0, axis)]


def _running_sum(rows):
    total = np.zeros(rows.shape[:-1], rows.dtype)
    for i in range(rows.shape[-1]):
        total = total + rows[..., i]
    return total[..., None]


def l2_normalization(call):
    x = call.arrays[0]
    if x.dtype == np.float32:
        root = np.sqrt(_running_sum(x * x))
        return [x / np.where(root < np.float32(1e-6), np.float32(1e-6), root)]
    diff = x.astype(np.int64) - call.inputs[0].zero
    out = np.empty_like(diff)
    for at in np.ndindex(*x.shape[:-1]):
        inverse, shift = _inverse_root(int((diff[at] ** 2).sum()))
        if x.dtype == np.int8:
            out[at] = scale(diff[at], inverse, 7 - shift)
        else:
            out[at] = rounding_shift(high_mul(128 * diff[at], inverse), shift) + 128
    info = np.iinfo(x.dtype)
    return [np.clip(out, info.min, info.max).astype(x.dtype)]


def _inverse_root(total):
    """Multiplier and right shift of 1 / sqrt(total)."""
    if total <= 1:
        return _TOP, 0
    shift = 11
    while total >= 1 << 29:
        total, shift = total // 4, shift + 1
    while total < 1 << 27:
        total, shift = total * 4, shift - 1
    mul = lambda a, b: int(high_mul(np.int64(a), np.int64(b)))
    half, x = int(rounding_shift(np.int64(total >> 1), 1)), 1 << 28
    for _ in range(5):
        cube = int(saturating_left_shift(np.int64(mul(mul(x, x), x)), 6))
        x = int(saturating_left_shift(np.int64(mul(3 << 27, x) - mul(half, cube)), 3))
    x = mul(x, 1518500250)
    return (x << -shift, 0) if shift < 0 else (x, shift)


def log_softmax(call):
    x = call.arrays[0]
    if x.dtype == np.float32:
        largest = np.full(x.shape[:-1], np.finfo(np.float32).min, np.float32)
        for i in range(x.shape[-1]):
            largest = np.where(largest < x[..., i], x[..., i], largest)
        largest = largest[..., None]
        return [x - largest - libm_float("logf")(_running_sum(libm_float("expf")(x - largest)))]
    multiplier, shift, least = softmax_parameters(1.0, call.inputs[0].scale32)
    back, back_shift = quantize_multiplier((1 << (31 - shift)) / multiplier)
    info, rows = np.iinfo(x.dtype), x.astype(np.int64)
    diff = rows - rows.max(axis=-1, keepdims=True)
    counted = diff >= least
    shares = rounding_shift(exp_q5(scale(np.where(counted, diff, 0), multiplier, shift)), 12)
    total = np.where(counted, shares, 0).sum(axis=-1, keepdims=True)
    log = np.vectorize(_logarithm)(total)
    end = np.maximum(least - 1, scale(log - (1 << 31), back, back_shift))
    inside = diff > end
    out = rounding_shift(scale(np.where(inside, diff, 0), multiplier, shift) - log, 22) + info.max
    return [np.where(inside, np.clip(out, info.min, info.max), info.min).astype(x.dtype)]


def _logarithm(z):
    """ln(z) in Q5 of z >= 1 in Q12."""
    mul = lambda a, b: int(high_mul(np.int64(a), np.int64(b)))
    shifted = lambda v, by: min(v << by, _TOP)
    root_of_half, fourth_root = 1518500250, 1805811301
    z = int(z)
    zeros_a = 31 - z.bit_length()
    zeros_b = 31 - mul(z, root_of_half).bit_length()
    r = min(shifted(mul(z << zeros_a, root_of_half), 1), shifted(z, zeros_b))
    power = max(((11 - zeros_a) << 25) + (1 << 23), ((12 - zeros_b) << 25) - (1 << 23))
    p, q = (r + fourth_root + 1) // 2, 2 * (r - fourth_root)
    square = mul(q, q)
    numerator = mul(q, r) + mul(mul(q, square), 117049297)
    denominator = mul(p, 1057819769 + q + mul(127690142, square)) + mul(638450708, q)
    inverse = int(reciprocal_one_plus(np.int64(denominator)))
    return shifted(mul(power, 1488522236) + mul(int(rounding_shift(np.int64(numerator), 6)), inverse), 1)


def topk(call):
    x, k = call.arrays[0], int(np.ravel(call.arrays[1])[0])
    order = np.empty(x.shape[:-1] + (k,), np.int32)
    for at in np.ndindex(*x.shape[:-1]):
        # Equal ones in order, what is not a number behind all.
        row = [float(v) if x.dtype == np.float32 else int(v) for v in x[at]]
        order[at] = sorted(range(len(row)), key=lambda i: (row[i] != row[i], -row[i] if row[i] == row[i] else 0, i))[:k]
    return [np.take_along_axis(x, order.astype(np.int64), axis=-1), order]


def local_response_normalization(call):
    x, o = call.arrays[0], call.options
    f, depth, out = np.float32, x.shape[-1], np.empty_like(x)
    for c in range(depth):
        total = np.zeros(x.shape[:-1], f)
        for i in range(max(0, c - o["radius"]), min(depth, c + o["radius"])):
            total = total + x[..., i] * x[..., i]
        base = f(o["bias"]) + f(o["alpha"]) * total
        powers = [libm_power(float(v), float(-f(o["beta"]))) for v in base.ravel()]
        out[..., c] = x[..., c] * np.array(powers, f).reshape(base.shape)
    return [out]


MODELS = {"TOPK_V2": topk, "LOCAL_RESPONSE_NORMALIZATION": local_response_normalization, "ADD_N": add_n, "CUMSUM": cumsum, "L2_NORMALIZATION": l2_normalization, "LOG_SOFTMAX": log_softmax}
