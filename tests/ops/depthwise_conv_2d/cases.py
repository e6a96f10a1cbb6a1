# SPDX-License-Identifier: Apache-2.0
"""DEPTHWISE_CONV_2D: int8 and float32, any depth multiplier."""

import int16_cases
import int4_cases
import numpy as np
import uint8_cases
from case import Case, const
from patterns import bias_int32, float32, int8, weights_int8

PAIRS = [("DEPTHWISE_CONV_2D", "uint8")]
PAIR_BY = "outputs"

# name: input shape, filter height and width, multiplier, strides, dilations, padding
GEOMETRIES = {
    "k3_same": ((1, 7, 6, 4), (3, 3), 1, (1, 1), (1, 1), "SAME"),
    "k3_valid": ((1, 7, 6, 4), (3, 3), 1, (1, 1), (1, 1), "VALID"),
    "k3_stride2": ((1, 9, 8, 5), (3, 3), 1, (2, 2), (1, 1), "SAME"),
    "k3_stride2_even": ((1, 8, 8, 5), (3, 3), 1, (2, 2), (1, 1), "SAME"),
    "multiplier2": ((1, 5, 6, 3), (3, 3), 2, (1, 1), (1, 1), "SAME"),
    "multiplier7_from_one": ((1, 6, 5, 1), (3, 3), 7, (1, 1), (1, 1), "SAME"),
    "multiplier3_stride2": ((1, 7, 7, 2), (3, 3), 3, (2, 2), (1, 1), "VALID"),
    "k5": ((1, 8, 9, 3), (5, 5), 1, (1, 1), (1, 1), "SAME"),
    "k10x8": ((1, 14, 11, 1), (10, 8), 8, (2, 2), (1, 1), "SAME"),
    "k1": ((1, 4, 4, 6), (1, 1), 1, (1, 1), (1, 1), "SAME"),
    "k1x4": ((1, 3, 9, 4), (1, 4), 1, (1, 1), (1, 1), "SAME"),
    "dilated": ((1, 9, 8, 3), (3, 3), 1, (1, 1), (2, 2), "SAME"),
    "dilated_1x3": ((1, 6, 11, 3), (3, 3), 1, (1, 1), (1, 3), "VALID"),
    "batch2": ((2, 5, 4, 3), (3, 3), 1, (1, 1), (1, 1), "SAME"),
    "one_channel": ((1, 6, 6, 1), (3, 3), 1, (1, 1), (1, 1), "SAME"),
    "one_pixel": ((1, 1, 1, 9), (3, 3), 1, (1, 1), (1, 1), "SAME"),
    "bands": ((1, 59, 47, 2), (3, 3), 1, (1, 1), (1, 1), "SAME"),
    "bands_stride2": ((1, 97, 61, 1), (3, 3), 2, (2, 2), (1, 1), "SAME"),
    "k2x19": ((1, 4, 25, 2), (2, 19), 1, (1, 1), (1, 1), "SAME"),
    "odd_rows_and_columns": ((1, 9, 7, 16), (3, 3), 1, (1, 1), (1, 1), "SAME"),
    "one_row_of_outputs": ((1, 3, 9, 6), (3, 3), 1, (1, 1), (1, 1), "VALID"),
    "row_padded": ((1, 3, 5, 6), (3, 3), 1, (3, 1), (1, 1), "SAME"),
    "row_padded_long": ((1, 3, 13, 8), (3, 3), 1, (3, 1), (1, 1), "SAME"),
    "row_stride2": ((1, 3, 9, 6), (3, 3), 1, (3, 2), (1, 1), "SAME"),
    "row_stride2_right": ((1, 3, 18, 8), (3, 3), 1, (3, 2), (1, 1), "SAME"),
    "three_rows_of_outputs": ((1, 5, 6, 3), (3, 3), 1, (1, 1), (1, 1), "VALID"),
    "k4x3": ((1, 8, 9, 4), (4, 3), 1, (1, 1), (1, 1), "SAME"),
    "k2x2": ((1, 6, 7, 9), (2, 2), 1, (1, 1), (1, 1), "SAME"),
    "stride2_wide": ((1, 11, 19, 8), (3, 3), 1, (2, 2), (1, 1), "SAME"),
    "stride1x3": ((1, 6, 21, 3), (3, 2), 1, (1, 3), (1, 1), "VALID"),
    "stride3": ((1, 13, 12, 7), (3, 3), 1, (3, 3), (1, 1), "SAME"),
    "column_k3": ((1, 30, 1, 17), (3, 1), 1, (1, 1), (1, 1), "VALID"),
    "column_k10_same": ((1, 19, 1, 24), (10, 1), 1, (1, 1), (1, 1), "SAME"),
    "column_k13": ((1, 16, 1, 16), (13, 1), 1, (1, 1), (1, 1), "VALID"),
    "column_k15_to_one": ((1, 15, 1, 20), (15, 1), 1, (1, 1), (1, 1), "VALID"),
    "column_k14_same": ((1, 9, 1, 16), (14, 1), 1, (1, 1), (1, 1), "SAME"),
    "column_short": ((1, 2, 1, 16), (5, 1), 1, (1, 1), (1, 1), "SAME"),
    "row_k5": ((1, 1, 14, 16), (1, 5), 1, (1, 1), (1, 1), "SAME"),
    "channels17": ((1, 4, 3, 17), (3, 3), 1, (1, 1), (1, 1), "SAME"),
}
# Pairs of squares of outputs, in a loop or once, and columns that remain.
PAIRS_OF_SQUARES = {
    "pairs_once": ((1, 4, 4, 16), (3, 3), 1, (1, 1), (1, 1), "SAME"),
    "pairs_once_odd": ((1, 7, 5, 8), (3, 3), 1, (1, 1), (1, 1), "SAME"),
    "pairs": ((1, 6, 8, 5), (3, 3), 1, (1, 1), (1, 1), "SAME"),
    "pairs_odd": ((1, 5, 13, 3), (2, 3), 1, (1, 1), (1, 1), "SAME"),
    "pairs_valid": ((1, 5, 14, 17), (3, 3), 1, (1, 1), (1, 1), "VALID"),
}
# Planes between each other: of equal sizes or not, with windows that lie inside of the image or beyond it.
DILATED = {
    "dilated_even": ((1, 8, 8, 4), (3, 3), 1, (1, 1), (2, 2), "SAME"),
    "dilated_odd": ((1, 10, 11, 5), (3, 3), 1, (1, 1), (3, 2), "SAME"),
    "dilated_valid": ((1, 9, 10, 4), (3, 3), 1, (1, 1), (2, 2), "VALID"),
    "dilated_4": ((1, 16, 13, 3), (3, 3), 1, (1, 1), (4, 4), "SAME"),
    "dilated_rows": ((1, 9, 8, 3), (3, 3), 1, (1, 1), (2, 1), "SAME"),
    "dilated_columns": ((1, 7, 12, 3), (3, 3), 1, (1, 1), (1, 3), "SAME"),
    "dilated_multiplier2": ((1, 8, 9, 3), (3, 3), 2, (1, 1), (2, 2), "SAME"),
    "dilated_batch2": ((2, 7, 6, 2), (3, 3), 1, (1, 1), (2, 2), "SAME"),
    "dilated_over_input": ((1, 3, 3, 4), (3, 3), 1, (1, 1), (4, 4), "SAME"),
}
QUANTIZATIONS = {
    "typical": (0.05, -3, 0.02, 0.1, 4, "NONE"),
    "relu": (0.05, -128, 0.02, 0.05, -128, "RELU"),
    "relu6": (0.02, 127, 0.01, 6 / 255, -128, "RELU6"),
    "relu_n1_to_1": (0.02, 0, 0.01, 0.01, 0, "RELU_N1_TO_1"),
    "relu6_part": (0.05, -128, 0.02, 0.05, -100, "RELU6"),
    "saturates": (0.5, -128, 0.1, 0.05, 127, "NONE"),
    "left_shift": (1.0, 0, 1.0, 0.13, 3, "NONE"),
    "tiny_multiplier": (1e-4, 5, 1e-4, 1.0, -5, "NONE"),
    "multiplier_is_zero": (1e-7, 5, 1e-7, 10.0, -5, "NONE"),
}


