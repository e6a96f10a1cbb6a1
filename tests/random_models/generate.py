# SPDX-License-Identifier: Apache-2.0
"""Random models: mostly right, often odd.

A model grows operator by operator from its inputs; each operator draws its operands among the
tensors that exist, so there are branches, tensors with several users and several outputs. Every
number (paddings, strides, dilations, scales, axes, masks, ...) is drawn. `oddities` then spoils
fields of some models. Shapes of results are worked out here only as far as growing needs them; the
lane asks LiteRT where `guessed` says so.
"""

import random

import numpy as np
from model import Model, Op, Tensor
from oddities import spoil

LARGEST = 600  # elements of a tensor
ACTIVATIONS = ["NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1"]


class Growth:
    """A model under construction, with the draws that its operators need."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.values = np.random.default_rng(seed)
        self.model = Model()
        self.live = []  # tensors that operators may read
        self.used = set()
        self.rules = RULES
        self.any_type = False
        self.guessed = False  # shapes of some results are not known here
        self.late = random.Random(seed + 1)  # draws that came later, so that older models stay the same

    def __getitem__(self, tensor):
        return self.model.tensors[tensor]

    def chance(self, percent):
        return self.rng.randrange(100) < percent

    def pick(self, low, high):
        return self.rng.randint(low, high)

    def scale(self):
        return float(np.float32(2.0 ** self.rng.uniform(-9, 0)))

    def add(self, tensor):
        self.model.tensors.append(tensor)
        return len(self.model.tensors) - 1

    def activation(self, dtype, shape, like=None, scale=None, zero_point=None):
        """A tensor that is computed; `like` gives its quantisation."""
        t = Tensor(dtype, [int(d) for d in shape])
        if like is not None and like.scale is not None:
            t.scale, t.zero_point = list(like.scale), list(like.zero_point)
        elif dtype in ("int8", "uint8"):
            low = -128 if dtype == "int8" else 0
            zero = self.pick(low, low + 255) if zero_point is None else zero_point
            t.scale = [self.scale() if scale is None else float(np.float32(scale))]
            t.zero_point = [low + 128 if self.chance(20) and zero_point is None else zero]
        elif dtype == "int16" and self.any_type:
            t.scale, t.zero_point = [self.scale() if scale is None else float(np.float32(scale))], [0]
        return self.add(t)

    def constant(self, array, like=None, scale=None):
        array = np.asarray(array)
        t = Tensor(array.dtype.name, list(array.shape), data=array)
        if like is not None and like.scale is not None:
            t.scale, t.zero_point = list(like.scale), list(like.zero_point)
        elif scale is not None:
            t.scale, t.zero_point = scale, [0] * len(scale)
        return self.add(t)

    def ints(self, values, dtype=np.int32):
        return self.constant(np.array(values, dtype=dtype))

    def data(self, dtype, shape):
        if dtype == "float32":
            return self.values.standard_normal(size=shape).astype(np.float32)
        if dtype == "bool":
            return self.values.integers(0, 2, size=shape).astype(np.bool_)
        low, high = {"int8": (-128, 127), "uint8": (0, 255)}.get(dtype, (-50, 50))
        return self.values.integers(low, high, size=shape, endpoint=True).astype(dtype)

    def op(self, kind, inputs, outputs, **options):
        self.model.ops.append(Op(kind, inputs, outputs, options))
        self.used.update(i for i in inputs if i >= 0)
        self.live += outputs
        return outputs


def elements(shape):
    return int(np.prod(shape, dtype=np.int64))


# --- Windows ---------------------------------------------------------------------------------------


def window_size(padding, size, taps, stride, dilation):
    reach = (taps - 1) * dilation + 1
    return -(-size // stride) if padding == "SAME" else (size + stride - reach) // stride


def draw_window(g, shape):
    """Padding, taps, strides, dilations and the result's height and width, or None."""
    padding = g.rng.choice(["SAME", "VALID"])
    taps = [g.pick(1, 4), g.pick(1, 4)]
    strides = [g.rng.choice([1, 1, 1, 2, 3, 5]), g.rng.choice([1, 1, 1, 2, 3])]
    dilations = [g.rng.choice([1, 1, 1, 2, 3]), g.rng.choice([1, 1, 1, 1, 2])]
    out = [window_size(padding, shape[1 + i], taps[i], strides[i], dilations[i]) for i in (0, 1)]
    return (padding, taps, strides, dilations, out) if min(out) > 0 else None


