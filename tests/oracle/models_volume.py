# SPDX-License-Identifier: Apache-2.0
"""Reference models of convolutions over volumes, and of segments. See numpy_models.py."""

import numpy as np
from models_activation import clamp_float
from models_window import window


def _axes(call, lengths, kernel):
    """Of each axis: stride, dilation, padding in front."""
    o = call.options
    strides = [o[f"stride_{a}"] for a in "dhw"]
    dilations = [o.get(f"dilation_{a}", 1) for a in "dhw"]
    pads = [window(int(n), k, s, d, o["padding"])[1] for n, k, s, d in zip(lengths, kernel, strides, dilations)]
    return list(zip(strides, dilations, pads))


def _inside(at, lengths):
    return all(0 <= a < n for a, n in zip(at, lengths))


def conv_3d(call):
    x, w, bias = (list(call.arrays) + [None])[:3]
    axes = _axes(call, x.shape[1:4], w.shape[:3])
    acc = np.zeros(call.outputs[0].shape, np.float32)
    for to in np.ndindex(*acc.shape[1:4]):
        for tap in np.ndindex(*w.shape[:3]):
            at = [o * s + k * d - p for o, k, (s, d, p) in zip(to, tap, axes)]
            for c in range(x.shape[4]) if _inside(at, x.shape[1:4]) else ():
                acc[(slice(None), *to)] += x[(slice(None), *at, c)][:, None] * w[tap][c]
    return [clamp_float(call, acc + (np.float32(0) if bias is None else bias))]


def conv_3d_transpose(call):
    shape, w, x, bias = (list(call.arrays) + [None])[:4]
    axes = _axes(call, shape[1:4], w.shape[:3])
    acc = np.zeros([int(n) for n in shape], np.float32)
    for at in np.ndindex(*x.shape[1:4]):
        for c in range(x.shape[4]):
            for tap in np.ndindex(*w.shape[:3]):
                to = [i * s + k * d - p for i, k, (s, d, p) in zip(at, tap, axes)]
                if _inside(to, acc.shape[1:4]):
                    acc[(slice(None), *to)] += x[(slice(None), *at, c)][:, None] * w[tap][:, c]
    return [clamp_float(call, acc if bias is None else acc + bias)]


def _segments(first_float, first_int, combine):
    def model(call):
        data, numbers = call.arrays[:2]
        out = np.full(call.outputs[0].shape, first_float if data.dtype == np.float32 else first_int, data.dtype)
        for at in np.ndindex(*numbers.shape):
            if numbers[at] >= 0:
                out[numbers[at]] = combine(out[numbers[at]], data[at])
        return [out]
    return model


_F, _I = np.finfo(np.float32), np.iinfo(np.int32)
_sum = _segments(0, 0, lambda a, b: a + b)
MODELS = {
    "CONV_3D": conv_3d,
    "CONV_3D_TRANSPOSE": conv_3d_transpose,
    "SEGMENT_SUM": _sum,
    "UNSORTED_SEGMENT_SUM": _sum,
    "UNSORTED_SEGMENT_PROD": _segments(1, 1, lambda a, b: a * b),
    "UNSORTED_SEGMENT_MAX": _segments(_F.min, _I.min, lambda a, b: np.where(a < b, b, a)),
    "UNSORTED_SEGMENT_MIN": _segments(_F.max, _I.max, lambda a, b: np.where(b < a, b, a)),
}
