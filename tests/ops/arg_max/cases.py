# SPDX-License-Identifier: Apache-2.0
"""ARG_MAX: where along an axis the largest element is."""

from arg_cases import arg_cases


def cases(rng):
    yield from arg_cases("ARG_MAX")
