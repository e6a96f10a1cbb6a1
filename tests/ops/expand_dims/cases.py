# SPDX-License-Identifier: Apache-2.0
"""EXPAND_DIMS at any axis."""

import numpy as np
from case import Case, Tensor, const
from patterns import dtype_sweep

GEOMETRIES = (
    ((3, 4), 0),
    ((3, 4), 1),
    ((3, 4), 2),
    ((3, 4), -1),
    ((3, 4), -3),
    ((5,), 0),
    ((5,), 1),
    ((2, 3, 4), 1),
    ((2, 3, 4), -2),
    ((1, 2, 3, 2), 4),
)


def _case(name, dtype, shape, axis, scale=None, zero=0):
    return Case(name, "EXPAND_DIMS", [Tensor(dtype, shape, scale, zero),
                                      const(np.array(axis, np.int32))],
                [Tensor(dtype, (), scale, zero)])


def cases(rng):
    for i, (shape, axis) in enumerate(GEOMETRIES):
        yield _case(f"int8_{i:02}", "int8", shape, axis, 0.1, 3)
        yield _case(f"float32_{i:02}", "float32", shape, axis)
    yield from dtype_sweep(rng, "EXPAND_DIMS", lambda d, s, z: _case(f"type_{d}", d, (6,), 0, s, z))
    yield _case("int8_axis_out_of_range", "int8", (2, 3), 4, 0.1)
