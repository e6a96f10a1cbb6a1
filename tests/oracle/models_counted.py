# SPDX-License-Identifier: Apache-2.0
"""Reference models of operators whose results have as many rows as the data says, of the choice among boxes that
overlap, and of bytes as another type. See numpy_models.py."""

import ctypes

import numpy as np
from models_activation import _libm, libm_float

expf = libm_float("expf")
_ZERO = np.float32(0)


def _filled(call, rows, most, others=()):
    """Known rows stand alone: their shape is the result's."""
    if len(call.outputs[0].shape) and call.inputs[0].data is not None:
        return [rows, *others]
    rest = np.zeros((most - len(rows),) + rows.shape[1:], rows.dtype)
    return [np.concatenate([rows, rest]), *others, np.array([len(rows)], np.int32)]


def where(call):
    return _filled(call, np.argwhere(call.arrays[0] != 0).astype(np.int64), call.arrays[0].size)


def unique(call):
    values, indices = [], []
    for x in call.arrays[0]:
        same = [k for k, v in enumerate(values) if v == x]
        indices.append(same[0] if same else len(values))
        if not same:
            values.append(x)
    return _filled(call, np.array(values, call.arrays[0].dtype), len(indices),
                   [np.array(indices, call.outputs[1].dtype)])


def _overlap(a, b):
    low, high = np.minimum(a[:2], a[2:]), np.maximum(a[:2], a[2:])
    other_low, other_high = np.minimum(b[:2], b[2:]), np.maximum(b[:2], b[2:])
    own, other = (np.prod(h - l, dtype=np.float32) for l, h in ((low, high), (other_low, other_high)))
    if own <= 0 or other <= 0:
        return _ZERO
    both = np.prod(np.maximum(np.minimum(high, other_high) - np.maximum(low, other_low), _ZERO), dtype=np.float32)
    return both / (own + other - both)


def suppressed(boxes, scores, most, limit, least, sigma, lowered=lambda x: expf(np.array([x], np.float32))[0]):
    """(chosen boxes, their scores). `lowered`: the exponential function."""
    scale = np.float32(-0.5 / float(sigma)) if sigma > 0 else _ZERO
    left = {i: [s, 0] for i, s in enumerate(scores) if s > least}
    wanted, chosen, values = min(len(left), most), [], []
    while len(chosen) < wanted and left:
        i = max(left, key=lambda k: left[k][0])
        original, begin = left.pop(i)
        score, stays = original, True
        for j in reversed(chosen[begin:]):
            iou = _overlap(boxes[i], boxes[j])
            if iou >= limit:
                stays = False
                break
            if sigma > 0:
                score = score * lowered(scale * iou * iou)
            if score <= least:
                break
        begin = len(chosen)
        if stays and score == original:
            chosen.append(i)
            values.append(score)
        if stays and score > least:
            left[i] = [score, begin]
    return chosen, values


def non_max_suppression(call):
    boxes, scores = call.arrays[:2]
    most = int(call.arrays[2])
    sigma = call.arrays[5] if len(call.arrays) > 5 else _ZERO
    chosen, values = suppressed(boxes, scores, most, call.arrays[3], call.arrays[4], sigma)
    rest = [0] * (most - len(chosen))
    out = [np.array(chosen + rest, np.int32), np.array(len(chosen), np.int32)]
    if len(call.outputs) == 3:
        out.insert(1, np.array(values + rest, np.float32))
    return out


def bitcast(call):
    x = np.ascontiguousarray(call.arrays[0])
    return [np.frombuffer(x.tobytes(), call.outputs[0].dtype).reshape(call.outputs[0].shape)]


def atan2(call):
    function = _libm.atan2f
    function.restype, function.argtypes = ctypes.c_float, [ctypes.c_float, ctypes.c_float]
    y, x = call.arrays
    flat = [function(float(a), float(b)) for a, b in zip(np.ravel(y), np.ravel(x))]
    return [np.array(flat, np.float32).reshape(y.shape)]


MODELS = {"WHERE": where, "UNIQUE": unique, "NON_MAX_SUPPRESSION_V4": non_max_suppression,
          "NON_MAX_SUPPRESSION_V5": non_max_suppression, "BITCAST": bitcast, "ATAN2": atan2}
