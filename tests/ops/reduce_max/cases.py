# SPDX-License-Identifier: Apache-2.0
"""REDUCE_MAX: the largest element along any axes, of any type."""

from reduction_cases import (SCALES, geometry_cases, reduction, rejected_cases, special_cases,
                             tensor)


def cases(rng):
    yield from special_cases("REDUCE_MAX")
    for dtype in ("float32", "int32", "int64"):
        yield from geometry_cases("REDUCE_MAX", dtype)
    for dtype, (scale, zero) in SCALES.items():
        yield from geometry_cases("REDUCE_MAX", dtype, scale, zero)
        yield reduction(f"{dtype}_plain", "REDUCE_MAX", tensor(dtype, (3, 4)), (1,), False,
                        tensor(dtype))
    yield reduction("int8_other_scale", "REDUCE_MAX", tensor("int8", (3, 4), 0.1), (1,), False,
                    tensor("int8", (), 0.2))
    yield from rejected_cases("REDUCE_MAX", "float32")
