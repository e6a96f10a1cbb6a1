# SPDX-License-Identifier: Apache-2.0
"""MEAN over any axes: int8, uint8, int16, float32, int32, int64."""

import numpy as np
from case import Case, Tensor, const
from patterns import float32, int8
from reduction_cases import geometry_cases, quantised_cases

# name: shape, axes, keep_dims
GEOMETRIES = {
    "spatial": ((1, 5, 4, 3), (1, 2), False), "spatial_keep": ((1, 5, 4, 3), (1, 2), True),
    "spatial_25x5": ((1, 25, 5, 4), (1, 2), False), "spatial_7x7": ((1, 7, 7, 6), (1, 2), True),
    "swapped": ((1, 5, 4, 3), (2, 1), False), "negative": ((2, 3, 4), (-1,), False),
    "last": ((2, 3, 4), (2,), True), "first": ((2, 3, 4), (0,), False),
    "outer_inner": ((3, 4, 5), (0, 2), False), "all": ((2, 3, 4), (0, 1, 2), False),
    "all_keep": ((2, 3, 4), (0, 1, 2), True), "rank1": ((9,), (0,), False),
    "rank5": ((2, 2, 3, 2, 3), (1, 3), False), "size1_axis": ((1, 1, 1, 5), (1, 2), False),
    "one_element": ((1, 1), (1,), False), "repeated_axis": ((2, 6, 4), (1, 1, -2), False),
    "batch2": ((2, 4, 4, 3), (1, 2), False),
    # The axis is a scalar, as converters write one that is no list.
    "scalar_axis": ((2, 3, 4), 1, False), "scalar_axis_keep": ((2, 3, 4), -1, True),
}
QUANTIZATIONS = {
    "equal": (0.05, -3, 0.05, -3), "zero_min": (0.1, -128, 0.04, -128),
    "zero_max": (0.1, 127, 0.13, 127), "finer": (0.5, 4, 0.01, -100), "coarser": (0.01, 4, 1.0, 0),
    "saturates": (1.0, 100, 0.01, -20), "tiny": (1e-6, 1, 1.5e-6, 2), "huge": (1e6, 1, 1e6, 2),
    "tiny_ratio": (1e-9, 1, 1.0, 2), "smallest_ratio": (2.0**-31, 1, 1.0, 2),
}


def _case(name, tensor, geometry, out, tolerance="exact"):
    _, axes, keep = geometry
    return Case(name, "MEAN", [tensor, const(np.array(axes, np.int32))], [out],
                dict(keep_dims=keep), tolerance)


def cases(rng):
    for name, geometry in GEOMETRIES.items():
        yield _case(f"int8_{name}", int8(geometry[0], 0.05, -7), geometry, int8((), 0.03, 5))
    for name, (si, zi, so, zo) in QUANTIZATIONS.items():
        geometry = GEOMETRIES["spatial_25x5"]
        yield _case(f"int8_q_{name}", int8(geometry[0], si, zi), geometry, int8((), so, zo))
    for name, geometry in GEOMETRIES.items():
        yield _case(f"float32_{name}", float32(geometry[0]), geometry, float32(), "ulp")
    # The folded multiplier is truncated: exact ties of 1.75 * sum / 3 fall below.
    yield _case("int8_ties", int8((400, 3), 1.75, 0), ((400, 3), (1,), False), int8((), 1.0, 0))
    for i, (count, si, so) in enumerate(((2, 0.3, 0.1), (4, 0.3, 0.2), (6, 0.3, 0.1))):
        yield _case(f"int8_next_to_ties_{i}", int8((300, count), si, 0),
                    ((300, count), (1,), False), int8((), so, 0))
    yield _case("int8_ties_of_two", int8((400, 2), 0.05, 0), ((400, 2), (1,), False),
                int8((), 0.05, 0))
    yield _case("int32", Tensor("int32", (2, 7, 3)), ((2, 7, 3), (1,), False), Tensor("int32"))
    for dtype in ("int32", "int64"):
        yield from geometry_cases("MEAN", dtype)
    for dtype, scale, zero, out in (("uint8", 0.05, 119, (0.03, 130)), ("int16", 0.002, 0, (0.0013, 0))):
        yield from geometry_cases("MEAN", dtype, scale, zero, *out)
        quantisations = {n: (si, 0, so, 0) if dtype == "int16" else (si, zi + 128, so, zo + 128)
                         for n, (si, zi, so, zo) in QUANTIZATIONS.items()}
        yield from quantised_cases("MEAN", dtype, quantisations, (1, 25, 5, 4), (1, 2))
    yield _case("int16_zero_point", Tensor("int16", (2, 3), 0.1, 4), ((2, 3), (1,), False),
                Tensor("int16", (), 0.1, 4))
    yield _case("int8_axis_out_of_range", int8((2, 3), 0.1), ((2, 3), (2,), False), int8((), 0.1))
    yield _case("bool", Tensor("bool", (2, 3)), ((2, 3), (1,), False), Tensor("bool"))
