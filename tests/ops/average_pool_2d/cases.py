# SPDX-License-Identifier: Apache-2.0
"""AVERAGE_POOL_2D: int8 and float32; input and result share their quantisation."""

import pool_cases

PAIRS = [("AVERAGE_POOL_2D", "uint8")]
PAIR_BY = "outputs"

# Of one window, eight channels at a time.
WHOLE = {
    "whole_channels8": ((1, 3, 3, 8), (3, 3), (1, 1), "VALID"),
    "whole_channels19": ((1, 25, 5, 19), (25, 5), (25, 5), "VALID"),
    "whole_one_pixel": ((1, 1, 1, 24), (1, 1), (1, 1), "VALID"),
    "whole_wide": ((1, 4, 7, 136), (4, 7), (1, 1), "VALID"),
    "whole_prime": ((1, 13, 1, 10), (13, 1), (1, 1), "VALID"),
    "whole_most": ((1, 15, 17, 8), (15, 17), (1, 1), "VALID"),
    "whole_too_many": ((1, 16, 16, 8), (16, 16), (1, 1), "VALID"),
}


def cases(rng):
    yield from pool_cases.cases("AVERAGE_POOL_2D", WHOLE)
