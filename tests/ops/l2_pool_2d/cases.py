# SPDX-License-Identifier: Apache-2.0
"""L2_POOL_2D of float32: windows that borders cut, every activation."""

from case import Case
from patterns import ACTIVATIONS, float32

# input, filter, stride, padding
GEOMETRIES = (
    ((1, 4, 4, 3), (2, 2), (2, 2), "VALID"), ((1, 5, 5, 2), (3, 3), (1, 1), "SAME"),
    ((1, 5, 5, 2), (3, 3), (2, 2), "SAME"), ((2, 6, 4, 1), (2, 3), (2, 1), "SAME"),
    ((1, 7, 5, 4), (3, 2), (2, 2), "VALID"), ((1, 1, 9, 2), (1, 3), (1, 2), "SAME"),
    ((1, 3, 3, 5), (3, 3), (1, 1), "VALID"), ((1, 3, 3, 1), (1, 1), (1, 1), "VALID"),
    ((1, 3, 3, 2), (5, 5), (1, 1), "SAME"), ((3, 4, 5, 2), (4, 5), (4, 5), "VALID"),
    ((1, 1, 1, 7), (1, 1), (1, 1), "SAME"),
)


def cases(rng):
    for i, (shape, (fh, fw), (sh, sw), padding) in enumerate(GEOMETRIES * 2):
        yield Case(f"float32_{i:02}", "L2_POOL_2D", [float32(shape)], [float32()],
                   dict(padding=padding, stride_h=sh, stride_w=sw, filter_h=fh, filter_w=fw,
                        activation=ACTIVATIONS[(i + i // len(GEOMETRIES)) % 4]), "ulp")
