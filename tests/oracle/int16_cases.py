# SPDX-License-Identifier: Apache-2.0
"""Cases of int16 activations with int8 weights, which several operators' case files draw from."""

import itertools

import numpy as np
from case import Case, Tensor, const
from patterns import ACTIVATIONS, BROADCASTS, SHAPES, weights_int8


def int16(shape=(), scale=0.001, zero_point=0):
    return Tensor("int16", tuple(shape), scale, zero_point)


def bias_of(rng, channels, input_scale, weights, dtype="int64", magnitude=200000):
    scales = np.float32(np.atleast_1d(weights.scale))
    scales = np.float32(input_scale) * scales
    data = rng.integers(-magnitude, magnitude + 1, size=channels).astype(dtype)
    return const(data, [float(s) for s in scales] if scales.size > 1 else float(scales[0]),
                 [0] * scales.size if scales.size > 1 else 0)


# name: input scale, weight scale, result scale, activation
SCALES = {
    "typical": (0.001, 0.02, 0.004, "NONE"),
    "relu": (0.0007, 0.011, 0.0031, "RELU"),
    "relu6": (0.0003, 0.02, 6 / 32767, "RELU6"),
    "relu_n1_to_1": (0.0003, 0.01, 0.0001, "RELU_N1_TO_1"),
    "fine_result": (0.001, 0.02, 1e-6, "NONE"),
    "coarse_result": (0.001, 0.02, 3.0, "NONE"),
    "multiplier_above_one": (1.0, 0.5, 0.13, "NONE"),
    "multiplier_is_zero": (1e-7, 1e-7, 10.0, "NONE"),
    "halves": (2.0**-12, 2.0**-6, 2.0**-11, "NONE"),
    "kept_bits_full": (0.5, 0.9999999, 64.0, "NONE"),
}


def weighted(rng, name, kind, shape, weights, options, scales, bias="int64", magnitude=200000,
             channels=None):
    """One layer; `bias` is a type, or None."""
    si, _, so, activation = scales
    options = dict(options, activation=activation)
    channels = channels or weights.shape[3 if kind == "DEPTHWISE_CONV_2D" else 0]
    inputs = [int16(shape, si), weights]
    if bias:
        inputs.append(bias_of(rng, channels, si, weights, bias, magnitude))
    elif kind != "DEPTHWISE_CONV_2D":
        inputs.append(None)
    if bias == "int32":
        options["quantized_bias_type"] = "int32"
    return Case(name, kind, inputs, [int16((), so)], options)


def ties(name, kind, real, out_scale, weight_scale=1.0, bias="int64"):
    """The inputs are 0, so the sums are the biases: a ramp that meets every tie of `real / out_scale`
    near 0, and others far from it."""
    near = np.arange(-400, 400)
    far = np.arange(-400, 400) * 37 + np.where(np.arange(800) < 400, -1, 1) * (1 << 20)
    ramp = np.concatenate([near, far]).astype(bias)
    shape, axis = {"CONV_2D": ((ramp.size, 1, 1, 1), 0),
                   "DEPTHWISE_CONV_2D": ((1, 1, 1, ramp.size), 3),
                   "FULLY_CONNECTED": ((ramp.size, 1), 0)}[kind]
    options = {} if kind == "FULLY_CONNECTED" else dict(padding="VALID", stride_h=1, stride_w=1)
    if kind == "DEPTHWISE_CONV_2D":
        options["depth_multiplier"] = ramp.size
    if bias == "int32":
        options["quantized_bias_type"] = "int32"
    source = (1, 1) if kind == "FULLY_CONNECTED" else (1, 1, 1, 1)
    return Case(name, kind, [int16(source, real), const(np.ones(shape, np.int8), weight_scale, 0, axis),
                             const(ramp, real * weight_scale)], [int16((), out_scale)], options,
                samples=lambda rng: [[np.zeros(source)], [np.ones(source)]])


TIES = {"ties": (0.5, 32.0), "just_below_ties": (0.99999994, 8.0), "next_to_ties": (0.1, 0.14, 0.7),
        "just_above_ties": (1.0000001, 8.0), "next_to_ties_2": (0.3, 0.2, 0.9)}