def _options(geometry, activation):
    _, _, multiplier, (sh, sw), (dh, dw), padding = geometry
    return dict(padding=padding, stride_h=sh, stride_w=sw, dilation_h=dh, dilation_w=dw,
                depth_multiplier=multiplier, activation=activation)


def _filter_shape(geometry):
    return (1,) + geometry[1] + (geometry[0][3] * geometry[2],)


def _int8(rng, name, geometry, quantization, per_channel=True, bias=True):
    si, zi, sw, so, zo, activation = quantization
    shape = _filter_shape(geometry)
    w = weights_int8(rng, shape, 3, per_channel, sw)
    w.axis = 3
    inputs = [int8(geometry[0], si, zi), w]
    if bias:
        inputs.append(bias_int32(rng, shape[3], si, w.scale, 500))
    return Case(name, "DEPTHWISE_CONV_2D", inputs, [int8((), so, zo)],
                _options(geometry, activation))


def _ramp(name, real, out_scale, weight_scale=1.0):
    """The inputs are their zero point, so the accumulators are the biases: a ramp that meets
    every tie of a multiplier `real / out_scale`."""
    ramp = np.arange(-320, 320, dtype=np.int32)
    weights = const(np.ones((1, 1, 1, ramp.size), np.int8), weight_scale, 0, 3)
    return Case(name, "DEPTHWISE_CONV_2D",
                [int8((1, 1, 1, 1), real, 3), weights, const(ramp, real * weight_scale)],
                [int8((), out_scale, 0)],
                dict(padding="VALID", stride_h=1, stride_w=1, depth_multiplier=ramp.size),
                samples=lambda rng: [[[3]], [[4]]])


