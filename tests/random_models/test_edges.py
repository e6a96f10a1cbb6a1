# SPDX-License-Identifier: Apache-2.0
"""Models at the edge of what is defined: each side of the edge must end as it is written here.

Judged as random models are (lane.py): LiteRT runs each, and what both accept is compared.
"""
import dataclasses

import common
import judge
import numpy as np
import pytest
from lane import Lane, Settings
from model import Model, Op, Tensor

EQUAL, BOTH, OURS, ONLY = judge.EQUAL, judge.BOTH_REFUSE, judge.WE_REFUSE, judge.ONLY_WE_ACCEPT
WINDOW = {"padding": "SAME", "stride_h": 1, "stride_w": 1}


def one(kind, operands, result, **options):
    tensors = [*operands, result]
    inputs = [i for i, t in enumerate(operands) if t.data is None]
    return Model(tensors, [Op(kind, list(range(len(operands))), [len(operands)], options)], inputs,
                 [len(operands)])


def int8(scale, zero_point=0, shape=(1, 4, 4, 2), data=None):
    return Tensor("int8", list(shape), [scale], [zero_point], data=data)


def of_type(dtype):
    return Tensor(dtype, [1, 4, 4, 2], None if dtype == "float32" else [0.5])


def ints(values, scale=None):
    values = np.array(values, np.int32)
    return Tensor("int32", list(values.shape), scale, data=values)


def weights(values, shape):
    return int8(1.0, 0, shape, np.array(values, np.int8).reshape(shape))


def convolution(scale, depthwise=False):
    w = weights([2, -3], (1, 1, 1, 2)) if depthwise else weights([2, -3, 1, 5], (2, 1, 1, 2))
    extra = {"depth_multiplier": 1} if depthwise else {}
    return one("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D",
               [int8(scale, 3), w, ints([5, -7])], int8(1.0), **WINDOW, **extra)


def with_zero_point(model):
    """Of the bias: 1."""
    model.tensors[2].scale, model.tensors[2].zero_point = [0.5], [1]
    return model


def transposed(zero_point):
    bias = Tensor("int32", [2], [0.5], [zero_point], data=np.array([5, -7], np.int32))
    return one("TRANSPOSE_CONV", [ints([1, 4, 4, 2]), weights([2, -3, 1, 5], (2, 1, 1, 2)), int8(0.5, 3), bias],
               int8(1.0), **WINDOW)


def hybrid_depthwise(channels, scales, axis):
    """Float activations, weights of int8."""
    w = Tensor("int8", [1, 2, 1, channels], [0.5] * scales, [0] * scales, axis,
               data=np.arange(2 * channels, dtype=np.int8).reshape(1, 2, 1, channels))
    floats = Tensor("float32", [channels], data=np.arange(channels, dtype=np.float32))
    x = Tensor("float32", [1, 4, 4, channels])
    return one("DEPTHWISE_CONV_2D", [x, w, floats], dataclasses.replace(x), **WINDOW, depth_multiplier=1)


def fully_connected(scale, bias_scale=None):
    w = weights([1, 2, -3, 100, 3, -100], (3, 2))
    bias = ints([5, -7, 900], [scale if bias_scale is None else bias_scale])
    return one("FULLY_CONNECTED", [int8(scale, 3), w, bias], int8(1.0, 0, (16, 3)))


def relu6(scale):
    return one("RELU6", [int8(scale, 3)], int8(scale, 3))


def pool(scale):
    return one("MAX_POOL_2D", [int8(scale, 3)], int8(scale, 3), **WINDOW, filter_h=1, filter_w=1,
               activation="RELU6")


def unary(kind, scale, **options):
    return one(kind, [int8(scale, 3)], int8(1.0), **options)


def binary(kind, scale, result=1.0):
    return one(kind, [int8(scale, 3), int8(1.0, -4)], int8(result))


def arg_max(axis, dtype="int32", announced="int32"):
    shape = [d for i, d in enumerate((5, 7, 3)) if i != axis]  # 3: see numerics.md, ARG_MAX
    return one("ARG_MAX", [Tensor("float32", [5, 7, 3]), ints(axis)], Tensor(dtype, shape),
               output_type=announced)


