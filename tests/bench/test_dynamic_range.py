# SPDX-License-Identifier: Apache-2.0
"""Instructions of fully connected layers in dynamic range beside the same layers in int8, on an emulated Cortex-M4.

The layers are ad's (../shared/models): from the float model's weights a model is made as
TensorFlow's converter makes it (int8 weights, a scale for each channel, float activations),
symmetric and asymmetric. Prints instructions of each layer.
"""
from ai_edge_litert import interpreter as litert
from ai_edge_litert import schema_py_generated as schema
import common
import measure
import numpy as np
from tflite_builder import ModelBuilder

MOST = 1.2  # times the instructions of int8
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


def test_dynamic_range(tmp_path, monkeypatch):
    source = common.model_path("ad_f32")
    monkeypatch.setattr(measure, "SHIPPED", tmp_path)
    for kind in ("symmetric", "asymmetric"):
        (tmp_path / f"ad_{kind}.tflite").write_bytes(dynamic_model(source, kind == "asymmetric"))
    aotc = measure.Aotc(common.AOTC, 600)
    rows = {name: measure.measure(aotc, model, "m4", "balanced", tmp_path / "work", print)
            for name, model in (("int8", "ad"), ("symmetric", "ad_symmetric"), ("asymmetric", "ad_asymmetric"))}
    print(f"{'layer':>9} {'MACs':>9}" + "".join(f" {name:>12}" for name in rows))
    for i, layer in enumerate(rows["int8"]["layers"]):
        print(f"{i:>9} {layer['macs']:>9,}"
              + "".join(f" {row['layers'][i]['instructions']:>12,}" for row in rows.values()))
    ratios = {name: row["instructions"] / rows["int8"]["instructions"] for name, row in rows.items()}
    print(f"{'of int8':>19}" + "".join(f" {r:>12.3f}" for r in ratios.values()))
    assert max(ratios.values()) <= MOST