def _float32(rng, name, geometry, activation, bias=True):
    shape = _filter_shape(geometry)
    inputs = [float32(geometry[0]), const(rng.standard_normal(shape).astype(np.float32))]
    if bias:
        inputs.append(const(rng.standard_normal(shape[3]).astype(np.float32)))
    return Case(name, "DEPTHWISE_CONV_2D", inputs, [float32()], _options(geometry, activation),
                "ulp")


def _not_finite(rng, name, geometry, bias=True):
    """Taps outside the image are skipped: zeros there would make NaN of these weights."""
    case = _float32(rng, name, geometry, "NONE", bias)
    weights = case.inputs[1].data
    every = np.arange(weights.size).reshape(weights.shape) % 7
    weights[every == 0] = np.inf
    weights[every == 3] = -np.inf
    weights[every == 5] = np.nan
    # All but one tap of each row: sums that skip them are finite, or infinite with a sign.
    weights[:, :, 1:, :] = rng.standard_normal(weights[:, :, 1:, :].shape).astype(np.float32)
    return case


def _dynamic(rng, name, geometry, activation, bias=True, samples=None):
    """Float activations and int8 weights: a batch is quantised when the operator runs."""
    w = weights_int8(rng, _filter_shape(geometry), 3, True, 0.02)
    w.axis = 3
    inputs = [float32(geometry[0]), w]
    if bias:
        inputs.append(const(rng.standard_normal(w.shape[3]).astype(np.float32)))
    return Case(name, "DEPTHWISE_CONV_2D", inputs, [float32()], _options(geometry, activation), "ulp",
                samples=samples)


def _dynamic_cases(rng):
    for i, (name, geometry) in enumerate(GEOMETRIES.items()):
        yield _dynamic(rng, f"dynamic_{name}", geometry,
                       ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")[i % 4], i % 5 > 0)
    yield _dynamic(rng, "dynamic_zeros", GEOMETRIES["batch2"], "NONE", True,
                   lambda rng: [[np.zeros((2, 5, 4, 3))], [np.arange(120).reshape(2, 5, 4, 3) // 60],
                                [-np.ones((2, 5, 4, 3))]])
    one = _dynamic(rng, "dynamic_one_scale", GEOMETRIES["k3_same"], "NONE")
    one.inputs[1].scale, one.inputs[1].zero_point, one.inputs[1].axis = 0.1, 0, 0
    one.undefined = "as many scales are read as there are channels"
    yield one


def cases(rng):
    yield from _cases(rng)
    yield from int4_cases.of(_cases(np.random.default_rng(4)), int16=False, dynamic=False)
    yield from uint8_cases.of(_cases(rng), weights=1)


def _cases(rng):
    yield from _dynamic_cases(np.random.default_rng(9))
    for name, geometry in GEOMETRIES.items():
        yield _int8(rng, f"int8_{name}", geometry, QUANTIZATIONS["typical"])
    for name, quantization in QUANTIZATIONS.items():
        yield _int8(rng, f"int8_q_{name}", GEOMETRIES["k3_same"], quantization)
        yield _int8(rng, f"int8_q_{name}_per_tensor", GEOMETRIES["multiplier2"], quantization,
                    False)
        yield _int8(rng, f"int8_q_{name}_odd", GEOMETRIES["odd_rows_and_columns"], quantization)
        yield _int8(rng, f"int8_q_{name}_stride2", GEOMETRIES["stride2_wide"], quantization)
        yield _int8(rng, f"int8_q_{name}_column", GEOMETRIES["column_k10_same"], quantization)
    yield _ramp("int8_ties", 0.5, 32.0)
    yield _ramp("int8_just_below_ties", 0.99999994, 8.0)
    yield _ramp("int8_next_to_ties", 0.1, 0.14, 0.7)
    yield _int8(rng, "int8_no_bias", GEOMETRIES["k3_stride2"], QUANTIZATIONS["typical"], bias=False)
    for i, (name, geometry) in enumerate(GEOMETRIES.items()):
        yield _float32(rng, f"float32_{name}", geometry, ("NONE", "RELU", "RELU6")[i % 3])
    yield _float32(rng, "float32_no_bias", GEOMETRIES["k3_same"], "RELU_N1_TO_1", bias=False)
    for name in ("k3_same", "multiplier2", "k3_stride2"):
        yield _not_finite(rng, f"float32_not_finite_{name}", GEOMETRIES[name])
    yield from int16_cases.convolutions(rng, "DEPTHWISE_CONV_2D", GEOMETRIES,
                                        lambda g: _options(g, "NONE"), _filter_shape)
    own = np.random.default_rng(16)
    for name, geometry in PAIRS_OF_SQUARES.items():
        for quantization in ("typical", "relu", "relu6_part", "left_shift"):
            yield _int8(own, f"int8_{name}_{quantization}", geometry, QUANTIZATIONS[quantization])
    for name, geometry in DILATED.items():
        for quantization in ("typical", "relu", "left_shift"):
            yield _int8(own, f"int8_{name}_{quantization}", geometry, QUANTIZATIONS[quantization])
