# SPDX-License-Identifier: Apache-2.0
"""EXP, LOG, SIN, COS, SQUARE, SQRT, RSQRT, ELU and GELU: float32 by the C library, int8 (of GELU uint8
too) by tables that LiteRT makes of it. LiteRT's reference resolver has no ELU: it is the builtin one's."""

import numpy as np
from case import Case
from families import tensor, unary

PAIRS = [(k, "float32") for k in ("EXP", "LOG", "SIN", "COS", "SQUARE", "SQRT", "RSQRT", "ELU", "GELU")]
PAIRS += [(k, "int8") for k in ("EXP", "LOG", "SQRT", "RSQRT", "ELU", "GELU")] + [("GELU", "uint8")]
SPECIAL = np.float32([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, 2.0, 1e-45, 1e-30, 3e38, 100.0,
                      -100.0, 1e5])
# What LiteRT computes with vector approximations of its own is compared within more.
ULP = {"EXP": 4, "LOG": 4, "SIN": 4, "COS": 4, "ELU": 8, "GELU": 16}
QUANTIZATIONS = {
    "EXP": (((0.05, -3), (0.05, -100)), ((0.02, 100), (0.01, -128)), ((0.1, 127), (0.0078125, -128)),
            ((0.03, 0), (0.5, 0)), ((0.011, -128), (0.1, 7))),
    "LOG": (((0.05, -100), (0.02, 10)), ((0.02, -128), (0.05, 0)), ((0.5, 0), (0.03, -60)),
            ((1.3, -128), (0.04, -128)), ((1e-3, -50), (0.1, 127))),
    "SQRT": (((0.05, -128), (0.02, -128)), ((0.5, -128), (0.05, 0)), ((0.3, -128), (0.07, -37)),
             ((1e-3, -128), (1e-3, 5)), ((4.0, -128), (0.3, -128)), ((0.05, -20), (0.02, -100))),
    "RSQRT": (((0.05, -128), (0.02, -128)), ((0.5, -128), (0.05, 0)), ((0.3, -128), (0.01, -37)),
              ((0.01, -128), (0.1, 5)), ((4.0, -128), (0.004, -128)), ((0.05, -20), (0.02, -100))),
    "ELU": (((0.05, -3), (0.05, -100)), ((0.02, 100), (0.02, 90)), ((0.1, 127), (0.0078125, 127)),
            ((0.03, 0), (0.5, 0)), ((0.011, -128), (0.02, 7))),
    "GELU": (((0.05, -3), (0.05, -100)), ((0.02, 100), (0.02, 90)), ((0.1, 127), (0.0078125, 127)),
             ((0.03, 0), (0.5, 0)), ((0.011, -128), (0.02, 7))),
}


def positive(data, rng):
    return np.abs(data)


def from_zero(zero):
    return lambda data, rng: np.maximum(data, np.asarray(zero, data.dtype))


def near(data, rng):
    """Where 1 + tanh and erfc keep their digits."""
    return np.clip(data, -1.5, 8).astype(np.float32)


def cases(rng):
    for kind, dtype in PAIRS:
        for options in (dict(approximate=False), dict(approximate=True)) if kind == "GELU" else ({},):
            for case in _of(rng, kind, dtype, options):
                case.kernels = "builtin" if kind == "ELU" else "reference"
                yield case


def _of(rng, kind, dtype, options):
    tag = "approximate_" if options.get("approximate") else ""
    if dtype == "float32":
        allow = positive if kind in ("LOG", "SQRT", "RSQRT") else near if kind == "GELU" else None
        yield from unary(rng, kind, dtype, ulp=ULP.get(kind), allow=allow, options=options, tag=tag,
                         values=SPECIAL)
        return
    if kind not in ("SQRT", "RSQRT"):
        yield from unary(rng, kind, dtype, QUANTIZATIONS[kind], options=options, tag=tag)
        return
    for i, q in enumerate(QUANTIZATIONS[kind]):
        few = list(unary(rng, kind, dtype, (q,), allow=from_zero(q[0][1]), tag=f"q{i}_"))
        yield from few[:4] + few[-2:]
    yield Case(f"{kind.lower()}_int8_below_zero", kind, [tensor(dtype, (4,), (0.05, 0))],
               [tensor(dtype, (), (0.02, 0))],
               samples=lambda rng: [[np.array([1, 5, -1, 3], np.int8)]])
