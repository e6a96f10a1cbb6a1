# SPDX-License-Identifier: Apache-2.0
"""ADD, SUB, MUL, MAXIMUM and MINIMUM of int32 and int64, which wrap around."""

import warnings

from families import binary

PAIRS = [(k, t) for k in ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM") for t in ("int32", "int64")]


def cases(rng):
    warnings.simplefilter("ignore")
    for kind, dtype in PAIRS:
        yield from binary(rng, kind, dtype)
    for kind in ("ADD", "SUB", "MUL"):
        for activation in ("RELU", "RELU6", "RELU_N1_TO_1"):
            for dtype in ("int32", "int64"):
                for case in list(binary(rng, kind, dtype, options=dict(activation=activation),
                                        tag=f"{activation.lower()}_"))[:3]:
                    yield case
