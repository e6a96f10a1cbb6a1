#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX in forms that the package's node tests do not have, and those of ai.onnx.ml: small models made
here, compiled, run as C in one program, and compared with onnxruntime (floats within 1e-4, or 1e-6 absolute; whole
numbers to the bit).

Usage: operators.py --work DIR [--only TEXT] [--target host|cortex_m4] [--compiler "CC -O3"]...
"""
import argparse
import contextlib
import copy
import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import common  # noqa: E402
import node_tests  # noqa: E402
import onnx_programs as programs  # noqa: E402
from attention_cases import attention_cases  # noqa: E402
from byte_cases import byte_cases  # noqa: E402
from export_cases import export_cases  # noqa: E402
from form_cases import form_cases, in_floats  # noqa: E402
from mixed_cases import mixed_cases  # noqa: E402
from index_models import index_models  # noqa: E402
from optimised_cases import optimised_cases  # noqa: E402
from odd_models import odd_cases, odd_refusals  # noqa: E402
from operator_cases import category_cases, counted_cases, label_cases, moved_byte_cases, not_a_number_cases  # noqa: E402
from operator_cases import quantised_recurrent_cases, run_time_loop_cases, transform_cases  # noqa: E402
from weight_cases import uneconomical, weight_cases  # noqa: E402
from refusals import refused_models  # noqa: E402
from order_cases import order_cases  # noqa: E402
from written_out_cases import written_out_cases  # noqa: E402
from operator_models import RNG, floats, graph_of, numbers, single  # noqa: E402

OPSET, ML = 17, 4


def recurrent_cases():
    yield from recurrent_cases_of(3, "")
    yield from recurrent_cases_of(1, "_one")  # the inputs' product is the bias of the state's


def recurrent_cases_of(batch, tag):
    steps, inputs, hidden = 5, 4, 6
    for op, gates, states in (("RNN", 1, 1), ("GRU", 3, 1), ("LSTM", 4, 2)):
        for way, directions in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            weights = {"x1": floats(directions, gates * hidden, inputs), "x2": floats(directions, gates * hidden, hidden),
                       "x3": floats(directions, 2 * gates * hidden)}
            given = {"x0": floats(steps, batch, inputs), "x5": floats(directions, batch, hidden)}
            if op == "LSTM":
                given["x6"] = floats(directions, batch, hidden)
                weights["x7"] = floats(directions, 3 * hidden)
            attributes = {"direction": way, "hidden_size": hidden}
            yield f"{op.lower()}_{way}{tag}", single(op, given, attributes, 1 + states, weights)
            if way == "bidirectional":
                lengths = {**weights, "x4": np.array([5, 2, 4][-batch:], np.int32)}
                yield f"{op.lower()}_lengths{tag}", single(op, given, attributes, 1 + states, lengths)
                yield f"{op.lower()}_clip{tag}", single(op, given, {**attributes, "clip": 0.4}, 1 + states, weights)
        if op == "GRU":
            yield f"gru_linear_before_reset{tag}", single(op, given, {**attributes, "linear_before_reset": 1}, 2, weights)


def loop_cases():
    from onnx import TensorProto, helper
    one = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "e"], ["t"]), helper.make_node("Mul", ["t", "t"], ["o"])], "body",
        [one("s", TensorProto.FLOAT, [3]), one("e", TensorProto.FLOAT, [3])],
        [one("t", TensorProto.FLOAT, [3]), one("o", TensorProto.FLOAT, [3])])
    for name, axis, back_in, back_out in (("", 0, 0, 0), ("_axis", 1, 0, 0), ("_backwards", 0, 1, 0), ("_turned", 0, 1, 1)):
        scan = helper.make_node("Scan", ["x0", "x1"], ["y0", "y1"], body=body, num_scan_inputs=1, scan_input_axes=[axis],
                                scan_input_directions=[back_in], scan_output_axes=[axis],
                                scan_output_directions=[back_out])
        inputs = {"x0": floats(3), "x1": floats(*((4, 3) if axis == 0 else (3, 4)))}
        yield f"scan{name}", (graph_of([scan], inputs, scan.output), inputs)
    turns = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
         helper.make_node("Add", ["s", "f"], ["t"]), helper.make_node("Mul", ["t", "s"], ["o"])], "body",
        [one("i", TensorProto.INT64, []), one("c", TensorProto.BOOL, []), one("s", TensorProto.FLOAT, [3])],
        [one("d", TensorProto.BOOL, []), one("t", TensorProto.FLOAT, [3]), one("o", TensorProto.FLOAT, [3])])
    loop = helper.make_node("Loop", ["n", "", "x0"], ["y0", "y1"], body=turns)
    inputs = {"x0": floats(3)}
    yield "loop", (graph_of([loop], inputs, loop.output, {"n": np.array(4, np.int64)}), inputs)


def branch_cases():
    """Conditions that are computed when the model runs: branches that read what is around them, constants, and each other."""
    from onnx import TensorProto, helper, numpy_helper
    node = helper.make_node
    w = floats(3, 3)

    def graph(name, nodes, outputs, constants=()):
        return helper.make_graph(nodes, name, [], [helper.make_empty_tensor_value_info(o) for o in outputs],
                                 [numpy_helper.from_array(a, n) for n, a in dict(constants).items()])

    def chosen(prefix, condition, then_nodes, else_nodes):
        return node("If", [condition], [f"{prefix}0", f"{prefix}1"],
                    then_branch=graph("t" + prefix, then_nodes, [f"t{prefix}0", f"t{prefix}1"], {f"w{prefix}": w}),
                    else_branch=graph("e" + prefix, else_nodes, [f"e{prefix}0", f"e{prefix}1"]))

    inner = chosen("i", "b", [node("MatMul", ["s", "wi"], ["ti0"]), node("Identity", ["x0"], ["ti1"])],
                   [node("Relu", ["x0"], ["ei0"]), node("Add", ["c", "s"], ["ei1"])])
    outer = chosen("y", "a", [node("MatMul", ["s", "wy"], ["ty0"]), node("Identity", ["c"], ["ty1"])],
                   [inner, node("Mul", ["i0", "s"], ["ey0"]), node("Identity", ["i1"], ["ey1"])])
    nodes = [node("Add", ["x0", "c"], ["s"]), node("ReduceMax", ["x0"], ["m"], keepdims=0),
             node("Greater", ["m", "z"], ["a"]), node("Greater", ["m", "z2"], ["b"]), outer]
    constants = {"c": floats(2, 3), "z": np.float32(0), "z2": np.float32(-10)}
    for name, x in (("then", np.abs(floats(2, 3))), ("else_then", -np.abs(floats(2, 3))), ("else_else", floats(2, 3) - 30)):
        yield f"if_{name}", (graph_of(nodes, {"x0": x}, ["y0", "y1"], constants), {"x0": x})
    # The condition of each turn of a Scan; whole numbers.
    body = helper.make_graph(
        [node("ReduceSum", ["e"], ["n"], keepdims=0), node("Greater", ["n", "s"], ["q"]),
         node("If", ["q"], ["r"], then_branch=graph("tb", [node("Add", ["s", "n"], ["v"])], ["v"]),
              else_branch=graph("eb", [node("Sub", ["s", "one"], ["u"])], ["u"], {"one": np.int32(1)})),
         node("Identity", ["r"], ["o"])], "body",
        [helper.make_tensor_value_info("s", TensorProto.INT32, []), helper.make_tensor_value_info("e", TensorProto.INT32, [3])],
        [helper.make_tensor_value_info("r", TensorProto.INT32, []), helper.make_tensor_value_info("o", TensorProto.INT32, [])])
    inputs = {"x0": np.array(4, np.int32), "x1": RNG.integers(-9, 9, (6, 3)).astype(np.int32)}
    scan = node("Scan", ["x0", "x1"], ["y0", "y1"], body=body, num_scan_inputs=1)
    yield "if_in_scan", (graph_of([scan], inputs, scan.output), inputs)


def signal_cases():
    sound = {"x0": floats(2, 40, 1)}
    yield "stft", single("STFT", sound, {}, 1, {"x1": np.array(6, np.int64), "x3": np.array(16, np.int64)})
    yield "stft_window", single("STFT", sound, {"onesided": 0}, 1, {"x1": np.array(8, np.int64), "x2": floats(16)})


def place_cases():
    image = {"x0": RNG.integers(-4, 5, (2, 3, 6, 7)).astype(np.float32)}
    for name, attributes in (("", {}), ("_strides", {"strides": [2, 2]}), ("_pads", {"pads": [1, 0, 1, 1], "strides": [2, 1]}),
                             ("_columns", {"storage_order": 1}), ("_same", {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
                             ("_dilations", {"dilations": [2, 1]})):
        yield f"max_places{name}", single("MaxPool", image, {"kernel_shape": [2, 3], **attributes}, 2)
    yield "max_places_line", single("MaxPool", {"x0": floats(2, 3, 9)}, {"kernel_shape": [3], "strides": [2]}, 2)
    for op in ("Asin", "Acos", "Atan"):
        values = np.concatenate([floats(20), np.array([0, -0.0, 1, -1, 2, 1e-9, np.nan], np.float32)])
        yield f"arc_{op}", single(op, {"x0": values}, {})


def sampling_cases():
    image = {"x0": floats(1, 2, 5, 7)}
    for mode in ("nearest", "linear", "cubic"):
        for coordinates in ("half_pixel", "asymmetric", "align_corners"):
            # Where corners are aligned, onnxruntime takes whole numbers for the size, and the specification does not.
            factors = [1, 1, 2, 3] if coordinates == "align_corners" else [1, 1, 1.5, 2.25]
            scales = {"x2": np.array(factors, np.float32)}
            yield (f"resize_{mode}_{coordinates}",
                   single("Resize", image, {"mode": mode, "coordinate_transformation_mode": coordinates,
                                            "nearest_mode": "floor"}, 1, scales))


def strings_of(graph):
    """The strings of a LabelEncoder, of a classifier or of a constant."""
    from onnx import TensorProto
    of = [a for node in graph.node for a in node.attribute]
    for tensor in [*graph.initializer, *(a.t for a in of)]:
        if tensor.data_type == TensorProto.STRING:
            return tensor.string_data
    attributes = {a.name: a for a in of}
    if "classlabels_strings" in attributes:
        return attributes["classlabels_strings"].strings
    return [*attributes["values_strings"].strings, attributes["default_string"].s]


def places_of(array, graph):
    """Strings as indices into the list of the model's strings; other arrays as they are."""
    if array.dtype != object:
        return array
    names = list(dict.fromkeys(strings_of(graph)))
    return np.vectorize(lambda text: names.index(text.encode()), otypes=[np.int64])(array)


