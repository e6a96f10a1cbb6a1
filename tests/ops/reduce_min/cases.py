# SPDX-License-Identifier: Apache-2.0
"""REDUCE_MIN: the smallest element along any axes, of any type."""

from reduction_cases import (SCALES, geometry_cases, reduction, rejected_cases, special_cases,
                             tensor)


def cases(rng):
    yield from special_cases("REDUCE_MIN")
    for dtype in ("float32", "int32", "int64"):
        yield from geometry_cases("REDUCE_MIN", dtype)
    for dtype, (scale, zero) in SCALES.items():
        yield from geometry_cases("REDUCE_MIN", dtype, scale, zero)
        yield reduction(f"{dtype}_plain", "REDUCE_MIN", tensor(dtype, (3, 4)), (1,), False,
                        tensor(dtype))
    yield reduction("int8_other_scale", "REDUCE_MIN", tensor("int8", (3, 4), 0.1), (1,), False,
                    tensor("int8", (), 0.2))
    yield from rejected_cases("REDUCE_MIN", "float32")
