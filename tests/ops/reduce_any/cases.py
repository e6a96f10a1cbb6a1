# SPDX-License-Identifier: Apache-2.0
"""REDUCE_ANY: is any element along any axes true; bool only."""

import numpy as np
from reduction_cases import geometry_cases, reduction, rejected_cases, tensor


def _mostly(shape, value):
    """Few elements that decide, so that both results occur."""
    def samples(rng):
        rows = [np.full(shape, value), np.full(shape, not value)]
        return [[r] for r in rows] + [[np.where(rng.random(shape) < p, not value, value)]
                                      for p in (0.02, 0.2, 0.5)]
    return samples


def cases(rng):
    yield from geometry_cases("REDUCE_ANY", "bool",
                              samples=lambda t: _mostly(t.shape, False))
    yield reduction("int32", "REDUCE_ANY", tensor("int32", (2, 3)), (1,), False, tensor("int32"))
    yield from rejected_cases("REDUCE_ANY", "bool")
