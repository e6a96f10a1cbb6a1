# SPDX-License-Identifier: Apache-2.0
"""ARG_MIN: where along an axis the smallest element is."""

from arg_cases import arg_cases


def cases(rng):
    yield from arg_cases("ARG_MIN")