def weights_and_bias(g, x, shape, axis, channels, per_channel):
    """Constants of a layer with weights, and the scale that suits its result."""
    taps = max(1, elements(shape) // max(channels, 1))
    # Weights of int8 under floats: of inputs only, which are finite then (model.samples_of).
    if x.dtype == "float32" and any(g[i] is x for i in g.model.inputs) and g.late.random() < 0.5:
        scales = [float(np.float32(2.0 ** g.late.uniform(-9, 0))) for _ in range(channels if per_channel else 1)]
        # Not -128, which LiteRT's vector instructions multiply with the wrong sign.
        w = g.constant(np.maximum(g.data("int8", shape), np.int8(-127)), scale=scales)
        g[w].axis = axis
        return w, g.constant(g.data("float32", [channels])), None
    if x.dtype == "float32" and g.late.random() < 0.25:  # weight-only quantisation
        scales = [float(np.float32(2.0 ** g.late.uniform(-9, 0))) for _ in range(channels if per_channel else 1)]
        most = g.late.choice([7, 127])
        stored = g.constant(np.clip(g.data("int8", shape), -most, most), scale=scales)
        g[stored].axis = axis
        w = g.activation("float32", shape)
        g.op("DEQUANTIZE", [stored], [w])
        return w, g.constant(g.data("float32", [channels])), None
    if x.dtype == "float32":
        w = g.constant((g.data("float32", shape) / np.sqrt(taps)).astype(np.float32))
        bias = g.constant(g.data("float32", [channels]))
        return w, bias, None
    scale_x = x.scale[0] if x.scale else 1.0
    count = channels if per_channel else 1
    scales = [g.scale() / 16 for _ in range(count)]
    data = g.data("int8", shape)
    if g.chance(15):  # pruned
        data = np.where(g.values.random(size=shape) < 0.7, 0, data).astype(np.int8)
    w = g.constant(data, scale=scales)
    g[w].axis = axis
    bias = g.constant(g.values.integers(-3000, 3000, size=[channels]).astype(np.int32),
                      scale=[float(np.float32(np.float32(scale_x) * np.float32(s)))
                             for s in scales])
    spread = scale_x * max(scales) * np.sqrt(taps) * 40
    return w, bias, spread * 2.0 ** g.rng.uniform(-2, 2)


def with_bias(g, operands, bias):
    """Without one now and then, in either way of saying so."""
    if g.chance(90):
        return operands + [bias]
    return operands + [-1] if g.chance(50) else operands


def conv_2d(g, x):
    t = g[x]
    window = draw_window(g, t.shape)
    if window is None:
        return None
    padding, taps, strides, dilations, out = window
    groups = g.rng.choice([d for d in range(1, t.shape[3] + 1) if t.shape[3] % d == 0]) \
        if g.chance(10) else 1
    channels = groups * g.pick(1, max(1, 9 // groups))
    w, bias, scale = weights_and_bias(g, t, [channels, *taps, t.shape[3] // groups], 0, channels,
                                      g.chance(75) or (groups > 1 and t.dtype == "float32"))
    y = g.activation(t.dtype, [t.shape[0], *out, channels], scale=scale)
    return g.op("CONV_2D", with_bias(g, [x, w], bias), [y], padding=padding, stride_h=strides[0],
                stride_w=strides[1], dilation_h=dilations[0], dilation_w=dilations[1],
                activation=g.rng.choice(ACTIVATIONS))


def depthwise_conv_2d(g, x):
    t = g[x]
    window = draw_window(g, t.shape)
    if window is None:
        return None
    padding, taps, strides, dilations, out = window
    multiplier = g.rng.choice([1, 1, 2, 3])
    channels = t.shape[3] * multiplier
    w, bias, scale = weights_and_bias(g, t, [1, *taps, channels], 3, channels, g.chance(75))
    y = g.activation(t.dtype, [t.shape[0], *out, channels], scale=scale)
    return g.op("DEPTHWISE_CONV_2D", with_bias(g, [x, w], bias), [y], padding=padding,
                stride_h=strides[0], stride_w=strides[1], dilation_h=dilations[0],
                dilation_w=dilations[1], depth_multiplier=multiplier,
                activation=g.rng.choice(ACTIVATIONS))


def pool(kind):
    def draw(g, x):
        t = g[x]
        window = draw_window(g, t.shape)
        if window is None:
            return None
        padding, taps, strides, _, _ = window
        out = [window_size(padding, t.shape[1 + i], taps[i], strides[i], 1) for i in (0, 1)]
        if min(out) < 1:
            return None
        y = g.activation(t.dtype, [t.shape[0], *out, t.shape[3]], like=t)
        return g.op(kind, [x], [y], padding=padding, stride_h=strides[0], stride_w=strides[1],
                    filter_h=taps[0], filter_w=taps[1], activation=g.rng.choice(ACTIVATIONS))
    return draw


def fully_connected(g, x):
    t = g[x]
    depth = t.shape[-1]
    rows = elements(t.shape) // depth
    if not g.chance(70):  # several rows become one
        divisors = [d for d in range(1, rows + 1) if rows % d == 0]
        depth, rows = depth * rows // (rest := g.rng.choice(divisors)), rest
    channels = g.pick(1, 12)
    w, bias, scale = weights_and_bias(g, t, [channels, depth], 0, channels, g.chance(30))
    if t.dtype == "int8" and len(g[w].scale) == 1 and g.chance(20):
        g[w].zero_point = [g.pick(-20, 20)]
    keep = depth == t.shape[-1] and g.chance(30)
    y = g.activation(t.dtype, [*t.shape[:-1], channels] if keep else [rows, channels], scale=scale)
    return g.op("FULLY_CONNECTED", with_bias(g, [x, w], bias), [y],
                activation=g.rng.choice(ACTIVATIONS), keep_num_dims=keep,
                asymmetric_quantize_inputs=g[w].dtype == "int8" and t.dtype == "float32"
                and g.late.random() < 0.5)


def resize_nearest(g, x):
    t = g[x]
    size = [g.pick(1, 9), g.pick(1, 9)]
    y = g.activation(t.dtype, [t.shape[0], *size, t.shape[3]], like=t)
    align = g.chance(25)
    return g.op("RESIZE_NEAREST_NEIGHBOR", [x, g.ints(size)], [y], align_corners=align,
                half_pixel_centers=g.chance(25) and not align)


# --- Element by element ----------------------------------------------------------------------------


def broadcast_shape(g, shape):
    """A shape that broadcasts with `shape`, and what comes out."""
    other = list(shape[g.pick(0, len(shape)):]) if g.chance(40) else list(shape)
    result = list(shape)
    first = len(shape) - len(other)
    for i in range(len(other)):
        if g.chance(25):
            other[i] = 1
        elif shape[first + i] == 1 and g.chance(30):
            other[i] = result[first + i] = g.pick(1, 4)
    return other, result


def second_operand(g, x, same_quantisation):
    """Another tensor or a constant; the result's shape."""
    t = g[x]
    candidates = [i for i in g.live if g[i].dtype == t.dtype and broadcast(g[i].shape, t.shape)
                  and (not same_quantisation or g[i].scale == t.scale
                       and g[i].zero_point == t.zero_point)]
    if candidates and g.chance(60):
        y = g.rng.choice(candidates)
        return y, broadcast(g[y].shape, t.shape)
    other, result = broadcast_shape(g, t.shape)
    like = t if same_quantisation else Tensor(t.dtype, [], [g.scale()], [g.pick(-128, 127)])
    return g.constant(g.data(t.dtype, other), like=like if t.scale is not None else None), result


def broadcast(a, b):
    rank = max(len(a), len(b))
    a, b = [1] * (rank - len(a)) + list(a), [1] * (rank - len(b)) + list(b)
    if any(p != q and 1 not in (p, q) for p, q in zip(a, b)):
        return None
    return [q if p == 1 else p for p, q in zip(a, b)]


def binary(kind, options=True, same=False):
    def draw(g, x):
        y, shape = second_operand(g, x, same)
        if elements(shape) > LARGEST:
            return None
        t, u = g[x], g[y]
        scale = None
        if t.scale is not None:
            scale = t.scale[0] * u.scale[0] * 60 if kind == "MUL" else t.scale[0] + u.scale[0]
            scale *= 2.0 ** g.rng.uniform(-1.5, 1.5)
        z = g.activation(t.dtype, shape, like=t if same else None, scale=scale)
        operands = [x, y] if g.chance(60) else [y, x]
        extra = {"activation": g.rng.choice(ACTIVATIONS)} if options else {}
        return g.op(kind, operands, [z], **extra)
    return draw


def unary(kind, fixed=None, **draws):
    """`fixed`: scale and zero point of an int8 result."""
    def draw(g, x):
        t = g[x]
        scale, zero = fixed or (t.scale and t.scale[0] * 2.0 ** g.rng.uniform(-1, 1), None)
        y = g.activation(t.dtype, t.shape, scale=scale, zero_point=zero)
        return g.op(kind, [x], [y], **{k: f(g) for k, f in draws.items()})
    return draw


def quantize(g, x):
    t = g[x]
    scale = t.scale[0] * 2.0 ** g.rng.uniform(-1, 1) if t.scale else g.scale() * 4
    y = g.activation("uint8" if g.chance(8) else "int8", t.shape, scale=scale)
    return g.op("QUANTIZE", [x], [y])


def dequantize(g, x):
    return g.op("DEQUANTIZE", [x], [g.activation("float32", g[x].shape)])


def cast(g, x):
    dtype = g.rng.choice(["float32", "float32", "int32", "bool", "int64", "int8", "uint8", "int16"])
    t = Tensor(dtype, list(g[x].shape))
    if dtype in ("int8", "uint8", "int16"):
        t.scale, t.zero_point = [g.scale()], [0]
    return g.op("CAST", [x], [g.add(t)], in_type=g[x].dtype, out_type=dtype)


# --- Along axes ------------------------------------------------------------------------------------


def any_axis(g, rank):
    return g.pick(-rank, rank - 1)


def mean(g, x):
    t = g[x]
    rank = len(t.shape)
    axes = g.rng.sample(range(rank), g.pick(1, rank))
    if g.chance(15):
        axes.append(axes[0])  # twice
    keep = g.chance(50)
    shape = [1 if i in axes else d for i, d in enumerate(t.shape) if keep or i not in axes]
    y = g.activation(t.dtype, shape, like=t if g.chance(60) else None,
                     scale=t.scale and t.scale[0])
    axes = [a - rank if g.chance(30) else a for a in axes]
    return g.op("MEAN", [x, g.ints(axes)], [y], keep_dims=keep)


def arg_max(g, x):
    t = g[x]
    axis = any_axis(g, len(t.shape))
    dtype = g.rng.choice(["int32", "int64"])
    shape = [d for i, d in enumerate(t.shape) if i != axis % len(t.shape)]
    return g.op("ARG_MAX", [x, g.ints(axis)], [g.activation(dtype, shape)], output_type=dtype)


def concatenation(g, x):
    t = g[x]
    axis = g.pick(0, len(t.shape) - 1)
    fits = [i for i in g.live if g[i].dtype == t.dtype and len(g[i].shape) == len(t.shape)
            and g[i].scale == t.scale and g[i].zero_point == t.zero_point
            and all(a == b for k, (a, b) in enumerate(zip(g[i].shape, t.shape)) if k != axis)]
    operands = [x]
    for _ in range(g.pick(0, 3)):
        if g.chance(50):
            operands.append(g.rng.choice(fits))
        else:
            shape = list(t.shape)
            shape[axis] = g.pick(1, 3)
            operands.append(g.constant(g.data(t.dtype, shape), like=t))
    g.rng.shuffle(operands)
    shape = list(t.shape)
    shape[axis] = sum(g[i].shape[axis] for i in operands)
    if elements(shape) > LARGEST:
        return None
    y = g.activation(t.dtype, shape, like=t)
    return g.op("CONCATENATION", operands, [y],
                axis=axis - len(shape) if g.chance(40) else axis)


def pack(g, x):
    t = g[x]
    rank = len(t.shape) + 1
    fits = [i for i in g.live if g[i].dtype == t.dtype and g[i].shape == t.shape
            and g[i].scale == t.scale and g[i].zero_point == t.zero_point]
    operands = [g.rng.choice(fits) for _ in range(g.pick(1, 3))]
    axis = any_axis(g, rank)
    shape = list(t.shape)
    shape.insert(axis % rank, len(operands))
    if elements(shape) > LARGEST or rank > 5:
        return None
    return g.op("PACK", operands, [g.activation(t.dtype, shape, like=t)], axis=axis,
                values_count=len(operands))


def unpack(g, x):
    t = g[x]
    axis = any_axis(g, len(t.shape))
    count = t.shape[axis]
    if count > 5:
        return None
    shape = [d for i, d in enumerate(t.shape) if i != axis % len(t.shape)]
    return g.op("UNPACK", [x], [g.activation(t.dtype, shape, like=t) for _ in range(count)],
                axis=axis, num=count)


def split(g, x):
    t = g[x]
    axis = any_axis(g, len(t.shape))
    counts = [n for n in range(1, min(t.shape[axis], 5) + 1) if t.shape[axis] % n == 0]
    count = g.rng.choice(counts)
    shape = list(t.shape)
    shape[axis] //= count
    return g.op("SPLIT", [g.ints(axis), x],
                [g.activation(t.dtype, shape, like=t) for _ in range(count)], num_splits=count)


def split_v(g, x):
    t = g[x]
    axis = any_axis(g, len(t.shape))
    sizes, left = [], t.shape[axis]
    while left > 0 and len(sizes) < 4:
        sizes.append(g.pick(1, left) if len(sizes) < 3 else left)
        left -= sizes[-1]
    outputs = []
    for size in sizes:
        shape = list(t.shape)
        shape[axis] = size
        outputs.append(g.activation(t.dtype, shape, like=t))
    if g.chance(40):
        sizes[g.pick(0, len(sizes) - 1)] = -1
    return g.op("SPLIT_V", [x, g.ints(sizes, g.rng.choice([np.int32, np.int64])), g.ints(axis)],
                outputs, num_splits=len(outputs))


# --- Moving ----------------------------------------------------------------------------------------


def random_factors(g, count, most=5):
    """A shape of `count` elements."""
    shape = []
    while count > 1 and len(shape) < most - 1:
        shape.append(g.rng.choice([d for d in range(1, count + 1) if count % d == 0]))
        count //= shape[-1]
    shape.append(count)
    g.rng.shuffle(shape)
    return shape


def reshape(g, x):
    t = g[x]
    shape = random_factors(g, elements(t.shape))
    y = g.activation(t.dtype, shape, like=t)
    asked = list(shape)
    if g.chance(40):
        asked[g.pick(0, len(asked) - 1)] = -1
    how = g.pick(0, 9)
    if how < 6:
        return g.op("RESHAPE", [x, g.ints(asked)], [y])
    if how < 8:
        return g.op("RESHAPE", [x, g.ints(asked)], [y], new_shape=asked)
    return g.op("RESHAPE", [x], [y], new_shape=asked)


def squeeze(g, x):
    t = g[x]
    ones = [i for i, d in enumerate(t.shape) if d == 1]
    gone = g.rng.sample(ones, g.pick(0, len(ones)))
    shape = [d for i, d in enumerate(t.shape) if i not in (gone or ones)]
    dims = [a - len(t.shape) if g.chance(30) else a for a in gone]
    return g.op("SQUEEZE", [x], [g.activation(t.dtype, shape, like=t)], squeeze_dims=dims)


def expand_dims(g, x):
    t = g[x]
    if len(t.shape) > 4:
        return None
    axis = any_axis(g, len(t.shape) + 1)
    shape = list(t.shape)
    shape.insert(axis % (len(shape) + 1), 1)
    return g.op("EXPAND_DIMS", [x, g.ints(axis)], [g.activation(t.dtype, shape, like=t)])


def transpose(g, x):
    t = g[x]
    order = g.rng.sample(range(len(t.shape)), len(t.shape))
    y = g.activation(t.dtype, [t.shape[i] for i in order], like=t)
    order = [i - len(order) if g.chance(15) else i for i in order]
    return g.op("TRANSPOSE", [x, g.ints(order)], [y])


def pad(g, x):
    t = g[x]
    amounts = [[g.rng.choice([0, 0, 1, 2]), g.rng.choice([0, 0, 1, 3])] for _ in t.shape]
    shape = [d + sum(a) for d, a in zip(t.shape, amounts)]
    if elements(shape) > LARGEST:
        return None
    operands = [x, g.ints(amounts, g.rng.choice([np.int32, np.int64]))]
    y = g.activation(t.dtype, shape, like=t)
    if g.chance(60):
        return g.op("PAD", operands, [y])
    return g.op("PADV2", operands + [g.constant(g.data(t.dtype, [1]), like=t)], [y])


def slice_(g, x):
    t = g[x]
    begin = [g.pick(0, d - 1) for d in t.shape]
    size = [g.pick(1, d - b) for d, b in zip(t.shape, begin)]
    y = g.activation(t.dtype, size, like=t)
    asked = [-1 if b + s == d and g.chance(50) else s for s, b, d in zip(size, begin, t.shape)]
    dtype = g.rng.choice([np.int32, np.int64])
    return g.op("SLICE", [x, g.ints(begin, dtype), g.ints(asked, dtype)], [y])


def strided_slice(g, x):
    t = g[x]
    rank = len(t.shape)
    begin, end, stride, shape = [], [], [], []
    masks = {m: 0 for m in ("begin_mask", "end_mask", "shrink_axis_mask")}
    for i, d in enumerate(t.shape):
        b, s = g.pick(0, d - 1), g.rng.choice([1, 1, 1, 2, 3, -1, -2])
        e = g.pick(b + 1, d + 1) if s > 0 else g.pick(-1, b - 1)
        whole_begin, whole_end = g.chance(20), g.chance(20)
        masks["begin_mask"] |= whole_begin << i
        masks["end_mask"] |= whole_end << i
        if g.chance(10):
            masks["shrink_axis_mask"] |= 1 << i
            s, whole_begin = 1, whole_begin
        first = (0 if s > 0 else d - 1) if whole_begin else b
        last = (d if s > 0 else -1) if whole_end else min(e, d)
        if not masks["shrink_axis_mask"] >> i & 1:
            shape.append(max(0, -((first - last) // abs(s)) if s > 0 else -((last - first) // -s)))
        begin.append(b - d if g.chance(25) else b)
        end.append(e - d if e < 0 or (e < d and g.chance(25)) else e)
        stride.append(s)
    if 0 in shape:
        return None
    if g.chance(12):
        masks[g.rng.choice(["ellipsis_mask", "new_axis_mask"])] = 1 << g.pick(0, rank - 1)
        g.guessed = True
    y = g.activation(t.dtype, shape, like=t)
    return g.op("STRIDED_SLICE", [x, g.ints(begin), g.ints(end), g.ints(stride)], [y], **masks)


# --- Models ----------------------------------------------------------------------------------------

QUANTISED = ("int8", "float32")
NUMBERS = ("int8", "float32", "int32")
ALL = ("int8", "float32", "int32", "uint8", "int64", "bool", "int16")
# kind: (how it is drawn, types, ranks, weight)
RULES = {
    "CONV_2D": (conv_2d, QUANTISED, (4, 4), 12),
    "DEPTHWISE_CONV_2D": (depthwise_conv_2d, QUANTISED, (4, 4), 10),
    "FULLY_CONNECTED": (fully_connected, QUANTISED, (1, 5), 8),
    "AVERAGE_POOL_2D": (pool("AVERAGE_POOL_2D"), QUANTISED, (4, 4), 5),
    "MAX_POOL_2D": (pool("MAX_POOL_2D"), QUANTISED, (4, 4), 5),
    "RESIZE_NEAREST_NEIGHBOR": (resize_nearest, QUANTISED, (4, 4), 4),
    "ADD": (binary("ADD"), NUMBERS, (0, 5), 6),
    "SUB": (binary("SUB"), NUMBERS, (0, 5), 5),
    "MUL": (binary("MUL"), NUMBERS, (0, 5), 5),
    "MAXIMUM": (binary("MAXIMUM", False, True), NUMBERS, (0, 5), 3),
    "MINIMUM": (binary("MINIMUM", False, True), NUMBERS, (0, 5), 3),
    "RELU": (unary("RELU"), QUANTISED, (0, 5), 3),
    "RELU6": (unary("RELU6"), QUANTISED, (0, 5), 3),
    "RELU_N1_TO_1": (unary("RELU_N1_TO_1"), QUANTISED, (0, 5), 2),
    "LEAKY_RELU": (unary("LEAKY_RELU", alpha=lambda g: g.rng.choice([0.01, 0.3, -0.5, 1.5, 0.0])),
                   QUANTISED, (0, 5), 3),
    "HARD_SWISH": (unary("HARD_SWISH"), QUANTISED, (0, 5), 3),
    "LOGISTIC": (unary("LOGISTIC", (1 / 256, -128)), QUANTISED, (0, 5), 3),
    "TANH": (unary("TANH", (1 / 128, 0)), QUANTISED, (0, 5), 3),
    "SOFTMAX": (unary("SOFTMAX", (1 / 256, -128), beta=lambda g: g.rng.choice([1.0, 1.0, 0.5, 3.0])),
                QUANTISED, (1, 4), 4),
    "QUANTIZE": (quantize, QUANTISED, (0, 5), 5),
    "DEQUANTIZE": (dequantize, ("int8", "uint8"), (0, 5), 3),
    "CAST": (cast, ALL, (0, 5), 3),
    "MEAN": (mean, QUANTISED, (1, 4), 5),
    "ARG_MAX": (arg_max, ("int8", "float32", "uint8", "int32", "bool"), (1, 5), 3),
    "CONCATENATION": (concatenation, ALL, (1, 5), 5),
    "PACK": (pack, NUMBERS, (0, 4), 2),
    "UNPACK": (unpack, NUMBERS, (1, 5), 2),
    "SPLIT": (split, QUANTISED, (1, 5), 3),
    "SPLIT_V": (split_v, QUANTISED, (1, 5), 2),
    "RESHAPE": (reshape, ALL, (0, 5), 4),
    "SQUEEZE": (squeeze, ALL, (1, 5), 2),
    "EXPAND_DIMS": (expand_dims, ALL, (0, 4), 2),
    "TRANSPOSE": (transpose, NUMBERS, (1, 5), 4),
    "PAD": (pad, QUANTISED, (1, 4), 4),
    "SLICE": (slice_, NUMBERS, (1, 4), 3),
    "STRIDED_SLICE": (strided_slice, NUMBERS, (1, 5), 5),
}


def input_shape(g):
    if g.chance(70):
        return [g.rng.choice([1, 1, 1, 2]), g.pick(1, 9), g.pick(1, 9), g.rng.choice([1, 2, 3, 4, 8])]
    return [g.pick(1, 6) for _ in range(g.rng.choice([0, 1, 1, 2, 2, 3, 3, 5]))]


def grow(g):
    x = g.rng.choice(g.live[-3:])
    t = g[x]
    fit = [(f, weight) for f, types, (least, most), weight in g.rules.values()
           if t.dtype in types and least <= len(t.shape) <= most and 0 not in t.shape]
    if not fit:
        return False
    rule = g.rng.choices([f for f, _ in fit], [w for _, w in fit])[0]
    kept = len(g.model.tensors)
    if rule(g, x) is None:
        del g.model.tensors[kept:]
        return False
    return True


def random_model(seed, only=None, any_type=False, spoiled=True):
    """The model, and whether LiteRT has to be asked for shapes. `only`: of this operator alone.
    `any_type`: of operators on types that are not theirs, as most of LiteRT's refusals need. `spoiled`: some models are."""
    g = Growth(seed)
    if only is not None:
        g.rules = {only: RULES[only]}
    dtype = g.rng.choices(["int8", "float32", "int32"], [60, 33, 7])[0]
    if any_type:
        g.any_type = True
        g.rules = {kind: (f, ALL, ranks, weight) for kind, (f, _, ranks, weight) in g.rules.items()}
        dtype = g.rng.choice(ALL)
    shape = input_shape(g)
    for _ in range(g.rng.choice([1, 1, 1, 2])):
        g.live.append(g.activation(dtype, shape))
        g.model.inputs.append(g.live[-1])
    wanted = g.pick(1, 9)
    for _ in range(4 * wanted):
        if len(g.model.ops) < wanted and not g.guessed:
            grow(g)
    if not g.model.ops:
        g.live.append(reshape(g, g.live[0])[0])
    results = [t for op in g.model.ops for t in op.outputs]
    g.model.outputs = [t for t in results if t not in g.used or g.chance(5)]
    if g.chance(4) and len(g.model.outputs) > 1:
        g.model.outputs.pop()  # an operator for nothing
    if g.chance(5):
        g.add(Tensor("float32", [3], type_number=g.rng.choice([None, 5, 8])))  # nobody's
    if not any_type and g.late.random() < 0.2:
        to_uint8(g)
    if g.chance(40) and spoiled:
        spoil(g)
    return g.model, g.guessed


def to_uint8(g):
    """All of int8 becomes uint8: the same numbers, stored as 128 more. Weights have one scale and any zero point."""
    weights = {op.inputs[1] for op in g.model.ops
               if op.kind in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")}
    for i, t in enumerate(g.model.tensors):
        if t.dtype == "int32" and t.scale:  # biases
            t.scale, t.zero_point = t.scale[:1], [0]
        if t.dtype != "int8" or not t.scale:
            continue
        zero = g.late.randrange(256) if i in weights else t.zero_point[0] + 128
        if t.data is not None:
            t.data = np.clip(t.data.astype(np.int16) + zero - t.zero_point[0], 0, 255).astype(np.uint8)
        t.dtype, t.scale, t.zero_point = "uint8", t.scale[:1], [zero]