def classical_cases():
    x, values = {"x0": floats(9, 4)}, lambda n: floats(n).tolist()  # noqa: E731
    ml = "ai.onnx.ml"
    yield "ml_scaler", single("Scaler", x, {"offset": values(4), "scale": values(4)}, domain=ml)
    for norm in ("MAX", "L1", "L2"):
        yield f"ml_normalizer_{norm}", single("Normalizer", {"x0": np.abs(floats(9, 4))}, {"norm": norm}, domain=ml)
    yield "ml_binarizer", single("Binarizer", x, {"threshold": 0.3}, domain=ml)
    yield "ml_linear_regressor", single("LinearRegressor", x, {"coefficients": values(8), "intercepts": values(2), "targets": 2},
                                        domain=ml)
    for post in ("NONE", "LOGISTIC", "SOFTMAX"):
        attributes = {"coefficients": values(12), "intercepts": values(3), "classlabels_ints": [4, -1, 9], "post_transform": post}
        yield f"ml_linear_classifier_{post}", single("LinearClassifier", x, attributes, 2, domain=ml)
    for kernel in ("LINEAR", "RBF", "SIGMOID"):
        attributes = {"coefficients": values(5), "support_vectors": values(20), "n_supports": 5, "rho": [0.4],
                      "kernel_type": kernel, "kernel_params": [0.3, 0.2, 2.0]}
        yield f"ml_svm_regressor_{kernel}", single("SVMRegressor", x, attributes, domain=ml)
    holes = floats(5, 3)
    holes[1, 2] = holes[4, 0] = np.nan
    yield "ml_imputer", single("Imputer", {"x0": holes}, {"imputed_value_floats": values(3), "replaced_value_float": float("nan")},
                               domain=ml)
    words = {"x0": RNG.integers(0, 6, size=(3, 4)).astype(np.int64)}
    yield "ml_one_hot", single("OneHotEncoder", words, {"cats_int64s": [0, 2, 5]}, domain=ml)
    yield "ml_label_encoder", single("LabelEncoder", words, {"keys_int64s": [1, 3, 4], "values_int64s": [10, -30, 40],
                                                            "default_int64": 7}, domain=ml)
    yield "ml_label_encoder_float", single("LabelEncoder", words, {"keys_int64s": [1, 3], "values_floats": [0.5, -2.0],
                                                                  "default_float": 1.5}, domain=ml)
    yield "ml_extractor", single("ArrayFeatureExtractor", x, {}, constants={"x1": np.array([2, 0], np.int64)}, domain=ml)


