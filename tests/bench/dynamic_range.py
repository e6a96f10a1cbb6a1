#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of fully connected layers in dynamic range beside the same layers in int8.

Usage: dynamic_range.py [--target m4] [--most RATIO] [--keep FOLDER]

The layers are ad's (../shared/models): from the float model's weights a model is made as
TensorFlow's converter makes it (int8 weights, a scale for each channel, float activations),
symmetric and asymmetric. All are compiled and run on the emulated board. Prints instructions of
each layer; exits with 1 if a total is more than --most (default 1.2) times int8's.
"""
import argparse
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]
import measure  # noqa: E402
import numpy as np  # noqa: E402
from ai_edge_litert import interpreter as litert  # noqa: E402
from ai_edge_litert import schema_py_generated as schema  # noqa: E402
from tflite_builder import ModelBuilder  # noqa: E402

ACTIVATIONS = {0: "NONE", 1: "RELU", 3: "RELU6"}


def quantized(weights):
    """Symmetric int8 and a scale for each row."""
    scales = np.abs(weights).max(axis=1) / np.float32(127)
    scales = np.where(scales == 0, np.float32(1), scales)
    return np.clip(np.round(weights / scales[:, None]), -127, 127).astype(np.int8), scales


def dynamic_model(path, asymmetric):
    content = path.read_bytes()
    interpreter = litert.Interpreter(model_content=content,
                                     experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    graph = schema.ModelT.InitFromPackedBuf(content, 0).subgraphs[0]
    m = ModelBuilder()
    shape = interpreter.get_input_details()[0]["shape"]
    first = last = m.tensor("input", "float32", tuple(int(d) for d in shape))
    for i, op in enumerate(graph.operators):
        weights, bias = (interpreter.get_tensor(int(t)) for t in op.inputs[1:3])
        q, scales = quantized(weights)
        w = m.tensor(f"w{i}", "int8", q.shape, list(scales), [0] * len(scales), 0, q.tobytes())
        b = m.tensor(f"b{i}", "float32", bias.shape, data=bias.tobytes())
        result = m.tensor(f"out{i}", "float32", (1, q.shape[0]))
        m.op("FULLY_CONNECTED", [last, w, b], [result],
             activation=ACTIVATIONS[op.builtinOptions.fusedActivationFunction],
             asymmetric_quantize_inputs=asymmetric)
        last = result
    return m.finish([first], [last])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="m4", choices=measure.TARGETS)
    parser.add_argument("--most", type=float, default=1.2)
    parser.add_argument("--keep", type=pathlib.Path, help="write the models there")
    parser.add_argument("--aotc", default=measure.ROOT / "build/release/compiler/aotc")
    options = parser.parse_args()
    source = measure.model_path("ad_f32")
    if source is None:
        print("dynamic_range: skipped, ../shared/models is not here")
        return 77
    aotc = measure.Aotc(options.aotc, 600)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        measure.SHIPPED = folder
        rows = {}
        for name, model in (("int8", "ad"), ("symmetric", "ad_symmetric"),
                            ("asymmetric", "ad_asymmetric")):
            if name != "int8":
                content = dynamic_model(source, name == "asymmetric")
                (folder / f"{model}.tflite").write_bytes(content)
            rows[name] = measure.measure(aotc, model, options.target, "balanced",
                                         folder / "work", print)
    print(f"{'layer':>9} {'MACs':>9}" + "".join(f" {name:>12}" for name in rows))
    for i, layer in enumerate(rows["int8"]["layers"]):
        print(f"{i:>9} {layer['macs']:>9,}"
              + "".join(f" {row['layers'][i]['instructions']:>12,}" for row in rows.values()))
    totals = {name: row["instructions"] for name, row in rows.items()}
    print(f"{'whole':>9} {rows['int8']['macs']:>9,}" + "".join(f" {t:>12,}" for t in totals.values()))
    ratios = {name: total / totals["int8"] for name, total in totals.items()}
    print(f"{'of int8':>19}" + "".join(f" {r:>12.3f}" for r in ratios.values()))
    return 1 if max(ratios.values()) > options.most else 0


if __name__ == "__main__":
    sys.exit(main())
