# SPDX-License-Identifier: Apache-2.0
"""Small random geometries of operators for each of their types: what their own folders do not have twenty of. One
sample each, since those look at values."""

import numpy as np
from case import Case, Tensor, const, random_samples
from families import drawn
from moved import TYPES, one_sample, tensor

EACH = 20
# Where LiteRT takes fewer types than all.
ONLY = {"UNPACK": ("int8", "float32", "int16", "int32", "uint8", "bool"),
        "SPLIT": ("int8", "float32", "int16", "int32", "int64", "uint8"),
        "SPLIT_V": ("int8", "float32", "int16", "int32", "int64", "uint8"),
        "PACK": ("int8", "float32", "int16", "int32", "int64", "uint8"),
        "MAXIMUM": ("int8", "uint8", "int16", "float32"), "MINIMUM": ("int8", "uint8", "int16", "float32"),
        "RESIZE_NEAREST_NEIGHBOR": ("int8", "float32", "int16", "int32", "uint8", "bool"),
        "PAD": ("int8", "float32", "int16", "int32", "int64", "uint8", "bool"),
        "PADV2": ("int8", "float32", "int16", "int32", "int64", "uint8", "bool"),
        "DEQUANTIZE": ("int8", "uint8", "int16"), "FILL": ("int8", "float32", "int16", "int32", "int64", "bool")}
FLOATS = ("ADD", "SUB", "MUL", "RELU", "RELU6", "RELU_N1_TO_1", "LOGISTIC", "TANH", "HARD_SWISH", "SOFTMAX",
          "AVERAGE_POOL_2D", "MAX_POOL_2D", "MEAN")
CASTS = ("bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "float32")


def shape_of(rng, least=1, most=4, longest=5):
    return tuple(int(d) for d in rng.integers(1, longest, size=rng.integers(least, most, endpoint=True), endpoint=True))


def ints(values):
    return const(np.array(values, np.int32))


def concatenation(rng, t):
    shape = list(shape_of(rng))
    axis, parts = int(rng.integers(len(shape))), []
    for _ in range(int(rng.integers(1, 3, endpoint=True))):
        shape[axis] = int(rng.integers(1, 5))
        parts.append(t(shape))
    return parts, [t()], dict(axis=axis)


def pack(rng, t):
    shape = shape_of(rng, 0, 3)
    count = int(rng.integers(1, 4))
    return [t(shape) for _ in range(count)], [t()], dict(axis=int(rng.integers(len(shape) + 1)), values_count=count)


def unpack(rng, t):
    shape = shape_of(rng)
    axis = int(rng.integers(len(shape)))
    return [t(shape)], [t() for _ in range(shape[axis])], dict(axis=axis, num=shape[axis])


def split(rng, t):
    shape = list(shape_of(rng))
    axis, parts = int(rng.integers(len(shape))), int(rng.integers(1, 4))
    shape[axis] *= parts
    return [ints(axis), t(shape)], [t() for _ in range(parts)], dict(num_splits=parts)


def split_v(rng, t):
    shape = list(shape_of(rng))
    axis, sizes = int(rng.integers(len(shape))), rng.integers(1, 4, size=rng.integers(1, 4))
    shape[axis] = int(sum(sizes))
    return [t(shape), ints(sizes), ints(axis)], [t() for _ in sizes], dict(num_splits=len(sizes))


def pad(rng, t):
    shape = shape_of(rng)
    return [t(shape), ints(rng.integers(0, 3, size=(len(shape), 2)))], [t()], {}


def pad_v2(rng, t):
    operands, results, options = pad(rng, t)
    scalar = t()
    return [*operands, const(drawn(rng, scalar), scalar.scale, scalar.zero_point)], results, options


def reshape(rng, t):
    shape = shape_of(rng)
    return [t(shape), ints(rng.permutation(shape))], [t()], {}


def squeeze(rng, t):
    shape = shape_of(rng, 1, 3)
    axis = int(rng.integers(len(shape) + 1))
    return [t(shape[:axis] + (1,) + shape[axis:])], [t()], dict(squeeze_dims=[axis])


def expand_dims(rng, t):
    shape = shape_of(rng, 0, 3)
    return [t(shape), ints(rng.integers(-1, len(shape)))], [t()], {}


def slices(rng, t):
    shape = shape_of(rng, longest=7)
    begin = [int(rng.integers(d)) for d in shape]
    size = [int(rng.integers(1, d - b + 1)) if rng.integers(4) else -1 for b, d in zip(begin, shape)]
    return [t(shape), ints(begin), ints(size)], [t()], {}


def strided_slice(rng, t):
    shape = shape_of(rng, longest=7)
    begin = [int(rng.integers(d)) for d in shape]
    step = [int(rng.choice([-2, -1, 1, 2, 3])) for _ in shape]
    end = [int(rng.integers(b + 1, d + 1)) if s > 0 else int(rng.integers(-d - 1, b - d))
           for b, d, s in zip(begin, shape, step)]
    return [t(shape), ints(begin), ints(end), ints(step)], [t()], dict(begin_mask=int(rng.integers(2)) * (step[0] > 0))


def transpose(rng, t):
    shape = shape_of(rng, 1, 5)
    return [t(shape), ints(rng.permutation(len(shape)))], [t()], {}


def resize(rng, t):
    shape = (int(rng.integers(1, 3)), *shape_of(rng, 3, 3))
    options = ({}, dict(align_corners=True), dict(half_pixel_centers=True))[int(rng.integers(3))]
    return [t(shape), ints(rng.integers(1, 9, size=2))], [t()], options


def extreme(rng, t):
    shape = shape_of(rng)
    other = tuple(d if rng.integers(2) else 1 for d in shape)
    return [t(shape), t(other)], [t()], {}


def dequantize(rng, t):
    return [t(shape_of(rng))], [Tensor("float32")], {}


def fill(rng, t):
    dims = shape_of(rng)
    return [ints(dims), t()], [t()], {}


def windows(rng, t):
    shape = (int(rng.integers(1, 3)), int(rng.integers(3, 8)), int(rng.integers(3, 8)), int(rng.integers(1, 5)))
    return [t(shape)], [t()], dict(
        padding=str(rng.choice(["SAME", "VALID"])), stride_w=int(rng.integers(1, 3)), stride_h=int(rng.integers(1, 3)),
        filter_w=int(rng.integers(1, 4)), filter_h=int(rng.integers(1, 4)))


def unary(rng, t):
    return [t(shape_of(rng))], [t()], {}


def softmax(rng, t):
    return [t(shape_of(rng))], [t()], dict(beta=float(rng.choice([1.0, 0.5, 2.0])))


def mean(rng, t):
    shape = shape_of(rng)
    axes = rng.permutation(len(shape))[:rng.integers(1, len(shape), endpoint=True)]
    return [t(shape), ints(axes)], [t()], dict(keep_dims=bool(rng.integers(2)))


MAKERS = {"CONCATENATION": concatenation, "PACK": pack, "UNPACK": unpack, "SPLIT": split, "SPLIT_V": split_v, "PAD": pad,
          "PADV2": pad_v2, "RESHAPE": reshape, "SQUEEZE": squeeze, "EXPAND_DIMS": expand_dims, "SLICE": slices,
          "STRIDED_SLICE": strided_slice, "TRANSPOSE": transpose, "RESIZE_NEAREST_NEIGHBOR": resize, "MAXIMUM": extreme,
          "MINIMUM": extreme, "DEQUANTIZE": dequantize, "FILL": fill, "ADD": extreme, "SUB": extreme, "MUL": extreme,
          "SOFTMAX": softmax, "AVERAGE_POOL_2D": windows, "MAX_POOL_2D": windows, "MEAN": mean}
PAIRS = [(k, t) for k in MAKERS if k not in (*FLOATS, "DEQUANTIZE") for t in ONLY.get(k, TYPES)]
PAIRS += [(k, "float32") for k in FLOATS]
PAIRS += [("CAST", t) for t in CASTS]
PAIR_BY = "outputs"


RESULTS = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0), "HARD_SWISH": (0.04, -90)}