def strided_slice(shape, begin, end, strides, result, **masks):
    return one("STRIDED_SLICE", [Tensor("float32", shape), ints(begin), ints(end), ints(strides)],
               Tensor("float32", result), **masks)


def split(announced, dtype="float32"):
    operands = [ints(0), Tensor(dtype, [4, 2])]
    model = one("SPLIT", operands, Tensor(dtype, [2, 2]), num_splits=announced)
    model.tensors.append(Tensor(dtype, [2, 2]))
    model.ops[0].outputs.append(3)
    model.outputs.append(3)
    return model


def unpack(announced):
    model = one("UNPACK", [Tensor("float32", [2, 3])], Tensor("float32", [3]), num=announced)
    model.tensors.append(Tensor("float32", [3]))
    model.ops[0].outputs.append(2)
    model.outputs.append(2)
    return model


def of_version(number):
    model = relu6(0.5)
    model.ops[0].version = number
    return model


def along(axis):
    model = convolution(0.5)
    model.tensors[1].axis = axis
    return model


def with_tensor_of(type_number):
    model = relu6(0.5)
    model.tensors.append(Tensor("int8", [2], type_number=type_number))
    return model


def unpack_of(dtype, zero_point):
    model = unpack(2)
    for tensor in model.tensors:
        tensor.dtype, tensor.scale = dtype, [0.5]
    model.tensors[0].zero_point = [zero_point]
    return model


def with_rank_of_bias(model, shape):
    model.tensors[2].shape = list(shape)
    model.tensors[2].data = model.tensors[2].data.reshape(shape)
    return model


def bytes_of_one(kind, scale, result, **options):
    return one(kind, [int8(scale, 3)], int8(result, -128), **options)


def accepted_by_us():
    """One of each reason of docs/errors.md, as cases, beside what both take."""
    yield "convolution without a bias", without_bias(convolution(0.5)), ONLY, "no-bias"
    yield "depthwise without a bias", without_bias(convolution(0.5, True)), ONLY, "no-bias"
    yield "version 99", of_version(99), ONLY, "operator-version"
    yield "one scale along axis 9", along(9), ONLY, "quantized-dimension"
    yield "one scale along axis 2", along(2), EQUAL, None
    yield "unused tensor of type 99", with_tensor_of(99), ONLY, "unused-tensor"
    yield "SPLIT of bool", split(2, "bool"), ONLY, "moved-type"
    data = Tensor("float32", [2, 3])
    column = Tensor("int32", [2, 1], data=np.array([[3], [2]], np.int32))
    yield "RESHAPE by a column", one("RESHAPE", [data, column], Tensor("float32", [3, 2])), ONLY, "reshape-shape"
    yield "RESHAPE without a shape", one("RESHAPE", [data], Tensor("float32", [3, 2])), ONLY, "reshape-shape"
    yield "UNPACK of floats with zero points", unpack_of("float32", 3), ONLY, "needless-quantization"
    yield "UNPACK of int8 with other zero points", unpack_of("int8", 3), BOTH, "op-quantization"
    yield "depthwise, floats, one channel along axis 1", hybrid_depthwise(1, 1, 1), ONLY, "quantized-dimension"
    yield "depthwise, floats, one channel along axis 3", hybrid_depthwise(1, 1, 3), EQUAL, None
    yield "depthwise, floats, two channels", hybrid_depthwise(2, 2, 3), EQUAL, None
    yield "depthwise, floats, one scale of two", hybrid_depthwise(2, 1, 3), BOTH, "op-quantization"


def per_channel(scales, zero_points):
    """A convolution of four channels."""
    w = Tensor("int8", [4, 1, 1, 2], scales, zero_points, data=np.arange(-40, 40, 10, dtype=np.int8).reshape(4, 1, 1, 2))
    bias = Tensor("int32", [4], [0.1 * s for s in scales], [0] * 4, data=np.array([5, -7, 900, 3], np.int32))
    return one("CONV_2D", [int8(0.1, 3), w, bias], int8(0.3, 1, (1, 4, 4, 4)), **WINDOW)


def long_row(depth, weight):
    """FULLY_CONNECTED whose sum of absolute weights is `weight`, one of them -128."""
    w = np.zeros((1, depth), np.int8)
    w[0, :weight - 128] = 1
    w[0, -1] = -128
    return one("FULLY_CONNECTED", [int8(0.5, 3, (1, depth)), int8(0.5, 0, (1, depth), w), ints([100], [0.25])],
               int8(100.0, 0, (1, 1)))