def tree_attributes(rng, kind, modes, trees=4, levels=3, targets=3, own=False, negative=True):
    """Whole trees of random thresholds, on few values, so that samples meet them; `own`: each tree has one target."""
    a = {f"nodes_{n}": [] for n in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
                                    "missing_value_tracks_true")}
    a.update({f"{kind}_{n}": [] for n in ("treeids", "nodeids", "ids", "weights")})
    for tree in range(trees):
        inner = 2 ** levels - 1
        for i in range(2 * inner + 1):
            leaf = i >= inner
            row = (tree, i, int(rng.integers(0, 4)), float(rng.integers(-3, 4)) / 2, "LEAF" if leaf else str(rng.choice(modes)),
                   0 if leaf else 2 * i + 1, 0 if leaf else 2 * i + 2, int(rng.integers(0, 2)))
            for key, value in zip(list(a)[:8], row):
                a[key].append(value)
            for target in ([tree % targets] if own else range(targets)) if leaf else []:
                weight = float(rng.normal())
                for key, value in zip(list(a)[8:], (tree, i, target, weight if negative else abs(weight) / trees)):
                    a[key].append(value)
    return a


def tree_cases():
    ml, rng = "ai.onnx.ml", np.random.default_rng(3)
    rows = (rng.integers(-4, 5, (40, 4)) / 2).astype(np.float32)
    rows[3, :2], rows[7, 1:], rows[9, 0] = np.nan, np.inf, -0.0
    x = {"x0": rows}
    for modes in (["BRANCH_LEQ"], ["BRANCH_LT"], ["BRANCH_GTE"], ["BRANCH_GT"]):
        a = tree_attributes(rng, "target", modes)
        yield f"tree_{modes[0][7:]}", single("TreeEnsembleRegressor", x, {**a, "n_targets": 3}, domain=ml)
    a = tree_attributes(rng, "target", ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"])
    yield "tree_mixed", single("TreeEnsembleRegressor", x, {**a, "n_targets": 3, "aggregate_function": "AVERAGE",
                                                            "base_values": [0.5, -1.0, 2.0]}, domain=ml)
    a = tree_attributes(rng, "target", ["BRANCH_LT"], targets=1)
    yield "tree_one_target", single("TreeEnsembleRegressor", x, {**a, "n_targets": 1, "base_values": [0.25]}, domain=ml)
    for post in ("NONE", "SOFTMAX", "LOGISTIC"):
        for own in (False, True):
            a = tree_attributes(rng, "class", ["BRANCH_LEQ"], own=own, trees=6)
            yield f"tree_classes_{post}_{own}", single("TreeEnsembleClassifier", x, {
                **a, "classlabels_int64s": [4, -1, 9], "post_transform": post}, 2, domain=ml)
            for negative in (False, True):
                a = tree_attributes(rng, "class", ["BRANCH_LT"], targets=1, negative=negative)
                base = {"base_values": [0.2]} if own else {}
                yield f"tree_two_{post}_{own}_{negative}", single("TreeEnsembleClassifier", x, {
                    **a, **base, "classlabels_int64s": [5, 7], "post_transform": post}, 2, domain=ml)
        a["class_ids"] = [1] * len(a["class_ids"])
        yield f"tree_second_{post}", single("TreeEnsembleClassifier", x, {
            **a, "classlabels_int64s": [5, 7], "post_transform": post}, 2, domain=ml)
    deep = tree_attributes(rng, "target", ["BRANCH_LEQ"], trees=2, levels=7, targets=1)
    deep["nodes_values"] = [v + i * 1e-3 for i, v in enumerate(deep["nodes_values"])]
    yield "tree_many_thresholds", single("TreeEnsembleRegressor", x, {**deep, "n_targets": 1}, domain=ml)


def bit_cases():
    big = np.array([0, 1, 7, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 63) + 5, (1 << 64) - 1], np.uint64)
    a, b = {"x0": np.repeat(big, 8)}, {"x1": np.tile(np.where(big == 0, 3, big).astype(np.uint64), 8)}
    for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "GreaterOrEqual", "Equal", "Mod"):
        yield f"uint64_{op}", single(op, {**a, **b}, {})
    shifts = {"x0": np.repeat(big, 8), "x1": np.tile(np.array([0, 1, 5, 31, 32, 33, 62, 63], np.uint64), 8)}
    for way in ("LEFT", "RIGHT"):
        yield f"uint64_{way}", single("BitShift", shifts, {"direction": way})
    halves = {"x0": np.concatenate([floats(20), [65504, 1e-7, -0.0, 3e-5]]).astype(np.float16), "x1": floats(24).astype(np.float16)}
    for op in ("Add", "Mul", "Max"):
        yield f"float16_{op}", single(op, halves, {})


