# SPDX-License-Identifier: Apache-2.0
"""MAX_POOL_2D: int8 and float32; input and result share their quantisation."""

import pool_cases

PAIRS = [("MAX_POOL_2D", "uint8")]
PAIR_BY = "outputs"


def cases(rng):
    yield from pool_cases.cases("MAX_POOL_2D")
