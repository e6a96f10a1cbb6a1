# SPDX-License-Identifier: Apache-2.0
"""CONV_2D: int8 with per-channel or per-tensor weights, float32; groups by a shallower filter."""

import computed_cases
import int16_cases
import int4_cases
import numpy as np
import uint8_cases
from case import Case, const
from patterns import bias_int32, float32, int8, weights_int8

PAIRS = [("CONV_2D", "uint8")]
PAIR_BY = "outputs"

# name: input shape, filter (out channels, height, width, depth), strides, dilations, padding
GEOMETRIES = {
    "pointwise": ((1, 5, 5, 8), (6, 1, 1, 8), (1, 1), (1, 1), "SAME"),
    "k3_same": ((1, 7, 6, 3), (4, 3, 3, 3), (1, 1), (1, 1), "SAME"),
    "k3_valid": ((1, 7, 6, 3), (4, 3, 3, 3), (1, 1), (1, 1), "VALID"),
    "k3_stride2": ((1, 9, 8, 2), (5, 3, 3, 2), (2, 2), (1, 1), "SAME"),
    "k3_stride_2x1": ((1, 8, 8, 2), (3, 3, 3, 2), (2, 1), (1, 1), "SAME"),
    "k5x3": ((1, 9, 7, 2), (3, 5, 3, 2), (1, 2), (1, 1), "SAME"),
    "k10x4": ((1, 13, 10, 1), (8, 10, 4, 1), (2, 2), (1, 1), "SAME"),
    "dilated": ((1, 10, 9, 2), (3, 3, 3, 2), (1, 1), (2, 2), "SAME"),
    "dilated_3x1": ((1, 11, 9, 2), (3, 3, 3, 2), (1, 1), (3, 1), "VALID"),
    "k2_even": ((1, 6, 5, 3), (2, 2, 2, 3), (2, 2), (1, 1), "SAME"),
    "batch2": ((2, 4, 5, 3), (4, 3, 3, 3), (1, 1), (1, 1), "SAME"),
    "groups2": ((1, 5, 5, 4), (6, 3, 3, 2), (1, 1), (1, 1), "SAME"),
    "groups4": ((1, 4, 4, 4), (4, 3, 3, 1), (1, 1), (1, 1), "SAME"),
    "one_channel": ((1, 6, 6, 1), (1, 3, 3, 1), (1, 1), (1, 1), "SAME"),
    "one_pixel": ((1, 1, 1, 16), (7, 1, 1, 16), (1, 1), (1, 1), "VALID"),
    "filter_over_input": ((1, 3, 2, 2), (3, 5, 5, 2), (1, 1), (1, 1), "SAME"),
    "stride_over_filter": ((1, 9, 9, 2), (3, 2, 2, 2), (3, 3), (1, 1), "VALID"),
    "row": ((1, 1, 20, 3), (4, 1, 5, 3), (1, 2), (1, 1), "SAME"),
    "whole_input": ((1, 4, 5, 3), (6, 4, 5, 3), (1, 1), (1, 1), "VALID"),
}
# 3 x 3 of stride 1 over whole words of channels, as schedules that transform tiles take it: images and
# channels that do not divide into tiles, and every combination of borders.
TILED = {
    "even": ((1, 8, 8, 4), (4, 3, 3, 4), (1, 1), (1, 1), "SAME"),
    "odd": ((1, 7, 9, 8), (5, 3, 3, 8), (1, 1), (1, 1), "SAME"),
    "valid": ((1, 9, 12, 4), (6, 3, 3, 4), (1, 1), (1, 1), "VALID"),
    "two_rows": ((1, 2, 13, 12), (2, 3, 3, 12), (1, 1), (1, 1), "SAME"),
    "three_rows": ((1, 3, 7, 20), (7, 3, 3, 20), (1, 1), (1, 1), "SAME"),
    "deep": ((1, 4, 8, 68), (10, 3, 3, 68), (1, 1), (1, 1), "SAME"),
}
# Channels for whole groups of vector lanes and some that remain: how rows are cut into blocks of 16,
# pairs of outputs at borders, odd numbers of outputs.
WIDE = {
    "wide_k8": ((1, 5, 3, 8), (8, 1, 1, 8), (1, 1), (1, 1), "SAME"),
    "wide_k16": ((1, 4, 3, 16), (19, 1, 1, 16), (1, 1), (1, 1), "SAME"),
    "wide_k27": ((1, 3, 5, 27), (8, 1, 1, 27), (1, 1), (1, 1), "SAME"),
    "wide_k40": ((1, 3, 3, 40), (13, 1, 1, 40), (1, 1), (1, 1), "SAME"),
    "wide_k160": ((1, 2, 3, 160), (16, 1, 1, 160), (1, 1), (1, 1), "SAME"),
    "wide_k170": ((1, 2, 3, 170), (9, 1, 1, 170), (1, 1), (1, 1), "SAME"),
    "wide_batch": ((3, 3, 3, 12), (10, 1, 1, 12), (1, 1), (1, 1), "SAME"),
    "wide_stride2": ((1, 8, 8, 20), (11, 1, 1, 20), (2, 2), (1, 1), "SAME"),
    "wide_first": ((1, 10, 12, 3), (8, 3, 3, 3), (2, 2), (1, 1), "SAME"),
    "wide_first_valid": ((1, 9, 9, 3), (8, 3, 3, 3), (2, 2), (1, 1), "VALID"),
    "wide_tall": ((1, 13, 10, 1), (16, 10, 4, 1), (2, 2), (1, 1), "SAME"),
    "wide_same": ((1, 8, 8, 16), (8, 3, 3, 16), (1, 1), (1, 1), "SAME"),
    "wide_same_rest": ((1, 7, 10, 8), (12, 3, 3, 8), (1, 1), (1, 1), "SAME"),
    "wide_same_odd": ((1, 7, 7, 16), (8, 3, 3, 16), (1, 1), (1, 1), "SAME"),
    "wide_rows": ((1, 6, 12, 32), (8, 3, 3, 32), (1, 1), (1, 1), "SAME"),
    "wide_long_rows": ((1, 5, 12, 48), (8, 3, 3, 48), (1, 1), (1, 1), "SAME"),
    "wide_5x5": ((1, 9, 12, 6), (9, 5, 5, 6), (1, 1), (1, 1), "SAME"),
    "wide_dilated": ((1, 9, 10, 16), (8, 3, 3, 16), (1, 1), (2, 1), "SAME"),
    # So few elements of a pixel that weights stay in registers; results that are written over the input from behind.
    "wide_held_k8": ((1, 8, 16, 8), (16, 1, 1, 8), (1, 1), (1, 1), "SAME"),
    "wide_held_k11": ((1, 10, 6, 11), (12, 1, 1, 11), (1, 1), (1, 1), "SAME"),
    "wide_held_k16": ((2, 7, 12, 16), (12, 1, 1, 16), (1, 1), (1, 1), "SAME"),
    "wide_held_k27": ((1, 9, 12, 27), (14, 1, 1, 27), (1, 1), (1, 1), "SAME"),
    "wide_held_k32": ((1, 8, 12, 32), (34, 1, 1, 32), (1, 1), (1, 1), "SAME"),
    # Neighbours whose windows share vectors.
    "wide_shared_rest": ((1, 7, 10, 16), (19, 3, 3, 16), (1, 1), (1, 1), "SAME"),
    "wide_shared_stride2": ((1, 9, 12, 16), (9, 3, 3, 16), (2, 2), (1, 1), "SAME"),
    "wide_shared_stride2_valid": ((1, 8, 18, 16), (8, 2, 4, 16), (2, 2), (1, 1), "VALID"),
    "wide_shared_loop": ((1, 9, 12, 16), (11, 5, 5, 16), (1, 1), (1, 1), "SAME"),
    "wide_shared_tall": ((1, 3, 8, 16), (8, 9, 2, 16), (1, 1), (1, 1), "SAME"),
    "wide_row": ((1, 1, 20, 16), (8, 1, 5, 16), (1, 1), (1, 1), "SAME"),
    "wide_column": ((1, 20, 1, 16), (8, 5, 1, 16), (1, 1), (1, 1), "SAME"),
    "wide_one_pixel": ((1, 1, 1, 130), (10, 1, 1, 130), (1, 1), (1, 1), "VALID"),
    # So many products of one window that they are a fully connected layer's; pixels that are not whole tiles.
    "wide_vector": ((1, 1, 1, 128), (64, 1, 1, 128), (1, 1), (1, 1), "VALID"),
    "wide_vector_rest": ((1, 2, 2, 68), (35, 2, 2, 68), (1, 1), (1, 1), "VALID"),
    "wide_five": ((1, 1, 5, 24), (10, 1, 1, 24), (1, 1), (1, 1), "VALID"),
    "wide_five_same": ((1, 1, 5, 12), (6, 3, 3, 12), (1, 1), (1, 1), "SAME"),
    "wide_whole_input": ((1, 4, 5, 3), (11, 4, 5, 3), (1, 1), (1, 1), "VALID"),
}
# name: input scale, input zero point, weight scale, output scale, output zero point, activation
# Rows of windows that are shorter than a vector: two or four of them are woven, for one row of outputs or two.
NARROW = {
    "narrow_even": ((1, 13, 20, 1), (8, 10, 8, 1), (2, 2), (1, 1), "SAME"),
    "narrow_valid": ((1, 12, 24, 1), (11, 10, 8, 1), (2, 2), (1, 1), "VALID"),
    "narrow_odd": ((1, 11, 18, 1), (9, 5, 7, 1), (1, 2), (1, 1), "SAME"),
    "narrow_two_channels": ((1, 9, 12, 2), (8, 3, 4, 2), (1, 1), (1, 1), "SAME"),
    "narrow_three_channels": ((1, 8, 12, 3), (8, 2, 2, 3), (2, 2), (1, 1), "VALID"),
    "narrow_by_four": ((1, 9, 10, 1), (8, 7, 4, 1), (2, 2), (1, 1), "SAME"),
    "narrow_short_rows": ((1, 9, 6, 1), (11, 4, 3, 1), (1, 1), (1, 1), "SAME"),
    "narrow_one_plane": ((1, 8, 16, 1), (8, 4, 4, 1), (1, 1), (1, 1), "SAME"),
    "narrow_many_planes": ((1, 24, 12, 1), (8, 20, 8, 1), (1, 1), (1, 1), "SAME"),
    "narrow_more_planes": ((1, 44, 12, 1), (8, 42, 8, 1), (1, 1), (1, 1), "SAME"),
    "narrow_rest": ((1, 10, 34, 1), (8, 4, 8, 1), (1, 3), (1, 1), "SAME"),
    "narrow_rest_by_four": ((1, 7, 21, 1), (8, 5, 4, 1), (1, 1), (1, 1), "SAME"),
    "narrow_tall_window": ((1, 3, 20, 1), (8, 9, 8, 1), (1, 2), (1, 1), "SAME"),
    "narrow_strides": ((1, 23, 20, 1), (8, 4, 6, 1), (5, 3), (1, 1), "VALID"),
    # By columns.
    "narrow_columns": ((1, 9, 32, 3), (16, 3, 3, 3), (1, 1), (1, 1), "SAME"),
    "narrow_columns_stride2": ((1, 12, 12, 3), (11, 3, 3, 3), (2, 2), (1, 1), "SAME"),
    "narrow_columns_valid": ((1, 9, 8, 3), (8, 4, 3, 3), (1, 1), (1, 1), "VALID"),
    "narrow_columns_one_vector": ((1, 7, 16, 1), (8, 5, 9, 1), (1, 1), (1, 1), "SAME"),
    "narrow_columns_two_channels": ((1, 10, 14, 2), (8, 5, 5, 2), (2, 1), (1, 1), "SAME"),
    "narrow_columns_five_channels": ((1, 6, 10, 5), (9, 3, 3, 5), (1, 1), (1, 1), "SAME"),
    "narrow_columns_eight_channels": ((1, 6, 6, 8), (8, 2, 2, 8), (1, 1), (1, 1), "SAME"),
    "narrow_columns_tall": ((1, 4, 20, 1), (8, 14, 9, 1), (1, 1), (1, 1), "SAME"),
}
# Groups of whole words of channels, of pairs, odd ones; tiles that cross rows; a last channel of an odd number; bands
# of the result's rows.
GROUPED = {
    "grouped_words": ((1, 8, 8, 8), (16, 3, 3, 4), (1, 1), (1, 1), "SAME"),
    "grouped_words_odd": ((1, 5, 7, 16), (10, 3, 3, 8), (1, 1), (1, 1), "SAME"),
    "grouped_pairs": ((1, 6, 9, 8), (16, 3, 3, 2), (1, 1), (1, 1), "VALID"),
    "grouped_odd": ((1, 6, 5, 9), (9, 3, 2, 3), (1, 1), (1, 1), "SAME"),
    "grouped_stride2": ((1, 9, 10, 12), (12, 3, 3, 6), (2, 2), (1, 1), "SAME"),
    "grouped_dilated": ((1, 9, 8, 8), (8, 3, 3, 4), (1, 1), (2, 2), "SAME"),
    "grouped_narrow": ((1, 9, 2, 8), (8, 3, 3, 4), (1, 1), (1, 1), "SAME"),
    "grouped_pointwise": ((1, 7, 6, 16), (12, 1, 1, 8), (1, 1), (1, 1), "SAME"),
    "grouped_unread": ((1, 8, 8, 8), (8, 2, 2, 4), (3, 3), (1, 1), "VALID"),
    "grouped_filter_over_input": ((1, 2, 3, 4), (4, 5, 5, 2), (1, 1), (1, 1), "SAME"),
    "grouped_bands": ((1, 21, 20, 8), (8, 3, 3, 4), (1, 1), (1, 1), "SAME"),
    "grouped_batch": ((2, 4, 5, 8), (8, 3, 3, 4), (1, 1), (1, 1), "SAME"),
}
QUANTIZATIONS = {
    "typical": (0.05, -3, 0.02, 0.3, 4, "NONE"),
    "relu": (0.05, -128, 0.02, 0.2, -128, "RELU"),
    "relu6": (0.02, 127, 0.01, 6 / 255, -128, "RELU6"),
    "relu_n1_to_1": (0.02, 0, 0.01, 0.01, 0, "RELU_N1_TO_1"),
    "saturates": (0.5, -128, 0.1, 0.05, 127, "NONE"),
    "left_shift": (1.0, 0, 1.0, 0.13, 3, "NONE"),
    "left_shift_most": (2.0, 11, 3.0, 0.1, -7, "NONE"),
    "tiny_multiplier": (1e-4, 5, 1e-4, 1.0, -5, "NONE"),
    "multiplier_is_zero": (1e-7, 5, 1e-7, 10.0, -5, "RELU"),
    "scale_one_half": (0.5, 0, 1.0, 64.0, 0, "NONE"),
}


