# SPDX-License-Identifier: Apache-2.0
"""DEQUANTIZE: int8, uint8, int16 and float16 to float32."""

import itertools

import numpy as np
from case import Case, Tensor, const
from patterns import SHAPES


def cases(rng):
    zeros = {"int8": (-128, 127, 0, 9), "uint8": (0, 255, 128, 7), "int16": (0, 0, 0, 0)}
    number = itertools.count()
    for dtype in zeros:
        for scale, zero in zip((0.1, 1e-6, 1 / 3, 12345.678), zeros[dtype]):
            for shape in (SHAPES[next(number) % len(SHAPES)], (3, 100)):
                yield Case(f"{dtype}_{next(number):02}", "DEQUANTIZE",
                           [Tensor(dtype, shape, scale, zero)], [Tensor("float32")],
                           tolerance="ulp")
    yield Case("float16", "DEQUANTIZE", [Tensor("float16", (30,))], [Tensor("float32")])
    # Weights: folded while the model is read. Their results meet an input, so that something runs.
    halves = np.float16([0.0, -0.0, 1.0, -1.5, 6e-8, -6e-8, 6.1e-5, 65504, -65504, np.inf, -np.inf])
    for shape in ((11,), (3, 100)):
        data = np.resize(np.concatenate([halves, rng.standard_normal(89).astype(np.float16)]), shape)
        yield Case(f"float16_weights_{len(shape)}", "DEQUANTIZE", [const(data)], [Tensor("float32")],
                   tolerance="ulp", join=Tensor("float32", shape))
    for name, shape, axis in (("small", (3, 20), 0), ("large", (40, 100), 1), ("per_tensor", (40, 100), None)):
        count = 1 if axis is None else shape[axis]
        weights = const(rng.integers(-128, 128, shape).astype(np.int8), list(rng.uniform(0.01, 1, count)),
                        list(rng.integers(-9, 9, count)), axis or 0)
        yield Case(f"int8_weights_{name}", "DEQUANTIZE", [weights], [Tensor("float32")],
                   tolerance="ulp", join=Tensor("float32", shape))
    for axis in (0, 2):
        yield Case(f"int8_per_channel_{axis}", "DEQUANTIZE",
                   [Tensor("int8", (3, 4, 3), [0.1, 0.7, 1 / 3], [0, 5, -9], axis)],
                   [Tensor("float32")], tolerance="ulp")
    yield Case("int32", "DEQUANTIZE", [Tensor("int32", (4,), 0.1)], [Tensor("float32")])
