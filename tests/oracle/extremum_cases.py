# SPDX-License-Identifier: Apache-2.0
"""MAXIMUM and MINIMUM with broadcasting: all tensors share one quantisation but in one case."""

import numpy as np
from case import Case, Tensor, const
from patterns import BROADCASTS, SPECIAL, float32, int8


def cases(kind):
    for i, shapes in enumerate(BROADCASTS):
        yield Case(f"int8_{i:02}", kind, [int8(s, 0.05, -3) for s in shapes],
                   [int8((), 0.05, -3)])
    for side in (0, 1):
        inputs = [int8((7, 9), 0.05, -3), int8((7, 9), 0.05, -3)]
        inputs[side] = const(np.full((1,), -41, np.int8), 0.05, -3)
        yield Case(f"int8_constant_scalar_{side}", kind, inputs, [int8((), 0.05, -3)])
    for i, shapes in enumerate(BROADCASTS):
        yield Case(f"float32_{i:02}", kind, [float32(s) for s in shapes], [float32()])
    yield Case("float32_special", kind, [float32((64,)), float32((64,))], [float32()],
               samples=_special)
    for dtype in ("int32", "int16", "uint8"):
        yield Case(dtype, kind, [Tensor(dtype, (4, 3)), Tensor(dtype, (3,))], [Tensor(dtype)])
    yield Case("int8_other_scales", kind, [int8((8,), 0.1, 3), int8((8,), 0.5, -9)], [int8((), 0.2, 1)])
    yield Case("bool", kind, [Tensor("bool", (3,)), Tensor("bool", (3,))], [Tensor("bool")])


def _special(rng):
    a, b = np.meshgrid(SPECIAL[:8], SPECIAL[:8])
    return [[a.ravel(), b.ravel()]]