def _options(geometry, activation):
    _, _, (sh, sw), (dh, dw), padding = geometry
    return dict(padding=padding, stride_h=sh, stride_w=sw, dilation_h=dh, dilation_w=dw,
                activation=activation)


def _int8(rng, name, geometry, quantization, per_channel=True, bias=True):
    si, zi, sw, so, zo, activation = quantization
    w = weights_int8(rng, geometry[1], 0, per_channel, sw)
    inputs = [int8(geometry[0], si, zi), w]
    inputs.append(bias_int32(rng, geometry[1][0], si, w.scale) if bias else None)
    return Case(name, "CONV_2D", inputs, [int8((), so, zo)], _options(geometry, activation))


def _ramp(name, real, out_scale, weight_scale=1.0):
    """The inputs are their zero point, so the accumulators are the biases: a ramp that meets
    every tie of a multiplier `real / out_scale`."""
    ramp = np.arange(-640, 640, 2, dtype=np.int32) + 1
    ramp = np.concatenate([ramp, np.arange(-320, 320, dtype=np.int32)])
    weights = const(np.ones((ramp.size, 1, 1, 1), np.int8), weight_scale)
    bias = const(ramp, real * weight_scale)
    return Case(name, "CONV_2D", [int8((1, 1, 1, 1), real, 3), weights, bias],
                [int8((), out_scale, 0)], dict(padding="VALID", stride_h=1, stride_w=1),
                samples=lambda rng: [[[3]], [[4]]])


