# SPDX-License-Identifier: Apache-2.0
"""RELU: int8 with a change of quantisation, float32."""

import relu_cases

PAIRS = [("RELU", "uint8")]
PAIR_BY = "outputs"


def cases(rng):
    yield from relu_cases.cases("RELU", relu_cases.of_int16)
