# SPDX-License-Identifier: Apache-2.0
"""FULLY_CONNECTED: int8 with per-tensor or per-channel weights, float32."""

import computed_cases
import int16_cases
import int4_cases
import numpy as np
import uint8_cases
from case import Case, const
from patterns import bias_int32, float32, int8, weights_int8

PAIRS = [("FULLY_CONNECTED", "uint8")]
PAIR_BY = "outputs"

# name: input shape, units, depth, keep_num_dims
GEOMETRIES = {
    "plain": ((1, 16), 10, 16, False),
    "batch3": ((3, 16), 10, 16, False),
    "one_unit": ((1, 33), 1, 33, False),
    "one_input": ((1, 1), 5, 1, False),
    "flattens": ((1, 3, 4, 2), 6, 24, False),
    "flattens_batch": ((2, 3, 4), 5, 12, False),
    "rank1": ((12,), 7, 12, False),
    "keep_num_dims": ((2, 3, 8), 5, 8, True),
    "keep_num_dims_4d": ((1, 2, 2, 5), 4, 5, True),
    "wide": ((1, 300), 8, 300, False),
    "odd": ((1, 37), 13, 37, False),
}
# Whole groups of vector lanes and some that remain.
WIDE = {
    "wide_k17": ((1, 17), 20, 17, False),
    "wide_k8": ((1, 8), 16, 8, False),
    "wide_k130": ((1, 130), 9, 130, False),
    "wide_k320": ((1, 320), 8, 320, False),
    "wide_rows": ((3, 40), 12, 40, False),
    "wide_rows_k16": ((4, 16), 8, 16, False),
    "wide_rows_k320": ((2, 320), 10, 320, False),
    "wide_few_units": ((1, 150), 3, 150, False),
}
FLOAT_BIASES = {name: {**GEOMETRIES, **WIDE}[name] for name in ("plain", "batch3", "odd", "one_unit", "wide_rows")}
QUANTIZATIONS = {
    "typical": (0.05, -3, 0.02, 0.2, 4, "NONE"),
    "relu": (0.05, -128, 0.02, 0.1, -128, "RELU"),
    "relu6": (0.02, 127, 0.01, 6 / 255, -128, "RELU6"),
    "relu_n1_to_1": (0.02, 0, 0.01, 0.01, 0, "RELU_N1_TO_1"),
    "saturates": (0.5, -128, 0.1, 0.05, 127, "NONE"),
    "greater_than_one": (1.0, 0, 1.0, 0.13, 3, "NONE"),
    "tiny_multiplier": (1e-4, 5, 1e-4, 1.0, -5, "NONE"),
    "below_2_to_minus_32": (1e-7, 5, 1e-7, 10.0, -5, "NONE"),
    "ties": (0.5, 0, 1.0, 64.0, 0, "NONE"),
    "ties_of_4096": (1.0, 0, 1.0, 4096.0, 0, "NONE"),
}


def _int8(rng, name, geometry, quantization, per_channel, bias=True):
    shape, units, depth, keep = geometry
    si, zi, sw, so, zo, activation = quantization
    w = weights_int8(rng, (units, depth), 0, per_channel, sw)
    inputs = [int8(shape, si, zi), w]
    inputs.append(bias_int32(rng, units, si, w.scale, 500) if bias else None)
    return Case(name, "FULLY_CONNECTED", inputs, [int8((), so, zo)],
                dict(activation=activation, keep_num_dims=keep))


def _ramp(name, real, out_scale, per_channel):
    """The inputs are their zero point, so the accumulators are the biases: a ramp that meets
    every tie of a multiplier `real / out_scale`."""
    ramp = np.arange(-1000, 1000, dtype=np.int32)
    scales = [1.0] * ramp.size if per_channel else 1.0
    zeros = [0] * ramp.size if per_channel else 0
    bias_scales = [real] * ramp.size if per_channel else real
    return Case(name, "FULLY_CONNECTED",
                [int8((1, 1), real, 3), const(np.ones((ramp.size, 1), np.int8), scales, zeros),
                 const(ramp, bias_scales, zeros)],
                [int8((), out_scale, 0)], samples=lambda rng: [[[3]], [[4]]])


def _float32(rng, name, geometry, activation, bias=True):
    shape, units, depth, keep = geometry
    inputs = [float32(shape), const(rng.standard_normal((units, depth)).astype(np.float32))]
    inputs.append(const(rng.standard_normal(units).astype(np.float32)) if bias else None)
    return Case(name, "FULLY_CONNECTED", inputs, [float32()],
                dict(activation=activation, keep_num_dims=keep), "ulp")


def _products(rng, name, geometry, most, activation):
    """Float weights that are products of a scale and an integer, as dequantised constants are."""
    case = _float32(rng, name, geometry, activation)
    shape = geometry[1], geometry[2]
    scales = rng.uniform(0.001, 0.02, (shape[0], 1)).astype(np.float32)
    case.inputs[1] = const(rng.integers(-most - 1, most + 1, shape).astype(np.float32) * scales)
    return case


def _dynamic(rng, name, geometry, activation, per_channel, asymmetric, bias=True, samples=None):
    """Float activations and int8 weights: rows are quantised when the operator runs."""
    shape, units, depth, keep = geometry
    inputs = [float32(shape), weights_int8(rng, (units, depth), 0, per_channel, 0.02)]
    inputs.append(const(rng.standard_normal(units).astype(np.float32)) if bias else None)
    return Case(name, "FULLY_CONNECTED", inputs, [float32()],
                dict(activation=activation, keep_num_dims=keep,
                     asymmetric_quantize_inputs=asymmetric), "ulp", samples=samples)


