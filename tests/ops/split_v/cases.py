# SPDX-License-Identifier: Apache-2.0
"""SPLIT_V into given sizes, of which one may be -1; operands are data, sizes, axis."""

import numpy as np
from case import Case, Tensor, const
from patterns import dtype_sweep

GEOMETRIES = (
    ((1, 4, 4, 6), 3, (1, 5)),
    ((1, 4, 4, 6), 3, (2, -1, 3)),
    ((1, 4, 4, 6), 1, (1, 1, 2)),
    ((6, 5), 0, (4, 2)),
    ((6, 5), -1, (-1, 2)),
    ((12,), 0, (3, 4, 5)),
    ((2, 3, 4), 2, (4,)),
    ((2, 3, 4), -2, (1, 2)),
    ((1, 2, 2, 4, 3), 3, (3, 1)),
    ((2, 3), 1, (1, 1, 1)),
)


def _case(name, dtype, shape, axis, sizes, scale=None, zero=0):
    return Case(name, "SPLIT_V", [
        Tensor(dtype, shape, scale, zero),
        const(np.array(sizes, np.int32)),
        const(np.array(axis, np.int32))
    ], [Tensor(dtype, (), scale, zero) for _ in sizes], dict(num_splits=len(sizes)))


def cases(rng):
    for i, (shape, axis, sizes) in enumerate(GEOMETRIES):
        yield _case(f"int8_{i:02}", "int8", shape, axis, sizes, 0.1, 3)
        yield _case(f"float32_{i:02}", "float32", shape, axis, sizes)
    yield from dtype_sweep(rng, "SPLIT_V", lambda d, s, z: _case(f"type_{d}", d, (2, 6), 1,
                                                                 (4, 2), s, z))
    yield _case("int8_wrong_sum", "int8", (2, 5), 1, (2, 2), 0.1)
    yield _case("int8_two_unknown", "int8", (2, 5), 1, (-1, -1), 0.1)
