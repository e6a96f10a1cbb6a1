# SPDX-License-Identifier: Apache-2.0
"""RESIZE_NEAREST_NEIGHBOR of images to a constant size, with each way to place pixels."""

import numpy as np
from case import Case, Tensor, const
from patterns import dtype_sweep

GEOMETRIES = (
    ((1, 4, 5, 3), (8, 10)),
    ((1, 4, 5, 3), (7, 3)),
    ((1, 3, 3, 2), (10, 7)),
    ((2, 6, 4, 1), (3, 2)),
    ((1, 1, 1, 4), (5, 3)),
    ((1, 5, 5, 2), (1, 1)),
    ((1, 20, 13, 1), (9, 31)),
    ((1, 4, 4, 2), (4, 4)),
)
MODES = {"plain": (False, False), "half_pixel": (False, True), "align": (True, False)}


# Widths at which a position in float32 falls on the other side of a pixel's edge.
HARD_WIDTHS = {"plain": (2, 82), "half_pixel": (2, 41), "align": (4, 75), "both": (2, 42)}


def _case(name, dtype, shape, size, mode="plain", scale=None, zero=0):
    align, half = MODES.get(mode, (True, True))
    return Case(name, "RESIZE_NEAREST_NEIGHBOR",
                [Tensor(dtype, shape, scale, zero), const(np.array(size, np.int32))],
                [Tensor(dtype, (), scale, zero)],
                dict(align_corners=align, half_pixel_centers=half))


def cases(rng):
    for mode in MODES:
        for i, (shape, size) in enumerate(GEOMETRIES):
            dtype = ("int8", "float32")[i % 2]
            quantization = (0.1, 3) if dtype == "int8" else (None, 0)
            yield _case(f"{dtype}_{mode}_{i:02}", dtype, shape, size, mode, *quantization)
    for mode, (width, new_width) in HARD_WIDTHS.items():
        yield _case(f"int8_{mode}_float32_positions", "int8", (1, 1, width, 1), (1, new_width),
                    mode, 0.1, 3)
    for i, (shape, size) in enumerate(GEOMETRIES[:3]):
        yield _case(f"int8_align_and_half_pixel_{i:02}", "int8", shape, size, "both", 0.1, 3)
    yield from dtype_sweep(
        rng, "RESIZE_NEAREST_NEIGHBOR", lambda d, s, z: _case(f"type_{d}", d, (1, 2, 3, 2),
                                                              (5, 4), "plain", s, z))
    yield _case("int8_rank3", "int8", (2, 3, 2), (4, 4), "plain", 0.1)
    yield _case("int8_size_zero", "int8", (1, 2, 3, 2), (0, 4), "plain", 0.1)
