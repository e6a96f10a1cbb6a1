# SPDX-License-Identifier: Apache-2.0
"""RESIZE_BILINEAR to a constant size, with each way to place pixels: float32 and uint8 in float32, int8 and
int16 in fixed point."""

import numpy as np
from case import Case, const
from moved import tensor

TYPES = ("int8", "float32", "int16", "uint8")
PAIRS = [("RESIZE_BILINEAR", t) for t in TYPES]
PAIR_BY = "outputs"
GEOMETRIES = (
    ((1, 4, 5, 3), (8, 10)), ((1, 4, 5, 3), (7, 3)), ((1, 3, 3, 2), (10, 7)), ((2, 6, 4, 1), (3, 2)),
    ((1, 1, 1, 4), (5, 3)), ((1, 5, 5, 2), (1, 1)), ((1, 13, 7, 1), (9, 21)), ((1, 4, 4, 2), (4, 4)),
    ((1, 2, 2, 8), (4, 4)), ((1, 3, 4, 17), (6, 8)),
)
MODES = {"plain": (False, False), "half_pixel": (False, True), "align": (True, False)}


def _case(dtype, mode, i, shape, size):
    align, half = MODES.get(mode, (True, True))
    return Case(f"{dtype}_{mode}_{i:02}", "RESIZE_BILINEAR",
                [tensor(dtype, shape), const(np.array(size, np.int32))], [tensor(dtype)],
                dict(align_corners=align, half_pixel_centers=half),
                "ulp" if dtype == "float32" else "exact")


def cases(rng):
    for dtype in TYPES:
        for mode in MODES:
            for i, geometry in enumerate(GEOMETRIES):
                yield _case(dtype, mode, i, *geometry)
        yield _case(dtype, "both", 0, *GEOMETRIES[0])
        yield _case(dtype, "plain", 80, (1, 2, 3, 2), (0, 4))
