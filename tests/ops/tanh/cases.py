# SPDX-License-Identifier: Apache-2.0
"""TANH: int8 through a table of 256 entries computed in float32, float32."""

import int16_cases
import uint8_cases
from case import Case, Tensor
from patterns import SHAPES, all_values, every_int8, float32, int8

PAIRS = [("TANH", "uint8")]
PAIR_BY = "outputs"

SCALES = (0.05, 0.1, 1.0, 1e-4, 0.0235, 1000.0, 0.007, 1 / 3, 0.5, 1 / 16, 0.0784, 7.77)
ZEROS = (0, -3, 127, -128, 50)
OUT_ZERO = (0, 0, 10, -128)
OUT_SCALES = (1 / 128, 1 / 128, 0.01, 0.003)


def cases(rng):
    yield from _cases(rng)
    yield from uint8_cases.of(_cases(rng), rounds=2)


def _cases(rng):
    for i, scale in enumerate(SCALES):
        zero = ZEROS[i % len(ZEROS)]
        yield Case(f"int8_{i:02}", "TANH", [all_values(SHAPES[i % 7], scale, zero)],
                   [int8((), OUT_SCALES[i % 4], OUT_ZERO[i % len(OUT_ZERO)])],
                   samples=every_int8(SHAPES[i % 7]))
    # Times the float32 inverse of this scale, one entry is a tie; in double it is not.
    yield Case("int8_next_to_tie", "TANH", [all_values((256,), 0.0235, 0)],
               [int8((), 0.011112499982118607, 0)], samples=every_int8((256,)))
    for i, shape in enumerate(SHAPES):
        yield Case(f"float32_{i:02}", "TANH", [float32(shape)], [float32()], {}, "ulp", 4)
    yield Case("float32_limits", "TANH", [float32((1, 64))], [float32()], {}, "ulp", 4,
               samples=_limits)
    yield Case("int32", "TANH", [Tensor("int32", (4,))], [Tensor("int32")])
    yield from int16_cases.sigmoids("TANH")


def _limits(rng):
    return [[rng.uniform(-20, 20, size=64)], [rng.uniform(-120, 120, size=64)]]
