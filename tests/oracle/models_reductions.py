# SPDX-License-Identifier: Apache-2.0
"""Models of the reductions: elements are combined one by one, in the operand's memory order."""

import numpy as np
from fixed_point import quantize_multiplier, scale, scale_wide, wrap32


def _axes(call):
    rank = call.arrays[0].ndim
    return tuple(sorted({int(a) % rank for a in np.ravel(call.arrays[1])})) if rank else ()


def _rows(call):
    """The operand as [elements of a result, results]."""
    x, axes = call.arrays[0], _axes(call)
    count = int(np.prod([x.shape[a] for a in axes], dtype=np.int64))
    return np.moveaxis(x, axes, range(len(axes))).reshape(count, -1)


def _fold(call, rows, start, combine):
    """Over all axes the first element stands for the start value."""
    every = len(_axes(call)) == call.arrays[0].ndim
    total = rows[0] if every else combine(np.full(rows.shape[1:], start, rows.dtype), rows[0])
    for row in rows[1:]:
        total = combine(total, row)
    return total


def _shaped(call, values):
    out = call.outputs[0]
    return [np.asarray(values).astype(out.dtype).reshape(out.shape)]


def _quantised(call):
    return np.dtype(call.arrays[0].dtype).itemsize < 4 and call.inputs[0].scale is not None


def _clipped(call, values):
    info = np.iinfo(call.outputs[0].dtype)
    return _shaped(call, np.clip(values, info.min, info.max))


def _rescaled_sum(call, multiplier, shift):
    rows, operand, out = _rows(call), call.inputs[0], call.outputs[0]
    total = rows.astype(np.int64).sum(axis=0) - operand.zero * len(rows)
    return _clipped(call, scale(total, multiplier, shift) + out.zero)


def _ratio(call):
    return np.float64(call.inputs[0].scale32) / np.float64(call.outputs[0].scale32)


def sum_(call):
    if _quantised(call):
        return _rescaled_sum(call, *quantize_multiplier(_ratio(call)))
    return _shaped(call, _fold(call, _rows(call), 0, lambda a, b: a + b))


def mean(call):
    rows = _rows(call)
    count = len(rows)
    if rows.dtype == np.float32:
        total = np.zeros(rows.shape[1:], np.float32)
        for row in rows:
            total = total + row
        return _shaped(call, total / np.float32(count))
    if not _quantised(call):
        total = rows.astype(np.int64).sum(axis=0)
        return _shaped(call, [int(abs(int(t)) // count) * (-1 if t < 0 else 1) for t in total])
    # 1 / count is folded into the multiplier, by an integer division that truncates.
    multiplier, shift = quantize_multiplier(_ratio(call))
    extra = min(count.bit_length() - 1, 32, 31 + shift)
    return _rescaled_sum(call, (multiplier << extra) // count, shift - extra)


def reduce_prod(call):
    rows = _rows(call)
    if not _quantised(call):
        return _shaped(call, _fold(call, rows, 1, lambda a, b: a * b))
    # Every step is scaled by the operand's scale over a root of the result's; the first element
    # is none.
    root = np.float64(call.outputs[0].scale32) ** (1.0 / len(rows))
    multiplier = quantize_multiplier(np.float64(call.inputs[0].scale32) / root)
    product, *others = rows.astype(np.int64) - call.inputs[0].zero
    for row in others:
        product = scale_wide(product * row, *multiplier)
    return _clipped(call, wrap32(scale_wide(product, *multiplier) + call.outputs[0].zero))


def _lowest(dtype):
    return np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min


def _highest(dtype):
    return np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max


def reduce_max(call):
    rows = _rows(call)
    return _shaped(call, _fold(call, rows, _lowest(rows.dtype), lambda a, b: np.where(b > a, b, a)))


def reduce_min(call):
    rows = _rows(call)
    return _shaped(call, _fold(call, rows, _highest(rows.dtype), lambda a, b: np.where(b < a, b, a)))


def reduce_any(call):
    return _shaped(call, _rows(call).any(axis=0))


def reduce_all(call):
    return _shaped(call, _rows(call).all(axis=0))
