# SPDX-License-Identifier: Apache-2.0
"""Shapes, quantisations and weights that several operators' case files draw from."""

import numpy as np
from case import Case, Tensor, const

ZERO_POINTS = (-128, 127, 0, 5, -37)
SHAPES = ((1, 8), (3,), (2, 3, 4), (1, 5, 7, 3), (2, 1, 3, 1, 4), (1, 1, 1, 1), (17,))
BROADCASTS = (
    ((1, 4, 4, 3), (1, 4, 4, 3)), ((1, 4, 4, 3), (1, 1, 1, 3)), ((1, 4, 4, 3), (3,)),
    ((1, 4, 4, 3), (1,)), ((1,), (2, 3)), ((2, 1, 3), (1, 5, 1)), ((4, 1), (1, 6)), ((5,), (5,)),
    ((2, 3, 1, 2, 1), (1, 3, 4, 1, 5)), ((1, 1, 1, 1), (2, 3, 2, 3)), ((3, 4, 5), (4, 1)),
)
SPECIAL = np.float32([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-45, -1e-45, 3e38, -3e38, 6.0, -1.0])
ACTIVATIONS = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")


def int8(shape, scale, zero_point=0):
    return Tensor("int8", tuple(shape), scale, zero_point)


def float32(shape=()):
    return Tensor("float32", tuple(shape))


def weights_int8(rng, shape, axis, per_channel=True, scale=0.02):
    """Weights in -127..127 with per-channel scales spread over about a decade."""
    scales = scale * rng.uniform(0.3, 3.0, size=shape[axis]) if per_channel else scale
    if shape[axis] == 1 and per_channel:
        scales = float(scales[0])
    data = rng.integers(-127, 128, size=shape).astype(np.int8)
    zeros = [0] * np.size(scales) if per_channel else 0
    return const(data, scales, zeros, axis)


def bias_int32(rng, channels, input_scale, weight_scale, magnitude=2000):
    """Bias at the scale of the accumulator."""
    scales = np.broadcast_to(np.float32(np.atleast_1d(weight_scale)), (channels,))
    data = rng.integers(-magnitude, magnitude + 1, size=channels).astype(np.int32)
    size = np.size(weight_scale)
    scale = np.float32(input_scale) * (scales if size > 1 else scales[:1])
    return const(data, scale, [0] * np.size(scale))


def dtype_sweep(rng,
                kind,
                make_case,
                dtypes=("int8", "float32", "int32", "int16", "uint8", "bool")):
    """One case per type for operators that move data; `make_case(dtype, scale, zero_point)`."""
    for dtype in dtypes:
        scale, zero = {"int8": (0.05, -3), "uint8": (0.05, 100), "int16": (0.001, 0)}.get(
            dtype, (None, 0))
        yield make_case(dtype, scale, zero)


def unary_cases(kind, ins_outs, float_ulp=0, options=None, shapes=SHAPES, tag=""):
    """Cases of an activation: `ins_outs` lists (input scale, zero point, result scale, zero
    point) for int8, spread over `shapes`; then float32 over all shapes."""
    options = options or {}
    for i, (si, zi, so, zo) in enumerate(ins_outs):
        shape = shapes[i % len(shapes)]
        yield Case(f"int8_{tag}{i:02}", kind, [all_values(shape, si, zi)], [int8((), so, zo)],
                   dict(options), samples=every_int8(shape))
    for i, shape in enumerate(shapes):
        yield Case(f"float32_{tag}{i:02}", kind, [float32(shape)], [float32()], dict(options),
                   tolerance="ulp", ulp=float_ulp)
    yield Case(f"float32_{tag}special", kind, [float32((len(SPECIAL),))], [float32()],
               dict(options), tolerance="ulp", ulp=float_ulp, samples=lambda rng: [[SPECIAL]])


def all_values(shape, scale, zero_point):
    """An int8 input; single rows are widened so that every value can be seen."""
    return int8(tuple(shape[:-1]) + (max(shape[-1], 256 // max(1, int(np.prod(shape[:-1])))),),
                scale, zero_point)


def every_int8(shape):
    """Samples that hold every int8 value when there is room, and two random ones."""
    def samples(rng):
        size = int(np.prod(all_values(shape, 1.0, 0).shape))
        ramp = ((np.arange(size) % 256) - 128).astype(np.int8)
        return [[ramp]] + [[rng.integers(-128, 128, size=size).astype(np.int8)] for _ in range(2)]
    return samples
