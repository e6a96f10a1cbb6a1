# SPDX-License-Identifier: Apache-2.0
"""SUB with broadcasting: int8, float32, int32."""

import int16_cases
import sum_cases

PAIRS = [("SUB", "uint8")]
PAIR_BY = "outputs"


def cases(rng):
    yield from sum_cases.cases(rng, "SUB", lambda rng: int16_cases.sums(rng, "SUB"), dict(
        undefined="the result's multiplier is above one, the kernel only shifts right"))
