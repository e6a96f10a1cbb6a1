# SPDX-License-Identifier: Apache-2.0
"""Models that are odd and valid, and such that have what no rule knows: cases of operators.py."""
import numpy as np

from operator_models import floats, graph_of, numbers, single

INF, NAN = np.float32(np.inf), np.float32(np.nan)


def model_of(graph, opset=21, functions=(), domains=()):
    from onnx import helper
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=list(functions))


def one(op, inputs, attributes=(), outputs=1, constants=(), opset=21):
    graph, given = single(op, inputs, dict(attributes), outputs, constants)
    return model_of(graph, opset), given


def infinite_cases():
    rows = {"x0": np.array([[-INF, -INF], [1, -INF], [NAN, 1], [INF, -INF], [3, 2]], np.float32)}
    axis = {"x1": np.array([1])}
    for op in ("ReduceMax", "ReduceMin", "ReduceLogSumExp"):
        yield f"infinite_{op.lower()}", one(op, rows, constants=axis)
        yield f"infinite_{op.lower()}_of_all", one(op, {"x0": np.full((2, 3), -INF if op == "ReduceMax" else INF)})
    yield "norm_of_zeros", one("LpNormalization", {"x0": np.array([[0, 3], [0, 4]], np.float32)}, {"axis": 0})


def attention_cases():
    q, k = floats(2, 3, 4, 8), {"x1": floats(2, 3, 6, 8), "x2": floats(2, 3, 6, 8)}
    for name, given, attributes, outputs in (
            ("softcap", {"x3": floats(4, 6)}, {"softcap": 0.5, "qk_matmul_output_mode": 1}, 4),
            ("biased", {"x3": floats(4, 6)}, {"softcap": 0.5, "qk_matmul_output_mode": 2}, 4),
            ("hidden", {"x3": np.tri(4, 6, -2) > 0}, {"qk_matmul_output_mode": 3}, 4),
            ("window", {}, {"left_window_size": 1, "right_window_size": 2}, 1),
            ("lengths", {"x6": np.array([3, 5])}, {"is_causal": 1, "left_window_size": 3}, 1)):
        model, inputs = one("Attention", {"x0": q, **k, **given}, attributes, outputs, opset=25)
        for output in (1, 2):
            if outputs == 4:
                model.graph.node[0].output[output] = ""
        if outputs == 4:
            del model.graph.output[1:3]
        yield f"attention_{name}", (model, inputs)


def whole_cases():
    """Powers of int64 beyond the digits of floats, parts without elements, places of a scale that is no float, pads by output_shape."""
    from onnx import helper
    for kind in (np.int64, np.float32):
        powers = {"x0": np.array([-3, -1, 0, 1, 2, 97, 3]), "x1": np.array([21, -3, 0, -2, 40, 5, 3], kind)}
        yield f"power_{np.dtype(kind)}", one("Pow", powers)
    nodes = [helper.make_node("Concat", ["e", "f"], ["c"], axis=1), helper.make_node("Shape", ["c"], ["s"]),
             helper.make_node("Add", ["s", "x0"], ["y0"])]
    empty = {"e": np.zeros((0, 2), np.float32), "f": np.zeros((0, 3), np.float32)}
    given = {"x0": np.array([5, 7])}
    yield "parts_without_elements", (model_of(graph_of(nodes, given, ["y0"], empty)), given)
    image = {"x0": floats(1, 2, 5, 6)}
    for mode in ("round_prefer_floor", "floor"):
        for scale in (0.6, 1.7):
            yield f"places_{mode}_{scale}", one("Resize", image, {"nearest_mode": mode}, constants={
                "x2": np.array([1, 1, scale, scale + 0.5], np.float32)})
    yield "region_of_no_mode", one("Resize", image, {"mode": "linear"}, constants={
        "x1": np.zeros(8, np.float32), "x2": np.array([1, 1, 2, 2], np.float32)})
    yield "pads_by_shape", one("ConvTranspose", image, {"strides": [2, 2], "output_shape": [10, 12]},
                               constants={"x1": floats(2, 3, 3, 3)})


def function_cases():
    """A function's attribute in a branch."""
    from onnx import helper
    empty = helper.make_empty_tensor_value_info
    leaky = helper.make_node("LeakyRelu", ["a"], ["t"])
    alpha = helper.make_attribute_ref("alpha", 1)
    alpha.ref_attr_name = "slope"
    leaky.attribute.append(alpha)
    branches = {"then_branch": helper.make_graph([leaky], "t", [], [empty("t")]),
                "else_branch": helper.make_graph([helper.make_node("Neg", ["a"], ["e"])], "e", [], [empty("e")])}
    function = helper.make_function("mine", "Leaky", ["a", "q"], ["r"], [helper.make_node("If", ["q"], ["r"], **branches)],
                                    [helper.make_opsetid("", 17)], ["slope"])
    inputs = {"x0": floats(2, 3), "x1": np.array(True)}
    call = helper.make_node("Leaky", ["x0", "x1"], ["y0"], domain="mine", slope=0.25)
    yield "attribute_in_branch", (model_of(graph_of([call], inputs, ["y0"]), 17, [function], ["mine"]), inputs)


