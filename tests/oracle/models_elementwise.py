# SPDX-License-Identifier: Apache-2.0
"""Reference models of arithmetic, reductions and changes of type. See numpy_models.py."""

import numpy as np
from fixed_point import quantize_multiplier, round_half_away, rounding_shift, scale
from models_activation import clamp_float, clamp_quantized
from models_int16 import whole_log2


def _power_of_two_sum(call):
    """int16 has arithmetic of its own for scales that are powers of two, unless the model says that
    it was not converted for that."""
    tensors = [*call.inputs, *call.outputs]
    return (call.inputs[0].dtype == "int16" and call.options.get("pot_scale_int16", True)
            and all(whole_log2(t.scale32) is not None for t in tensors))


def _shifted_sum(call, sign):
    """One operand has the result's scale, the other may have a smaller one; the sum saturates."""
    values = [rounding_shift(a.astype(np.int64), whole_log2(call.outputs[0].scale32) - whole_log2(t.scale32))
              for a, t in zip(call.arrays, call.inputs)]
    total = np.clip(values[0] + sign * values[1], -32768, 32767)
    return clamp_quantized(call, total)


def _add_or_sub(sign):
    def model(call):
        a, b = call.arrays
        ta, tb, out = call.inputs[0], call.inputs[1], call.outputs[0]
        if a.dtype == np.float32:
            return [clamp_float(call, a + b if sign > 0 else a - b)]
        if a.dtype in (np.int32, np.int64):
            return [_clamp_int(call, a + b if sign > 0 else a - b)]
        if _power_of_two_sum(call):
            return [_shifted_sum(call, sign)]
        # Both operands go to 2**20 (int16: 2**15) times a common scale, twice the larger one's.
        headroom = 15 if a.dtype == np.int16 else 20
        twice = np.float32(2) * max(ta.scale32, tb.scale32)
        in_a = quantize_multiplier(np.float64(ta.scale32) / np.float64(twice))
        in_b = quantize_multiplier(np.float64(tb.scale32) / np.float64(twice))
        out_m = quantize_multiplier(
            np.float64(twice) / np.float64(np.float32(np.float32(1 << headroom) * out.scale32)))
        ya = scale((a.astype(np.int64) - ta.zero) << headroom, *in_a)
        yb = scale((b.astype(np.int64) - tb.zero) << headroom, *in_b)
        return [clamp_quantized(call, scale(ya + sign * yb, *out_m) + out.zero)]
    return model


add, sub = _add_or_sub(1), _add_or_sub(-1)


def _clamp_int(call, values):
    low, high = {"RELU": (0, None), "RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1)}.get(
        call.options.get("activation"), (None, None))
    return np.clip(values, low, high) if low is not None else values


def mul(call):
    a, b = call.arrays
    ta, tb, out = call.inputs[0], call.inputs[1], call.outputs[0]
    if a.dtype == np.float32:
        return [clamp_float(call, a * b)]
    if a.dtype in (np.int32, np.int64) or ta.scale is None:
        return [_clamp_int(call, a * b)]
    real = np.float32(np.float32(ta.scale32 * tb.scale32) / out.scale32)  # float32 throughout
    product = (a.astype(np.int64) - ta.zero) * (b.astype(np.int64) - tb.zero)
    return [clamp_quantized(call, scale(product, *quantize_multiplier(real)) + out.zero)]


def maximum(call):
    a, b = call.arrays
    return [np.where(np.greater(a, b), a, b)]


def minimum(call):
    a, b = call.arrays
    return [np.where(np.less(a, b), a, b)]


def _per_channel(t, rank):
    """Scale and zero point shaped to broadcast along the quantised axis."""
    scales = np.float32(np.atleast_1d(t.scale))
    zeros = np.broadcast_to(np.atleast_1d(t.zero_point).astype(np.int64), scales.shape)
    shape = [1] * rank
    if scales.size > 1:
        shape[t.axis] = scales.size
    else:
        shape = [1] * rank
    return scales.reshape(shape), zeros.reshape(shape)


def quantize(call):
    x, out = call.arrays[0], call.outputs[0]
    info = np.iinfo(out.dtype)
    if x.dtype == np.float32:
        scales, zeros = _per_channel(out, x.ndim)
        # Defined while the quotient fits int32; beyond, LiteRT's conversion is undefined.
        stored = round_half_away(x / scales).astype(np.int64) + zeros
        return [np.clip(stored, info.min, info.max).astype(out.dtype)]
    source = call.inputs[0]
    real = np.float64(source.scale32) / np.float64(out.scale32)
    y = scale(x.astype(np.int64) - source.zero, *quantize_multiplier(real)) + out.zero
    return [np.clip(y, info.min, info.max).astype(out.dtype)]


def dequantize(call):
    x, source = call.arrays[0], call.inputs[0]
    if x.dtype == np.float16:
        return [x.astype(np.float32)]
    scales, zeros = _per_channel(source, x.ndim)
    if scales.size > 1:
        return [scales * (x.astype(np.int64) - zeros).astype(np.float32)]
    return [(scales.astype(np.float64) * (x.astype(np.int64) - zeros)).astype(np.float32)]


def cast(call):
    x, dtype = call.arrays[0], np.dtype(call.outputs[0].dtype)
    if dtype == np.bool_:
        return [x != 0]
    if x.dtype.kind == "f" and dtype.kind in "iu":
        info = np.iinfo(dtype)
        # Out of range values saturate; a NaN becomes the largest value.
        whole = np.trunc(np.where(np.isnan(x), info.max, x.astype(np.float64)))
        return [np.clip(whole, info.min, info.max).astype(dtype)]
    return [x.astype(dtype)]


def _arg(call, find, worst):
    x = call.arrays[0]
    axis = int(np.ravel(call.arrays[1])[0])
    best = find(x, axis=axis)  # the first of equals
    if x.dtype.kind == "f" and np.isnan(x).any():
        # A NaN loses against any number, even against an infinity.
        best = find(np.where(np.isnan(x), worst, x), axis=axis)
        chosen = np.take_along_axis(x, np.expand_dims(best, axis), axis).squeeze(axis)
        best = np.where(np.isnan(chosen), np.argmax(~np.isnan(x), axis=axis), best)
    return [best.astype(call.outputs[0].dtype)]


def arg_max(call):
    return _arg(call, np.argmax, -np.inf)


def arg_min(call):
    return _arg(call, np.argmin, np.inf)
