# SPDX-License-Identifier: Apache-2.0
"""DIV, FLOOR_DIV and FLOOR_MOD: all signs, the largest quotients, no divisor of 0. LiteRT refuses to run
some that aotc gives a status for; where its arithmetic is undefined, no case is made."""

import numpy as np
from case import Case, Tensor, const
from families import binary, tensor
from patterns import ACTIVATIONS

PAIRS = [("DIV", t) for t in ("float32", "int32", "int8", "uint8")]
PAIRS += [("FLOOR_DIV", "int32"), ("FLOOR_DIV", "float32")]
PAIRS += [("FLOOR_MOD", t) for t in ("int32", "int64", "float32")]
# Multipliers from 64 on: below, LiteRT shifts by more than 31 bits where quotients are tiny.
QUANTIZATIONS = (((0.5, 0), (0.05, -128), (0.1, 4)), ((0.9, -3), (0.03, -128), (0.25, -100)),
                 ((2.0, 127), (0.07, 127), (0.3, 0)), ((1.0, -128), (0.01, -10), (1.5, 0)))


def not_zero(data, rng):
    return np.where(data == 0, np.asarray(3, data.dtype), data)


def not_minus_one(data, rng):
    """The least integer by -1 ends LiteRT's process."""
    return np.where((data == 0) | (data == -1), np.asarray(3, data.dtype), data)


def not_value(zero):
    return lambda data, rng: np.where(data == zero, np.asarray(zero - 1 if zero > 0 else zero + 1,
                                                              data.dtype), data)


def cases(rng):
    for kind, dtype in PAIRS:
        if dtype in ("int8", "uint8"):
            yield from _bytes(rng, dtype)
            continue
        of_whole = dtype != "float32" and kind != "FLOOR_DIV"
        free = dtype == "float32" and kind != "FLOOR_DIV"
        allow = None if free else not_minus_one if of_whole else not_zero
        yield from binary(rng, kind, dtype, allow=allow)
        small = np.asarray([-7, -6, -5, -3, -2, -1, 1, 2, 3, 5, 6, 7], dtype)
        yield Case(f"{kind.lower()}_{dtype}_signs", kind,
                   [Tensor(dtype, (12, 1)), Tensor(dtype, (1, 12))], [Tensor(dtype)],
                   samples=lambda rng, v=small: [[v.reshape(-1, 1), v.reshape(1, -1)]])
        for name, divisor in (("three", 3), ("minus_one", -1), ("zero", 0)):
            yield Case(f"{kind.lower()}_{dtype}_by_{name}", kind,
                       [Tensor(dtype, (6,)), const(np.asarray([divisor], dtype))], [Tensor(dtype)],
                       samples=lambda rng, v=small: [[v[:6]]])
    for dtype, allow in (("float32", None), ("int32", not_minus_one)):
        for activation in ACTIVATIONS[1:]:
            yield from list(binary(rng, "DIV", dtype, allow=allow, tag=f"{activation.lower()}_",
                                   options=dict(activation=activation), few=True))[:4]


def _bytes(rng, dtype):
    for i, q in enumerate(QUANTIZATIONS):
        zero = tensor(dtype, (), q[1]).zero
        made = list(binary(rng, "DIV", dtype, quantization=q, allow=not_value(zero), tag=f"q{i}_",
                           few=i > 0, options=dict(activation=ACTIVATIONS[i % 4])))
        yield from made if i == 0 else made[:4] + made[-1:]
        info = np.iinfo(dtype)
        ramp = np.arange(info.min, info.max + 1).astype(dtype)
        some = not_value(zero)(rng.choice(ramp, size=40, replace=False), rng)
        yield Case(f"div_{dtype}_q{i}_pairs", "DIV",
                   [tensor(dtype, (256, 1), q[0]), tensor(dtype, (1, 40), q[1])],
                   [tensor(dtype, (), q[2])],
                   samples=lambda rng, some=some: [[ramp.reshape(-1, 1), some.reshape(1, -1)]])
    yield Case(f"div_{dtype}_tiny_quotients", "DIV", [tensor(dtype, (9,), (0.05, 0)),
                                                     tensor(dtype, (9,), (0.05, 0))],
               [tensor(dtype, (), (0.05, 0))], may_abort=True,
               undefined="shifts by more than 31 bits where the quotient is far below 1")
