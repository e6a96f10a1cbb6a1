# SPDX-License-Identifier: Apache-2.0
"""TRANSPOSE_CONV: int8 with per-channel or per-tensor weights, int16, float32 with weights of either kind;
kernels smaller and larger than the stride, phases with no tap, borders that are cut, and weights that are not
finite."""

import int16_cases
import numpy as np
import uint8_cases
from case import Case, const
from patterns import bias_int32, float32, int8, weights_int8

PAIRS = [("TRANSPOSE_CONV", "int8"), ("TRANSPOSE_CONV", "float32"), ("TRANSPOSE_CONV", "uint8"),
         ("TRANSPOSE_CONV", "int16")]
PAIR_BY = "outputs"

# name: input, filter (out channels, height, width, depth), strides, size of the result, padding
GEOMETRIES = {
    "k2_stride2": ((1, 3, 4, 3), (4, 2, 2, 3), (2, 2), (6, 8), "SAME"),
    "k2_stride2_valid": ((1, 3, 4, 5), (3, 2, 2, 5), (2, 2), (6, 8), "VALID"),
    "k3_stride2": ((1, 4, 3, 3), (4, 3, 3, 3), (2, 2), (8, 6), "SAME"),
    "k3_stride2_odd": ((1, 4, 3, 3), (5, 3, 3, 3), (2, 2), (7, 5), "SAME"),
    "k3_stride2_valid": ((1, 4, 3, 2), (3, 3, 3, 2), (2, 2), (9, 7), "VALID"),
    "k4_stride2": ((1, 4, 5, 2), (6, 4, 4, 2), (2, 2), (8, 10), "SAME"),
    "k5_stride2": ((1, 4, 4, 2), (3, 5, 5, 2), (2, 2), (8, 8), "SAME"),
    "k3_stride1": ((1, 5, 6, 3), (4, 3, 3, 3), (1, 1), (5, 6), "SAME"),
    "k3_stride1_valid": ((1, 5, 6, 3), (4, 3, 3, 3), (1, 1), (7, 8), "VALID"),
    "k4_stride1": ((1, 3, 4, 1), (2, 4, 4, 1), (1, 1), (3, 4), "SAME"),
    "pointwise": ((1, 3, 4, 6), (5, 1, 1, 6), (1, 1), (3, 4), "SAME"),
    "k1_stride2": ((1, 3, 4, 6), (5, 1, 1, 6), (2, 2), (6, 8), "SAME"),
    "k1_stride3_odd": ((1, 3, 2, 2), (2, 1, 1, 2), (3, 3), (7, 6), "SAME"),
    "k2_stride3": ((1, 3, 3, 4), (3, 2, 2, 4), (3, 3), (9, 9), "SAME"),
    "k3_stride3": ((1, 2, 3, 4), (3, 3, 3, 4), (3, 3), (6, 9), "VALID"),
    "k5_stride3": ((1, 3, 3, 2), (4, 5, 5, 2), (3, 3), (9, 8), "SAME"),
    "stride_2x1": ((1, 3, 5, 3), (4, 3, 3, 3), (2, 1), (6, 5), "SAME"),
    "stride_1x3": ((1, 5, 2, 3), (4, 3, 4, 3), (1, 3), (5, 6), "SAME"),
    "k3x5": ((1, 3, 4, 2), (3, 3, 5, 2), (2, 2), (6, 8), "SAME"),
    "row": ((1, 1, 6, 4), (5, 1, 4, 4), (1, 2), (1, 12), "SAME"),
    "column": ((1, 6, 1, 4), (5, 4, 1, 4), (2, 1), (12, 1), "SAME"),
    "batch2": ((2, 3, 3, 2), (3, 3, 3, 2), (2, 2), (6, 6), "SAME"),
    "one_pixel": ((1, 1, 1, 9), (4, 3, 3, 9), (3, 3), (3, 3), "VALID"),
    "one_pixel_stride2": ((1, 1, 1, 3), (2, 3, 3, 3), (2, 2), (2, 2), "SAME"),
    "one_channel": ((1, 4, 4, 1), (1, 3, 3, 1), (2, 2), (8, 8), "SAME"),
    "wide": ((1, 3, 3, 16), (19, 2, 2, 16), (2, 2), (6, 6), "SAME"),
    "wide_k3": ((1, 3, 4, 20), (8, 3, 3, 20), (2, 2), (6, 8), "SAME"),
    "words_k2": ((1, 4, 5, 8), (6, 2, 2, 8), (2, 2), (8, 10), "SAME"),
    "words_k3_odd": ((2, 5, 6, 4), (5, 3, 3, 4), (2, 2), (9, 11), "SAME"),
    "words_k4": ((1, 5, 7, 12), (7, 4, 4, 12), (2, 2), (10, 14), "SAME"),
    "words_k5_stride3": ((1, 4, 6, 4), (2, 5, 5, 4), (3, 3), (12, 17), "SAME"),
    "words_stride1": ((1, 6, 9, 8), (9, 3, 3, 8), (1, 1), (6, 9), "SAME"),
    "words_valid": ((1, 6, 9, 4), (4, 3, 4, 4), (2, 1), (13, 12), "VALID"),
    "kernel_over_result": ((1, 2, 2, 2), (3, 7, 7, 2), (1, 1), (2, 2), "SAME"),
    "wrong_size": ((1, 3, 3, 2), (3, 3, 3, 2), (2, 2), (9, 9), "SAME"),
}
# name: input scale, input zero point, weight scale, output scale, output zero point, activation
QUANTIZATIONS = {
    "relu": (0.05, -128, 0.02, 0.2, -128, "RELU"),
    "relu6": (0.02, 127, 0.01, 6 / 255, -128, "RELU6"),
    "relu_n1_to_1": (0.02, 0, 0.01, 0.01, 0, "RELU_N1_TO_1"),
    "saturates": (0.5, -128, 0.1, 0.05, 127, "NONE"),
    "left_shift": (1.0, 0, 1.0, 0.13, 3, "NONE"),
    "tiny_multiplier": (1e-4, 5, 1e-4, 1.0, -5, "NONE"),
    "scale_one_half": (0.5, 0, 1.0, 64.0, 0, "NONE"),
}
TYPICAL = (0.05, -3, 0.02, 0.3, 4, "NONE")


