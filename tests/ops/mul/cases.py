# SPDX-License-Identifier: Apache-2.0
"""MUL with broadcasting: int8, float32, int32."""

import int16_cases
import sum_cases

PAIRS = [("MUL", "uint8")]
PAIR_BY = "outputs"


def cases(rng):
    for case in sum_cases.cases(rng, "MUL", int16_cases.products, dict(
            undefined="the left shift before the multiply leaves 32 bits")):
        if case.inputs[0].dtype == "uint8" and "huge_scales" in case.name:
            case.undefined = "the multiplier shifts left beyond 32 bits"
        yield case
