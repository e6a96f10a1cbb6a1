# SPDX-License-Identifier: Apache-2.0
"""SLICE by constant begin and size; size -1 takes the rest."""

import numpy as np
from case import Case, Tensor, const
from patterns import dtype_sweep

GEOMETRIES = (
    ((1, 4, 5, 3), (0, 1, 2, 0), (1, 2, 3, 3)),
    ((1, 4, 5, 3), (0, 0, 0, 1), (-1, -1, -1, 2)),
    ((1, 4, 5, 3), (0, 0, 0, 0), (1, 4, 5, 3)),
    ((6, 5), (2, 3), (3, 2)),
    ((6, 5), (5, 4), (1, 1)),
    ((12,), (3,), (-1,)),
    ((12,), (0,), (1,)),
    ((2, 3, 4), (1, 0, 2), (1, 3, 2)),
    ((2, 2, 3, 2, 3), (1, 0, 1, 0, 2), (1, 2, 2, 1, 1)),
    ((3, 7, 2), (1, 2, 0), (-1, 4, -1)),
)


def _case(name, dtype, shape, begin, size, scale=None, zero=0, index_type=np.int32):
    return Case(name, "SLICE", [
        Tensor(dtype, shape, scale, zero),
        const(np.array(begin, index_type)),
        const(np.array(size, index_type))
    ], [Tensor(dtype, (), scale, zero)])


def cases(rng):
    for i, (shape, begin, size) in enumerate(GEOMETRIES):
        yield _case(f"int8_{i:02}", "int8", shape, begin, size, 0.1, 3)
        yield _case(f"float32_{i:02}", "float32", shape, begin, size)
    yield from dtype_sweep(rng, "SLICE", lambda d, s, z: _case(
        f"type_{d}", d, (4, 6), (1, 2), (2, 3), s, z))
    yield _case("int64_indices", "int8", (4, 6), (1, 2), (2, 3), 0.1, index_type=np.int64)
    yield _case("int8_out_of_range", "int8", (4, 6), (3, 2), (2, 3), 0.1)