def _case(name, geometry, weights, x, bias, out, activation, tolerance="exact"):
    shape, filters, (sh, sw), (h, w), padding = geometry
    inputs = [const(np.array((shape[0], h, w, filters[0]), np.int32)), weights, x]
    if bias is not None:
        inputs.append(bias)
    return Case(name, "TRANSPOSE_CONV", inputs, [out],
                dict(padding=padding, stride_h=sh, stride_w=sw, activation=activation), tolerance)


def _int8(rng, name, geometry, quantization=TYPICAL, per_channel=True, bias=True):
    si, zi, sw, so, zo, activation = quantization
    w = weights_int8(rng, geometry[1], 0, per_channel, sw)
    b = bias_int32(rng, geometry[1][0], si, w.scale) if bias else None
    return _case(name, geometry, w, int8(geometry[0], si, zi), b, int8((), so, zo), activation)


def _float32(rng, name, geometry, activation="NONE", bias=True):
    w = const(rng.standard_normal(geometry[1]).astype(np.float32))
    b = const(rng.standard_normal(geometry[1][0]).astype(np.float32)) if bias else None
    return _case(name, geometry, w, float32(geometry[0]), b, float32(), activation, "ulp")


def _int16(rng, name, geometry, scales=int16_cases.SCALES["typical"], per_channel=True, bias="int64",
           magnitude=200000):
    si, sw, so, activation = scales
    w = weights_int8(rng, geometry[1], 0, per_channel, sw)
    b = int16_cases.bias_of(rng, geometry[1][0], si, w, bias, magnitude) if bias else None
    case = _case(name, geometry, w, int16_cases.int16(geometry[0], si), b, int16_cases.int16((), so), activation)
    if bias == "int32":
        case.options["quantized_bias_type"] = "int32"
    return case


