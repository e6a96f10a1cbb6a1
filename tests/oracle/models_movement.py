# SPDX-License-Identifier: Apache-2.0
"""Reference models of operators that only move data. See numpy_models.py."""

import numpy as np


def reshape(call):
    return [call.arrays[0].reshape(call.outputs[0].shape)]


def pad(call):
    """PAD fills quantised tensors with the result's zero point, others with 0."""
    x, out = call.arrays[0], call.outputs[0]
    value = np.asarray(out.zero if out.scale is not None else 0, x.dtype)
    return [_pad(x, call.arrays[1], value)]


def pad_v2(call):
    return [_pad(call.arrays[0], call.arrays[1], np.ravel(call.arrays[2])[0])]


def _pad(x, amounts, value):
    return np.pad(x, [tuple(int(v) for v in row) for row in amounts], constant_values=value)


def concatenation(call):
    return [np.concatenate(call.arrays, axis=call.options["axis"])]


def split(call):
    axis = int(np.ravel(call.arrays[0])[0])
    return np.split(call.arrays[1], len(call.outputs), axis=axis)


def split_v(call):
    x, sizes = call.arrays[0], [int(s) for s in np.ravel(call.arrays[1])]
    axis = int(np.ravel(call.arrays[2])[0])
    if -1 in sizes:  # at most one size is left open and takes what remains
        sizes[sizes.index(-1)] = x.shape[axis] - (sum(sizes) + 1)
    return np.split(x, np.cumsum(sizes)[:-1], axis=axis)


def slice_(call):
    x = call.arrays[0]
    begin, size = np.ravel(call.arrays[1]), np.ravel(call.arrays[2])
    return [x[tuple(slice(int(b), x.shape[i] if s == -1 else int(b) + int(s))
                    for i, (b, s) in enumerate(zip(begin, size)))]]


def strided_slice(call):
    x, o = call.arrays[0], call.options
    begin, end, strides = (np.ravel(a) for a in call.arrays[1:4])
    index, has = [], lambda name, i: bool(o.get(name, 0) >> i & 1)
    for i in range(len(begin)):
        if has("ellipsis_mask", i):
            index.append(Ellipsis)
        elif has("new_axis_mask", i):
            index.append(None)
        elif has("shrink_axis_mask", i):
            index.append(int(begin[i]))
        else:
            stop = int(end[i]) + (int(begin[i]) if o.get("offset") else 0)
            index.append(slice(None if has("begin_mask", i) else int(begin[i]),
                               None if has("end_mask", i) else stop, int(strides[i])))
    return [x[tuple(index)]]


def transpose(call):
    return [np.transpose(call.arrays[0], [int(p) for p in np.ravel(call.arrays[1])])]


def pack(call):
    return [np.stack(call.arrays, axis=call.options["axis"])]


def unpack(call):
    x, axis = call.arrays[0], call.options["axis"]
    return [np.take(x, i, axis=axis) for i in range(x.shape[axis])]


def resize_nearest_neighbor(call):
    x, out_size = call.arrays[0], [int(s) for s in np.ravel(call.arrays[1])]
    rows = nearest(x.shape[1], out_size[0], call.options)
    columns = nearest(x.shape[2], out_size[1], call.options)
    return [x[:, rows][:, :, columns]]


def nearest(in_size, out_size, options):
    """Source index of every output index; all arithmetic in float32."""
    align = options.get("align_corners", False)
    f = np.float32
    if align and out_size > 1:
        ratio = f(in_size - 1) / f(out_size - 1)
    else:
        ratio = f(in_size) / f(out_size)
    offset = f(0.5) if options.get("half_pixel_centers", False) else f(0)
    position = (np.arange(out_size).astype(f) + offset) * ratio
    floor = np.floor(position)
    if align:  # positions are not negative, so half away from zero is half up
        floor = floor + (position - floor >= f(0.5))
    return np.minimum(floor.astype(np.int64), in_size - 1)
