# SPDX-License-Identifier: Apache-2.0
"""Reference models of operators that only move data. See numpy_models.py."""

import numpy as np
from fixed_point import round_half_away


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
    """uint8 operands of another quantisation are brought to the result's in float32."""
    out, parts = call.outputs[0], []
    for x, t in zip(call.arrays, call.inputs):
        if x.dtype == np.uint8 and t.scale is not None and (t.scale32, t.zero) != (out.scale32, out.zero):
            factor = t.scale32 * (np.float32(1) / out.scale32)
            bias = np.float32(-t.zero) * factor
            value = round_half_away(x.astype(np.float32) * factor + bias) + out.zero
            x = np.clip(value, 0, 255).astype(np.uint8)
        parts.append(x)
    return [np.concatenate(parts, axis=call.options["axis"])]


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


def reverse(call):
    return [np.flip(call.arrays[0], tuple(int(a) for a in np.ravel(call.arrays[1])))]


def tile(call):
    return [np.tile(call.arrays[0], [int(m) for m in np.ravel(call.arrays[1])])]


def mirror_pad(call):
    x, mode = call.arrays[0], "symmetric" if call.options.get("mode") else "reflect"
    return [np.pad(x, [tuple(int(v) for v in row) for row in call.arrays[1]], mode=mode)]


