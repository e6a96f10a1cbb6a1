# SPDX-License-Identifier: Apache-2.0
"""QUANTIZE: float32 to int8, int16 or uint8, and from one quantised type to another."""

import itertools

import int16_cases
import numpy as np
from case import Case, Tensor
from patterns import SHAPES

ZERO = {"int8": (-128, 127, 0, 9), "uint8": (0, 255, 128, 7), "int16": (0,)}


def _ties(scale, shape):
    def samples(rng):
        halves = (rng.integers(-300, 300, size=shape) + 0.5) * np.float32(scale)
        wide = rng.standard_normal(size=shape) * 100 * scale
        limits = rng.choice(np.float32([0.0, -0.0, 1e8, -1e8, 1e-30, -1e-30]), size=shape) * scale
        return [[halves], [wide], [limits]]
    return samples


def _from_float(name, out, shape):
    return Case(name, "QUANTIZE", [Tensor("float32", shape)], [out],
                samples=_ties(float(np.max(out.scale)), shape))


def cases(rng):
    number = itertools.count()
    for out_type in ("int8", "uint8", "int16"):
        for scale, zero in itertools.product((0.1, 1e-6, 1 / 3, 1000.0), ZERO[out_type]):
            i = next(number)
            yield _from_float(f"float32_to_{out_type}_{i:02}", Tensor(out_type, (), scale, zero),
                              SHAPES[i % len(SHAPES)])
    # x / scale and x * (1 / scale) differ for some of these; both in float32.
    ramp = ((np.arange(-100, 100) + np.float32(0.5)) * np.float32(0.0487)).astype(np.float32)
    above, below = np.nextafter(ramp, np.float32(9)), np.nextafter(ramp, np.float32(-9))
    ramp = np.concatenate([ramp, above, below])
    yield Case("float32_to_int8_next_to_ties", "QUANTIZE", [Tensor("float32", ramp.shape)],
               [Tensor("int8", (), 0.0487, 3)], samples=lambda rng: [[ramp]])
    for i, (si, so) in enumerate(((0.7, 0.2), (0.9, 0.2), (0.35, 0.14))):
        yield Case(f"int8_to_int8_next_to_ties_{i}", "QUANTIZE", [Tensor("int8", (256,), si, -100)],
                   [Tensor("int8", (), so, -128)],
                   samples=lambda rng: [[np.arange(-128, 128).astype(np.int8)]])
    pairs = (("int8", "int8"), ("int8", "uint8"), ("uint8", "int8"), ("int8", "int16"),
             ("int16", "int8"), ("uint8", "uint8"), ("int16", "int16"), ("uint8", "int16"))
    for source, target in pairs:
        for j, (si, so) in enumerate(
            ((0.1, 0.1), (0.1, 0.03), (0.02, 0.5), (1e-5, 1.0), (3.0, 0.01))):
            zi, zo = ZERO[source][j % len(ZERO[source])], ZERO[target][(j + 1) % len(ZERO[target])]
            yield Case(f"{source}_to_{target}_{j}", "QUANTIZE",
                       [Tensor(source, (3, 50), si, zi)], [Tensor(target, (), so, zo)])
    yield Case("int8_to_uint8_same_scale", "QUANTIZE", [Tensor("int8", (40,), 0.5, -128)],
               [Tensor("uint8", (), 0.5, 0)])
    yield Case("uint8_to_int8_same_scale", "QUANTIZE", [Tensor("uint8", (40,), 0.5, 128)],
               [Tensor("int8", (), 0.5, 0)])
    yield _from_float("float32_to_int8_per_channel",
                      Tensor("int8", (), [0.1, 0.5, 2.0], [0, 3, -5], 1), (4, 3))
    yield Case("int16_nonzero_zero_point", "QUANTIZE", [Tensor("int16", (4,), 0.1, 3)],
               [Tensor("int16", (), 0.1, 0)])
    yield Case("float32_to_float32", "QUANTIZE", [Tensor("float32", (4,))], [Tensor("float32")])
    yield from int16_cases.conversions()
