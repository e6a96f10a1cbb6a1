# SPDX-License-Identifier: Apache-2.0
"""Geometries, quantisations and values that the case files of the reductions draw from."""

import dataclasses

import numpy as np
from case import Case, StandIn, Tensor, const, random_samples

# name: shape, axes, keep_dims
GEOMETRIES = {
    "spatial": ((1, 5, 4, 3), (1, 2), False), "spatial_keep": ((1, 5, 4, 3), (1, 2), True),
    "swapped": ((1, 5, 4, 3), (2, 1), False), "negative": ((2, 3, 4), (-1,), False),
    "last": ((2, 3, 4), (2,), True), "first": ((2, 3, 4), (0,), False),
    "middle": ((2, 3, 4), (1,), False), "outer_inner": ((3, 4, 5), (0, 2), False),
    "outer_inner_keep": ((3, 4, 5), (-3, -1), True), "all": ((2, 3, 4), (0, 1, 2), False),
    "all_keep": ((2, 3, 4), (0, 1, 2), True), "rank1": ((9,), (0,), False),
    "rank5": ((2, 2, 3, 2, 3), (1, 3), False), "rank6": ((2, 3, 2, 2, 3, 2), (0, 2, 4), False),
    "rank8": ((2, 1, 2, 3, 1, 2, 2, 2), (1, 3, 6), True),
    "size1_axis": ((1, 1, 1, 5), (1, 2), False), "one_element": ((1, 1), (1,), False),
    "repeated_axis": ((2, 6, 4), (1, 1, -2), False), "scalar_axis": ((2, 3, 4), 1, False),
    "scalar_axis_keep": ((2, 3, 4), -1, True), "no_axes": ((2, 3), (), False),
    "no_axes_keep": ((2, 3), (), True), "scalar": ((), (), False), "long": ((2, 157), (1,), False),
}
SCALES = {"int8": (0.05, -7), "uint8": (0.05, 119), "int16": (0.002, 0)}
SPECIAL = np.float32([np.nan, 1.0, -2.0, np.inf, -np.inf, 0.0, -0.0, 3e38, -3e38, 1e-45])


def tensor(dtype, shape=(), scale=None, zero=0):
    return Tensor(dtype, tuple(shape), scale, zero)


def reduction(name, kind, operand, axes, keep, out, samples=None):
    return Case(name, kind, [operand, const(np.array(axes, np.int32))], [out],
                dict(keep_dims=keep), samples=samples)


def geometry_cases(kind, dtype, scale=None, zero=0, out_scale=None, out_zero=0, samples=None):
    """One case for each geometry; the result is quantised as the operand unless said otherwise."""
    out = tensor(dtype, (), out_scale or scale, out_zero if out_scale else zero)
    for name, (shape, axes, keep) in GEOMETRIES.items():
        yield reduction(f"{dtype}_{name}", kind, tensor(dtype, shape, scale, zero), axes, keep, out,
                        samples(tensor(dtype, shape, scale, zero)) if samples else None)


def quantised_cases(kind, dtype, quantisations, shape, axes, samples=None):
    for name, (si, zi, so, zo) in quantisations.items():
        operand = tensor(dtype, shape, si, zi)
        yield reduction(f"{dtype}_q_{name}", kind, operand, axes, False, tensor(dtype, (), so, zo),
                        samples(operand) if samples else None)