def depth_to_space(call):
    x, b = call.arrays[0], call.options["block_size"]
    n, h, w, c = x.shape
    blocks = x.reshape(n, h, w, b, b, c // (b * b))
    return [blocks.transpose(0, 1, 3, 2, 4, 5).reshape(n, h * b, w * b, c // (b * b))]


def space_to_depth(call):
    x, b = call.arrays[0], call.options["block_size"]
    n, h, w, c = x.shape
    blocks = x.reshape(n, h // b, b, w // b, b, c)
    return [blocks.transpose(0, 1, 3, 2, 4, 5).reshape(n, h // b, w // b, c * b * b)]


def space_to_batch(call):
    x, block = call.arrays[0], [int(b) for b in np.ravel(call.arrays[1])]
    value = np.asarray(call.outputs[0].zero if call.outputs[0].scale is not None else 0, x.dtype)
    x = np.pad(x, [(0, 0), *(tuple(int(v) for v in row) for row in call.arrays[2]), (0, 0)],
               constant_values=value)
    # Split every dimension between batch and channels, and move what is within blocks to the front.
    split, inner = [x.shape[0]], []
    for size, b in zip(x.shape[1:-1], block):
        inner.append(len(split) + 1)
        split += [size // b, b]
    order = inner + [i for i in range(len(split) + 1) if i not in inner]
    moved = x.reshape(*split, x.shape[-1]).transpose(order)
    return [moved.reshape(-1, *moved.shape[len(inner) + 1:])]


def batch_to_space(call):
    x, block = call.arrays[0], [int(b) for b in np.ravel(call.arrays[1])]
    dims = len(block)
    x = x.reshape(*block, -1, *x.shape[1:])
    order = [dims]
    for i in range(dims):
        order += [dims + 1 + i, i]
    x = x.transpose(order + [2 * dims + 1])
    x = x.reshape(x.shape[0], *(x.shape[1 + 2 * i] * block[i] for i in range(dims)), x.shape[-1])
    for i, (before, after) in enumerate(call.arrays[2]):
        x = np.take(x, np.arange(int(before), x.shape[i + 1] - int(after)), axis=i + 1)
    return [x]


def gather_nd(call):
    x, indices = call.arrays
    return [np.asarray(x[tuple(np.moveaxis(indices, -1, 0))]) if indices.shape[-1] else
            np.broadcast_to(x, indices.shape[:-1] + x.shape)]


def scatter_nd(call):
    indices, updates, shape = call.arrays
    out = np.zeros([int(d) for d in shape], updates.dtype)
    for at in np.ndindex(*indices.shape[:-1]):
        to = tuple(int(i) for i in indices[at])
        if updates.dtype == np.bool_:
            out[to] = out[to] | updates[at]
        else:
            out[to] = out[to] + updates[at]
    return [out]


def embedding_lookup(call):
    return [call.arrays[1][call.arrays[0]]]


def dynamic_update_slice(call):
    x, update, begin = call.arrays
    out = x.copy()
    begin = [min(max(int(b), 0), n - m) for b, n, m in zip(begin, x.shape, update.shape)]
    out[tuple(slice(b, b + m) for b, m in zip(begin, update.shape))] = update
    return [out]


def matrix_diag(call):
    x = call.arrays[0]
    out = np.zeros(x.shape + x.shape[-1:], x.dtype)
    out[..., np.arange(x.shape[-1]), np.arange(x.shape[-1])] = x
    return [out]


def matrix_set_diag(call):
    out, n = call.arrays[0].copy(), call.arrays[1].shape[-1]
    out[..., np.arange(n), np.arange(n)] = call.arrays[1]
    return [out]


def one_hot(call):
    indices, depth, one, other = call.arrays
    axis = call.options["axis"] % (indices.ndim + 1)
    shape = [1] * (indices.ndim + 1)
    shape[axis] = int(np.ravel(depth)[0])
    there = np.expand_dims(indices.astype(np.int32), axis) == np.arange(shape[axis]).reshape(shape)
    return [np.where(there, np.ravel(one)[0], np.ravel(other)[0]).astype(one.dtype)]


def reverse_sequence(call):
    x, lengths = call.arrays
    seq, batch = call.options["seq_dim"], call.options["batch_dim"]
    out = np.moveaxis(x.copy(), (batch, seq), (0, 1))
    for b, length in enumerate(lengths):
        out[b, :int(length)] = out[b, :int(length)][::-1].copy()
    return [np.ascontiguousarray(np.moveaxis(out, (0, 1), (batch, seq)))]


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


def resize_bilinear(call):
    x, out_size = call.arrays[0], [int(s) for s in np.ravel(call.arrays[1])]
    fixed = x.dtype in (np.int8, np.int16)
    places = [(_fixed_places if fixed else _real_places)(n, m, call.options)
              for n, m in zip(x.shape[1:3], out_size)]
    (y0, y1, dy), (x0, x1, dx) = places
    one, values = (1024, x.astype(np.int64)) if fixed else (np.float32(1), x.astype(np.float32))
    dy, dx = dy[None, :, None, None], dx[None, None, :, None]
    total = (values[:, y0][:, :, x0] * (one - dy) * (one - dx) + values[:, y1][:, :, x0] * dy * (one - dx)
             + values[:, y0][:, :, x1] * (one - dy) * dx + values[:, y1][:, :, x1] * dy * dx)
    if not fixed:
        return [(total + np.float32(0 if x.dtype == np.float32 else 0.5)).astype(x.dtype)]
    total = total + np.where(total > 0, 1 << 19, -(1 << 19))
    return [(np.sign(total) * (np.abs(total) >> 20)).astype(x.dtype)]


def _fixed_places(size, out, options):
    """Indices of the two pixels, and the part of the second, with 10 bits behind the point."""
    if options.get("align_corners") and out > 1:
        step = (1024 * (size - 1) + (out - 1) // 2) // (out - 1)
    else:
        step = (1024 * size + out // 2) // out
    at = np.arange(out) * step
    if options.get("half_pixel_centers"):
        at = at + step // 2 - 512
    towards_zero = lambda v: np.sign(v) * (np.abs(v) // 1024)
    low = np.maximum(towards_zero(at), 0)
    return low, np.minimum(towards_zero(at + 1023), size - 1), at - 1024 * low


def _real_places(size, out, options):
    f = np.float32
    align = options.get("align_corners") and out > 1
    step = f(size - 1) / f(out - 1) if align else f(size) / f(out)
    at = np.arange(out).astype(f)
    at = (at + f(0.5)) * step - f(0.5) if options.get("half_pixel_centers") else at * step
    low = np.maximum(np.floor(at).astype(np.int64), 0)
    return low, np.minimum(np.ceil(at).astype(np.int64), size - 1), at - low.astype(f)
