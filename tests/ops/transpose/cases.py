# SPDX-License-Identifier: Apache-2.0
"""TRANSPOSE by a constant permutation, ranks 1 to 6."""

import numpy as np
from case import Case, Tensor, const
from patterns import dtype_sweep

GEOMETRIES = (
    ((5,), (0,)),
    ((3, 4), (1, 0)),
    ((3, 4), (0, 1)),
    ((2, 3, 4), (0, 2, 1)),
    ((2, 3, 4), (2, 0, 1)),
    ((2, 3, 4), (2, 1, 0)),
    ((1, 4, 5, 3), (0, 3, 1, 2)),
    ((1, 3, 4, 5), (0, 2, 3, 1)),
    ((2, 3, 4, 5), (3, 1, 0, 2)),
    ((1, 1, 4, 1), (2, 0, 3, 1)),
    ((2, 3, 2, 4, 3), (4, 2, 0, 3, 1)),
    ((1, 2, 3, 2, 2, 3), (5, 3, 1, 0, 4, 2)),
)


def _case(name, dtype, shape, order, scale=None, zero=0):
    return Case(name, "TRANSPOSE",
                [Tensor(dtype, shape, scale, zero),
                 const(np.array(order, np.int32))], [Tensor(dtype, (), scale, zero)])


def cases(rng):
    for i, (shape, order) in enumerate(GEOMETRIES):
        yield _case(f"int8_{i:02}", "int8", shape, order, 0.1, 3)
        yield _case(f"float32_{i:02}", "float32", shape, order)
    yield from dtype_sweep(rng, "TRANSPOSE", lambda d, s, z: _case(f"type_{d}", d, (4, 6),
                                                                   (1, 0), s, z))
    yield _case("int8_axis_out_of_range", "int8", (2, 3), (0, 2), 0.1)
    negative = _case("int8_negative_axis", "int8", (2, 3), (-1, 0), 0.1)
    yield negative