def _joined(name, kind, inputs, dtype, **options):
    """What aotc computes itself meets an input."""
    return one_sample(Case(name, kind, inputs, [Tensor(dtype)], options, join=Tensor(dtype)))


def _shapes(rng):
    for i in range(EACH):
        shape = shape_of(rng, 1, 5)
        x = Tensor("float32", shape)
        yield _joined(f"rank_{i:02}", "RANK", [x], "int32")
        other = tuple(d if rng.integers(2) else 1 for d in shape)[int(rng.integers(len(shape))):]
        for dtype in ("int32", "int64"):
            yield _joined(f"shape_{dtype}_{i:02}", "SHAPE", [x], dtype, out_type=dtype)
            yield _joined(f"broadcast_args_{dtype}_{i:02}", "BROADCAST_ARGS",
                          [const(np.array(s, dtype)) for s in (shape, other)], dtype)
        start, step = int(rng.integers(-9, 9)), int(rng.choice([-3, -2, -1, 1, 2, 5]))
        values = (start, start + step * int(rng.integers(1, 6)) + int(rng.integers(0, 2)) * np.sign(step), step)
        for dtype in ("int32", "int64", "float32"):
            yield _joined(f"zeros_like_{dtype}_{i:02}", "ZEROS_LIKE", [Tensor(dtype, shape)], dtype)
            yield _joined(f"range_{dtype}_{i:02}", "RANGE", [const(np.array(v, dtype)) for v in values], dtype)


def cases(rng):
    for kind, make in MAKERS.items():
        for dtype in ("float32",) if kind in FLOATS else ONLY.get(kind, TYPES):
            for i in range(EACH):
                inputs, outputs, options = make(rng, lambda shape=(), d=dtype: tensor(d, shape))
                yield one_sample(Case(f"{kind.lower()}_{dtype}_{i:02}", kind, inputs, outputs, options,
                                      "ulp" if dtype == "float32" else "exact", 4 if kind == "SOFTMAX" else 0))
    for kind in ("RELU", "RELU6", "RELU_N1_TO_1", "LOGISTIC", "TANH", "HARD_SWISH"):
        for i in range(EACH):
            parts = unary(rng, lambda shape=(): tensor("float32", shape))
            yield one_sample(Case(f"{kind.lower()}_{i:02}", kind, *parts, "ulp", 4 if kind in ("LOGISTIC", "TANH") else 0))
    for kind, (scale, zero) in RESULTS.items():
        for i in range(EACH):
            yield one_sample(Case(f"{kind.lower()}_int8_{i:02}", kind, [tensor("int8", shape_of(rng))],
                                  [Tensor("int8", (), scale, zero)]))
    yield from _shapes(rng)
    for i in range(EACH):
        for j, target in enumerate(CASTS):
            source = CASTS[(i + j) % len(CASTS)]
            case = Case(f"cast_{source}_{target}_{i:02}", "CAST", [Tensor(source, shape_of(rng))], [Tensor(target)],
                        dict(in_type=source, out_type=target))
            if source == "float32":  # within every type
                case.samples = lambda rng, c=case: [[np.abs(a) % 127 for a in random_samples(c, rng, 1)[0]]]
            yield case if case.samples else one_sample(case)
