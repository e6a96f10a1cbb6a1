# SPDX-License-Identifier: Apache-2.0
"""Writes models of TFLite_Detection_PostProcess, CIRCULAR_BUFFER, TFLM_DECODE and LSTM of int16, many side by side.

`inputs.json` beside them says who computes them and the ranges of inputs. What the reference leaves as memory was
(detections behind the last one) is cut off in the model.
"""
import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "oracle"), str(HERE.parent / "signal")]
import make_models  # noqa: E402
import packing  # noqa: E402

SCALES = dict(y_scale=10.0, x_scale=10.0, h_scale=5.0, w_scale=5.0)
FAST = [  # boxes, classes, numbers of one box, background, most, classes of one, score, overlap
    (1, 1, 4, 0, 1, 1, 0.0, 0.5), (2, 1, 4, 0, 2, 1, 0.5, 0.5), (8, 3, 4, 1, 4, 1, 0.3, 0.6), (8, 3, 4, 0, 10, 1, 0.9, 0.3),
    (30, 5, 4, 1, 10, 1, 0.0, 0.1), (30, 5, 7, 1, 10, 2, 0.5, 0.5), (60, 10, 4, 1, 10, 3, 0.6, 1.0), (16, 2, 4, 0, 5, 4, 0.2, 0.4),
    (40, 1, 4, 1, 3, 1, -1.0, 0.05), (25, 20, 4, 1, 25, 1, 0.97, 0.5), (12, 4, 6, 0, 6, 4, 0.0, 0.01),
    (20, 10, 4, 1, 10, 2, 0.1, 0.3), (50, 4, 4, 1, 20, 1, 0.2, 0.2), (3, 60, 4, 0, 2, 1, 0.99, 0.5)]
REGULAR = [  # the same, with the most of one class for the classes of one
    (1, 1, 4, 0, 1, 100, 0.0, 0.5), (6, 2, 4, 1, 4, 1, 0.2, 0.5), (8, 3, 4, 0, 10, 2, 0.5, 0.3), (20, 5, 4, 1, 10, 3, 0.0, 0.6),
    (20, 5, 4, 0, 3, 100, 0.9, 0.5), (24, 8, 5, 1, 30, 4, 0.4, 0.2), (12, 10, 4, 1, 1, 100, 0.1, 0.4), (40, 2, 4, 1, 8, 8, 0.6, 0.1),
    (16, 3, 4, 0, 20, 16, -1.0, 1.0), (9, 12, 4, 1, 7, 2, 0.3, 0.7)]


