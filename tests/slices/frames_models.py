# SPDX-License-Identifier: Apache-2.0
"""Networks over frames in time: what --stream time takes."""
import numpy
import tflite_builder


def causal(last=True, before=True):
    """int8: frames of 8 numbers. `last`: the last row is taken, else the first; `before`: padded before, else around."""
    random = numpy.random.default_rng(7)
    b = tflite_builder.ModelBuilder()
    x = of = b.tensor("frames", numpy.int8, (1, 12, 1, 8), 0.05, 3)

    def convolution(of, name, taps, dilation, zero):
        pads = [[0, 0], [(taps - 1) * dilation, 0] if before else [1, (taps - 1) * dilation - 1], [0, 0], [0, 0]]
        padded = b.tensor(name + "_padded", numpy.int8, (1, 12 + (taps - 1) * dilation, 1, 8), 0.05, zero)
        b.op("PAD", [of, b.const(name + "_pads", numpy.array(pads, numpy.int32))], [padded])
        weights = b.const(name + "_weights", random.integers(-127, 128, (8, taps, 1, 8), dtype=numpy.int8), 0.004)
        bias = b.const(name + "_bias", random.integers(-500, 500, 8, dtype=numpy.int32), 0.05 * 0.004)
        to = b.tensor(name, numpy.int8, (1, 12, 1, 8), 0.05, -5)
        b.op("CONV_2D", [padded, weights, bias], [to], padding="VALID", stride_w=1, stride_h=1, dilation_h=dilation,
             dilation_w=1, activation="RELU")
        return to

    of = convolution(of, "first", 3, 1, 3)
    of = convolution(of, "second", 3, 2, -5)
    begin = 11 if last else 0
    row = b.tensor("row", numpy.int8, (1, 1, 1, 8), 0.05, -5)
    b.op("STRIDED_SLICE", [of, b.const("begin", numpy.array([0, begin, 0, 0], numpy.int32)),
                           b.const("end", numpy.array([1, begin + 1, 1, 8], numpy.int32)),
                           b.const("strides", numpy.ones(4, numpy.int32))], [row])
    flat = b.tensor("flat", numpy.int8, (1, 8), 0.05, -5)
    b.op("RESHAPE", [row, b.const("shape", numpy.array([1, 8], numpy.int32))], [flat])
    scores = b.tensor("scores", numpy.int8, (1, 4), 0.1, 0)
    b.op("FULLY_CONNECTED", [flat, b.const("dense", random.integers(-127, 128, (4, 8), dtype=numpy.int8), 0.01), -1], [scores])
    return b.finish([x], [scores])


def strided(dtype, cut_from=2):
    """Frames of 8 numbers, of which every second and then every fourth is stepped to; a residual of frames from `cut_from` on,
    and a pool. `dtype`: float32 or int8."""
    random = numpy.random.default_rng(9)
    b = tflite_builder.ModelBuilder()
    whole = dtype == numpy.int8

    def tensor(name, rows):
        return b.tensor(name, dtype, (1, rows, 1, 8), *((0.05, -3) if whole else ()))

    def weights(name, shape, axis):
        if not whole:
            return b.const(name, random.normal(0, 0.3, shape).astype(numpy.float32))
        return b.const(name, random.integers(-127, 128, shape, dtype=numpy.int8), [0.004] * 8, axis=axis)

    def window(kind, of, name, rows, taps, stride):
        shape, axis = ((1, taps, 1, 8), 3) if kind == "DEPTHWISE_CONV_2D" else ((8, taps, 1, 8), 0)
        to = tensor(name, rows)
        more = {"depth_multiplier": 1} if kind == "DEPTHWISE_CONV_2D" else {}
        biases = random.normal(0, 1000 if whole else 1, 8).astype(numpy.int32 if whole else numpy.float32)
        bias = b.const(name + "_bias", biases, [0.05 * 0.004] * 8 if whole else None)
        b.op(kind, [of, weights(name + "_weights", shape, axis), bias], [to], padding="VALID", stride_w=1, stride_h=stride,
             dilation_h=1, dilation_w=1, activation="NONE", **more)
        return to

    x = tensor("frames", 23)
    first = window("CONV_2D", x, "first", 11, 3, 2)
    second = window("CONV_2D", first, "second", 9, 3, 1)
    cut = tensor("cut", 9)
    b.op("STRIDED_SLICE", [first, b.const("begin", numpy.array([0, cut_from, 0, 0], numpy.int32)),
                           b.const("end", numpy.array([1, cut_from + 9, 1, 8], numpy.int32)),
                           b.const("strides", numpy.ones(4, numpy.int32))], [cut])
    sum_of = tensor("sum", 9)
    b.op("ADD", [second, cut], [sum_of], activation="RELU")
    pooled = tensor("pooled", 4)
    b.op("MAX_POOL_2D", [sum_of], [pooled], padding="VALID", stride_w=1, stride_h=2, filter_h=3, filter_w=1,
         activation="NONE")
    row = window("DEPTHWISE_CONV_2D", pooled, "row", 1, 4, 1)
    flat = b.tensor("flat", dtype, (1, 8), *((0.05, -3) if whole else ()))
    b.op("RESHAPE", [row, b.const("shape", numpy.array([1, 8], numpy.int32))], [flat])
    scores = b.tensor("scores", dtype, (1, 4), *((0.1, 0) if whole else ()))
    dense = (b.const("dense", random.integers(-127, 128, (4, 8), dtype=numpy.int8), 0.01) if whole else
             b.const("dense", random.normal(0, 1, (4, 8)).astype(numpy.float32)))
    b.op("FULLY_CONNECTED", [flat, dense, -1], [scores])
    return b.finish([x], [scores])
