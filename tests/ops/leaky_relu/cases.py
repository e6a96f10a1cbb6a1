# SPDX-License-Identifier: Apache-2.0
"""LEAKY_RELU: int8 with two multipliers, float32; any alpha."""

import int16_cases
import uint8_cases
from patterns import unary_cases

PAIRS = [("LEAKY_RELU", "uint8")]
PAIR_BY = "outputs"

QUANTIZATIONS = ((0.05, -3, 0.05, -3), (0.1, 5, 0.03, -128), (0.03, -7, 0.1, 9), (0.5, 127, 0.5, 0),
                 (1e-5, 3, 2e-5, 4), (1e4, -128, 3e4, -128))
ALPHAS = {"tenth": 0.1, "0_3": 0.3, "zero": 0.0, "one": 1.0, "three": 3.0, "negative": -0.25,
          "tiny": 1e-9}


# Ratios of scales that a division in double would take to the other side of a tie.
NEXT_TO_TIES = ((0.35, -128, 0.14, -128), (0.9, -128, 0.2, -128), (0.7, 127, 0.14, 127))


def cases(rng):
    yield from _cases(rng)
    yield from uint8_cases.of(_cases(rng))


def _cases(rng):
    yield from unary_cases("LEAKY_RELU", NEXT_TO_TIES, options=dict(alpha=0.3),
                           tag="next_to_ties_", shapes=((1, 256),))
    for i, (name, alpha) in enumerate(ALPHAS.items()):
        yield from unary_cases("LEAKY_RELU", QUANTIZATIONS[: 6 if i < 2 else 2],
                               options=dict(alpha=alpha), tag=f"{name}_",
                               shapes=((1, 5, 7, 3), (2, 3, 4), (1, 64), (17,)))
    for name in ("tenth", "one", "three", "negative"):
        yield from int16_cases.relus("LEAKY_RELU", dict(alpha=ALPHAS[name]), f"{name}_")
    yield from int16_cases.zero_points("LEAKY_RELU", 0.001, dict(alpha=0.1))
