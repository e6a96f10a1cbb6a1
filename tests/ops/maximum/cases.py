# SPDX-License-Identifier: Apache-2.0
"""MAXIMUM with broadcasting: all tensors share one quantisation."""

import extremum_cases


def cases(rng):
    yield from extremum_cases.cases("MAXIMUM")
