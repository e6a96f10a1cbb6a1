# SPDX-License-Identifier: Apache-2.0
"""UNPACK: takes one axis apart."""

from case import Case, Tensor
from patterns import dtype_sweep

GEOMETRIES = (
    ((3, 4), 0),
    ((3, 4), 1),
    ((3, 4), -1),
    ((2, 3, 4), 0),
    ((2, 3, 4), 1),
    ((2, 3, 4), 2),
    ((2, 3, 4), -2),
    ((1, 2, 3, 2), 2),
    ((5,), 0),
    ((1, 6), 0),
)


def _case(name, dtype, shape, axis, scale=None, zero=0):
    count = shape[axis]
    return Case(name, "UNPACK", [Tensor(dtype, shape, scale, zero)],
                [Tensor(dtype, (), scale, zero) for _ in range(count)], dict(num=count, axis=axis))


def cases(rng):
    for i, (shape, axis) in enumerate(GEOMETRIES):
        yield _case(f"int8_{i:02}", "int8", shape, axis, 0.1, 3)
        yield _case(f"float32_{i:02}", "float32", shape, axis)
    yield from dtype_sweep(rng, "UNPACK", lambda d, s, z: _case(f"type_{d}", d, (2, 3), 1, s, z))
    wrong = _case("int8_wrong_count", "int8", (3, 4), 0, 0.1)
    wrong.options["num"] = 2
    wrong.outputs.pop()
    yield wrong