def refused(rng, make):
    """`make(name, **changes)` gives a typical layer: what LiteRT refuses of it, or reads as what it is
    not."""
    case = make("int16_input_zero_point")
    case.inputs[0].zero_point = 3
    yield case
    case = make("int16_result_zero_point")
    case.outputs[0].zero_point = -2
    yield case
    case = make("int16_bias_int32_not_announced", bias="int32")
    case.options.pop("quantized_bias_type")
    case.undefined = "reads the bias as int64"
    yield case
    case = make("int16_bias_int64_announced_as_int32")
    case.options["quantized_bias_type"] = "int32"
    yield case


def convolutions(rng, kind, geometries, options_of, filter_of):
    """`geometries` by name; `options_of(geometry)`, `filter_of(geometry)` as the case file has them."""
    axis = 3 if kind == "DEPTHWISE_CONV_2D" else 0
    typical = SCALES["typical"]
    first = next(iter(geometries))

    def layer(name, geometry, scales=typical, per_channel=True, weights=None, **more):
        w = weights or weights_int8(rng, filter_of(geometry), axis, per_channel, scales[1])
        w.axis = axis
        return weighted(rng, name, kind, geometry[0], w, options_of(geometry), scales, **more)

    for name, geometry in geometries.items():
        yield layer(f"int16_{name}", geometry)
    names = itertools.cycle(geometries)
    for name, scales in SCALES.items():
        yield layer(f"int16_q_{name}", geometries[next(names)], scales)
        yield layer(f"int16_q_{name}_per_tensor", geometries[next(names)], scales, False)
    # Sums that leave 32 bits, by the bias or by the weights.
    for i, magnitude in enumerate((1 << 31, 1 << 36, 1 << 42)):
        scales = (0.001, 0.02, 0.004 * magnitude / (1 << 28), "NONE")
        yield layer(f"int16_wide_bias_{i}", geometries[next(names)], scales, magnitude=magnitude)
    for name, arguments in TIES.items():
        yield ties(f"int16_{name}", kind, *arguments)
    yield layer("int16_no_bias", geometries[first], bias=None)
    if kind != "CONV_2D":
        yield from itertools.islice(refused(rng, lambda name: layer(name, geometries[first])), 2)
        narrow = layer("int16_bias_int32", geometries[first])
        narrow.inputs[2] = const(np.zeros(narrow.inputs[2].shape, np.int32), narrow.inputs[2].scale,
                                 narrow.inputs[2].zero_point)
        yield narrow
        return
    deep = ((1, 2, 3, 600), (3, 1, 1, 600), (1, 1), (1, 1), "SAME")
    heavy = const(rng.integers(120, 128, size=deep[1]).astype(np.int8), 0.02)
    yield layer("int16_wide_sum", deep, (0.001, 0.02, 0.5, "NONE"), weights=heavy)
    for name in itertools.islice(geometries, 6):
        yield layer(f"int16_narrow_bias_{name}", geometries[name], bias="int32")
    for name in ("relu6", "multiplier_above_one", "multiplier_is_zero", "halves", "fine_result"):
        yield layer(f"int16_narrow_bias_q_{name}", geometries[first], SCALES[name], bias="int32",
                    magnitude=2000)
    for name, arguments in TIES.items():
        yield ties(f"int16_narrow_bias_{name}", kind, *arguments, bias="int32")
    yield from refused(rng, lambda name, **more: layer(name, geometries[first], **more))