def integer_cases():
    one = lambda kind, value: np.array(value, kind)  # noqa: E731
    for name, x, w, group in (("deep", (2, 70, 6, 5), (4, 70, 3, 3), 1), ("grouped", (1, 90, 5, 5), (4, 45, 3, 3), 2),
                              ("line", (1, 300, 9), (3, 300, 2), 1), ("small", (1, 3, 6, 6), (4, 3, 3, 3), 1)):
        for kind in ("int8", "uint8"):
            known = {"x1": numbers(kind, *w, bits=7), "x2": one("uint8", 120), "x3": one(kind, 3)}
            yield f"integers_conv_{name}_{kind}", single(
                "ConvInteger", {"x0": numbers("uint8", *x)}, {"group": group, "pads": [1] * (2 * len(x) - 4)}, 1, known)
    known = {"x1": numbers("int8", 600, 7, bits=7), "x2": one("uint8", 9), "x3": one("int8", 2)}
    yield "integers_product", single("MatMulInteger", {"x0": numbers("uint8", 4, 600)}, {}, 1, known)
    yield "integers_dynamic", single("DynamicQuantizeLinear", {"x0": floats(5, 31)}, {}, 3)
    yield "integers_zeros", single("DynamicQuantizeLinear", {"x0": np.zeros((2, 3), np.float32)}, {}, 3)