def _int16_cases(rng):
    for i, (name, geometry) in enumerate(GEOMETRIES.items()):
        yield _int16(rng, f"int16_{name}", geometry, bias=(None, "int64", "int32")[i % 3], magnitude=20000)
    for i, (name, scales) in enumerate(int16_cases.SCALES.items()):
        geometry = GEOMETRIES[("k3_stride2", "k2_stride2", "k1_stride2", "k3_stride1")[i % 4]]
        yield _int16(rng, f"int16_q_{name}", geometry, scales)
        yield _int16(rng, f"int16_q_{name}_per_tensor", geometry, scales, False)
        yield _int16(rng, f"int16_q_{name}_narrow", geometry, scales, True, "int32", 2000)
    for i, magnitude in enumerate((1 << 31, 1 << 36, 1 << 42)):  # sums that leave 32 bits
        scales = (0.001, 0.02, 0.004 * magnitude / (1 << 28), "NONE")
        yield _int16(rng, f"int16_wide_bias_{i}", GEOMETRIES["k5_stride3"], scales, magnitude=magnitude)
    yield from int16_cases.refused(rng, lambda name, **more: _int16(rng, name, GEOMETRIES["k3_stride2"], **more))
    case = _int16(rng, "int16_no_bias_announced_as_int32", GEOMETRIES["k3_stride2"], bias=None)
    case.options["quantized_bias_type"] = "int32"
    yield case


def _dynamic_cases(rng):
    """Float activations and int8 weights: the input is quantised when the operator runs."""
    for i, (name, geometry) in enumerate(GEOMETRIES.items()):
        w = weights_int8(rng, geometry[1], 0, True, 0.02)
        b = const(rng.standard_normal(geometry[1][0]).astype(np.float32)) if i % 4 != 2 else None
        yield _case(f"dynamic_{name}", geometry, w, float32(geometry[0]), b, float32(),
                    ("NONE", "RELU", "RELU6")[i % 3], "ulp")
    case = _float32(rng, "dynamic_per_tensor", GEOMETRIES["k3_stride2"])
    case.inputs[1] = weights_int8(rng, GEOMETRIES["k3_stride2"][1], 0, False)
    case.undefined = "reads scales that are not there"
    yield case


def cases(rng):
    yield from _cases(rng)
    yield from _int16_cases(np.random.default_rng(16))
    yield from _dynamic_cases(np.random.default_rng(17))
    yield from uint8_cases.of(_cases(rng), weights=1)


def _cases(rng):
    for i, (name, geometry) in enumerate(GEOMETRIES.items()):
        yield _int8(rng, f"int8_{name}", geometry, bias=i % 4 != 3)
        yield _float32(rng, f"float32_{name}", geometry, ("NONE", "RELU", "RELU6")[i % 3], i % 4 != 2)
    for name, quantization in QUANTIZATIONS.items():
        yield _int8(rng, f"int8_q_{name}", GEOMETRIES["k3_stride2"], quantization)
        yield _int8(rng, f"int8_q_{name}_per_tensor", GEOMETRIES["k2_stride2"], quantization, False)
    for name in ("k3_stride2", "k2_stride2", "k1_stride2", "k3_stride1"):
        case = _float32(rng, f"float32_not_finite_{name}", GEOMETRIES[name])
        weights = case.inputs[1].data
        every = np.arange(weights.size).reshape(weights.shape) % 7
        weights[every == 0] = np.inf
        weights[every == 3] = -np.inf
        weights[every == 5] = np.nan
        yield case