def shown(m, results, count, per, used):
    """Classes, scores and boxes of the detections that there are; others become 0."""
    b, (boxes, classes, scores, number) = m.builder, results
    place = np.arange(count * per)
    rank = np.where(place % per < used, place // per, 1e9).astype(np.float32).reshape(1, -1)
    at, zero = len(b._tensors), m.const(0, np.float32)
    mask, column = m.between(f"mask{at}", "bool", (1, count * per)), m.between(f"column{at}", "bool", (1, count * per, 1))
    b.op("LESS", [m.const(rank), number], [mask])
    b.op("RESHAPE", [mask, m.const([1, count * per, 1], np.int32)], [column])
    for condition, values, shape in ((mask, classes, (1, count * per)), (mask, scores, (1, count * per)),
                                     (column, boxes, (1, count * per, 4))):
        b.op("SELECT_V2", [condition, values, zero], [m.output("float32", shape)])
    m.outputs.append(number)


def detections(dtype, cases, regular, alone=False):
    def make(rng):
        m = make_models.Model()
        for boxes, classes, width, background, most, limit, score, overlap in cases:
            if alone and not regular and limit > 1:
                continue
            per = 1 if regular else limit
            options = {"max_detections": most, "max_classes_per_detection": per, "num_classes": classes,
                       "nms_score_threshold": score, "nms_iou_threshold": overlap, **SCALES}
            if regular:
                options |= {"use_regular_nms": True, "detections_per_class": limit}
            columns = classes + background
            anchors = rng.uniform(0.05, 1, (boxes, 4)).astype(np.float32)
            if dtype == "float32":
                operands = [m.input(dtype, (1, boxes, width), -8, 8), m.input(dtype, (1, boxes, columns), 0, 1), m.const(anchors)]
            else:
                operands = quantized(m, rng, boxes, width, columns, anchors, distinct=regular or limit > 1)
            at = len(m.builder._tensors)
            shapes = {"boxes": (1, most * per, 4), "classes": (1, most * per), "scores": (1, most * per), "number": (1,)}
            results = [m.between(f"{n}{at}", "float32", s) for n, s in shapes.items()]
            m.builder.custom("TFLite_Detection_PostProcess", operands, results, options)
            shown(m, results, most, per, min(per, classes))
        return m
    return make


def quantized(m, rng, boxes, width, columns, anchors, distinct):
    """uint8 operands. The reference's order of equal scores is its C++ library's, but for the best class of a box:
    elsewhere no two scores are equal."""
    b = m.builder
    names = [f"x{len(m.inputs)}", f"x{len(m.inputs) + 1}"]
    m.inputs.append(b.tensor(names[0], "uint8", (1, boxes, width), 0.0625, 120))
    size = boxes * columns
    if distinct:
        values = rng.permutation(256)[:size].astype(np.uint8).reshape(1, boxes, columns)
        scores = b.const(f"c{len(b._tensors)}", values, 1 / 256, 0)
    else:
        scores = b.tensor(names[1], "uint8", (1, boxes, columns), 1 / 256, 3)
        m.inputs.append(scores)
    codes = np.clip(np.round(anchors * 200) + 10, 11, 255).astype(np.uint8)
    return [m.inputs[-1 if distinct else -2], scores, b.const(f"c{len(b._tensors)}", codes, 1 / 200, 10)]


def small(cases):
    """Those whose scores have 256 values at most."""
    return [c for c in cases if c[0] * (c[1] + c[3]) <= 256]


def circular_buffer(rng):
    """Runs of the reference go on behind each: one cycle."""
    m = make_models.Model()
    for slots, high, depth in ((1, 1, 1), (2, 1, 1), (5, 1, 3), (3, 2, 4), (13, 1, 8), (25, 2, 3), (7, 1, 40), (1, 2, 2), (4, 3, 1), (30, 1, 1)):
        for zero in (0, -17):
            at = len(m.inputs)
            x = m.builder.tensor(f"x{at}", "int8", (1, 1, high, depth), 0.5, zero)
            rows = m.builder.tensor(f"rows{at}", "int8", (1, slots, high, depth), 0.5, zero, is_variable=True)
            y = m.builder.tensor(f"y{at}", "int8", (1, slots, high, depth), 0.5, zero)
            m.builder.custom("CIRCULAR_BUFFER", [x], [rows], {"cycles_max": 1})
            m.builder.op("PAD", [rows, m.const(np.zeros((4, 2)), np.int32)], [y])
            m.inputs.append(x)
            m.outputs.append(y)
    return m


def chain(*buffers):
    """Circular buffers (slots, cycles) with a sum of their rows between; cycles None: the file does not say."""
    def make(rng):
        m = make_models.Model()
        b, depth = m.builder, 3
        x = b.tensor("x0", "int8", (1, 1, 1, depth), 0.5, 2)
        m.inputs.append(x)
        for at, (slots, cycles) in enumerate(buffers):
            rows = b.tensor(f"rows{at}", "int8", (1, slots, 1, depth), 0.5, 2, is_variable=True)
            x, before = b.tensor(f"row{at}", "int8", (1, 1, 1, depth), 0.5, 2), x
            b.custom("CIRCULAR_BUFFER", [before], [rows], None if cycles is None else {"cycles_max": cycles})
            b.op("MEAN", [rows, b.const(f"axes{at}", np.array([1], np.int32))], [x], keep_dims=True)
        y = b.tensor("y0", "int8", (1, 1, 1, depth), 0.5, 2)
        b.op("PAD", [x, m.const(np.zeros((4, 2)), np.int32)], [y])
        m.outputs.append(y)
        return m
    return make


def decode(kind):
    def make(rng):
        m = make_models.Model()
        for values, scale, zero, axis, packed in packing.cases(kind, rng):
            at, dtype = len(m.builder._tensors), values.dtype.name
            data, how = (m.const(np.frombuffer(bytes(part), np.uint8)) for part in packed)
            out = m.builder.tensor(f"decoded{at}", dtype, values.shape, scale, zero, axis)
            m.builder.custom("TFLM_DECODE", [data, how], [out])
            use(m, out, values, scale, zero, axis)
        return m
    return make


def use(m, decoded, values, scale, zero, axis):
    """An output that depends on every decoded element."""
    b, at, dtype = m.builder, len(m.outputs), values.dtype.name
    if dtype == "bool":
        b.op("LOGICAL_AND", [m.input("bool", values.shape), decoded], [m.output("bool", values.shape)])
    elif dtype in ("float32", "int32"):
        b.op("ADD", [m.input(dtype, values.shape, -100, 100), decoded], [m.output(dtype, values.shape)])
    elif np.ndim(scale) > 0:
        convolve(m, decoded, values, scale, axis)
    else:
        quantization = {} if scale is None else dict(scale=scale, zero_point=zero)
        x = b.tensor(f"x{len(m.inputs)}", dtype, (1, *values.shape[1:]), **quantization)
        y = b.tensor(f"y{at}", dtype, (values.shape[0] + 1, *values.shape[1:]), **quantization)
        b.op("CONCATENATION", [x, decoded], [y], axis=0)
        m.inputs.append(x)
        m.outputs.append(y)


def convolve(m, decoded, values, scale, axis):
    """Weights along the first dimension are a convolution's, along the last a depthwise one's."""
    b, (out, high, wide, depth) = m.builder, values.shape
    results = out if axis == 0 else depth
    x = b.tensor(f"x{len(m.inputs)}", "int8", (1, high + 2, wide + 2, depth), 0.5, 3)
    y = b.tensor(f"y{len(m.outputs)}", "int8", (1, 3, 3, results), 60.0, -5)
    bias = b.const(f"c{len(b._tensors)}", np.arange(results, dtype=np.int32) * 100, [0.5 * s for s in scale], [0] * results)
    more = {} if axis == 0 else {"depth_multiplier": 1}
    b.op("CONV_2D" if axis == 0 else "DEPTHWISE_CONV_2D", [x, decoded, bias], [y], version=3, padding="VALID", stride_w=1,
         stride_h=1, **more)
    m.inputs.append(x)
    m.outputs.append(y)


def lstm_int16(rng):
    """(batches, steps, inputs, cells, exponent of the cell's scale, clip, time first). Weights are large enough for sums
    to saturate in some, and deep enough to need 64 bits in one."""
    m, b = make_models.Model(), None
    b = m.builder
    for i, (batches, steps, inputs, cells, exponent, clip, time_major) in enumerate(LSTMS):
        names = iter(f"lstm{i}_{k}" for k in range(40))
        scale_x, scale_h, scale_w = 2.0 ** -rng.uniform(10, 15), 2.0 ** -rng.uniform(14.5, 15.5), 2.0 ** -rng.uniform(3, 9)
        shape = (steps, batches, inputs) if time_major else (batches, steps, inputs)
        x = b.tensor(f"x{i}", "int16", shape, scale_x, 0)
        m.inputs.append(x)
        weights = [b.const(next(names), rng.integers(-127, 128, (cells, n)).astype(np.int8), scale_w * f, 0)
                   for n, f in [(inputs, rng.uniform(0.5, 2)) for _ in range(4)] + [(cells, rng.uniform(0.5, 2)) for _ in range(4)]]
        biases = [b.const(next(names), rng.integers(-30000, 30000, cells).astype(np.int64), scale_x * scale_w, 0) for _ in range(4)]
        states = [b.tensor(next(names), "int16", (batches, cells), s, 0, is_variable=True) for s in (scale_h, 2.0 ** exponent)]
        y = b.tensor(f"y{i}", "int16", shape[:2] + (cells,), scale_h, 0)
        b.op("UNIDIRECTIONAL_SEQUENCE_LSTM", [x, *weights, -1, -1, -1, *biases, -1, -1, *states, -1, -1, -1, -1], [y],
             activation="TANH", cell_clip=clip, time_major=time_major)
        m.outputs.append(y)
    return m


LSTMS = ((1, 1, 1, 1, -11, 0.0, False), (1, 3, 4, 5, -11, 0.0, False), (2, 3, 4, 5, -11, 0.0, True), (1, 8, 3, 7, -12, 0.0, False),
         (1, 2, 13, 9, -15, 0.0, False), (3, 2, 5, 4, -14, 0.0, False), (1, 5, 6, 6, -13, 0.0, True), (1, 4, 8, 8, -10, 0.0, False),
         (1, 4, 8, 8, -9, 0.0, False), (1, 4, 2, 3, -11, 1.5, False), (2, 4, 2, 3, -12, 0.25, True), (1, 3, 600, 4, -11, 0.0, False),
         (1, 6, 1, 16, -11, 0.0, False), (1, 3, 5, 2, -15, 0.7, False), (4, 1, 3, 3, -11, 0.0, False), (1, 10, 4, 4, -13, 3.0, False),
         (2, 2, 2, 2, -10, 0.0, True), (1, 2, 17, 1, -11, 0.0, False), (1, 1, 9, 12, -12, 100.0, False), (1, 7, 3, 3, -9, 2.0, False))
MICRO = {"oracle": "tflite-micro"}
MODELS = {"detection_fast": (detections("float32", FAST, False), {}),
          "detection_regular": (detections("float32", REGULAR, True), {}),
          "detection_fast_uint8": (detections("uint8", small(FAST), False), {}),
          "detection_regular_uint8": (detections("uint8", small(REGULAR), True), {}),
          "detection_micro_fast": (detections("float32", FAST, False, alone=True), MICRO),
          "detection_micro_regular": (detections("float32", REGULAR, True), MICRO),
          "circular_buffer": (circular_buffer, MICRO),
          # Of so many runs the reference goes to the end of one.
          "circular_buffer_cycles": (chain((2, 2), (3, 1), (4, 3), (2, 1)), {**MICRO, "every": 6}),
          "circular_buffer_guess": (chain((4, None), (13, None), (3, 3)), {**MICRO, "every": 6}),
          "lstm_int16": (lstm_int16, MICRO),
          **{f"decode_{kind}": (decode(kind), MICRO) for kind in packing.KINDS}}


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    about = {}
    for name, (make, more) in MODELS.items():
        model = make(np.random.default_rng([2, len(name), ord(name[-1])]))
        (folder / f"{name}.tflite").write_bytes(model.finish())
        about[name] = {**more, "inputs": model.ranges}
    (folder / "inputs.json").write_text(json.dumps(about, indent=1) + "\n")