def _float32(rng, name, geometry, activation, bias=True):
    w = const(rng.standard_normal(geometry[1]).astype(np.float32))
    inputs = [float32(geometry[0]), w]
    inputs.append(const(rng.standard_normal(geometry[1][0]).astype(np.float32)) if bias else None)
    return Case(name, "CONV_2D", inputs, [float32()], _options(geometry, activation), "ulp")


def _products(rng, name, geometry, most):
    """Float weights that are products of a scale and an integer, as dequantised constants are."""
    case = _float32(rng, name, geometry, "RELU6")
    scales = rng.uniform(0.001, 0.02, (geometry[1][0], 1, 1, 1)).astype(np.float32)
    case.inputs[1] = const(rng.integers(-most - 1, most + 1, geometry[1]).astype(np.float32) * scales)
    return case


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


def _dynamic(rng, name, geometry, activation, per_channel, samples=None):
    """Float activations and int8 weights: a batch is quantised when the operator runs, with a zero
    point if the scales of the weights differ."""
    w = weights_int8(rng, geometry[1], 0, per_channel, 0.02)
    bias = const(rng.standard_normal(geometry[1][0]).astype(np.float32))
    return Case(name, "CONV_2D", [float32(geometry[0]), w, bias], [float32()],
                _options(geometry, activation), "ulp", samples=samples)


