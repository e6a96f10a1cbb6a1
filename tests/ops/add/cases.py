# SPDX-License-Identifier: Apache-2.0
"""ADD with broadcasting: int8, float32, int32."""

import int16_cases
import sum_cases

PAIRS = [("ADD", "uint8")]
PAIR_BY = "outputs"


def cases(rng):
    yield from sum_cases.cases(rng, "ADD", lambda rng: int16_cases.sums(rng, "ADD"), dict(may_abort=True))
