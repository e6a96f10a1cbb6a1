# SPDX-License-Identifier: Apache-2.0
"""ARG_MAX and ARG_MIN: int8, float32 and others to int32 or int64; the first of equal values wins."""

import numpy as np
from case import Case, Tensor, const

GEOMETRIES = (
    ((1, 10), 1),
    ((3, 4, 5), -1),
    ((3, 4, 5), 0),
    ((3, 4, 5), 1),
    ((7,), 0),
    ((1, 4, 4, 3), 3),
    ((1, 4, 4, 3), 2),
    ((2, 1, 3, 1, 2), -2),
    ((1, 1), 1),
    ((2, 300), 1),
)


def _case(kind, name, dtype, shape, axis, target="int32", scale=None, zero=0, samples=None):
    return Case(name,
                kind, [Tensor(dtype, shape, scale, zero),
                            const(np.array(axis, np.int32))], [Tensor(target)],
                dict(output_type=target),
                samples=samples)


def _ties(shape):
    return lambda rng: [[rng.integers(0, 2, size=shape)], [np.zeros(shape)]]


def arg_cases(kind):
    scales = {"int8": (0.1, -3), "uint8": (0.1, 125)}
    for dtype in ("int8", "float32", "uint8", "int32", "bool"):
        quantised = scales.get(dtype, ())
        for i, (shape, axis) in enumerate(GEOMETRIES):
            for target in ("int32", "int64"):
                tag = "" if target == "int32" else "_int64"
                yield _case(kind, f"{dtype}_{i:02}{tag}", dtype, shape, axis, target, *quantised)
    for dtype in ("int8", "float32", "uint8", "int32"):
        yield _case(kind, f"{dtype}_ties", dtype, (4, 9), 1, "int32", samples=_ties((4, 9)))
    yield _case(kind, "float32_signed_zero", "float32", (2, 2), 1,
                samples=lambda rng: [[np.float32([[0.0, -0.0], [-0.0, 0.0]])]])
    nan = _case(kind, "float32_nan", "float32", (3, 3), 1, samples=lambda rng: [
        [np.float32([[np.nan, 1, 2], [3, np.nan, 4], [5, 1, np.nan]])]])
    nan.note = "a NaN never wins against a number"
    yield nan
    yield _case(kind, "int16", "int16", (3, 4), 1)
    yield _case(kind, "int8_axis_out_of_range", "int8", (3, 4), 2)
