# SPDX-License-Identifier: Apache-2.0
"""PAD and PADV2: constant amounts; PAD fills with the quantised zero, PADV2 with its operand."""

import numpy as np
from case import Case, Tensor, const
from patterns import dtype_sweep

GEOMETRIES = (
    ((1, 4, 5, 3), ((0, 0), (1, 1), (1, 1), (0, 0))),
    ((1, 4, 5, 3), ((0, 0), (0, 1), (0, 1), (0, 0))),
    ((1, 4, 5, 3), ((0, 0), (3, 0), (0, 2), (0, 0))),
    ((1, 4, 5, 3), ((1, 0), (0, 1), (2, 0), (0, 3))),
    ((2, 3), ((1, 2), (3, 4))),
    ((5,), ((2, 1),)),
    ((2, 3, 2), ((0, 0), (1, 0), (0, 2))),
    ((1, 2, 1, 2, 3), ((1, 0), (0, 1), (1, 1), (0, 0), (2, 1))),
    ((3, 3), ((0, 0), (0, 0))),
)


def _case(name, dtype, geometry, scale=None, zero=0, value=None, index_type=np.int32):
    shape, amounts = geometry
    inputs = [Tensor(dtype, shape, scale, zero), const(np.array(amounts, index_type))]
    if value is not None:
        inputs.append(const(np.array([value], dtype), scale, zero))
    return Case(name, "PAD" if value is None else "PADV2", inputs,
                [Tensor(dtype, (), scale, zero)])


def cases(rng):
    for i, geometry in enumerate(GEOMETRIES):
        yield _case(f"pad_int8_{i:02}", "int8", geometry, 0.1, (-128, 5, 127)[i % 3])
        yield _case(f"pad_float32_{i:02}", "float32", geometry)
        yield _case(f"padv2_int8_{i:02}", "int8", geometry, 0.1, -9, value=(77, -128, -9)[i % 3])
        yield _case(f"padv2_float32_{i:02}", "float32", geometry, value=(-1.5, 3e38, -0.0)[i % 3])
    yield from dtype_sweep(rng, "PAD",
                           lambda d, s, z: _case(f"pad_type_{d}", d, GEOMETRIES[4], s, z))
    yield from dtype_sweep(
        rng, "PADV2", lambda d, s, z: _case(f"padv2_type_{d}", d, GEOMETRIES[4], s, z, value=1))
    yield _case("pad_int64_amounts", "int8", GEOMETRIES[0], 0.1, 5, index_type=np.int64)
    yield _case("pad_negative", "int8", ((4, 4), ((-1, 0), (0, 0))), 0.1, 5)
    other = _case("padv2_other_zero_point", "int8", GEOMETRIES[0], 0.1, 5, value=3)
    other.inputs[2].zero_point = 6
    yield other
    yield _case("pad_unquantized_int8", "int8", GEOMETRIES[0])