def between_cases():
    """Operators between DequantizeLinear and QuantizeLinear whose groups are not whole."""
    from onnx import helper
    scale, zero = {"s": np.array(0.02, np.float32)}, {"z": np.array(119, np.uint8)}
    weights = {"w": numbers("int8", 8, 2, 3, 3, bits=7), "ws": np.array(0.01, np.float32), "wz": np.array(0, np.int8)}
    node = helper.make_node
    into = node("DequantizeLinear", ["x", "s", "z"], ["r"])
    filters = node("DequantizeLinear", ["w", "ws", "wz"], ["v"])
    out = node("QuantizeLinear", ["c", "s", "z"], ["y"])
    bytes_of = {"x": numbers("uint8", 1, 4, 7, 7)}
    conv = {"kernel_shape": [3, 3], "group": 2}
    pool = {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [0, 1, 0, 1]}
    for name, nodes, constants in (
            ("conv_to_floats", [into, filters, node("Conv", ["r", "v"], ["y"], **conv)], weights),
            ("grouped_conv", [into, filters, node("Conv", ["r", "v"], ["c"], **conv), out], weights),
            ("pool_to_floats", [into, node("AveragePool", ["r"], ["y"], **pool)], {}),
            ("pool", [into, node("AveragePool", ["r"], ["c"], **pool), out], {}),
            ("no_zero_points", [node("DequantizeLinear", ["x", "s"], ["r"]), node("Add", ["r", "r"], ["c"]),
                                node("QuantizeLinear", ["c", "s"], ["y"])], {})):
        yield f"between_{name}", (graph_of(nodes, bytes_of, ["y"], {**scale, **zero, **constants}), bytes_of)
    mixed = [into, node("Relu", ["r"], ["c"]), node("QuantizeLinear", ["c", "s", "h"], ["y"])]
    known = {**scale, **zero, "h": np.array(-7, np.int8)}
    yield "between_types", (graph_of(mixed, bytes_of, ["y"], known), bytes_of)


