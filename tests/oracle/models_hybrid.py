# SPDX-License-Identifier: Apache-2.0
"""Reference models of operators with float activations and int8 weights, whose input is quantised
when it is known ("dynamic range"). See numpy_models.py."""

import numpy as np
from fixed_point import round_half_away
from models_activation import clamp_float

F = np.float32


def is_hybrid(call):
    return call.arrays[0].dtype == np.float32 and call.arrays[1].dtype == np.int8


def _rounded(values):
    """Nearest, ties away from zero. Whole groups of eight are rounded by adding a half, as vector
    instructions do it: the float next to a half goes up with them, and nowhere else."""
    result = round_half_away(values.astype(np.float64)).astype(np.int64)
    just_below = np.nextafter(F(0.5), F(0))
    grouped = np.arange(values.size).reshape(values.shape) < values.size // 8 * 8
    return np.where(grouped & (np.abs(values) == just_below), np.sign(values).astype(np.int64), result)


def symmetric(values):
    """(int8 values, scale): -127..127 for the row's range; a row of zeros has scale 1."""
    reach = max(abs(values.min()), abs(values.max()))
    if reach == 0:
        return np.zeros(values.shape, np.int64), F(1)
    inverse = F(127) / reach
    return np.clip(_rounded(values * inverse), -127, 127), reach / F(127)


def asymmetric(values):
    """(int8 values, scale, zero point): -128..127 for the range of the row and 0. The range is
    float32, what is made of it is double."""
    low, high = min(F(0), values.min()), max(F(0), values.max())
    if low == high:
        return np.zeros(values.shape, np.int64), F(1), 0
    scale = np.float64(high - low) / 255.0
    below, above = np.float64(low) / scale, np.float64(high) / scale
    zero = -128.0 - below if 128.0 + abs(below) < 127.0 + abs(above) else 127.0 - above
    zero = int(round_half_away(np.clip(zero, -128, 127)))
    inverse = F(1) / F(scale)
    return np.clip(_rounded(values * inverse) + zero, -128, 127), F(scale), zero


def _bias(call):
    return call.arrays[2] if len(call.arrays) > 2 else None


def _scales(call, channels):
    return np.broadcast_to(F(np.atleast_1d(call.inputs[1].scale)), (channels,))


def _clamp(call, values):
    """What FULLY_CONNECTED does here: -0 and NaN become the bound, nothing else is one."""
    activation = call.options.get("activation", "NONE")
    top, low = {"RELU6": (F(6), F(0)), "RELU_N1_TO_1": (F(1), F(-1)), "RELU": (None, F(0)),
                "NONE": (None, None)}[activation]
    if top is not None:
        values = np.where(top < values, top, values)
    return values if low is None else np.where(low < values, values, low)


def fully_connected(call):
    x, w, bias = call.arrays[0], call.arrays[1].astype(np.int64), _bias(call)
    units, depth = w.shape
    scales = _scales(call, units)
    start = np.zeros(units, F) if bias is None else bias
    rows = []
    for row in x.reshape(-1, depth):
        if call.options.get("asymmetric_quantize_inputs"):
            q, scale, zero = asymmetric(row)
        else:
            (q, scale), zero = symmetric(row), 0
        rows.append(start + ((q - zero) @ w.T).astype(F) * (scales * scale))
    if not x.any():  # a bias of -0 stays one
        rows = [start] * len(rows)
    return [_clamp(call, np.stack(rows)).reshape(call.outputs[0].shape)]


def batches(x, quantized):
    """Every batch quantised as one row; (q less its zero point, scales to multiply batches with)."""
    rows = [quantized(row) for row in x.reshape(x.shape[0], -1)]
    values = np.stack([r[0] - (r[2] if len(r) > 2 else 0) for r in rows]).reshape(x.shape)
    return values, np.array([r[1] for r in rows], F).reshape(-1, 1, 1, 1)


def conv_2d(call, sums):
    """`sums(values)`: the integer convolution of the values."""
    x, bias = call.arrays[0], _bias(call)
    scales = _scales(call, call.arrays[1].shape[0])
    grouped = x.shape[3] != call.arrays[1].shape[3]
    if not grouped and np.all(scales == scales[0]):
        values, factors = batches(x, symmetric)
        result = sums(values).astype(F) * (factors * scales[0])
    else:
        values, factors = batches(x, asymmetric)
        result = sums(values).astype(F) * scales * factors
    return [clamp_float(call, result if bias is None else result + bias)]


def depthwise_conv_2d(call, sums):
    bias = _bias(call)
    values, factors = batches(call.arrays[0], asymmetric)
    result = sums(values).astype(F) * (_scales(call, call.arrays[1].shape[3]) * factors)
    return [clamp_float(call, result if bias is None else result + bias)]