def deep_channel(weight):
    """DEPTHWISE_CONV_2D of two channels; only channel 1 has large weights, in a window of 256 x 256."""
    w = np.zeros((1, 256, 256, 2), np.int8)
    w[..., 1] = weight
    return one("DEPTHWISE_CONV_2D", [int8(0.5, 3, (1, 256, 256, 2)), int8(0.5, 0, w.shape, w), ints([5, -7], [0.25])],
               int8(1000.0, 0, (1, 1, 1, 2)), padding="VALID", stride_h=1, stride_w=1, depth_multiplier=1)


def computed_shape(shape):
    """TRANSPOSE_CONV whose shape operand is computed, and is always the shape that the file gives the result."""
    kept = ints(shape)
    w = weights([2, -3, 1, 5], (2, 1, 1, 2))
    tensors = [int8(0.5, 3), Tensor("int32", [4]), kept, Tensor("int32", [4]), Tensor("int32", [4]), w,
               ints([5, -7], [0.5]), int8(1.0)]
    return Model(tensors, [Op("MINIMUM", [1, 2], [3]), Op("MAXIMUM", [3, 2], [4]),
                           Op("TRANSPOSE_CONV", [4, 5, 0, 6], [7], dict(WINDOW))], [0, 1], [7])


def without_bias(model):
    model.ops[0].inputs[2] = -1
    return model


