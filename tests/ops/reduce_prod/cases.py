# SPDX-License-Identifier: Apache-2.0
"""REDUCE_PROD over any axes: float32 in memory order, integers that wrap, int8 and int16 that are
scaled at every step."""

from reduction_cases import (SCALES, geometry_cases, near_one, quantised_cases, reduction,
                             rejected_cases, special_cases, tensor)

QUANTISATIONS = {
    "int8": {
        "equal": (0.02, -3, 0.02, -3), "zero_min": (0.01, -128, 0.04, -128),
        "zero_max": (0.01, 127, 0.13, 127), "finer": (0.02, 4, 0.0001, -100),
        "coarser": (0.01, 4, 100.0, 0), "large_scale": (1.0, 10, 1.0, -20),
        "larger_scale": (60.0, 1, 1.0, 2), "tiny": (1e-6, 1, 1.5e-5, 2), "tiny_result": (0.02, 1, 1e-9, 2),
        "nearly_two": (1.999999, 0, 1.0, 0), "just_two": (2.0, 0, 1.0, 0), "halves": (0.5, 0, 1.0, 0),
    },
    "int16": {
        "equal": (0.0002, 0, 0.0002, 0), "finer": (0.0002, 0, 1e-6, 0), "coarser": (0.001, 0, 30.0, 0),
        "large_scale": (1.0, 0, 1.0, 0), "larger_scale": (60.0, 0, 1.0, 0),
        "nearly_two": (1.999999, 0, 1.0, 0), "halves": (0.5, 0, 1.0, 0), "tiny": (1e-6, 0, 1.0, 0),
    },
}


def cases(rng):
    yield from geometry_cases("REDUCE_PROD", "float32")
    yield from special_cases("REDUCE_PROD")
    for dtype in ("int32", "int64"):
        yield from geometry_cases("REDUCE_PROD", dtype)
    for dtype, scale, zero, out in (("int8", 0.013, -7, (0.02, 5)), ("int16", 0.0001, 0, (0.0003, 0))):
        yield from geometry_cases("REDUCE_PROD", dtype, scale, zero, *out, samples=near_one)
        for name, shape, axes in (("pairs", (90, 2), (1,)), ("triples", (3, 60), (0,)),
                                  ("apart", (2, 20, 2), (0, 2)), ("many", (1, 40), (1,))):
            for case in quantised_cases("REDUCE_PROD", dtype, QUANTISATIONS[dtype], shape, axes,
                                        near_one):
                case.name += f"_{name}"
                yield case
    # Without a scale integers below 32 bits wrap as well.
    for dtype in ("int8", "int16", "uint8"):
        for case in geometry_cases("REDUCE_PROD", dtype):
            case.name = case.name.replace(dtype, f"plain_{dtype}")
            yield case
    yield reduction("uint8_quantised", "REDUCE_PROD", tensor("uint8", (2, 3), *SCALES["uint8"]), (1,),
                    False, tensor("uint8", (), *SCALES["uint8"]))
    yield reduction("int32_quantised", "REDUCE_PROD", tensor("int32", (2, 3), 0.1), (1,), False,
                    tensor("int32", (), 0.1))
    yield from rejected_cases("REDUCE_PROD", "float32")