def rounding_cases():
    """Scales that are powers of two give ties, which onnxruntime's operators round otherwise than the specification."""
    from onnx import helper
    node = helper.make_node
    for kind, zero in (("uint8", 119), ("int8", -9)):
        known = {"s": np.array(0.5, np.float32), "z": np.array(zero, kind), "t": np.array(1, np.float32),
                 "u": np.array(0.03125, np.float32), "w": np.array(0.006627, np.float32), "v": np.array(zero, kind)}
        for name, op, attributes, inputs, scale in (
                ("add", "Add", {}, 2, "t"), ("mul", "Mul", {}, 2, "t"), ("concat", "Concat", {"axis": 1}, 2, "t"),
                ("softmax", "Softmax", {"axis": -1}, 1, "w"), ("mean", "GlobalAveragePool", {}, 1, "s"),
                ("pool", "AveragePool", {"kernel_shape": [2, 2]}, 1, "s")):
            given = {f"x{i}": numbers(kind, 1, 3, 4, 6) for i in range(inputs)}
            of = "u" if op == "Softmax" else "s"
            nodes = [node("DequantizeLinear", [x, of, "z"], [f"d{x}"]) for x in given]
            nodes += [node(op, [f"d{x}" for x in given], ["c"], **attributes)]
            nodes += [node("QuantizeLinear", ["c", scale, "v"], ["y"])]
            for way in ("spec", "default") if kind == "uint8" else ("spec",):
                yield f"{way}_{name}_{kind}", (graph_of(nodes, given, ["y"], known), given)


def all_cases():
    # New ones at the end: the others keep their numbers.
    for family in (recurrent_cases, loop_cases, branch_cases, signal_cases, place_cases, sampling_cases, classical_cases,
                   tree_cases, bit_cases, integer_cases, between_cases, rounding_cases, run_time_loop_cases, counted_cases,
                   quantised_recurrent_cases, transform_cases, label_cases, not_a_number_cases, category_cases, odd_cases,
                   moved_byte_cases, written_out_cases, order_cases, attention_cases, mixed_cases, optimised_cases,
                   byte_cases, form_cases, weight_cases, export_cases):
        yield from family()


def save(name, graph, work):
    import onnx
    from onnx import helper
    if isinstance(graph, onnx.ModelProto):
        onnx.save(graph, work / f"{name}.onnx")
        return work / f"{name}.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML),
                                                     helper.make_opsetid("com.microsoft", 1)],
                              ir_version=8)
    onnx.save(model, work / f"{name}.onnx")
    return work / f"{name}.onnx"


def make(name, graph, inputs, work):
    import onnx
    import onnxruntime
    path = save(name, graph, work)
    graph = graph.graph if isinstance(graph, onnx.ModelProto) else graph
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    # Products of dequantised weights in float, not with activations of 8 bits.
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
    literal = name.startswith("spec_")
    if literal:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    # onnxruntime's transform has noise where the sum is 0.
    if graph.node[0].op_type == "DFT":
        known = {a.name: a.i for a in graph.node[0].attribute}
        length = int(onnx.numpy_helper.to_array(graph.initializer[0])) if graph.initializer else None
        exact = node_tests.dft(inputs["x0"], known["axis"], length, "onesided" in known, "inverse" in known)
        return node_tests.Case(name, path, "", list(inputs.items()), [exact])
    fails = name.endswith("_fails")
    found = session.run(None, {k: np.full_like(v, v.flat[0]) if fails else v for k, v in inputs.items()})
    case = node_tests.Case(name, path, "", list(inputs.items()), [places_of(a, graph) for a in found],
                           options=["--rounding=spec"] if literal else [])
    case.fails = fails
    if fails:
        with contextlib.suppress(onnxruntime.capi.onnxruntime_pybind11_state.Fail):
            session.run(None, inputs)
            raise common.Failure(f"{name}: onnxruntime gives a result")
    return case


