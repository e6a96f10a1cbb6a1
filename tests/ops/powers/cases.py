# SPDX-License-Identifier: Apache-2.0
"""POW, SQUARED_DIFFERENCE, PRELU, RELU_0_TO_1, BITWISE_XOR and RIGHT_SHIFT."""

import numpy as np
from case import Case, Tensor, const
from families import binary, constant, tensor, unary
from patterns import BROADCASTS

PAIRS = [("POW", "float32"), ("POW", "int32")]
PAIRS += [("SQUARED_DIFFERENCE", t) for t in ("float32", "int32", "int8")]
PAIRS += [(k, t) for k in ("PRELU", "RELU_0_TO_1") for t in ("float32", "int8", "uint8")]
PAIRS += [(k, t) for k in ("BITWISE_XOR", "RIGHT_SHIFT") for t in ("int8", "uint8", "int16", "int32")]
SQUARES = (((0.05, -3), (0.05, -3), (0.5, -128)), ((0.05, -3), (0.02, 7), (0.3, -128)),
           ((0.1, 127), (0.3, -128), (11.0, -100)), ((0.004, 0), (0.0041, 1), (1e-2, 5)))
SLOPES = (((0.05, -3), (0.01, 5), (0.05, -3)), ((0.05, -3), (0.02, -128), (0.02, 7)),
          ((0.1, 127), (0.3, 0), (2.5, 100)), ((0.5, 0), (0.0078125, 0), (0.7, 0)))
CLAMPS = (((0.05, -3), (0.05, -3)), ((0.01, 7), (0.00390625, -128)), ((0.3, -128), (0.02, 0)),
          ((0.02, 127), (0.5, 127)), ((0.35, 9), (0.14, -128)))


def cases(rng):
    yield from _pow(rng)
    for dtype in ("float32", "int32"):
        yield from binary(rng, "SQUARED_DIFFERENCE", dtype)
    for i, q in enumerate(SQUARES):
        yield from binary(rng, "SQUARED_DIFFERENCE", "int8", quantization=q, tag=f"q{i}_", few=i > 0)
    for dtype in ("float32", "int8", "uint8"):
        for i, q in enumerate(SLOPES if dtype != "float32" else SLOPES[:1]):
            yield from _prelu(rng, dtype, q, i)
        yield from unary(rng, "RELU_0_TO_1", dtype, CLAMPS)
    for kind in ("BITWISE_XOR", "RIGHT_SHIFT"):
        for dtype in ("int8", "uint8", "int16", "int32"):
            yield from binary(rng, kind, dtype, quantization=(None, None, None))


def _pow(rng):
    def small(data, rng):
        return (np.abs(data.astype(np.int64)) % 7).astype(np.int32)

    def positive(data):
        return np.abs(data) + np.float32(1e-3)

    for case in binary(rng, "POW", "float32", ulp=4):
        if case.name.endswith("special"):  # of infinities, NaN and subnormals C libraries differ
            bases = np.float32([0, 1, -1, 2, -2, 0.5, 6, -3, 1e-3])
            case = Case(case.name, "POW", [Tensor("float32", (9, 1)), Tensor("float32", (1, 8))],
                        case.outputs, {}, "ulp", 4, samples=lambda rng: [
                            [bases.reshape(-1, 1), np.float32([[0, 1, 2, 3, -1, -2, 0.5, -1.5]])]])
        elif not case.name.endswith("itself"):  # errors of C libraries grow with the exponent
            case.samples = _mapped(case, positive, lambda d: np.clip(d, -8, 8).astype(np.float32))
        yield case
    for case in binary(rng, "POW", "int32", allow=small):
        if case.name.endswith("itself"):
            continue
        # Within 32 bits; what is beyond is undefined in the reference.
        if case.inputs[0].data is not None:
            case.inputs[0] = const(case.inputs[0].data % 21 - 10)
        case.samples = _mapped(case, lambda d: (d.astype(np.int64) % 21 - 10).astype(np.int32),
                               lambda d: small(d, rng))
        yield case
    yield Case("pow_int32_negative", "POW", [Tensor("int32", (3,)), Tensor("int32", (3,))],
               [Tensor("int32")], samples=lambda rng: [[np.array([2, 3, 4]), np.array([1, -1, 2])]])


def _mapped(case, first, second):
    from case import random_samples
    maps = [m for m, t in zip((first, second), case.inputs) if t.data is None]
    plain = Case("", "", case.inputs, [])
    return lambda rng: [[m(a) for m, a in zip(maps, arrays)] for arrays in random_samples(plain, rng)]


def _prelu(rng, dtype, q, turn):
    qx, qa, qo = q
    shapes = [(a, b) for a, b in BROADCASTS if np.broadcast_shapes(a, b) == a and len(a) < 5]
    shapes += [((2, 3, 4), (4,)), ((1, 5, 7, 3), (1, 1, 3)), ((17,), (1,)), ((6,), ()), ((2, 2), (2, 1))]
    for i, (x, alpha) in enumerate(shapes):
        for known in (False, True) if turn == 0 else (True,):
            slope = tensor(dtype, alpha, qa)
            if known:
                slope = constant(rng, slope)
            yield Case(f"prelu_{dtype}_q{turn}_{i:02}_{'constant' if known else 'input'}", "PRELU",
                       [tensor(dtype, x, qx), slope], [tensor(dtype, (), qo)])
    special = np.float32([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-45, -1e-45, 3e38, -3e38])
    if dtype == "float32":
        yield Case("prelu_float32_special", "PRELU", [Tensor(dtype, (9,)), const(np.float32([0.3]))],
                   [Tensor(dtype)], samples=lambda rng: [[special]])
    else:
        info = np.iinfo(dtype)
        ramp = np.arange(info.min, info.max + 1).astype(dtype)
        yield Case(f"prelu_{dtype}_q{turn}_every_value", "PRELU",
                   [tensor(dtype, (9, 256), qx), tensor(dtype, (9, 1), qa)], [tensor(dtype, (), qo)],
                   samples=lambda rng: [[np.tile(ramp, (9, 1)), rng.choice(ramp, (9, 1))]])