def special_cases(kind):
    """Every pair and triple of NaN, infinities, zeros and ends, first with an axis that stays, then
    over all axes, where the first element is not met by a start value."""
    pairs = np.stack(np.meshgrid(SPECIAL, SPECIAL, SPECIAL), -1).reshape(-1, 3)
    yield reduction("float32_specials", kind, tensor("float32", pairs.shape), (1,), False,
                    tensor("float32"), lambda rng: [[pairs]])
    few = pairs[:: len(pairs) // 30]
    yield reduction("float32_specials_all", kind, tensor("float32", (3,)), (0,), False,
                    tensor("float32"), lambda rng: [[row] for row in few])
    yield reduction("float32_negative_zeros", kind, tensor("float32", (2, 2)), (1,), False,
                    tensor("float32"), lambda rng: [[np.float32([[-0.0, -0.0], [0.0, -0.0]])]])
    yield reduction("float32_negative_zeros_all", kind, tensor("float32", (2,)), (0,), False,
                    tensor("float32"), lambda rng: [[np.float32([-0.0, -0.0])],
                                                    [np.float32([0.0, -0.0])]])
    yield reduction("float32_no_axes_negative_zero", kind, tensor("float32", (2,)), (), False,
                    tensor("float32"), lambda rng: [[np.float32([-0.0, 0.0])]])


def rejected_cases(kind, dtype, scale=None, zero=0):
    operand, out = tensor(dtype, (2, 3), scale, zero), tensor(dtype, (), scale, zero)
    yield reduction(f"{dtype}_axis_out_of_range", kind, operand, (2,), False, out)


def near_one(operand, low=0.6, high=1.5):
    """Samples for products: the usual ones, and values whose real magnitude is about 1."""
    def samples(rng):
        case = Case("", "", [operand], [])
        usual = random_samples(case, rng)
        info = np.iinfo(operand.dtype)
        for _ in range(2):
            real = rng.uniform(low, high, size=operand.shape) * rng.choice([-1, 1], operand.shape)
            stored = np.round(real / operand.scale) + operand.zero
            usual.append([np.clip(stored, info.min, info.max)])
        return usual
    return samples


def _shifted(t):
    return dataclasses.replace(t, dtype="uint8", zero_point=t.zero + 128)


def sum_as_uint8(case):
    """LiteRT 2.3.0's reference SUM reads int8 and int16 as uint8. Of real uint8 it is what its source
    says, and that does not depend on where zero is."""
    run = dataclasses.replace(case, inputs=[_shifted(case.inputs[0]), case.inputs[1]],
                              outputs=[_shifted(case.outputs[0])])
    case.stand_in = StandIn(run, lambda a: (a.astype(np.int16) + 128).astype(np.uint8),
                            lambda r: (r.astype(np.int16) - 128).astype(np.int8))
    return case


def sum_as_mean(case):
    """The sum of int16 is the mean of 2**k elements at 2**k times the resolution: zeros up to the
    next power of two add nothing, as int16 has no zero point."""
    operand, axes, out = case.inputs[0], case.inputs[1], case.outputs[0]
    rank = len(operand.shape)
    reduced = {int(a) % rank for a in np.ravel(axes.data)} if rank else set()
    shape = tuple(1 << (d - 1).bit_length() if i in reduced else d
                  for i, d in enumerate(operand.shape))
    count = int(np.prod([shape[a] for a in reduced], dtype=np.int64))
    run = dataclasses.replace(case, kind="MEAN", inputs=[dataclasses.replace(operand, shape=shape), axes],
                              outputs=[dataclasses.replace(out, scale=np.float32(out.scale) / count)])
    padding = [(0, more - had) for more, had in zip(shape, operand.shape)]
    case.stand_in = StandIn(run, lambda a: np.pad(a, padding) if padding else a, lambda r: r.copy())
    return case


def extremes(kind):
    """REDUCE_MAX and REDUCE_MIN."""
    yield from special_cases(kind)
    for dtype in ("float32", "int32", "int64"):
        yield from geometry_cases(kind, dtype)
    for dtype, (scale, zero) in SCALES.items():
        yield from geometry_cases(kind, dtype, scale, zero)
        yield reduction(f"{dtype}_plain", kind, tensor(dtype, (3, 4)), (1,), False, tensor(dtype))
    yield reduction("int8_other_scale", kind, tensor("int8", (3, 4), 0.1), (1,), False, tensor("int8", (), 0.2))
    yield from rejected_cases(kind, "float32")


def _mostly(shape, value):
    """Few elements that decide, so that both results occur."""
    def samples(rng):
        rows = [np.full(shape, value), np.full(shape, not value)]
        return [[r] for r in rows] + [[np.where(rng.random(shape) < p, not value, value)] for p in (0.02, 0.2, 0.5)]
    return samples


def booleans(kind, mostly):
    """REDUCE_ALL and REDUCE_ANY."""
    yield from geometry_cases(kind, "bool", samples=lambda t: _mostly(t.shape, mostly))
    yield reduction("int32", kind, tensor("int32", (2, 3)), (1,), False, tensor("int32"))
    yield from rejected_cases(kind, "bool")
