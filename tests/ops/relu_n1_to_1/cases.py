# SPDX-License-Identifier: Apache-2.0
"""RELU_N1_TO_1: int8 with a change of quantisation, float32."""

import relu_cases
from case import Case
from int16_cases import int16

PAIRS = [("RELU_N1_TO_1", "uint8")]
PAIR_BY = "outputs"


def cases(rng):
    yield from relu_cases.cases("RELU_N1_TO_1", lambda kind: [Case("int16", kind, [int16((4,))], [int16()])])
