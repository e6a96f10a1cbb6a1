# SPDX-License-Identifier: Apache-2.0
"""NEG and ABS: the least integers have no opposite and stay."""

from case import Case, Tensor
from families import unary

PAIRS = [("NEG", t) for t in ("float32", "int32", "int64", "int8", "int16")]
PAIRS += [("ABS", t) for t in ("float32", "int32", "int8")]
SYMMETRIC = (((0.05, 0), (0.05, 0)), ((0.3, 0), (0.3, 0)))
QUANTIZATIONS = (((0.05, -3), (0.05, -3)), ((0.05, -3), (0.05, 7)), ((0.1, -128), (0.05, -128)),
                 ((0.02, 127), (0.07, 0)), ((0.35, 9), (0.14, -128)), ((1e-5, 3), (2e-5, 4)),
                 ((1e4, 0), (3e4, -128)), ((0.5, 0), (0.01, 0)))


def cases(rng):
    for dtype in ("float32", "int32", "int64"):
        yield from unary(rng, "NEG", dtype)
    for dtype in ("int8", "int16"):
        yield from unary(rng, "NEG", dtype, SYMMETRIC)
    for name, a, b in (("zero_point", (0.05, -3), (0.05, -3)), ("scales", (0.05, 0), (0.1, 0))):
        yield Case(f"neg_int8_{name}", "NEG", [Tensor("int8", (9,), *a)], [Tensor("int8", (), *b)])
    for dtype in ("float32", "int32"):
        yield from unary(rng, "ABS", dtype)
    yield from unary(rng, "ABS", "int8", QUANTIZATIONS)