def several(cases):
    """[(name, what is wrong)] of models that are called one operator and are compiled to more, or mixed and are not."""
    bad = []
    for case in (c for c in cases if c.name.startswith("one_operator_")):
        layers = json.loads(common.aotc("check", case.path, "--json"))["layers"]
        if len(layers) != 1:
            bad.append((case.name, f"it has {len(layers)} layers"))
    for case in (c for c in cases if c.name.startswith("mixed_")):
        if "channels in float" not in common.aotc("report", case.path, "--cpu", "cortex-m4", "--no-alternatives", "--json"):
            bad.append((case.name, "all of its channels are rounded alike"))
    return bad


def refusals(models, only):
    """[(name, what is wrong)] of the models that must be refused with one error that says why."""
    bad, count = [], 0
    for name, graph, says, *remedy in (row for row in [*refused_models(), *odd_refusals()] if only in row[0]):
        count += 1
        command = ["compile", save(name, graph, models), "-o", models / name, "--force", "--quiet"]
        done = common.aotc(*command, expect=None)
        if done.returncode != 1 or says not in done.stderr:
            bad.append((name, f"exit code {done.returncode}: {done.stderr}"))
        elif remedy and (done := common.aotc(*command, *remedy, expect=None)).returncode != 0:
            bad.append((name, f"with {' '.join(remedy)} exit code {done.returncode}: {done.stderr}"))
    return count, bad


def wrong_samples(models, only):
    """[(name, what is wrong)] of the models whose samples are indices: a run that succeeds."""
    bad, count = [], 0
    for name, graph in (row for row in index_models() if only in row[0]):
        count += 1
        done = common.aotc("verify", save(name, graph, models), "--quiet", expect=None)
        if done.returncode != 0:
            bad.append((name, f"exit code {done.returncode}: {done.stderr}"))
    return count, bad


def failures(cases, compiler, arguments):
    """The cases that are wrong when this compiles the C."""
    program = argparse.Namespace(**{**vars(arguments), "compiler": compiler, "work": str(pathlib.Path(arguments.work) / "run")})
    cases = [copy.copy(case) for case in cases]
    node_tests.run(cases, program, rtol=1e-4, atol=1e-6)
    for case in cases:
        if getattr(case, "fails", False):  # as onnxruntime does
            case.verdict = "passed" if (case.verdict, case.why) == ("wrong", "the program ended with -3") else "wrong"
    bad = [c for c in cases if c.verdict != "passed"]
    for case in bad:
        print(f"FAILED {case.name} ({compiler}): {case.verdict}, {case.why}\n{case.text}")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--work", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--target", choices=sorted(programs.BATCH), default="host")
    parser.add_argument("--compiler", action="append", help="with options; each of several compiles all cases")
    arguments = parser.parse_args()
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        common.skip("the package onnxruntime is not installed: scripts/setup test")
    arguments.frozen, arguments.jobs = False, 2
    models = pathlib.Path(arguments.work) / "models"
    models.mkdir(parents=True, exist_ok=True)
    cases = [make(name, graph, inputs, models) for name, (graph, inputs) in all_cases() if arguments.only in name]
    compilers = arguments.compiler or ["gcc"]
    bad = [case for compiler in compilers for case in failures(cases, compiler, arguments)]
    refused, wrong = refusals(models, arguments.only)
    sampled, bad_samples = wrong_samples(models, arguments.only)
    wrong += several(cases) + in_floats(cases) + uneconomical(cases) + bad_samples
    for name, why in wrong:
        print(f"FAILED {name}: {why}")
    print(f"{len(cases) * len(compilers) + refused + sampled - len(bad) - len(wrong)} passed, {len(bad) + len(wrong)} failed")
    if bad or wrong:
        raise common.Failure("what onnxruntime gives is right")


if __name__ == "__main__":
    common.main_of(main)
