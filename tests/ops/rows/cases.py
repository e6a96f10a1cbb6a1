# SPDX-License-Identifier: Apache-2.0
"""CUMSUM, L2_NORMALIZATION and LOG_SOFTMAX: rows of one element, long ones, rows of zeros, and bytes of
every scale."""

import numpy as np
from case import Case, Tensor, const

PAIRS = [("CUMSUM", t) for t in ("float32", "int32", "int64")]
PAIRS += [(k, t) for k in ("L2_NORMALIZATION", "LOG_SOFTMAX") for t in ("int8", "float32", "uint8")]
PAIR_BY = "outputs"

SUMS = (((5,), 0), ((1,), 0), ((3, 4), 0), ((3, 4), 1), ((3, 4), -1), ((2, 3, 4), 1), ((2, 1, 5), 2), ((17,), 0))
SHAPES = ((1, 8), (3,), (2, 3, 4), (1, 5, 7, 3), (2, 1, 3, 1, 4), (1, 1), (17,), (1, 64), (4, 1), (2, 2, 9))
# Of the operand: scale, and zero point as of int8.
SCALES = ((0.05, -3), (1.0, 0), (0.002, 127), (0.25, -128), (3.0, 5), (0.0625, -37))
EXTREME = (1e-6, 1e4, 40.0)


def _byte(dtype, zero):
    return zero + 128 if dtype == "uint8" else zero


def _fixed(kind, dtype):
    return Tensor(dtype, (), 1 / 128 if kind == "L2_NORMALIZATION" else 1 / 16,
                  _byte(dtype, 0 if kind == "L2_NORMALIZATION" else 127))


def _byte_samples(shape, dtype, zero):
    """Any bytes, a row of what stands for 0, bytes next to it, and one element that is not."""
    info = np.iinfo(dtype)

    def samples(rng):
        near = np.clip(zero + rng.integers(-2, 3, size=shape), info.min, info.max)
        one = np.full(shape, zero)
        one[..., rng.integers(shape[-1])] = np.clip(zero + 1, info.min, info.max) if zero < info.max else zero - 1
        spread = np.arange(int(np.prod(shape))).reshape(shape) * 37 % 256 + info.min
        return [[np.asarray(a).astype(dtype)] for a in
                (rng.integers(info.min, info.max + 1, size=shape), np.full(shape, zero), near, one, spread)]
    return samples


def cases(rng):
    for dtype in ("float32", "int32", "int64"):
        for i, (shape, axis) in enumerate(SUMS):
            for exclusive in (False, True):
                for reverse in (False, True):
                    if (exclusive + reverse + i) % 4 == 3:
                        continue
                    yield Case(f"cumsum_{dtype}_{i}{'_exclusive' * exclusive}{'_reverse' * reverse}", "CUMSUM",
                               [Tensor(dtype, shape), const(np.array([axis], np.int32))], [Tensor(dtype)],
                               dict(exclusive=exclusive, reverse=reverse),
                               "ulp" if dtype == "float32" else "exact")
    yield Case("cumsum_scalar_axis", "CUMSUM", [Tensor("int32", (3, 4)), const(np.int32(1))], [Tensor("int32")])
    yield Case("cumsum_axis_outside", "CUMSUM", [Tensor("int32", (3, 4)), const(np.int32(2))], [Tensor("int32")],
               may_abort=True)
    for kind, ulp in (("L2_NORMALIZATION", 0), ("LOG_SOFTMAX", 4)):
        for i, shape in enumerate(SHAPES + SHAPES[:8]):
            turned = shape[::-1] if i >= len(SHAPES) else shape
            yield Case(f"{kind.lower()}_float32_{i:02}", kind, [Tensor("float32", turned)], [Tensor("float32")],
                       tolerance="ulp", ulp=ulp)
        yield Case(f"{kind.lower()}_float32_zeros", kind, [Tensor("float32", (3, 5))], [Tensor("float32")],
                   tolerance="ulp", ulp=ulp, samples=lambda rng: [[np.zeros((3, 5))], [np.full((3, 5), 1e-8)],
                                                                  [np.full((3, 5), -3e38)]])
        yield Case(f"{kind.lower()}_float32_specials", kind, [Tensor("float32", (4, 3))], [Tensor("float32")],
                   tolerance="ulp", ulp=ulp, samples=lambda rng: [[
                       [[np.nan, 1, 2], [1, np.nan, 2], [np.inf, 1, 2], [-np.inf, 1, 2]]]])
        for dtype in ("int8", "uint8"):
            for i, shape in enumerate(SHAPES):
                for j in range(2):
                    scale, zero = SCALES[(i + 3 * j) % len(SCALES)]
                    zero = _byte(dtype, zero)
                    yield Case(f"{kind.lower()}_{dtype}_{i:02}_{j}", kind, [Tensor(dtype, shape, scale, zero)],
                               [_fixed(kind, dtype)], samples=_byte_samples(shape, dtype, zero))
            for i, scale in enumerate(EXTREME):
                zero = _byte(dtype, 11)
                yield Case(f"{kind.lower()}_{dtype}_extreme_{i}", kind, [Tensor(dtype, (2, 19), scale, zero)],
                           [_fixed(kind, dtype)], samples=_byte_samples((2, 19), dtype, zero))
            wide = Tensor(dtype, (1, 700), 0.01, _byte(dtype, -9))
            yield Case(f"{kind.lower()}_{dtype}_long", kind, [wide], [_fixed(kind, dtype)],
                       samples=_byte_samples((1, 700), dtype, wide.zero))
            other = Tensor(dtype, (), 0.03, _byte(dtype, 0))
            yield Case(f"{kind.lower()}_{dtype}_other_scale", kind, [Tensor(dtype, (2, 3), 0.1, _byte(dtype, 0))],
                       [other])
