# SPDX-License-Identifier: Apache-2.0
"""REDUCE_ANY: is any element along any axes true; bool only."""

from reduction_cases import booleans


def cases(rng):
    yield from booleans("REDUCE_ANY", False)
