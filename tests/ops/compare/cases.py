# SPDX-License-Identifier: Apache-2.0
"""LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL and NOT_EQUAL: numbers as they are, bytes after the
reference's rescaling to 2^8 times their real values."""

import numpy as np
from case import Case, Tensor
from families import QUANTIZED, binary, constant, tensor

KINDS = ("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL")
TYPES = ("float32", "int32", "int64", "int8", "uint8")
PAIRS = [(k, t) for k in KINDS for t in TYPES] + [("EQUAL", "bool"), ("NOT_EQUAL", "bool")]
# Of either operand; where scales are tiny, the reference takes neighbours for equal.
QUANTIZATIONS = (
    ((0.05, -3), (0.05, -3)), ((0.05, -3), (0.02, 7)), ((0.5, 0), (0.25, -128)),
    ((0.003, 5), (0.001, 127)), ((0.002, -128), (0.002, 127)), ((1e-4, 0), (1e-4, 0)),
    ((0.99, 1), (0.0078125, 0)), ((1e-9, 0), (0.3, 0)),
)


def cases(rng):
    for kind in KINDS:
        for dtype in TYPES:
            if dtype in QUANTIZED:
                yield from _bytes(rng, kind, dtype)
            else:
                yield from binary(rng, kind, dtype, "bool")
    for kind in ("EQUAL", "NOT_EQUAL"):
        yield from binary(rng, kind, "bool", "bool")
    yield Case("less_bool", "LESS", [Tensor("bool", (3,)), Tensor("bool", (3,))], [Tensor("bool")])
    yield Case("less_int8_scale_1", "LESS", [Tensor("int8", (9,), 1.0), Tensor("int8", (9,), 1.0)],
               [Tensor("bool")], undefined="a scale of 1 shifts by a negative count", may_abort=True)


def _bytes(rng, kind, dtype):
    yield from binary(rng, kind, dtype, "bool", (*QUANTIZATIONS[0], None))
    info = np.iinfo(dtype)
    ramp = np.arange(info.min, info.max + 1).astype(dtype)
    for i, (qa, qb) in enumerate(QUANTIZATIONS if dtype == "int8" else QUANTIZATIONS[:3]):
        name = f"{kind.lower()}_{dtype}_pairs_{i}"
        some = rng.choice(ramp, size=24, replace=False)
        yield Case(name, kind, [tensor(dtype, (256, 1), qa), tensor(dtype, (1, 24), qb)],
                   [Tensor("bool")],
                   samples=lambda rng, some=some: [[ramp.reshape(-1, 1), some.reshape(1, -1)]])
        for side in (0, 1) if i < 4 else ():
            pair = [tensor(dtype, (256,), qa), tensor(dtype, (256,), qb)]
            pair[side] = constant(rng, tensor(dtype, (1,), (qa, qb)[side]))
            yield Case(f"{name}_constant_{side}", kind, pair, [Tensor("bool")],
                       samples=lambda rng: [[ramp]])