def group_cases():
    """Operators between DequantizeLinear and QuantizeLinear: what their attributes say is not lost."""
    from onnx import helper
    node = helper.make_node
    known = {"s": np.array(0.02, np.float32), "z": np.array(119, np.uint8), "v": np.array(1 / 512, np.float32), "u": np.array(3, np.uint8)}
    into, image = node("DequantizeLinear", ["x0", "s", "z"], ["r"]), {"x0": numbers("uint8", 1, 4, 5, 5)}
    nodes = [into, node("Softmax", ["r"], ["c"], axis=1), node("QuantizeLinear", ["c", "v", "u"], ["y0"])]
    yield "softmax_of_all_behind", (model_of(graph_of(nodes, image, ["y0"], known), 12), image)
    weights = {"w": numbers("int8", 4, 4, 3, 3, bits=7), "ws": np.array([0.01, 0.02, 0.03, 0.015], np.float32),
               "wz": np.zeros(4, np.int8)}
    nodes = [into, node("DequantizeLinear", ["w", "ws", "wz"], ["f"], axis=1), node("Conv", ["r", "f"], ["c"]),
             node("QuantizeLinear", ["c", "s", "z"], ["y0"])]
    # onnxruntime takes these scales for those of the outputs, unless its optimisations are off.
    yield "spec_scales_of_inputs", (model_of(graph_of(nodes, image, ["y0"], {**known, **weights})), image)
    rows = {"x0": numbers("uint8", 3, 4)}
    weights = {**weights, "w": numbers("int8", 4, 4, bits=7), "b": numbers("int8", 4).astype(np.int32), "bs": weights["ws"] * known["s"]}
    nodes = [into, node("DequantizeLinear", ["w", "ws", "wz"], ["f"], axis=0), node("DequantizeLinear", ["b", "bs"], ["g"], axis=0),
             node("Gemm", ["r", "f", "g"], ["c"], transB=1, alpha=1.0, beta=1.0), node("QuantizeLinear", ["c", "s", "z"], ["y0"])]
    yield "gemm_with_beta", (model_of(graph_of(nodes, rows, ["y0"], {**known, **weights})), rows)


def wide_cases():
    """Windows of one dimension over 256 elements, and indices that large constants give."""
    sound = {"x0": np.linspace(-1, 1, 2 * 700, dtype=np.float32).reshape(1, 2, 700)}
    taps = lambda *shape: np.cos(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape) / 16  # noqa: E731
    for name, attributes, weights in (("", {"strides": [5]}, taps(3, 2, 300)), ("_groups", {"group": 2, "pads": [9, 4]}, taps(4, 1, 257)),
                                      ("_dilation", {"dilations": [2]}, taps(2, 2, 257))):
        yield f"wide_conv{name}", one("Conv", sound, attributes, constants={"x1": weights, "x2": taps(len(weights))})
    from onnx import helper
    node, places = helper.make_node, np.arange(32)
    nodes = [node("Expand", ["c0", "s"], ["e0"]), node("Expand", ["c1", "s"], ["e1"]), node("Unsqueeze", ["e0", "last"], ["u0"]),
             node("Unsqueeze", ["e1", "last"], ["u1"]), node("Concat", ["u0", "u1"], ["i"], axis=-1),
             node("ScatterND", ["x0", "i", "x1"], ["y0"])]
    known = {"c0": places[:, None], "c1": places, "s": np.array([32, 32]), "last": np.array([-1])}
    given = {"x0": np.zeros((32, 33), np.float32), "x1": np.arange(1024, dtype=np.float32).reshape(32, 32)}
    yield "scatter_by_expanded", (model_of(graph_of(nodes, given, ["y0"], known)), given)


def odd_cases():
    for family in (infinite_cases, attention_cases, whole_cases, function_cases, group_cases, wide_cases):
        yield from family()


def odd_refusals():
    """(name, model, what the message has)"""
    from onnx import helper
    x = {"x0": floats(2, 3)}
    relu = lambda **attributes: model_of(graph_of([helper.make_node("Relu", ["x0"], ["y0"], **attributes)], x, ["y0"]))  # noqa: E731
    yield "unknown_attribute", relu(slope=0.5), "op 0 Relu 'y0': error: aotc does not know attribute 'slope' of this operator [onnx-attribute]"
    twice, loose = (one("LeakyRelu", x, {"alpha": 0.5})[0] for _ in range(2))
    twice.graph.node[0].attribute.append(helper.make_attribute("alpha", 0.25))
    yield "attribute_twice", twice, "attribute 'alpha' occurs twice"
    loose.graph.node[0].attribute[0].ref_attr_name = "beta"
    yield "attribute_of_no_function", loose, "attribute 'alpha' refers to a function attribute"
    yield "attribute_of_other_kind", one("LeakyRelu", x, {"alpha": 1})[0], "attribute 'alpha' has the wrong type"
    yield "unknown_input", one("Relu", {**x, "x1": floats(3)})[0], "aotc does not know input 1 of this operator"
    yield "stash_type", one("LayerNormalization", {**x, "x1": floats(3)}, {"stash_type": 10})[0], "attribute 'stash_type'"
    yield "precision", one("QuantizeLinear", x, {"precision": 10}, constants={"x1": np.float32(0.5)}, opset=23)[0], "'precision'"
    yield "newer_opset", one("Relu", x, opset=29)[0], "operator set 29; the newest that aotc reads is 28"
    branch = lambda name: helper.make_graph([helper.make_node("Identity", ["x0"], [name])], name, [],  # noqa: E731
                                            [helper.make_empty_tensor_value_info(name)])
    chosen = helper.make_node("If", ["x1"], ["y0"], then_branch=branch("t"), else_branch=branch("e"), likely=1)
    yield "unknown_of_if", model_of(graph_of([chosen], {**x, "x1": np.array(True)}, ["y0"])), "attribute 'likely'"
    yield "wrong_kernel", one("Conv", {"x0": floats(1, 2, 5, 5)}, {"kernel_shape": [3, 2]}, constants={"x1": floats(4, 2, 3, 3)})[0], \
        "kernel_shape differs from the shape of the weights"