def fully_connected(rng, geometries):
    def layer(name, geometry, scales=SCALES["typical"], per_channel=False, weights=None, **more):
        shape, units, depth, keep = geometry
        w = weights or weights_int8(rng, (units, depth), 0, per_channel, scales[1])
        return weighted(rng, name, "FULLY_CONNECTED", shape, w, dict(keep_num_dims=keep), scales, **more)

    first = next(iter(geometries.values()))
    for i, (name, geometry) in enumerate(geometries.items()):
        yield layer(f"int16_{name}", geometry, per_channel=i % 2 == 1)
    for name, scales in SCALES.items():
        yield layer(f"int16_q_{name}", first, scales)
        yield layer(f"int16_q_{name}_per_channel", first, scales, True)
    for i, magnitude in enumerate((1 << 31, 1 << 36, 1 << 42)):
        scales = (0.001, 0.02, 0.004 * magnitude / (1 << 28), "NONE")
        yield layer(f"int16_wide_bias_{i}", first, scales, i == 1, magnitude=magnitude)
    heavy = const(rng.integers(120, 128, size=(3, 600)).astype(np.int8), 0.02)
    yield layer("int16_wide_sum", ((2, 600), 3, 600, False), (0.001, 0.02, 0.5, "NONE"), weights=heavy)
    for name, arguments in TIES.items():
        yield ties(f"int16_{name}", "FULLY_CONNECTED", *arguments)
        yield ties(f"int16_narrow_bias_{name}", "FULLY_CONNECTED", *arguments, bias="int32")
    yield layer("int16_no_bias", first, bias=None)
    yield layer("int16_narrow_bias", first, bias="int32")
    yield layer("int16_narrow_bias_per_channel", first, per_channel=True, bias="int32")
    case = layer("int16_weights_zero_point", first)
    case.inputs[1].zero_point = 9
    yield case
    case = layer("int16_bias_of_other_scale", first)
    case.inputs[2].scale = 1.0
    yield case
    yield from refused(rng, lambda name, **more: layer(name, first, **more))


# name: scales of the operands and of the result
SUMS = {
    "typical": (0.001, 0.0004, 0.0013), "equal": (0.001, 0.001, 0.001), "double": (0.001, 0.001, 0.002),
    "saturates": (0.01, 0.02, 0.001), "far_apart": (1e-6, 0.01, 0.01), "tiny": (1e-9, 2e-9, 1.5e-9),
    "huge": (1e5, 2e5, 1.5e5), "coarse_result": (0.001, 0.0004, 1.0), "halves": (2**-12, 2**-11, 2**-10),
    "next_to_ties": (0.1, 0.7, 0.14), "next_to_ties_2": (0.1, 0.3, 0.2),
}
# Formats of fixed point: one operand has the result's.
FORMATS = {"same": (-12, -12, -12), "first": (-13, -11, -11), "second": (-10, -14, -10),
           "far": (-15, 0, 0), "nearly": (-12.0009, -12.0004, -12)}


def sums(rng, kind):
    """ADD and SUB: scales of any size, and powers of two with and without arithmetic of their own."""
    def case(name, shapes, scales, activation="NONE", powers=False):
        return Case(name, kind, [int16(shapes[0], scales[0]), int16(shapes[1], scales[1])],
                    [int16((), scales[2])], dict(activation=activation, pot_scale_int16=powers))

    same = BROADCASTS[0]
    for i, shapes in enumerate(BROADCASTS):
        yield case(f"int16_shapes_{i:02}", shapes, SUMS["typical"])
    for i, (name, scales) in enumerate(SUMS.items()):
        yield case(f"int16_q_{name}", same, scales)
        yield case(f"int16_q_{name}_{ACTIVATIONS[i % 4].lower()}", same, scales, ACTIVATIONS[i % 4], True)
    for name, logs in FORMATS.items():
        scales = [float(2.0**log) for log in logs]
        for i, activation in enumerate(("NONE", "RELU6")):
            yield case(f"int16_format_{name}_{i}", same, scales, activation, True)
        yield case(f"int16_format_{name}_general", same, scales)
    formats = [2.0**-12, 2.0**-11, 2.0**-11]
    shapes = case("int16_format_broadcast", BROADCASTS[1], formats, powers=True)
    if kind == "ADD":
        shapes.may_abort = True
    yield shapes
    yield case("int16_format_of_none", same, [2.0**-12, 2.0**-12, 2.0**-11], powers=True)
    yield case("int16_format_coarse_operand", same, [2.0**-10, 2.0**-12, 2.0**-12], powers=True)
    constant = case("int16_constant", same, SUMS["typical"])
    constant.inputs[1] = const(rng.integers(-32768, 32768, size=same[1]).astype(np.int16), 0.0004)
    yield constant
    wrong = case("int16_zero_point", same, SUMS["typical"])
    wrong.inputs[1].zero_point = 4
    yield wrong


