# SPDX-License-Identifier: Apache-2.0
"""Layers with activations of 16 bits between QuantizeLinear and DequantizeLinear. onnxruntime computes them in float,
aotc in integers: at most one step apart, in at most one of a thousand elements. EXACT layers are equal. No tensor of
floats may exist but the input of the C. Takes 25 CPU seconds."""
import argparse
import json

import common
import node_tests
import numpy as np
import pytest

# Shape of the activations and of the weights (None: two activations), attributes.
LAYERS = {
    "conv": ("Conv", (1, 8, 24, 20), (12, 8, 3, 3), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    "strided": ("Conv", (1, 3, 33, 33), (16, 3, 3, 3),
                {"kernel_shape": [3, 3], "pads": [0, 1, 1, 0], "strides": [2, 2]}),
    "pointwise": ("Conv", (1, 16, 18, 18), (24, 16, 1, 1), {"kernel_shape": [1, 1]}),
    "grouped": ("Conv", (1, 8, 20, 20), (8, 4, 3, 3), {"kernel_shape": [3, 3], "group": 2, "pads": [1, 1, 1, 1]}),
    "depthwise": ("Conv", (1, 12, 22, 22), (12, 1, 3, 3), {"kernel_shape": [3, 3], "group": 12, "pads": [1, 1, 1, 1]}),
    "line": ("Conv", (1, 8, 200), (16, 8, 5), {"kernel_shape": [5], "pads": [2, 2]}),
    "gemm": ("Gemm", (40, 64), (32, 64), {"transB": 1}),
    "matmul": ("MatMul", (40, 64), (64, 32), {}),
    "add": ("Add", (40, 64), None, {}),
    "mul": ("Mul", (40, 64), None, {}),
    "concat": ("Concat", (40, 64), None, {"axis": 1}),
    "softmax": ("Softmax", (40, 32), (), {"axis": 1}),
    "softmax_of_columns": ("Softmax", (1, 12, 9, 9), (), {"axis": 1}),
    "max_pool": ("MaxPool", (1, 8, 20, 20), (), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "average_pool": ("AveragePool", (1, 8, 24, 20), (), {"kernel_shape": [3, 2], "strides": [1, 2]}),
    "average_of_line": ("AveragePool", (1, 16, 96), (), {"kernel_shape": [5]}),
    "global_pool": ("GlobalAveragePool", (1, 96, 7, 5), (), {}),
}
EXACT = ("add", "mul", "concat", "max_pool")
# Zero points of operands and result, element type.
ZEROS = {"symmetric": (0, 0, np.int16), "asymmetric": (1134, -32768, np.int16), "unsigned": (31127, 30011, np.uint16)}


def result_scale(op, sx, zeros):
    if op == "Softmax":
        return np.float32(1.01 / (np.iinfo(zeros[2]).max - zeros[1]))
    return sx if op == "MaxPool" else np.float32(sx * 0.71)


def model_of(layer, zeros, relu):
    from onnx import helper, numpy_helper
    op, shape, weights, attributes = LAYERS[layer]
    random, node = np.random.default_rng(21), helper.make_node
    known = {"sx": np.float32(1.07e-4), "zx": zeros[2](zeros[0]), "zy": zeros[2](zeros[1])}
    nodes = [node("QuantizeLinear", ["x", "sx", "zx"], ["q"]), node("DequantizeLinear", ["q", "sx", "zx"], ["d"])]
    given = {"x": random.standard_normal(shape).astype(np.float32)}
    if weights is None:
        given["v"] = random.standard_normal(shape).astype(np.float32)
        nodes += [node("QuantizeLinear", ["v", "sv", "zx"], ["qv"]),
                  node("DequantizeLinear", ["qv", "sv", "zx"], ["e"])]
        known["sv"], known["sy"] = np.float32(0.83e-4), np.float32(1.3e-4)
        nodes.append(node(op, ["d", "e"], ["c"], **attributes))
    elif weights == ():
        known["sy"], known["zy"] = result_scale(op, known["sx"], zeros), known["zx" if op == "MaxPool" else "zy"]
        nodes.append(node(op, ["d"], ["c"], **attributes))
    else:
        axis = 1 if op == "MatMul" else 0
        known["w"] = random.integers(-127, 128, weights).astype(np.int8)
        known["sw"] = (random.uniform(0.4, 1.6, weights[axis]) * 0.004).astype(np.float32)
        known["zw"] = np.zeros(weights[axis], np.int8)
        depth = known["w"].size // weights[axis]
        known["sy"] = np.float32(2.2e-5 * np.sqrt(depth))
        nodes.append(node("DequantizeLinear", ["w", "sw", "zw"], ["f"], axis=axis))
        operands = ["d", "f"]
        if op != "MatMul":
            known["b"] = (random.standard_normal(weights[0]) * 0.5 / (known["sx"] * known["sw"])).astype(np.int32)
            known["sb"] = (known["sx"] * known["sw"]).astype(np.float32)
            nodes.append(node("DequantizeLinear", ["b", "sb"], ["bd"], axis=0))
            operands.append("bd")
        nodes.append(node(op, operands, ["c"], **attributes))
    last = "c"
    if relu:
        nodes += [node("QuantizeLinear", ["c", "sy", "zy"], ["k"]), node("DequantizeLinear", ["k", "sy", "zy"], ["l"]),
                  node("Relu", ["l"], ["r"])]
        last = "r"
    nodes.append(node("QuantizeLinear", [last, "sy", "zy"], ["y"]))
    values = [helper.make_tensor_value_info(n, 1, a.shape) for n, a in given.items()]
    graph = helper.make_graph(nodes, "g", values, [helper.make_empty_tensor_value_info("y")],
                              [numpy_helper.from_array(np.asarray(a), n) for n, a in known.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), given


@pytest.mark.parametrize("target", ["host", "cortex_m4"])
def test_layers(target, tmp_path, record_property):
    common.need_modules("onnx", "onnxruntime")
    import onnx
    import onnxruntime
    cases = []
    for layer in LAYERS:
        for name, zeros in ZEROS.items():
            for relu in (False, True) if name == "symmetric" and layer == "conv" else (False,):
                path = tmp_path / f"{layer}_{name}{'_relu' if relu else ''}.onnx"
                model, given = model_of(layer, zeros, relu)
                onnx.save(model, path)
                options = onnxruntime.SessionOptions()
                options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
                session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
                case = node_tests.Case(path.stem, path, "int16", list(given.items()), session.run(None, given))
                told = json.loads(common.aotc("check", path, "--json"))
                case.floats = [t["name"] for t in told["tensors"] if t["dtype"] == "f32" and t["name"] not in given]
                cases.append(case)
    counts = {}

    def judge(case, found):
        want = case.outputs[0].astype(np.int64).ravel()
        apart = np.abs(np.frombuffer(found[0], case.outputs[0].dtype).astype(np.int64) - want)
        counts[case.name] = (int(np.count_nonzero(apart)), apart.size)
        exact = case.name.startswith(EXACT)
        good = apart.max() <= (0 if exact else 1) and not case.floats
        case.verdict, case.why, case.text = ("passed" if good else "wrong"), f"by up to {apart.max()} {case.floats}", ""

    node_tests.run(cases, argparse.Namespace(frozen=False, compiler="gcc", jobs=1, target=target, work=tmp_path / "c"),
                   judged=judge)
    assert [(c.name, c.why, c.text) for c in cases if c.verdict != "passed"] == []
    print(counts)
    unequal, elements = (sum(c[i] for c in counts.values()) for i in (0, 1))
    assert unequal <= elements / 1000, counts
    record_property("cases", len(cases))


def test_wider_results(tmp_path):
    """The global average of int8 as int16, which onnxruntime's schema forbids: computed in floats."""
    common.need_modules("onnx")
    import onnx
    from onnx import helper, numpy_helper
    shape = (1, 6, 5, 7)
    given = np.random.default_rng(5).integers(-128, 128, shape).astype(np.int8)
    known = {"sx": np.float32(0.05), "zx": np.int8(3), "sy": np.float32(1e-4), "zy": np.int16(-20)}
    node = helper.make_node("QLinearGlobalAveragePool", ["x", "sx", "zx", "sy", "zy"], ["y"], domain="com.microsoft")
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", onnx.TensorProto.INT8, shape)],
                              [helper.make_empty_tensor_value_info("y")],
                              [numpy_helper.from_array(np.asarray(a), n) for n, a in known.items()])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    path = tmp_path / "wider.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    mean = (given.astype(np.float64) - 3).mean((2, 3), keepdims=True) * 0.05
    want = np.clip(np.rint(mean / 1e-4) - 20, -32768, 32767).astype(np.int16)
    case = node_tests.Case("wider", path, "int16", [("x", given)], [want])

    def judge(case, found):
        apart = np.abs(np.frombuffer(found[0], np.int16).astype(np.int64) - want.ravel()).max()
        case.verdict, case.why, case.text = ("passed" if apart <= 1 else "wrong"), f"by up to {apart}", ""

    node_tests.run([case], argparse.Namespace(frozen=False, compiler="gcc", jobs=1, target="host", work=tmp_path / "c"),
                   judged=judge)
    assert (case.verdict, case.why, case.text)[0] == "passed", (case.why, case.text)


def test_exact_sums(tmp_path):
    """The example of docs/numerics.md: float32 loses the last bit of the sum, which decides the tie."""
    common.need_modules("onnx", "onnxruntime")
    import onnx
    import onnxruntime
    from onnx import helper, numpy_helper
    x, w = np.array([[32767, 32767, 32767, 32767, 1040, 13]], np.int16), np.array([[127]] * 5 + [[1]], np.int8)
    known = {"sx": np.float32(2**-8), "sw": np.float32(2**-7), "sy": np.float32(2**-5), "z": np.int16(0), "zw": np.int8(0), "w": w}
    nodes = [helper.make_node("DequantizeLinear", ["x", "sx", "z"], ["d"]), helper.make_node("DequantizeLinear", ["w", "sw", "zw"], ["f"]),
             helper.make_node("MatMul", ["d", "f"], ["m"]), helper.make_node("QuantizeLinear", ["m", "sy", "z"], ["y"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", onnx.TensorProto.INT16, x.shape)],
                              [helper.make_empty_tensor_value_info("y")],
                              [numpy_helper.from_array(np.asarray(a), n) for n, a in known.items()])
    path = tmp_path / "exact.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    assert int((x.astype(np.int64) @ w)[0, 0]) == 16384 * 1024 + 513
    assert onnxruntime.InferenceSession(str(path)).run(None, {"x": x})[0].tolist() == [[16384]]
    case = node_tests.Case("exact", path, "int16", [("x", x)], [np.array([[16385]], np.int16)])
    node_tests.run([case], argparse.Namespace(frozen=False, compiler="gcc", jobs=1, target="host", work=tmp_path / "c"))
    assert case.verdict == "passed", (case.why, case.text)
