# SPDX-License-Identifier: Apache-2.0
"""SQUEEZE: all size-1 dimensions, or those named."""

from case import Case, Tensor
from patterns import dtype_sweep

GEOMETRIES = (
    ((1, 3, 1, 4), []),
    ((1, 3, 1, 4), [0]),
    ((1, 3, 1, 4), [2]),
    ((1, 3, 1, 4), [0, 2]),
    ((1, 3, 1, 4), [-2]),
    ((1, 1, 1, 5), [1, 2]),
    ((1, 1, 1, 5), []),
    ((3, 4), []),
    ((1, 2, 1, 3, 1), [4, 0]),
    ((1,), []),
)


def _case(name, dtype, shape, dims, scale=None, zero=0):
    return Case(name, "SQUEEZE", [Tensor(dtype, shape, scale, zero)],
                [Tensor(dtype, (), scale, zero)], dict(squeeze_dims=dims))


def cases(rng):
    for i, (shape, dims) in enumerate(GEOMETRIES):
        yield _case(f"int8_{i:02}", "int8", shape, dims, 0.1, 3)
        yield _case(f"float32_{i:02}", "float32", shape, dims)
    yield from dtype_sweep(rng, "SQUEEZE", lambda d, s, z: _case(f"type_{d}", d, (1, 6), [0], s, z))
    yield _case("int8_not_size_1", "int8", (2, 3), [0], 0.1)