def _dynamic_rows(depth):
    """Rows that meet every step of the quantisation: ties, the float below a half, zeros, one sign,
    a zero point on a tie, tiny and huge values."""
    def samples(rng):
        below = np.nextafter(np.float32(0.5), np.float32(0))
        ties = rng.integers(-253, 254, depth) / 2
        ties[0] = 127
        halves = np.resize(np.float32([127, below, -below, 0.5, -0.5]), depth)
        shifted = rng.uniform(-70.5, 184.5, depth)
        shifted[:2] = -70.5, 184.5
        row = rng.standard_normal(depth)
        rows = [ties, halves, shifted, np.zeros(depth), -np.zeros(depth), np.abs(row), -np.abs(row),
                row * 1e-30, row * 1e30, row * 1e-36, np.full(depth, 3.0), np.full(depth, -1e-9)]
        return [[np.float32(rows[i : i + 3])] for i in range(0, len(rows), 3)]
    return samples


def _dynamic_cases(rng):
    for asymmetric, tag in ((False, "dynamic"), (True, "dynamic_asymmetric")):
        for i, (name, geometry) in enumerate({**GEOMETRIES, **WIDE}.items()):
            activation = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")[i % 4]
            yield _dynamic(rng, f"{tag}_{name}", geometry, activation, i % 2 == 0, asymmetric, i % 3 > 0)
        for depth in (7, 16, 21, 40):
            yield _dynamic(rng, f"{tag}_rows_k{depth}", ((3, depth), 9, depth, False), "NONE", depth % 2,
                           asymmetric, samples=_dynamic_rows(depth))
        for depth, units in ((800, 10), (1600, 9)):  # sums beyond 24 bits; every weight at its largest
            case = _dynamic(rng, f"{tag}_deep_{depth}", ((1, depth), units, depth, False), "NONE", True,
                            asymmetric, samples=lambda rng, depth=depth: [
                                [np.ones((1, depth))], [np.full((1, depth), -1)],
                                [rng.standard_normal((1, depth))]])
            case.inputs[1].data[:3] = np.int8([[127], [-127], [90]])
            yield case
        for activation in ("NONE", "RELU"):  # a bias of -0 under zeros stays what it is
            case = _dynamic(rng, f"{tag}_negative_zero_{activation.lower()}", ((2, 12), 8, 12, False),
                            activation, True, asymmetric, samples=lambda rng: [
                                [np.zeros((2, 12))], [np.float32([[0] * 12, [1] + [0] * 11])]])
            case.inputs[2].data[:4] = -0.0
            yield case


def cases(rng):
    yield from _cases(rng)
    yield from int4_cases.of(_cases(np.random.default_rng(4)), every=2)
    yield from uint8_cases.of(_cases(rng), weights=1)
    yield from computed_cases.of(_cases(np.random.default_rng(14)))
    yield from computed_cases.of(uint8_cases.of(_cases(np.random.default_rng(15)), weights=1), every=2)


def _cases(rng):
    yield from _dynamic_cases(np.random.default_rng(7))
    for name, geometry in GEOMETRIES.items():
        yield _int8(rng, f"int8_{name}", geometry, QUANTIZATIONS["typical"], False)
    for name, quantization in QUANTIZATIONS.items():
        yield _int8(rng, f"int8_q_{name}", GEOMETRIES["batch3"], quantization, False)
        yield _int8(rng, f"int8_q_{name}_per_channel", GEOMETRIES["batch3"], quantization, True)
    for suffix, per_channel in (("", False), ("_per_channel", True)):
        yield _ramp(f"int8_ramp_of_ties{suffix}", 0.5, 32.0, per_channel)
        yield _ramp(f"int8_just_below_ties{suffix}", 0.99999994, 8.0, per_channel)
    yield _int8(rng, "int8_no_bias", GEOMETRIES["plain"], QUANTIZATIONS["typical"], False, False)
    weights_zero = _int8(rng, "int8_weights_zero_point", GEOMETRIES["plain"],
                         QUANTIZATIONS["typical"], False)
    weights_zero.inputs[1].zero_point = 9
    yield weights_zero
    for i, (name, geometry) in enumerate(GEOMETRIES.items()):
        yield _float32(rng, f"float32_{name}", geometry, ("NONE", "RELU", "RELU6")[i % 3])
    yield _float32(rng, "float32_no_bias", GEOMETRIES["plain"], "RELU_N1_TO_1", False)
    biases = np.random.default_rng(16)
    for i, (name, geometry) in enumerate(FLOAT_BIASES.items()):
        case = _float32(biases, f"float32_computed_bias_{name}", geometry, ("NONE", "RELU")[i % 2])
        case.inputs[2] = float32((geometry[1],))
        yield case
    products = np.random.default_rng(12)
    for name, geometry in (("odd", GEOMETRIES["odd"]), ("wide", GEOMETRIES["wide"]), ("rows", WIDE["wide_rows"])):
        for bits, most in ((8, 127), (4, 7)):
            yield _products(products, f"float32_products_{name}_{bits}", geometry, most, "RELU" if bits == 4 else "NONE")
    bad = _int8(rng, "int8_bias_of_other_scale", GEOMETRIES["plain"], QUANTIZATIONS["typical"],
                False)
    bad.inputs[2].scale = 1.0
    yield bad
    bad = _int8(rng, "int8_fused_tanh", GEOMETRIES["plain"], QUANTIZATIONS["typical"], False)
    bad.options["activation"] = "TANH"
    yield bad
    for i, (name, geometry) in enumerate(WIDE.items()):
        for quantization in ("typical", ("relu", "relu6", "saturates")[i % 3]):
            yield _int8(rng, f"int8_{name}_{quantization}", geometry, QUANTIZATIONS[quantization],
                        i % 2 == 1)
    yield from int16_cases.fully_connected(rng, {**GEOMETRIES, **WIDE})
