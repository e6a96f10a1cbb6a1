# SPDX-License-Identifier: Apache-2.0
"""Cases with weights of 4 bits, made of those with int8 weights.

A weight keeps its upper half, its scale is 16 times as large. The file holds the weights of all channels
one behind the other, so channels of an odd length begin in the middle of a byte.
"""

import dataclasses

import numpy as np

# Weights of ones, of which nothing would be left; and scales that 16 times larger leave the arithmetic
# of LiteRT.
_UNFIT = ("ties", "ramp", "just_", "next_to", "fine_result", "multiplier_above_one")


def _scaled(scale, factor):
    return None if scale is None else [float(np.float32(s)) * factor for s in np.atleast_1d(scale)]


def int4_of(case):
    weights, bias = case.inputs[1], case.inputs[2] if len(case.inputs) > 2 else None
    inputs = list(case.inputs)
    inputs[1] = dataclasses.replace(weights, data=weights.data >> 4, scale=_scaled(weights.scale, 16), bits=4)
    if bias is not None and bias.data.dtype.kind == "i":
        inputs[2] = dataclasses.replace(bias, data=bias.data // 16, scale=_scaled(bias.scale, 16))
    return dataclasses.replace(case, name=f"int4_{case.name}", inputs=inputs)


def of(cases, int16=True, dynamic=True, every=1):
    """Every so many of the cases with int8 weights whose combination with int4 LiteRT has."""
    found = list(_suitable(cases, int16, dynamic))
    return [int4_of(case) for case in found[::every]]


def _suitable(cases, int16, dynamic):
    for case in cases:
        if len(case.inputs) < 2 or case.undefined or any(word in case.name for word in _UNFIT):
            continue
        weights = case.inputs[1]
        first = case.inputs[0].dtype
        if weights.data is None or weights.data.dtype != np.int8 or np.any(np.atleast_1d(weights.zero_point)):
            continue
        if (first == "int16" and not int16) or (first == "float32" and not dynamic):
            continue
        yield case
