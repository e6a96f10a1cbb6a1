# SPDX-License-Identifier: Apache-2.0
"""CAST between every pair of types the frontend reads."""

import itertools

import numpy as np
from case import Case, Tensor

TYPES = ("float32", "int8", "uint8", "int16", "int32", "uint32", "bool")
# Values about the limits of every integer type, and fractions of either sign.
LIMITS = np.float32([0.5, -0.5, 1.5, -1.5, 127, 127.9, 128, -128, -128.9, -129, 255, 255.9, 256, -1,
                     32767, 32768, -32768, -32769, 65536, 2147483520, 2147483648, -2147483648,
                     -2147483904, 1e20, -1e20, np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-40, 16777217])


def cases(rng):
    for source, target in itertools.product(TYPES, TYPES):
        yield Case(f"{source}_to_{target}", "CAST", [Tensor(source, (4, 8))], [Tensor(target)],
                   dict(in_type=source, out_type=target))
        if source == "float32":
            yield Case(f"float32_limits_to_{target}", "CAST", [Tensor(source, (LIMITS.size,))],
                       [Tensor(target)], dict(in_type=source, out_type=target),
                       samples=lambda rng: [[LIMITS]])
