# SPDX-License-Identifier: Apache-2.0
"""FLOOR, CEIL, ROUND (ties to even) and SIGN. LiteRT's reference resolver has no CEIL and no ROUND:
they are the kernels of its builtin one, which has them once."""

import numpy as np
from families import unary

PAIRS = [(k, "float32") for k in ("FLOOR", "CEIL", "ROUND", "SIGN")] + [("SIGN", "int32")]
TIES = np.float32([0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.5, -3.5, 0.49999997, -0.49999997, 1e9, -1e9,
                   4194303.5, 4194304.5, 8388607.5, -8388607.5, 2147483648.0, 1e20, 0.25, -0.25, 0.0,
                   -0.0, np.nan, np.inf, -np.inf, 1e-45, -1e-45, 0.75, -0.75])


def cases(rng):
    for kind, dtype in PAIRS:
        kernels = "builtin" if kind in ("CEIL", "ROUND") else "reference"
        for case in unary(rng, kind, dtype, values=TIES if dtype == "float32" else None):
            case.kernels = kernels
            yield case
