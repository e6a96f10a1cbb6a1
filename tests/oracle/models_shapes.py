# SPDX-License-Identifier: Apache-2.0
"""Reference models of operators that work out shapes. See numpy_models.py."""

import numpy as np


def shape(call):
    return [np.array(call.arrays[0].shape, call.outputs[0].dtype)]


def rank(call):
    return [np.array(call.arrays[0].ndim, np.int32)]


def fill(call):
    return [np.full(tuple(int(d) for d in call.arrays[0]), call.arrays[1])]


def zeros_like(call):
    return [np.zeros_like(call.arrays[0])]


def range_(call):
    start, limit, delta = (np.ravel(a)[0] for a in call.arrays)
    if start.dtype.kind == "i":
        return [np.arange(int(start), int(limit), int(delta), dtype=start.dtype)]
    count = int(np.ceil(np.abs((limit - start) / delta)))
    values = [start]
    for _ in range(count - 1):
        values.append(values[-1] + delta)
    return [np.array(values[:count], np.float32)]


def broadcast_to(call):
    return [np.broadcast_to(call.arrays[0], tuple(int(d) for d in call.arrays[1])).copy()]


def broadcast_args(call):
    a, b = (tuple(int(d) for d in x) for x in call.arrays)
    return [np.array(np.broadcast_shapes(a, b), call.arrays[0].dtype)]


def gather(call):
    x, indices = call.arrays
    axis = call.options.get("axis", 0) % x.ndim
    batch = call.options.get("batch_dims", 0)
    if batch == 0:
        return [np.take(x, indices, axis=axis)]
    flat = x.reshape(-1, *x.shape[batch:])
    rows = indices.reshape(-1, *indices.shape[batch:])
    taken = [np.take(f, r, axis=axis - batch) for f, r in zip(flat, rows)]
    return [np.stack(taken).reshape(*x.shape[:batch], *taken[0].shape)]
