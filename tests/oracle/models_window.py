# SPDX-License-Identifier: Apache-2.0
"""Reference models of convolution, fully connected and pooling. See numpy_models.py."""

import dataclasses

import models_hybrid as hybrid
import numpy as np
from fixed_point import quantize_multiplier, round_half_away, scale, scale_wide
from models_activation import clamp_float, clamp_quantized


def window(size, taps, stride, dilation, padding):
    """(output size, padding before the first element) along one axis."""
    reach = (taps - 1) * dilation + 1
    out = -(-size // stride) if padding == "SAME" else (size + stride - reach) // stride
    return out, max(0, (out - 1) * stride + reach - size) // 2


def _geometry(options, x, taps_h, taps_w):
    dilation_h, dilation_w = options.get("dilation_h", 1), options.get("dilation_w", 1)
    out_h, pad_h = window(x.shape[1], taps_h, options["stride_h"], dilation_h, options["padding"])
    out_w, pad_w = window(x.shape[2], taps_w, options["stride_w"], dilation_w, options["padding"])
    rows = np.arange(out_h) * options["stride_h"] - pad_h
    columns = np.arange(out_w) * options["stride_w"] - pad_w
    return rows, columns, dilation_h, dilation_w


def taps(options, x, taps_h, taps_w):
    """Yields (fy, fx, inside, values): the input under each window position of one tap, in the
    order the kernels visit taps: rows, then columns. `inside` is False over padding."""
    rows, columns, dilation_h, dilation_w = _geometry(options, x, taps_h, taps_w)
    for fy in range(taps_h):
        for fx in range(taps_w):
            ys, xs = rows + fy * dilation_h, columns + fx * dilation_w
            inside = (((ys >= 0) & (ys < x.shape[1]))[:, None]
                      & ((xs >= 0) & (xs < x.shape[2]))[None, :])
            ys, xs = np.clip(ys, 0, x.shape[1] - 1), np.clip(xs, 0, x.shape[2] - 1)
            yield fy, fx, inside[None, :, :, None], x[:, ys][:, :, xs]


def _rescale_channels(call, acc, weights, channels):
    """Per channel: real multiplier in double from the float32 scales (of uint8 their product in float32), then
    scale(), or for sums of 64 bits scale_wide(): those of int16, unless the bias has 32 bits."""
    x, out = call.inputs[0], call.outputs[0]
    bias = call.arrays[2] if len(call.arrays) > 2 else None
    wide = x.dtype == "int16" and (
        call.options.get("quantized_bias_type") != "int32" if bias is None else bias.dtype == np.int64)
    rescale = scale_wide if wide else scale
    scales = np.broadcast_to(np.float32(np.atleast_1d(weights.scale)), (channels,))
    result = np.empty_like(acc)
    for c in range(channels):
        product = np.float64(x.scale32) * np.float64(scales[c])
        if x.dtype == "uint8":
            product = np.float64(x.scale32 * scales[c])
        real = product / np.float64(out.scale32)
        result[..., c] = rescale(acc[..., c], *quantize_multiplier(real))
    return clamp_quantized(call, result + out.zero)


def _centred(call):
    """The weights, of uint8 less their zero point."""
    w = call.arrays[1]
    return w.astype(np.int16) - call.inputs[1].zero if w.dtype == np.uint8 else w


def _conv_sums(call, x):
    """Running sums over the taps inside of x, in integers if it has them."""
    w = _centred(call)
    out_channels, taps_h, taps_w, depth = w.shape
    per_group = out_channels // (x.shape[3] // depth)
    acc = None
    for fy, fx, inside, values in taps(call.options, x, taps_h, taps_w):
        if acc is None:
            acc = np.zeros(values.shape[:3] + (out_channels,), values.dtype)
        for c in range(depth):
            # Output channel k belongs to group k // per_group, which reads its own input slice.
            channel = values[..., np.arange(out_channels) // per_group * depth + c]
            acc = np.where(inside, acc + channel * w[:, fy, fx, c].astype(acc.dtype), acc)
    return acc


def _depthwise_sums(call, x):
    w = _centred(call)
    _, taps_h, taps_w, out_channels = w.shape
    source = np.arange(out_channels) // (out_channels // x.shape[3])
    acc = None
    for fy, fx, inside, values in taps(call.options, x, taps_h, taps_w):
        if acc is None:
            acc = np.zeros(values.shape[:3] + (out_channels,), values.dtype)
        acc = np.where(inside, acc + values[..., source] * w[0, fy, fx].astype(acc.dtype), acc)
    return acc


def _convolution(call, sums, channels):
    x, bias = call.arrays[0], call.arrays[2] if len(call.arrays) > 2 else None
    quantized = x.dtype.kind in "iu"
    acc = sums(call, x.astype(np.int64) - call.inputs[0].zero if quantized else x)
    if bias is not None:
        acc = acc + bias.astype(acc.dtype)
    if quantized:
        return [_rescale_channels(call, acc, call.inputs[1], channels)]
    return [clamp_float(call, acc)]


def conv_2d(call):
    if hybrid.is_hybrid(call):
        return hybrid.conv_2d(call, lambda x: _conv_sums(call, x))
    return _convolution(call, _conv_sums, call.arrays[1].shape[0])


def transpose_conv(call):
    """Every input pixel, in order, adds its products with the kernel where it reaches."""
    shape, w, x = call.arrays[:3]
    bias = call.arrays[3] if len(call.arrays) > 3 else None
    (height, width), (out_channels, taps_h, taps_w, depth) = shape[1:3], w.shape
    quantized = x.dtype != np.float32
    if not quantized and w.dtype == np.int8:
        return _dynamic_transpose_conv(call)
    w = _centred(call)
    values = x.astype(np.int64) - call.inputs[2].zero if quantized else x
    o = call.options
    top = window(int(height), taps_h, o["stride_h"], 1, o["padding"])[1]
    left = window(int(width), taps_w, o["stride_w"], 1, o["padding"])[1]
    acc = np.zeros([int(n) for n in shape], values.dtype)
    for iy, ix in np.ndindex(*x.shape[1:3]):
        for c in range(depth):
            for fy, fx in np.ndindex(taps_h, taps_w):
                y, k = iy * o["stride_h"] - top + fy, ix * o["stride_w"] - left + fx
                if 0 <= y < height and 0 <= k < width:
                    acc[:, y, k] += values[:, iy, ix, c, None] * w[:, fy, fx, c].astype(values.dtype)
    if bias is not None:
        acc = acc + bias.astype(acc.dtype)
    if quantized:
        of_input = dataclasses.replace(call, inputs=[call.inputs[2]],
                                       arrays=call.arrays[2:3] + [None] + call.arrays[3:])
        return [_rescale_channels(of_input, acc, call.inputs[1], out_channels)]
    return [clamp_float(call, acc)]


def _dynamic_transpose_conv(call):
    """A batch is a row, asymmetric; every product is scaled before it is added."""
    weights = call.arrays[1]
    scales = np.float32(np.broadcast_to(call.inputs[1].scale, (weights.shape[0],)))
    x = call.arrays[2]
    values, factors = hybrid.batches(x, hybrid.asymmetric)
    (height, width), (_, taps_h, taps_w, depth) = call.arrays[0][1:3], weights.shape
    o = call.options
    top = window(int(height), taps_h, o["stride_h"], 1, o["padding"])[1]
    left = window(int(width), taps_w, o["stride_w"], 1, o["padding"])[1]
    acc = np.zeros([int(n) for n in call.arrays[0]], np.float32)
    for iy, ix in np.ndindex(*x.shape[1:3]):
        for c in range(depth):
            for fy, fx in np.ndindex(taps_h, taps_w):
                y, k = iy * o["stride_h"] - top + fy, ix * o["stride_w"] - left + fx
                if 0 <= y < height and 0 <= k < width:
                    products = values[:, iy, ix, c, None] * weights[:, fy, fx, c].astype(np.int64)
                    acc[:, y, k] += products.astype(np.float32) * scales * factors[:, 0, 0]
    return [clamp_float(call, acc if len(call.arrays) < 4 else acc + call.arrays[3])]


def depthwise_conv_2d(call):
    if hybrid.is_hybrid(call):
        return hybrid.depthwise_conv_2d(call, lambda x: _depthwise_sums(call, x))
    return _convolution(call, _depthwise_sums, call.arrays[1].shape[3])


def fully_connected(call):
    if hybrid.is_hybrid(call):
        return hybrid.fully_connected(call)
    x, w = call.arrays[0], call.arrays[1]
    bias = call.arrays[2] if len(call.arrays) > 2 else None
    units, depth = w.shape
    rows = x.reshape(-1, depth)
    if x.dtype == np.float32:
        acc = np.zeros((rows.shape[0], units), np.float32)
        for d in range(depth):
            acc = acc + rows[:, d : d + 1] * w[:, d]
        acc = acc if bias is None else acc + bias
        return [clamp_float(call, acc).reshape(call.outputs[0].shape)]
    weights, out = call.inputs[1], call.outputs[0]
    acc = (rows.astype(np.int64) - call.inputs[0].zero) @ (
        w.astype(np.int64) - (weights.zero if np.size(weights.scale) == 1 else 0)).T
    acc = acc if bias is None else acc + bias
    scales = np.float64(np.float32(np.atleast_1d(weights.scale)))
    real = np.float64(call.inputs[0].scale32) * scales / np.float64(out.scale32)
    result = round_half_away(acc.astype(np.float64) * real).astype(np.int64)
    return [clamp_quantized(call, result + out.zero).reshape(out.shape)]


def batch_matmul(call):
    (x, y), out = call.arrays, call.outputs[0]
    x = np.swapaxes(x, -1, -2) if call.options.get("adj_x") else x
    y = np.swapaxes(y, -1, -2) if call.options.get("adj_y") else y
    if x.dtype == np.float32:
        steps = (x[..., :, k : k + 1] * y[..., k : k + 1, :] for k in range(x.shape[-1]))
        total = np.zeros(out.shape, np.float32)
        for step in steps:
            total = total + step
        return [total]
    acc = (x.astype(np.int64) - call.inputs[0].zero) @ (y.astype(np.int64) - call.inputs[1].zero)
    product = call.inputs[0].scale32 * call.inputs[1].scale32  # rounds to float32
    real = np.float64(product) / np.float64(out.scale32)
    rescale = scale_wide if x.dtype == np.int16 else scale
    result = rescale(acc, *quantize_multiplier(real)) + out.zero
    info = np.iinfo(out.dtype)
    return [np.clip(result, info.min, info.max).astype(out.dtype)]


def average_pool_2d(call):
    x, o = call.arrays[0], call.options
    integer = x.dtype.kind in "iu"
    total, count = None, None
    for _, _, inside, values in taps(o, x, o["filter_h"], o["filter_w"]):
        if total is None:
            total = np.zeros(values.shape, np.int64 if integer else np.float32)
            count = np.zeros(values.shape, total.dtype)
        total = np.where(inside, total + values, total)
        count = count + inside
    if not integer:
        return [clamp_float(call, total / count.astype(np.float32))]
    # Nearest, ties away from zero, in raw quantised units: the zero point plays no part.
    magnitude = (np.abs(total) + count // 2) // count
    return [clamp_quantized(call, np.where(total > 0, magnitude, -magnitude))]


def l2_pool_2d(call):
    x, o = call.arrays[0], call.options
    total, count = 0, 0
    for _, _, inside, values in taps(o, x, o["filter_h"], o["filter_w"]):
        total = np.where(inside, total + values * values, np.zeros_like(values) + total)
        count = count + np.broadcast_to(inside, values.shape).astype(np.float32)
    return [clamp_float(call, np.sqrt(total / count))]


def max_pool_2d(call):
    x, o = call.arrays[0], call.options
    integer = x.dtype.kind in "iu"
    lowest = np.iinfo(x.dtype).min if integer else np.finfo(np.float32).min
    best = None
    for _, _, inside, values in taps(o, x, o["filter_h"], o["filter_w"]):
        if best is None:
            best = np.full(values.shape, lowest, x.dtype)
        best = np.where(inside & (best < values), values, best)
    return [clamp_quantized(call, best) if integer else clamp_float(call, best)]