def cases():
    """name: (model, what it must end as, slug or None)."""
    quantization, attribute = "op-quantization", "op-attribute"
    # A shift by the width of the numbers, in the last multiplier's place.
    for depthwise in (False, True):
        name = "depthwise" if depthwise else "convolution"
        for scale in (1e3, 2e7, 6e8):
            yield f"{name} of scale {scale:g}", convolution(scale, depthwise), EQUAL, None
        for scale in (1.2e9, 1e10, 1e30):
            yield f"{name} of scale {scale:g}", convolution(scale, depthwise), OURS, quantization
    # A scaled sum that is no int32.
    for scale in (1e3, 7e4):
        yield f"fully connected of scale {scale:g}", fully_connected(scale), EQUAL, None
    for scale in (1e6, 1e10, 3e38):
        yield f"fully connected of scale {scale:g}", fully_connected(scale), OURS, quantization
    yield "bias of another scale", fully_connected(0.5, 0.51), EQUAL, None
    yield "bias of quite another scale", fully_connected(0.5, 0.53), BOTH, quantization
    for name, make in (("convolution", convolution(0.5)), ("depthwise", convolution(0.5, True))):
        yield f"zero point of the bias of {name}", with_zero_point(make), BOTH, quantization
    yield "zero point of the bias of fully connected", with_zero_point(fully_connected(0.5)), EQUAL, None
    for zero_point in (0, 1):
        yield f"zero point {zero_point} of the bias of transposed", transposed(zero_point), \
            *((BOTH, quantization) if zero_point else (EQUAL, None))
    yield "depthwise with a bias of two dimensions", with_rank_of_bias(convolution(0.5, True), (1, 2)), BOTH, "op-shape"
    yield "logistic of another result", bytes_of_one("LOGISTIC", 0.5, 1 / 128), BOTH, quantization
    yield "logistic", bytes_of_one("LOGISTIC", 0.5, 1 / 256), EQUAL, None
    # The reference's multiplier begins at 2^-26.
    yield "softmax of a small beta", bytes_of_one("SOFTMAX", 0.5, 1 / 256, beta=1e-7), EQUAL, None
    yield "softmax of a smaller beta", bytes_of_one("SOFTMAX", 0.5, 1 / 256, beta=1e-9), BOTH, attribute
    # Types that LiteRT's kernel has no way between.
    for source in ("float32", "int8", "uint8", "int16", "int32"):
        for target in ("int8", "uint8", "int16", "int32"):
            refused = source == "int32" and target in ("uint8", "int32") or \
                target == "int32" and source != "int16" or (source, target) == ("int16", "uint8")
            # Samples of float32 have what no int32 holds.
            equal = judge.UNDEFINED if source == "float32" and target != "uint8" else EQUAL
            yield f"QUANTIZE of {source} to {target}", \
                one("QUANTIZE", [of_type(source)], of_type(target)), *((BOTH, "op-type") if refused else (equal, None))
    for name, make in (("convolution", convolution(0.5)), ("depthwise", convolution(0.5, True)),
                       ("transposed", transposed(0)), ("pool", pool(1e-3))):
        make.ops[0].omit_options = True
        yield f"{name} without options", make, BOTH, attribute
    # A padding that is neither SAME nor VALID: of a pool LiteRT gives no elements.
    for name, make, what in (("convolution", convolution(0.5), BOTH), ("depthwise", convolution(0.5, True), BOTH),
                             ("transposed", transposed(0), BOTH), ("pool", pool(1e-3), OURS)):
        make.ops[0].options["padding"] = 2
        yield f"padding 2 of {name}", make, what, attribute
    # The bound of an activation that is no int32.
    for name, make in (("relu6", relu6), ("pool with relu6", pool)):
        yield f"{name} of scale 1e-8", make(1e-8), EQUAL, None
        yield f"{name} of scale 1e-9", make(1e-9), OURS, quantization
    # Left shifts that lose bits.
    for kind in ("RELU", "LEAKY_RELU", "QUANTIZE"):
        extra = {"alpha": 0.3} if kind == "LEAKY_RELU" else {}
        yield f"{kind} of scale 8e6", unary(kind, 8e6, **extra), EQUAL, None
        yield f"{kind} of scale 1e10", unary(kind, 1e10, **extra), OURS, quantization
    for scale, ends in ((1e6, (EQUAL, None)), (1e10, (OURS, quantization))):
        joined = [Tensor("uint8", [1, 4, 4, 2], [s], [0]) for s in (0.5, scale)]
        yield f"CONCATENATION of scale {scale:g}", \
            one("CONCATENATION", joined, Tensor("uint8", [1, 4, 4, 4], [0.5], [0]), axis=3), *ends
    # int8 and uint8 in one operator.
    for kind, more, ends in (("HARD_SWISH", {}, BOTH), ("RELU", {}, BOTH), ("RESHAPE", {"new_shape": [1, 4, 4, 2]}, OURS)):
        for dtypes in (("int8", "uint8"), ("uint8", "int8")):
            a, b = (Tensor(dtype, [1, 4, 4, 2], [0.5], [0]) for dtype in dtypes)
            yield f"{kind} of {dtypes[0]} to {dtypes[1]}", one(kind, [a], b, **more), ends, "op-type"
    for kind in ("TANH", "HARD_SWISH"):
        ends = (EQUAL, None) if kind == "TANH" else (BOTH, quantization)
        yield f"{kind} of scale 1e10", unary(kind, 1e10), *ends
    yield "MUL of scale 1e10", binary("MUL", 1e10), OURS, quantization
    yield "ADD of scale 1e10", binary("ADD", 1e10), BOTH, quantization
    yield "SUB of scale 1e10", binary("SUB", 1e10), OURS, quantization
    yield "ADD to scale 1e-10", binary("ADD", 1.0, 1e-10), BOTH, quantization
    # NaN among the elements, which every second sample has.
    for axis in (0, 1, 2):
        yield f"ARG_MAX along {axis}", arg_max(axis), EQUAL, None
    yield "ARG_MAX of another type", arg_max(0, "int32", "int64"), OURS, attribute
    yield "ARG_MAX of no type", arg_max(0, "int32", 0), BOTH, attribute
    # Masks of STRIDED_SLICE.
    three = ([2, 3, 4], [0, 1, 1], [2, 3, 3], [1, 1, 1])
    yield "ellipsis", strided_slice(*three, [2, 3, 2], ellipsis_mask=2), EQUAL, None
    yield "ellipsis in front", strided_slice(*three, [2, 2, 2], ellipsis_mask=1), EQUAL, None
    yield "two ellipses", strided_slice(*three, [2, 3, 2], ellipsis_mask=3), OURS, attribute
    yield "ellipsis beyond", strided_slice(*three, [2, 2, 2], ellipsis_mask=8), EQUAL, None
    yield "ellipsis with shrunk axis", \
        strided_slice(*three, [2, 3], ellipsis_mask=2, shrink_axis_mask=4), EQUAL, None
    yield "new axis", strided_slice([3, 4], [0, 1, 1], [1, 3, 3], [1, 1, 1], [1, 2, 2],
                                    new_axis_mask=1), EQUAL, None
    yield "new axis that is shrunk", \
        strided_slice([3, 4], [0, 1, 1], [1, 3, 3], [1, 1, 1], [1, 2, 2], new_axis_mask=1,
                      shrink_axis_mask=1), EQUAL, None
    # Shapes that are no list.
    data = Tensor("float32", [2, 3])
    three_two = Tensor("float32", [3, 2])
    row = Tensor("int32", [1, 2], data=np.array([[3, -1]], np.int32))
    yield "RESHAPE by a row and the option", one("RESHAPE", [data, row], three_two, new_shape=[3, 2]), EQUAL, None
    yield "RESHAPE by a row and another option", one("RESHAPE", [data, row], three_two, new_shape=[2, 3]), OURS, "op-shape"
    yield "RESHAPE by a row and a wrong option", one("RESHAPE", [data, row], three_two, new_shape=[4, 2]), BOTH, "op-shape"
    yield "RESHAPE by a list and another option", one("RESHAPE", [data, ints([3, 2])], three_two, new_shape=[2, 3]), EQUAL, None
    yield "RESHAPE to another number of elements without a shape", one("RESHAPE", [data], Tensor("float32", [3, 3])), \
        BOTH, attribute
    yield "TRANSPOSE by a column", \
        one("TRANSPOSE", [data, Tensor("int32", [2, 1], data=np.array([[1], [0]], np.int32))],
            Tensor("float32", [3, 2])), BOTH, attribute
    absent = one("RESHAPE", [data], Tensor("float32", [3, 2]), new_shape=[3, 2])
    absent.ops[0].inputs.append(-1)
    yield "RESHAPE by an absent shape", absent, BOTH, "op-operands"
    yield "TRANSPOSE_CONV of a computed shape", computed_shape([1, 4, 4, 2]), EQUAL, None
    # Scales and zero points of channels.
    scales = [0.1, 0.2, 0.3, 0.4]
    yield "one zero point of four channels", per_channel(scales, [0]), EQUAL, None
    yield "two zero points of four channels", per_channel(scales, [0, 0]), BOTH, "tflite-quantization"
    yield "scale 0 of a channel", per_channel([0.1, 0.2, 0.0, 0.4], [0] * 4), EQUAL, None
    # Sums that 32 bits hold, whatever the largest weight times their count would be.
    yield "long row of small weights", long_row(70000, 5000), EQUAL, None
    yield "deep channel of small weights", deep_channel(100), EQUAL, None
    yield "deep channel of large weights", deep_channel(-128), OURS, quantization
    # Counts that contradict the file's own lists.
    yield "SPLIT into two", split(2), EQUAL, None
    yield "SPLIT into two of three", split(3), BOTH, attribute
    yield "UNPACK of two", unpack(2), EQUAL, None
    yield "UNPACK of two of one", unpack(1), BOTH, attribute


@pytest.fixture
def lane(build_folder, tmp_path):
    one = Lane(Settings(build_folder / "tests" / "check_models", tmp_path, " ".join([*common.cached("gcc"), "-O1"]), "", None),
               "edges")
    yield one
    one.close()


def verdicts_of(lane, models):
    return lane.verdicts([(f"model {i}", 0, model, model.file()) for i, model in enumerate(models)])


def test_edges(lane, subtests):
    wanted = [*cases(), *accepted_by_us()]
    verdicts = verdicts_of(lane, [model for _, model, _, _ in wanted])
    for (name, _, what, slug), verdict in zip(wanted, verdicts, strict=True):
        with subtests.test(name):
            assert verdict.what == what
            assert slug is None or verdict.detail == slug


def test_reasons(lane, monkeypatch):
    """A reason that is not listed is a failure, and each that is listed has a model."""
    only = [case for case in [*cases(), *accepted_by_us()] if case[2] == ONLY]
    assert set(judge.REASONS) <= {case[3] for case in only}
    monkeypatch.setattr(judge, "REASONS", type(judge.REASONS)())
    assert {verdict.what for verdict in verdicts_of(lane, [case[1] for case in only])} <= {judge.FAILED}
