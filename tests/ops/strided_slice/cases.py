# SPDX-License-Identifier: Apache-2.0
"""STRIDED_SLICE: strides of either sign, masks, negative and clamped indices."""

import numpy as np
from case import Case, Tensor, const
from patterns import dtype_sweep

# shape, begin, end, strides, masks
GEOMETRIES = (
    ((1, 4, 5, 3), (0, 1, 1, 0), (1, 3, 5, 3), (1, 1, 1, 1), {}),
    ((1, 8, 8, 2), (0, 0, 0, 0), (1, 8, 8, 2), (1, 2, 2, 1), {}),
    ((1, 8, 8, 2), (0, 1, 1, 0), (1, 8, 8, 2), (1, 3, 2, 1), {}),
    ((6, 5), (-1, 0), (-7, 5), (-1, 1), {}),
    ((6, 5), (4, 4), (1, 0), (-2, -3), {}),
    ((6, 5), (-3, -2), (100, 100), (1, 1), {}),
    ((6, 5), (0, 0), (0, 0), (1, 2), dict(begin_mask=3, end_mask=3)),
    ((6, 5), (2, 1), (0, 4), (1, 1), dict(end_mask=1)),
    ((6, 5), (2, 1), (3, 4), (1, 1), dict(begin_mask=2)),
    ((6, 5), (0, 0), (0, 0), (-1, -1), dict(begin_mask=3, end_mask=3)),
    ((6, 5), (2, 1), (3, 4), (1, 1), dict(shrink_axis_mask=1)),
    ((6, 5), (-1, 1), (0, 4), (1, 1), dict(shrink_axis_mask=1)),
    ((6, 5), (2, 3), (3, 4), (1, 1), dict(shrink_axis_mask=3)),
    ((2, 3, 4, 5), (0, 0, 1), (0, 0, 3), (1, 1, 1),
     dict(ellipsis_mask=2, begin_mask=1, end_mask=1)),
    ((2, 3, 4), (1, 0), (2, 0), (1, 1), dict(ellipsis_mask=2, shrink_axis_mask=1)),
    ((6, 5), (0, 1, 0), (1, 4, 5), (1, 1, 1), dict(new_axis_mask=1)),
    ((6, 5), (1, 0, 0), (4, 1, 5), (1, 1, 2), dict(new_axis_mask=2)),
    ((12,), (1,), (11,), (3,), {}),
    ((12,), (10,), (-100,), (-4,), {}),
    ((2, 2, 3, 2, 4), (0, 0, 1, 0, 3), (2, 1, 3, 2, 0), (1, 1, 1, 1, -1), {}),
    ((7, 6), (1, 2), (3, 2), (1, 1), dict(offset=True)),
    ((4, 6, 5), (1, 2), (3, 6), (1, 2), {}),
)


def _case(name, dtype, geometry, scale=None, zero=0):
    shape, begin, end, strides, masks = geometry
    return Case(name, "STRIDED_SLICE", [Tensor(dtype, shape, scale, zero)] + [
        const(np.array(v, np.int32)) for v in (begin, end, strides)],
        [Tensor(dtype, (), scale, zero)], dict(masks))


def cases(rng):
    for i, geometry in enumerate(GEOMETRIES):
        yield _case(f"int8_{i:02}", "int8", geometry, 0.1, 3)
        yield _case(f"float32_{i:02}", "float32", geometry)
    yield from dtype_sweep(rng, "STRIDED_SLICE",
                           lambda d, s, z: _case(f"type_{d}", d, GEOMETRIES[4], s, z))
    yield _case("int8_stride_zero", "int8", ((6, 5), (0, 0), (3, 3), (0, 1), {}), 0.1)
    yield _case("int8_empty", "int8", ((6, 5), (3, 0), (2, 5), (1, 1), {}), 0.1)
    beyond = _case("int8_shrink_out_of_range", "int8",
                   ((6, 5), (6, 0), (7, 5), (1, 1), dict(shrink_axis_mask=1)), 0.1)
    beyond.undefined = "the kernel reads past the end of the tensor"
    yield beyond