PRODUCTS = {
    "typical": (0.001, 0.0004, 0.0013), "equal": (1 / 32768, 1 / 32768, 1 / 32768),
    "saturates": (0.01, 0.02, 0.0003), "tiny": (1e-9, 1e-9, 1.0), "near_one": (0.5, 1.0, 0.500001),
    "fine_result": (0.001, 0.0004, 1e-6), "coarse_result": (0.001, 0.0004, 1.0),
    "halves": (2**-8, 2**-8, 2**-2), "next_to_ties": (0.1, 0.7, 14.0), "just_below": (0.99999994, 0.5, 8.0),
}


def products(rng, kind="MUL"):
    def case(name, shapes, scales, activation="NONE"):
        return Case(name, kind, [int16(shapes[0], scales[0]), int16(shapes[1], scales[1])],
                    [int16((), scales[2])], dict(activation=activation))

    for i, shapes in enumerate(BROADCASTS):
        yield case(f"int16_shapes_{i:02}", shapes, PRODUCTS["typical"], ACTIVATIONS[i % 4])
    for i, (name, scales) in enumerate(PRODUCTS.items()):
        yield case(f"int16_q_{name}", BROADCASTS[0], scales)
    square = case("int16_square", BROADCASTS[0], PRODUCTS["typical"])
    square.inputs[1] = square.inputs[0]
    yield square
    scalar = case("int16_constant_scalar", BROADCASTS[0], PRODUCTS["typical"])
    scalar.inputs[1] = const(np.full((1,), -12345, np.int16), 0.0004)
    yield scalar
    tiny = case("int16_multiplier_above_one", BROADCASTS[0], (0.01, 0.02, 1e-7))
    tiny.undefined = "the left shift before the multiply leaves 32 bits"
    yield tiny
    wrong = case("int16_zero_point", BROADCASTS[0], PRODUCTS["typical"])
    wrong.inputs[0].zero_point = 4
    yield wrong


# Every 19th value, with the start moved by as much as leaves their number the same.
_COUNT = 65536 // 19


def _ramp(start):
    return -32768 + start + 19 * np.arange(_COUNT)


def _ramps(start):
    return lambda rng: [[_ramp(start)], [rng.integers(-40, 40, size=_COUNT)],
                        [rng.choice([-32768, 32767, -32767, 0, 1, -1], size=_COUNT)]]


def unary(kind, scales, options=None, tag=""):
    """`scales` lists scales of the operand and of the result."""
    for i, (si, so) in enumerate(scales):
        small = tuple(SHAPES[i % len(SHAPES)])
        yield Case(f"int16_{tag}{i:02}", kind, [int16((1, _COUNT), si)], [int16((), so)],
                   dict(options or {}), samples=_ramps(7 * i % 19))
        yield Case(f"int16_{tag}{i:02}_shape", kind, [int16(small, si)], [int16((), so)],
                   dict(options or {}))


def zero_points(kind, so, options=None):
    yield Case("int16_zero_point", kind, [int16((4,), 0.001, 3)], [int16((), so)], dict(options or {}))
    yield Case("int16_result_zero_point", kind, [int16((4,), 0.001)], [int16((), so, -3)],
               dict(options or {}))


# Of the operand of LOGISTIC and TANH: powers of two with an arithmetic of their own, scales with and
# without a shift, the largest and smallest factor.
SIGMOID_SCALES = (2**-12, 2**-11, 2**-13, 0.0003, 0.001, 0.0001 / 3, 1e-6, 0.01, 1.0, 5.3, 1.3, 1e-9)


def sigmoids(kind):
    yield from unary(kind, [(s, 2**-15) for s in SIGMOID_SCALES])
    yield from zero_points(kind, 2**-15)
    other = Case("int16_other_result_scale", kind, [int16((4,), 0.001)], [int16((), 2**-14)])
    yield other
    beyond = Case("int16_scale_beyond", kind, [int16((4,), 6.0)], [int16((), 2**-15)])
    beyond.undefined = "the factor takes stored values out of 32 bits"
    yield beyond


