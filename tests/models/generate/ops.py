# SPDX-License-Identifier: Apache-2.0
"""Converts every single-layer graph of op_cases.py into tests/models/ops."""

import common  # noqa: I001  (sets the environment that TensorFlow reads)

import collections
import zlib

import numpy as np
import op_cases
import tensorflow as tf

FOLDER = common.MODELS_DIR / "ops"
CALIBRATION_COUNT = 50
LARGEST = 3072  # bytes of a model


def make_function(case, rng):
    """The case as a tf.function; inputs are named x, y, ... and outputs out, out_1, ..."""
    draw = op_cases.constants(rng)
    signature = [
        tf.TensorSpec(shape, case.dtype, name=name)
        for name, shape in zip(op_cases.INPUT_NAMES, case.shapes, strict=False)
    ]

    @tf.function(input_signature=signature)
    def function(*values):
        results = case.build(draw, *values)
        results = results if isinstance(results, tuple) else (results,)
        return {"out" if i == 0 else f"out_{i}": result for i, result in enumerate(results)}

    return function


def make(case, kind):
    """One model's bytes. The seed comes from the case's name, so that the order does not matter."""
    seed = zlib.crc32(case.name.encode())
    function = make_function(case, np.random.default_rng(seed))
    samples = op_cases.inputs(case, np.random.default_rng(seed + 1), CALIBRATION_COUNT)
    return common.convert(function, samples=samples, kind=kind)


def check(case, kind, model):
    """Loads and runs the model in LiteRT, and holds it to the folder's limits."""
    if len(model) > LARGEST:
        raise SystemExit(f"{case.name}_{kind}: {len(model)} bytes, the limit is {LARGEST}")
    interpreter = common.reference(model)
    sample = op_cases.inputs(case, np.random.default_rng(1), 1)[0]
    values = []
    names, _ = common.signature_names(model)
    for name, detail in zip(names, interpreter.get_input_details(), strict=True):
        quantised = detail["quantization"][0] != 0
        values.append(common.quantize(sample[name], detail) if quantised else sample[name])
    common.run(interpreter, values)


def generate():
    """Writes the models and operators.txt, their list; returns the report's lines."""
    for old in FOLDER.glob("*.tflite"):
        old.unlink()
    lines, counts, size = [], collections.Counter(), 0
    for case in op_cases.CASES:
        for kind in case.kinds:
            model = make(case, kind)
            check(case, kind, model)
            name = f"{case.name}_{kind}"
            common.write(FOLDER / f"{name}.tflite", model)
            operators = common.operators(model)
            lines.append(f"{name}: {' '.join(operators)}")
            counts.update(operators)
            size += len(model)
    (FOLDER / "operators.txt").write_text("".join(line + "\n" for line in sorted(lines)))
    report = [f"ops: {len(lines)} models, {size} bytes"]
    report += [f"  {name}: {count}" for name, count in sorted(counts.items())]
    return report
