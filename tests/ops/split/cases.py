# SPDX-License-Identifier: Apache-2.0
"""SPLIT into equal parts; the axis is the first operand."""

import numpy as np
from case import Case, Tensor, const
from patterns import dtype_sweep

GEOMETRIES = (
    ((1, 4, 4, 6), 3, 2),
    ((1, 4, 4, 6), 3, 3),
    ((1, 4, 4, 6), 1, 4),
    ((6, 5), 0, 2),
    ((6, 5), -1, 5),
    ((12,), 0, 4),
    ((2, 3, 4), 2, 2),
    ((2, 3, 4), -2, 3),
    ((1, 2, 2, 4, 3), 3, 2),
    ((2, 3), 0, 1),
)


def _case(name, dtype, shape, axis, parts, scale=None, zero=0):
    return Case(name, "SPLIT", [const(np.array(axis, np.int32)), Tensor(dtype, shape, scale, zero)],
                [Tensor(dtype, (), scale, zero) for _ in range(parts)], dict(num_splits=parts))


def cases(rng):
    for i, (shape, axis, parts) in enumerate(GEOMETRIES):
        yield _case(f"int8_{i:02}", "int8", shape, axis, parts, 0.1, 3)
        yield _case(f"float32_{i:02}", "float32", shape, axis, parts)
    yield from dtype_sweep(rng, "SPLIT", lambda d, s, z: _case(f"type_{d}", d, (2, 6), 1, 3, s, z))
    yield _case("int8_uneven", "int8", (2, 5), 1, 2, 0.1)