RELU_SCALES = ((0.001, 0.001), (0.001, 0.0007), (0.0005, 0.001), (0.003, 1e-4), (1e-6, 1e-6), (1.0, 2.0),
               (0.001, 0.1), (0.0002, 6 / 32767), (2**-12, 2**-11), (0.7, 0.2), (0.35, 0.14))


def relus(kind, options=None, tag=""):
    yield from unary(kind, RELU_SCALES, options, tag)


def softmaxes(rng, shapes):
    def case(name, shape, scale, beta=1.0):
        return Case(name, "SOFTMAX", [int16(shape, scale)], [int16((), 2**-15)], dict(beta=beta))

    for name, shape in shapes.items():
        yield case(f"int16_{name}", shape, 0.0003)
    for i, scale in enumerate((1e-6, 2**-15, 1e-4, 0.001, 0.01, 0.3, 4.0)):
        yield case(f"int16_scale_{i}", (4, 10), scale)
        yield case(f"int16_scale_{i}_long", (1, 300), scale)
    for i, beta in enumerate((0.25, 0.7, 2.0, 10.0)):
        yield case(f"int16_beta_{i}", (3, 9), 0.0002, beta)
    near = case("int16_near", (40, 12), 2e-4)
    near.samples = lambda rng: [[rng.integers(-32768, 32768, size=(40, 1)) // 2 +
                                 rng.integers(-9000, 9000, size=(40, 12))] for _ in range(3)]
    yield near
    yield case("int16_very_long", (1, 9000), 1e-4)
    yield from zero_points("SOFTMAX", 2**-15, dict(beta=1.0))
    wrong = case("int16_other_result_scale", (1, 10), 0.001)
    wrong.outputs[0].scale = 2**-14
    yield wrong


def pools(kind, geometries, options_of):
    for i, (name, geometry) in enumerate(geometries.items()):
        activation = ACTIVATIONS[i % 4]
        options = dict(options_of(geometry), activation=activation)
        yield Case(f"int16_{name}", kind, [int16(geometry[0], 0.001)], [int16((), 0.001)], options)
        if i < 12:
            yield Case(f"int16_{name}_coarse", kind, [int16(geometry[0], 0.0001)], [int16((), 0.0001)],
                       dict(options_of(geometry), activation=ACTIVATIONS[(i + 1) % 4]))


def conversions():
    """QUANTIZE between int32 and the quantised types."""
    for target, j in itertools.product(("int8", "int16"), range(11)):
        si, so = ((1e-8, 0.03), (1e-6, 0.01), (0.001, 0.001), (1e-9, 1.0), (3e-7, 0.14), (2.0**-20, 2.0**-4),
                  (0.1, 100.0), (1e-5, 1e-4), (5e-9, 2e-4), (1.0, 3.0), (0.05, 7.0))[j]
        zi, zo = ((0, 0), (1000, 0), (-77, 0))[j % 3]
        zo = (0, -128, 127, 9)[j % 4] if target == "int8" else zo
        yield Case(f"int32_to_{target}_{j}", "QUANTIZE", [Tensor("int32", (3, 50), si, zi)],
                   [Tensor(target, (), so, zo)],
                   samples=lambda rng, si=si, so=so: [
                       [rng.integers(-2**30, 2**30, size=150)],
                       [np.clip(rng.standard_normal(150) * 40 * so / si, -2**30, 2**30)],
                       [rng.integers(-1000, 1000, size=150)]])
    for j, (si, so) in enumerate(((0.001, 1e-6), (0.001, 0.001), (0.001, 0.1), (1.0, 2.0**-10), (0.7, 0.2),
                                  (0.35, 0.14), (2**-12, 2**-11), (1e-6, 1.0), (0.3, 1e-5), (0.02, 0.03))):
        for k, zo in enumerate((0, 100000)):
            yield Case(f"int16_to_int32_{j}_{k}", "QUANTIZE", [int16((3, 50), si, (0, 5, -9)[j % 3])],
                       [Tensor("int32", (), so, zo)])
