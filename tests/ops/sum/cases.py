# SPDX-License-Identifier: Apache-2.0
"""SUM over any axes: float32 in memory order, int32 and int64 that wrap, int8, uint8 and int16 with
a multiplier from operand to result."""

from reduction_cases import (SCALES, geometry_cases, quantised_cases, reduction, rejected_cases,
                             special_cases, sum_as_mean, sum_as_uint8, tensor)

QUANTISATIONS = {
    "int8": {
        "equal": (0.05, -3, 0.05, -3), "zero_min": (0.1, -128, 0.4, -128),
        "zero_max": (0.1, 127, 1.3, 127), "finer": (0.5, 4, 0.01, -100), "coarser": (0.01, 4, 1.0, 0),
        "saturates": (1.0, 100, 0.01, -20), "tiny": (1e-6, 1, 1.5e-5, 2), "huge": (1e6, 1, 1e7, 2),
        "tiny_ratio": (1e-9, 1, 1.0, 2), "smallest_ratio": (2.0**-31, 1, 1.0, 2),
        "halves": (0.5, 0, 1.0, 0), "one_and_a_half": (1.5, 0, 4.0, 7),
    },
    "uint8": {
        "equal": (0.05, 125, 0.05, 125), "zero_min": (0.1, 0, 0.4, 0), "zero_max": (0.1, 255, 1.3, 255),
        "finer": (0.5, 132, 0.01, 28), "coarser": (0.01, 132, 1.0, 128), "halves": (0.5, 128, 1.0, 128),
    },
    "int16": {
        "equal": (0.05, 0, 0.05, 0), "finer": (0.5, 0, 0.01, 0), "coarser": (0.01, 0, 1.0, 0),
        "halves": (0.5, 0, 1.0, 0), "coarsest": (0.001, 0, 1.0, 0), "thirds": (1.0, 0, 3.0, 0),
    },
}
OUT = {"int8": (0.31, 5), "uint8": (0.31, 130), "int16": (0.013, 0)}


def _quantised(dtype):
    scale, zero = SCALES[dtype]
    yield from geometry_cases("SUM", dtype, scale, zero, *OUT[dtype])
    yield from quantised_cases("SUM", dtype, QUANTISATIONS[dtype], (1, 25, 5, 4), (1, 2))
    yield reduction(f"{dtype}_next_to_ties", "SUM", tensor(dtype, (300, 2), 0.3, zero), (1,), False,
                    tensor(dtype, (), 0.2, zero))


def cases(rng):
    yield from geometry_cases("SUM", "float32")
    yield from special_cases("SUM")
    for dtype in ("int32", "int64"):
        yield from geometry_cases("SUM", dtype)
    yield from _quantised("uint8")
    for case in _quantised("int8"):
        yield sum_as_uint8(case)
    for case in _quantised("int16"):
        yield sum_as_mean(case)
    yield reduction("int16_zero_point", "SUM", tensor("int16", (2, 3), 0.1, 4), (1,), False,
                    tensor("int16", (), 0.1, 4))
    yield from rejected_cases("SUM", "float32")