def _dynamic_cases(rng):
    for tag, per_channel in (("dynamic", True), ("dynamic_per_tensor", False)):
        for i, (name, geometry) in enumerate({**GEOMETRIES, **TILED, **WIDE}.items()):
            if per_channel or (i % 2 and not name.startswith("groups")):
                yield _dynamic(rng, f"{tag}_{name}", geometry,
                               ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")[i % 4], per_channel)
        yield _dynamic(rng, f"{tag}_zeros", GEOMETRIES["batch2"], "NONE", per_channel,
                       lambda rng: [[np.zeros((2, 4, 5, 3))], [np.arange(120).reshape(2, 4, 5, 3) // 60],
                                    [-np.ones((2, 4, 5, 3))]])
    equal = _dynamic(rng, "dynamic_equal_scales", GEOMETRIES["k3_same"], "NONE", True)
    equal.inputs[1].scale = [0.25] * 4
    yield equal
    group = _dynamic(rng, "dynamic_groups_equal_scales", GEOMETRIES["groups2"], "NONE", True)
    group.inputs[1].scale = [0.25] * 6
    yield group
    group = _dynamic(rng, "dynamic_groups_one_scale", GEOMETRIES["groups2"], "NONE", False)
    group.undefined = "grouped convolutions read as many scales as there are channels"
    yield group


def cases(rng):
    yield from _cases(rng)
    yield from int4_cases.of(_cases(np.random.default_rng(4)), every=2)
    yield from uint8_cases.of(_cases(rng), weights=1)
    yield from computed_cases.of(_cases(np.random.default_rng(14)), every=3)
    yield from computed_cases.of(uint8_cases.of(_cases(np.random.default_rng(15)), weights=1), every=5)


def _cases(rng):
    yield from _dynamic_cases(np.random.default_rng(8))
    for name, geometry in GEOMETRIES.items():
        yield _int8(rng, f"int8_{name}", geometry, QUANTIZATIONS["typical"])
    for name, quantization in QUANTIZATIONS.items():
        yield _int8(rng, f"int8_q_{name}", GEOMETRIES["k3_same"], quantization)
        yield _int8(rng, f"int8_q_{name}_per_tensor", GEOMETRIES["groups2"], quantization, False)
    yield _ramp("int8_ties", 0.5, 32.0)
    yield _ramp("int8_just_below_ties", 0.99999994, 8.0)
    yield _ramp("int8_next_to_ties", 0.1, 0.14, 0.7)
    yield _ramp("int8_next_to_ties_2", 0.3, 0.2, 0.9)
    yield _ramp("int8_just_above_ties", 1.0000001, 8.0)
    yield _int8(rng, "int8_no_bias", GEOMETRIES["k3_stride2"], QUANTIZATIONS["typical"], bias=False)
    for i, (name, geometry) in enumerate(GEOMETRIES.items()):
        yield _float32(rng, f"float32_{name}", geometry, ("NONE", "RELU", "RELU6")[i % 3])
    yield _float32(rng, "float32_no_bias", GEOMETRIES["k3_same"], "RELU_N1_TO_1", bias=False)
    products = np.random.default_rng(12)
    for name in ("wide_k16", "wide_k27", "wide_k160", "wide_first", "wide_same_odd"):
        for bits, most in ((8, 127), (4, 7)):
            yield _products(products, f"float32_products_{name}_{bits}", WIDE[name], most)
    yield _products(products, "float32_products_groups", ((1, 3, 3, 16), (16, 3, 3, 4), (1, 1), (1, 1), "VALID"), 127)
    for name in ("k3_same", "groups2", "row", "filter_over_input", "k3_stride2"):
        yield _not_finite(rng, f"float32_not_finite_{name}", GEOMETRIES[name])
    yield _not_finite(rng, "float32_not_finite_no_bias", GEOMETRIES["k3_same"], bias=False)
    bad = _int8(rng, "int8_fused_tanh", GEOMETRIES["k3_same"], QUANTIZATIONS["typical"])
    bad.options["activation"] = "TANH"
    bad.undefined = "a fused TANH is accepted and then ignored"
    yield bad
    bad = _int8(rng, "int8_two_inputs", GEOMETRIES["k3_same"], QUANTIZATIONS["typical"])
    bad.inputs.pop()
    yield bad
    yield _int8(rng, "int8_depth_not_divisible",
                ((1, 5, 5, 3), (4, 3, 3, 2), (1, 1), (1, 1), "SAME"), QUANTIZATIONS["typical"])
    for name, geometry in TILED.items():
        yield _int8(rng, f"int8_tiled_{name}", geometry, QUANTIZATIONS["typical"])
    for name in ("relu", "saturates", "scale_one_half"):
        yield _int8(rng, f"int8_tiled_q_{name}", TILED["odd"], QUANTIZATIONS[name])
        yield _int8(rng, f"int8_tiled_q_{name}_per_tensor", TILED["even"], QUANTIZATIONS[name], False)
    for i, (name, geometry) in enumerate(WIDE.items()):
        for quantization in ("typical", "relu", ("relu6", "relu_n1_to_1", "saturates")[i % 3]):
            yield _int8(rng, f"int8_{name}_{quantization}", geometry, QUANTIZATIONS[quantization])
    for name, quantization in QUANTIZATIONS.items():
        yield _int8(rng, f"int8_q_wide_{name}", WIDE["wide_k40"], quantization)
    yield from int16_cases.convolutions(rng, "CONV_2D", GEOMETRIES, lambda g: _options(g, "NONE"),
                                        lambda g: g[1])
    own = np.random.default_rng(16)
    for name, geometry in NARROW.items():
        for quantization in ("typical", "relu", "relu_n1_to_1"):
            yield _int8(own, f"int8_{name}_{quantization}", geometry, QUANTIZATIONS[quantization])
    for name, geometry in GROUPED.items():
        for quantization in ("typical", "relu", "relu6"):
            yield _int8(own, f"int8_{name}_{quantization}", geometry, QUANTIZATIONS[quantization])
