# SPDX-License-Identifier: Apache-2.0
"""HARD_SWISH: int8 in 16 bit fixed point, float32. The result's scale must exceed 1/128 of the
input's."""

import uint8_cases
from case import Case
from patterns import int8, unary_cases

PAIRS = [("HARD_SWISH", "uint8")]
PAIR_BY = "outputs"

QUANTIZATIONS = (
    (0.05, -3, 0.05, -3), (0.1, 0, 0.1, 0), (0.05, -128, 0.05, -128), (0.05, 127, 0.02, 127),
    (0.1, 5, 0.03, -128), (0.03, -7, 0.1, 9), (1.0, -1, 0.5, 0), (0.01, 1, 1.0, 0),
    (1e-4, 3, 2e-5, 4), (10.0, 3, 3.0, 4), (3 / 128, 0, 3 / 128, 0), (0.02353, -128, 0.02353, -128),
    (0.007, 10, 0.005, -90), (0.3, 100, 0.25, -127), (1e-3, 0, 20.0, 5),
)


def cases(rng):
    yield from _cases(rng)
    yield from uint8_cases.of(_cases(rng), rounds=2)


def _cases(rng):
    yield from unary_cases("HARD_SWISH", QUANTIZATIONS)
    yield Case("int8_result_scale_too_small", "HARD_SWISH", [int8((4,), 1.0)], [int8((), 0.005)])
