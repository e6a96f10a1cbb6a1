# SPDX-License-Identifier: Apache-2.0
"""What aotc refuses of CIRCULAR_BUFFER, TFLite_Detection_PostProcess and TFLM_DECODE in files."""
import custom_models
import make_models
import numpy as np
import packing
import refusals_of

DETECTION = {"max_detections": 3, "max_classes_per_detection": 1, "num_classes": 2, "nms_score_threshold": 0.5,
             "nms_iou_threshold": 0.5, **custom_models.SCALES}


def detection(without=None, anchors=4, dtype="float32", outputs=(), **changes):
    m = make_models.Model()
    options = {k: v for k, v in {**DETECTION, **changes}.items() if k != without}
    shapes = outputs or ((1, 3, 4), (1, 3), (1, 3), (1,))
    m.builder.custom("TFLite_Detection_PostProcess",
                     [m.input(dtype, (1, 4, 4)), m.input("float32", (1, 4, 2)), m.const(np.ones((anchors, 4)), np.float32)],
                     [m.output("float32", s) for s in shapes], options)
    return m.finish()


def buffer(cycles=1, slots=3, high=1, options=None, variable=True):
    m = make_models.Model()
    x = m.builder.tensor("x0", "int8", (1, high, 1, 2), 0.5, 0)
    rows = m.builder.tensor("rows", "int8", (1, slots, 1, 2), 0.5, 0, is_variable=variable)
    m.builder.custom("CIRCULAR_BUFFER", [x], [rows], options if options is not None else {"cycles_max": cycles})
    m.inputs.append(x)
    m.outputs.append(rows)
    return m.finish()


def behind(cycles):
    """A delay behind a buffer that ends runs."""
    m = make_models.Model()
    b = m.builder
    x = b.tensor("x0", "int8", (1, 1, 1, 2), 0.5, 0)
    rows = b.tensor("rows", "int8", (1, 3, 1, 2), 0.5, 0, is_variable=True)
    b.custom("CIRCULAR_BUFFER", [x], [rows], {"cycles_max": cycles})
    b.custom("SignalDelay", [m.input("int16", (4,))], [m.output("int16", (4,))], {"delay_length": 1})
    m.inputs.append(x)
    m.outputs.append(rows)
    return m.finish()


def decode(data=b"\xff", how=None, operands=2):
    m = make_models.Model()
    how = packing.head(packing.LUT, 1, 2) + b"\1\2" if how is None else how
    out = m.builder.tensor("decoded", "float32" if len(how) > 20 else "int8", (8,), 0.5, 0)
    given = [m.const(np.frombuffer(part, np.uint8)) for part in (data, how)][:operands]
    if operands == 3:
        given[0] = m.input("uint8", (1,))
    m.builder.custom("TFLM_DECODE", given, [out])
    x = m.builder.tensor("x", "int8", (1,), 0.5, 0)
    y = m.builder.tensor("y", "int8", (9,), 0.5, 0)
    m.builder.op("CONCATENATION", [x, out], [y], axis=0)
    m.inputs.append(x)
    m.outputs.append(y)
    return m.finish()


def cases():
    yield "detection", detection(), None
    yield "detection_whole_scales", detection(y_scale=10, w_scale=5), None
    for name in ("max_detections", "num_classes", "nms_iou_threshold", "w_scale"):
        yield f"detection_without_{name}", detection(without=name), f"have no '{name}'"
    yield "detection_text", detection(h_scale="5"), "'h_scale' is not a number"
    yield "detection_part", detection(num_classes=1.5), "is not an integer"
    yield "detection_none", detection(max_detections=0), "max_detections 0"
    yield "detection_huge", detection(max_detections=0x7FFFFFFF), "max_detections 2147483647"
    yield "detection_classes", detection(num_classes=4), "2 scores for 4 classes"
    yield "detection_overlap", detection(nms_iou_threshold=0.0), "nms_iou_threshold 0"
    yield "detection_scale", detection(x_scale=0.0), "a scale of boxes is 0"
    yield "detection_anchors", detection(anchors=3), "4 boxes and anchors of 3x4"
    yield "detection_mixed", detection(dtype="uint8"), "op-type"
    yield "detection_result", detection(outputs=((1, 3, 4), (1, 3), (1, 2), (1,))), "op-shape"
    yield "buffer", buffer(), None
    yield "buffer_plain", buffer(variable=False), None
    yield "buffer_guess", buffer(options=b""), None
    yield "buffer_guess_zero", buffer(cycles=0), None
    yield "buffer_high", buffer(high=2), "a row is [1, 1, x, y]"
    yield "buffer_cycles", buffer(cycles=1 << 20), "cycles 1048576 is outside of 1..65536"
    yield "buffer_option", buffer(options={"cycles": 1}), "have no 'cycles_max'"
    yield "buffer_behind", behind(1), None
    yield "buffer_behind_cycles", behind(2), "after an operator that ends some runs"
    yield "decode", decode(), None
    yield "decode_short", decode(data=b""), "hold fewer than 8 indices"
    yield "decode_table", decode(how=packing.head(packing.LUT, 1, 2) + b"\1"), "outside of the table"
    yield "decode_head", decode(how=b"\0\1"), "2 bytes say how"
    yield "decode_own", decode(how=packing.head(127)), "only its maker knows"
    yield "decode_version", decode(how=b"\0\2" + bytes(16)), "version 2 of the format"
    yield "decode_operands", decode(operands=1), "op-operands"
    yield "decode_input", decode(operands=3), "is supported only on constants"


test_check = refusals_of.test_of(cases())
