# SPDX-License-Identifier: Apache-2.0
"""PACK: stacks equal tensors along a new axis."""

from case import Case, Tensor
from patterns import dtype_sweep

GEOMETRIES = (
    ((3, 4), 2, 0),
    ((3, 4), 3, 1),
    ((3, 4), 2, 2),
    ((3, 4), 2, -1),
    ((5,), 4, 0),
    ((5,), 4, 1),
    ((2, 3, 2), 2, 1),
    ((2, 3, 2), 2, -2),
    ((1, 2, 3, 2), 3, 3),
    ((3,), 1, 0),
)


def _case(name, dtype, shape, count, axis, scale=None, zero=0):
    return Case(name, "PACK", [Tensor(dtype, shape, scale, zero) for _ in range(count)],
                [Tensor(dtype, (), scale, zero)], dict(values_count=count, axis=axis))


def cases(rng):
    for i, (shape, count, axis) in enumerate(GEOMETRIES):
        yield _case(f"int8_{i:02}", "int8", shape, count, axis, 0.1, 3)
        yield _case(f"float32_{i:02}", "float32", shape, count, axis)
    yield from dtype_sweep(rng, "PACK", lambda d, s, z: _case(f"type_{d}", d, (2, 3), 2, 1, s, z))
    other = _case("int8_other_scale", "int8", (2, 3), 2, 0, 0.1)
    other.inputs[1].scale = 0.2
    yield other
