# SPDX-License-Identifier: Apache-2.0
"""RELU6: int8 with a change of quantisation, float32."""

import relu_cases

PAIRS = [("RELU6", "uint8")]
PAIR_BY = "outputs"


def cases(rng):
    yield from relu_cases.cases("RELU6", relu_cases.of_int16)
