# SPDX-License-Identifier: Apache-2.0
"""A model with custom operators between operators of TFLite's, and what it computes.

The parts around the custom operators are models of their own, for LiteRT; the custom operators are
numpy. `write(folder)` writes all, `expected(folder, x)` gives the outputs for an input.
"""
import pathlib
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))
from tflite_builder import ModelBuilder  # noqa: E402

STEPS, CHANNELS, WIDTH, STEP, DECAY = 12, 6, 20, 7, np.float32(0.8125)
FRAMES = (STEPS * CHANNELS - WIDTH) // STEP + 1
SCALE, ZERO, SUM_SCALE, SUM_ZERO = 0.05, 3, 0.11, -20


def parts(b, x, front=True, middle=True, back=True):
    """Adds the operators asked for behind tensor x; their results, and the outputs of all."""
    shape, outputs = (1, STEPS, CHANNELS), []
    if front:
        summed = b.tensor("summed", "int8", shape, SUM_SCALE, SUM_ZERO)
        b.op("ADD", [x, x], [summed])
        outputs, x = [summed], summed
    if middle:
        held = b.tensor("held", "int8", shape, SUM_SCALE, SUM_ZERO)
        place = b.tensor("place", "int32", (CHANNELS,))
        b.custom("PeakHold", [x], [held, place], {"decay": float(DECAY)})
        outputs, x = [place], held
    if back:
        real = b.tensor("real", "float32", shape)
        b.op("DEQUANTIZE", [x], [real])
        row = b.tensor("row", "float32", (1, STEPS * CHANNELS))
        b.op("RESHAPE", [real, b.const("row_shape", np.array([1, STEPS * CHANNELS], np.int32))], [row])
        outputs, x = outputs + [row], row
    if middle:
        framed = b.tensor("framed", "float32", (1, FRAMES, WIDTH), shape_signature=[1, -1, WIDTH])
        b.custom("Frames", [x], [framed], {"step": STEP, "width": WIDTH})
        last = b.tensor("last", "float32", (1, FRAMES, WIDTH))
        b.op("RELU", [framed], [last])
        outputs = [outputs[0], last]
    return outputs


def model(scale=SCALE, zero=ZERO, **which):
    b = ModelBuilder()
    x = b.tensor("x", "int8", (1, STEPS, CHANNELS), scale, zero)
    return b.finish([x], parts(b, x, **which))


def write(folder):
    (folder / "custom.tflite").write_bytes(model())
    (folder / "front.tflite").write_bytes(model(middle=False, back=False))
    (folder / "back.tflite").write_bytes(model(SUM_SCALE, SUM_ZERO, front=False, middle=False))


def litert(path, x):
    interpreter = Interpreter(str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def peak_hold(x):
    held, level = np.empty_like(x), np.full(CHANNELS, -128, np.float32)
    for t in range(STEPS):
        level = (level - np.float32(SUM_ZERO)) * DECAY + np.float32(SUM_ZERO)
        level = np.maximum(level, x[0, t].astype(np.float32))
        held[0, t] = np.trunc(level + np.where(level < 0, np.float32(-0.5), np.float32(0.5)))
    return held, np.argmax(x[0], axis=0).astype(np.int32)


def expected(folder, x):
    """The outputs: where the largest values are, and the windows."""
    held, place = peak_hold(litert(folder / "front.tflite", x))
    row = litert(folder / "back.tflite", held)
    windows = np.stack([row[0, i * STEP:i * STEP + WIDTH] for i in range(FRAMES)])[None]
    return place, np.maximum(windows, 0)
