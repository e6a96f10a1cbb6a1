# SPDX-License-Identifier: Apache-2.0
"""Reference models of elementwise operators that aotc has as rows of tables. See numpy_models.py."""

import numpy as np
from fixed_point import quantize_multiplier, scale


def _scaled(t, x):
    """What comparisons of bytes look at: 2^8 times the real value, in fixed point."""
    if t.scale is None or x.dtype.itemsize > 1:
        return x
    return scale((x.astype(np.int64) - t.zero) << 8, *quantize_multiplier(np.float64(t.scale32)))


def compare(function):
    return lambda call: [np.asarray(function(_scaled(call.inputs[0], call.arrays[0]),
                                             _scaled(call.inputs[1], call.arrays[1])))]


def plain(function):
    return lambda call: [np.asarray(function(*call.arrays)).astype(call.outputs[0].dtype)]


def select(call):
    condition, a, b = call.arrays
    if call.kind == "SELECT" and condition.ndim == 1 and a.ndim > 1:
        condition = condition.reshape((-1,) + (1,) * (a.ndim - 1))
    return [np.asarray(np.where(condition, a, b))]


def absolute(call):
    x, source, out = call.arrays[0], call.inputs[0], call.outputs[0]
    if x.dtype != np.int8:
        return [np.abs(x)]
    value = np.abs(x.astype(np.int64) - source.zero)
    if source.scale32 != out.scale32:
        real = np.float64(np.float32(source.scale32 / out.scale32))
        value = scale(value, *quantize_multiplier(real))
    return [np.clip(value + out.zero, -128, 127).astype(np.int8)]


def _floor_quotient(a, b):
    if a.dtype == np.float32:
        return np.floor(a.astype(np.float64) / b.astype(np.float64)).astype(np.float32)
    return np.floor_divide(a, b)


def _floor_rest(a, b):
    if a.dtype != np.float32:
        return np.mod(a, b)
    rest = np.fmod(a, b)
    return np.where((rest != 0) & ((b < 0) != (rest < 0)), rest + b, rest)


MODELS = {
    "LESS": compare(np.less),
    "LESS_EQUAL": compare(np.less_equal),
    "GREATER": compare(np.greater),
    "GREATER_EQUAL": compare(np.greater_equal),
    "EQUAL": compare(np.equal),
    "NOT_EQUAL": compare(np.not_equal),
    "LOGICAL_AND": plain(np.logical_and),
    "LOGICAL_OR": plain(np.logical_or),
    "LOGICAL_NOT": plain(np.logical_not),
    "SELECT": select,
    "SELECT_V2": select,
    "NEG": plain(np.negative),
    "ABS": absolute,
    "FLOOR_DIV": plain(_floor_quotient),
    "FLOOR_MOD": plain(_floor_rest),
}
