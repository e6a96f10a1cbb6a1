# SPDX-License-Identifier: Apache-2.0
"""RESHAPE: by a constant shape input or by its option; -1 is inferred."""

import numpy as np
from case import Case, Tensor, const
from patterns import dtype_sweep

RESHAPES = (
    ((1, 12), (3, 4)),
    ((2, 3, 4), (-1,)),
    ((2, 3, 4), (4, -1)),
    ((1, 4, 4, 3), (1, 48)),
    ((24,), (2, 3, 4)),
    ((2, 2, 3, 1, 2), (1, 24)),
    ((1, 1, 1, 7), (7,)),
    ((6,), (1, 2, 1, 3, 1)),
    ((1,), ()),
    ((5, 1), (1, -1)),
)


def _case(name, dtype, shape, new_shape, scale=None, zero=0, by_option=False):
    inputs = [Tensor(dtype, shape, scale, zero)]
    if not by_option:
        inputs.append(const(np.array(new_shape, np.int32)))
    return Case(name, "RESHAPE", inputs, [Tensor(dtype, (), scale, zero)],
                dict(new_shape=list(new_shape)))


def cases(rng):
    for i, (shape, new_shape) in enumerate(RESHAPES):
        yield _case(f"int8_{i:02}", "int8", shape, new_shape, 0.1, 3)
        yield _case(f"float32_{i:02}", "float32", shape, new_shape)
        if new_shape:
            yield _case(f"float32_by_option_{i:02}", "float32", shape, new_shape, by_option=True)
    yield from dtype_sweep(rng, "RESHAPE", lambda d, s, z: _case(f"type_{d}", d, (2, 6),
                                                                 (3, 4), s, z))
    yield _case("int8_size_differs", "int8", (2, 3), (4, 2), 0.1)
    yield _case("int8_two_unknown", "int8", (2, 3), (-1, -1), 0.1)
