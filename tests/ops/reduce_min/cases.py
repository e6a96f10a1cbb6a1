# SPDX-License-Identifier: Apache-2.0
"""REDUCE_MIN: the smallest element along any axes, of any type."""

from reduction_cases import extremes


def cases(rng):
    yield from extremes("REDUCE_MIN")
