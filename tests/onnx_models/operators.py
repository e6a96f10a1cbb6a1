#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX in forms that the package's node tests do not have, and those of ai.onnx.ml: small models made
here, compiled, run as C in one program, and compared with onnxruntime (floats within 1e-4, or 1e-6 absolute; whole
numbers to the bit).

Usage: operators.py --work DIR [--only TEXT] [--target host|cortex_m4] [--compiler CC]
"""
import argparse
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import common  # noqa: E402
import node_tests  # noqa: E402
import onnx_programs as programs  # noqa: E402

RNG = np.random.default_rng(7)
OPSET, ML = 17, 4


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def graph_of(nodes, inputs, outputs, constants=()):
    from onnx import helper, numpy_helper
    values = lambda names: [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)  # noqa: E731
                            for n, a in names.items()]
    return helper.make_graph(nodes, "g", values(inputs), [helper.make_empty_tensor_value_info(o) for o in outputs],
                             [numpy_helper.from_array(a, n) for n, a in dict(constants).items()])


def single(op, inputs, attributes, outputs=1, constants=(), domain=""):
    """(graph, inputs) of one operator; names are in the order of its operands, constants among them."""
    from onnx import helper
    names = {**inputs, **dict(constants)}
    order = sorted(names, key=lambda n: int(n[1:]))
    operands = [f"x{i}" if f"x{i}" in names else "" for i in range(int(order[-1][1:]) + 1)]
    node = helper.make_node(op, operands, [f"y{i}" for i in range(outputs)], domain=domain, **attributes)
    return graph_of([node], inputs, node.output, constants), inputs


def recurrent_cases():
    steps, batch, inputs, hidden = 5, 3, 4, 6
    for op, gates, states in (("RNN", 1, 1), ("GRU", 3, 1), ("LSTM", 4, 2)):
        for way, directions in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            weights = {"x1": floats(directions, gates * hidden, inputs), "x2": floats(directions, gates * hidden, hidden),
                       "x3": floats(directions, 2 * gates * hidden)}
            given = {"x0": floats(steps, batch, inputs), "x5": floats(directions, batch, hidden)}
            if op == "LSTM":
                given["x6"] = floats(directions, batch, hidden)
                weights["x7"] = floats(directions, 3 * hidden)
            attributes = {"direction": way, "hidden_size": hidden}
            yield f"{op.lower()}_{way}", single(op, given, attributes, 1 + states, weights)
            if way == "bidirectional":
                lengths = {**weights, "x4": np.array([5, 2, 4], np.int32)}
                yield f"{op.lower()}_lengths", single(op, given, attributes, 1 + states, lengths)
                yield f"{op.lower()}_clip", single(op, given, {**attributes, "clip": 0.4}, 1 + states, weights)
        if op == "GRU":
            yield "gru_linear_before_reset", single(op, given, {**attributes, "linear_before_reset": 1}, 2, weights)


def quantised_recurrent_cases():
    """What onnxruntime's dynamic quantisation makes of an LSTM; weights of 7 bits, as every processor sums them exactly."""
    steps, batch, inputs, hidden = 6, 2, 300, 8
    for name, way, kind, each, initial in (("", "forward", "int8", 1, True), ("_reverse", "reverse", "uint8", 1, False),
                                           ("_columns", "bidirectional", "int8", 4 * hidden, True)):
        directions = 2 if way == "bidirectional" else 1
        zero = np.full((directions, each) if each > 1 else directions, 0 if kind == "int8" else 60, kind)
        scales = lambda: (RNG.uniform(0.5, 1.5, zero.shape) / 100).astype(np.float32)  # noqa: E731
        known = {"x1": numbers(kind, directions, inputs, 4 * hidden, bits=7),
                 "x2": numbers(kind, directions, hidden, 4 * hidden, bits=7), "x3": floats(directions, 8 * hidden),
                 "x8": scales() / 8, "x9": zero, "x10": scales(), "x11": zero}
        given = {"x0": floats(steps, batch, inputs)}
        if initial:
            given |= {"x5": floats(directions, batch, hidden) / 2, "x6": floats(directions, batch, hidden)}
        yield f"dynamic_lstm{name}", single("DynamicQuantizeLSTM", given, {"direction": way, "hidden_size": hidden}, 3, known,
                                            "com.microsoft")


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


def run_time_loop_cases():
    """How often they turn is known when they run: a condition that is computed, a number that is an input."""
    from onnx import TensorProto, helper, numpy_helper
    node, one = helper.make_node, helper.make_tensor_value_info

    def body_of(nodes, kinds, outputs, constants=()):
        return helper.make_graph(nodes, "body", [one("i", TensorProto.INT64, []), one("c", TensorProto.BOOL, []),
                                                 *(one(n, k, s) for n, k, s in kinds)],
                                 [helper.make_empty_tensor_value_info(o) for o in outputs],
                                 [numpy_helper.from_array(a, n) for n, a in dict(constants).items()])

    state = [("s", TensorProto.FLOAT, [3])]
    doubles = body_of([node("Add", ["s", "s"], ["t0"]), node("Add", ["t0", "a"], ["t"]),
                       node("ReduceSum", ["t"], ["r"], keepdims=0), node("Less", ["r", "limit"], ["d"]),
                       node("Cast", ["i"], ["f"], to=TensorProto.FLOAT), node("Mul", ["t", "f"], ["o"])],
                      state, ["d", "t", "o"], {"limit": np.float32(100)})
    for name, x, most, go in (("", np.abs(floats(3)), 10, None), ("_cut", np.abs(floats(3)) / 64, 3, True),
                              ("_never", floats(3), 9, False), ("_once", floats(3) + 90, 9, True)):
        inputs = {"x0": x, **({} if go is None else {"x1": np.array(go)})}
        nodes = [node("Abs", ["x0"], ["a"]), node("Loop", ["n", "" if go is None else "x1", "x0"], ["y0", "y1"], body=doubles)]
        yield f"while{name}", (graph_of(nodes, inputs, ["y0", "y1"], {"n": np.array(most, np.int64)}), inputs)
    # What counts of an output goes on through what keeps rows apart.
    behind = [node("Neg", ["y1"], ["m"]), node("Transpose", ["m"], ["y2"], perm=[1, 0]), node("Gather", ["m", "z"], ["y3"], axis=1)]
    inputs = {"x0": np.abs(floats(3))}
    nodes = [node("Abs", ["x0"], ["a"]), node("Loop", ["n", "", "x0"], ["y0", "y1"], body=doubles), *behind]
    yield "while_behind", (graph_of(nodes, inputs, ["y0", "y2", "y3"], {"n": np.array(12, np.int64), "z": np.array(1, np.int64)}),
                           inputs)
    # Two numbers that change places, one that stays, and the turn as a number; as often as an input says, or for ever.
    places = body_of([node("Identity", ["c"], ["d"]), node("Add", ["u", "k"], ["w"]), node("Identity", ["v"], ["v2"]),
                      node("Identity", ["k"], ["k2"]), node("Add", ["e", "i"], ["e2"])],
                     [(n, TensorProto.INT64, [2]) for n in "uv"] + [("k", TensorProto.INT64, []), ("e", TensorProto.INT64, [])],
                     ["d", "v2", "w", "k2", "e2"])
    for turns in (0, 1, 5, 5000):
        inputs = {"x0": np.array(turns, np.int64), "x1": np.array([3, -4]), "x2": np.array([50, 60])}
        nodes = [node("Loop", ["x0", "", "x1", "x2", "k", "e"], ["y0", "y1", "y2", "y3"], body=places)]
        known = {"k": np.array(7, np.int64), "e": np.array(100, np.int64)}
        yield f"loop_times_{turns}", (graph_of(nodes, inputs, ["y0", "y1", "y2", "y3"], known), inputs)
    del inputs["x0"]
    nodes[0].input[0] = "n"
    yield "loop_many", (graph_of(nodes, inputs, ["y0", "y1", "y2", "y3"], {**known, "n": np.array(6000, np.int64)}), inputs)
    # A loop in a loop's branch; float16, that is rounded in every turn.
    halves = body_of([node("Mul", ["s", "b"], ["t"]), node("ReduceMax", ["t"], ["r"], keepdims=0), node("Less", ["r", "h"], ["d"])],
                     [("s", TensorProto.FLOAT16, [4])], ["d", "t"], {"b": np.float16(1.1), "h": np.float16(30)})
    taken = helper.make_graph([node("Loop", ["", "", "s"], ["lt"], body=halves)], "t", [], [helper.make_empty_tensor_value_info("lt")])
    other = helper.make_graph([node("Add", ["s", "s"], ["le"])], "e", [], [helper.make_empty_tensor_value_info("le")])
    outer = body_of([node("ReduceMin", ["s"], ["r1"], keepdims=0), node("Less", ["r1", "one"], ["q"]),
                     node("If", ["q"], ["t2"], then_branch=taken, else_branch=other),
                     node("ReduceMin", ["t2"], ["r2"], keepdims=0), node("Less", ["r2", "one"], ["d2"])],
                    [("s", TensorProto.FLOAT16, [4])], ["d2", "t2"], {"one": np.float16(1)})
    inputs = {"x0": np.abs(floats(4)).astype(np.float16) + np.float16(0.01)}
    yield "while_nested", (graph_of([node("Loop", ["", "", "x0"], ["y0"], body=outer)], inputs, ["y0"]), inputs)
    scanned = helper.make_graph([node("Add", ["s", "e"], ["t"]), node("Mul", ["t", "half"], ["t1"]), node("Add", ["t1", "e"], ["o"])],
                                "body", [one("s", TensorProto.FLOAT, [2]), one("e", TensorProto.FLOAT, [2])],
                                [one("t1", TensorProto.FLOAT, [2]), one("o", TensorProto.FLOAT, [2])],
                                [numpy_helper.from_array(np.float32(0.5), "half")])
    for name, axis, back in (("", 0, 0), ("_axis_backwards", 1, 1)):
        scan = node("Scan", ["x0", "x1"], ["y0", "y1"], body=scanned, num_scan_inputs=1, scan_input_axes=[axis],
                    scan_output_axes=[axis], scan_input_directions=[back], scan_output_directions=[back])
        inputs = {"x0": floats(2), "x1": floats(*((4100, 2) if axis == 0 else (2, 4100)))}
        yield f"scan_long{name}", (graph_of([scan], inputs, scan.output), inputs)


def counted_cases():
    """Results as large as the data says: the part that counts is compared, and how much that is."""
    from onnx import helper
    flags = {"x1": RNG.integers(0, 2, 6).astype(bool)}
    for axis in (None, 0, 1):
        x = {"x0": floats(*((2, 6) if axis == 1 else (6, 2)))}
        yield f"compress_{axis}", single("Compress", {**x, **flags}, {} if axis is None else {"axis": axis})
    yield "compress_none", single("Compress", {"x0": floats(6), "x1": np.zeros(4, bool)}, {})
    for kind in (np.float32, np.int64, np.bool_, np.uint8):
        yield f"non_zero_{np.dtype(kind)}", single("NonZero", {"x0": RNG.integers(0, 2, (2, 3, 4)).astype(kind)}, {})
    yield "non_zero_none", single("NonZero", {"x0": np.zeros((2, 3), np.float32)}, {})
    spots = [helper.make_node("NonZero", ["x0"], ["n"]), helper.make_node("Transpose", ["n"], ["y0"], perm=[1, 0]),
             helper.make_node("Gather", ["y0", "k"], ["r"], axis=1), helper.make_node("Gather", ["x1", "r"], ["y1"], axis=0)]
    given = {"x0": RNG.integers(0, 2, (4, 3)).astype(np.float32), "x1": floats(4, 5)}
    yield "non_zero_rows", (graph_of(spots, given, ["y0", "y1"], {"k": np.array(0, np.int64)}), given)
    for name, form, most, overlap, score in (("", 0, 5, 0.3, 0.2), ("_centre", 1, 4, 0.1, None), ("_all", 0, 100, 0.9, -9.0),
                                             ("_few", 0, 1, 0.0, 0.0), ("_no_threshold", 1, 3, None, 0.4), ("_none", 0, 2, 0.5, 9.0)):
        # Few values: sides that touch, boxes without area, equal scores.
        boxes = (RNG.integers(0, 9, (2, 24, 4)) / 4).astype(np.float32)
        scores = (RNG.integers(-3, 9, (2, 3, 24)) / 8).astype(np.float32)
        known = {"x2": np.array([most], np.int64)}
        known.update({} if overlap is None else {"x3": np.array([overlap], np.float32)})
        known.update({} if score is None else {"x4": np.array([score], np.float32)})
        yield f"suppression{name}", single("NonMaxSuppression", {"x0": boxes, "x1": scores}, {"center_point_box": form}, 1, known)


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
    for name, axis, known in (("", 1, {}), ("_short", 1, {"x1": np.array(7, np.int64)}), ("_long", 2, {"x1": np.array(12, np.int64)})):
        for attributes in ({"axis": axis}, {"axis": axis, "onesided": 1}, {"axis": axis, "inverse": 1}):
            for parts in (1, 2):
                if parts == 1 or "onesided" not in attributes:
                    text = "_".join(attributes) + f"_{parts}"
                    yield f"dft{name}_{text}", single("DFT", {"x0": floats(2, 9, 9, parts)}, attributes, 1, known)
    mel = {"x0": np.array(6, np.int64), "x1": np.array(64, np.int64), "x2": np.array(8000, np.int64),
           "x3": np.array(20, np.float32), "x4": np.array(3500, np.float32)}
    node = __import__("onnx").helper.make_node
    yield "mel", (graph_of([node("MelWeightMatrix", list(mel), ["m"]), node("MatMul", ["s", "m"], ["y0"])],
                           {"s": np.abs(floats(2, 33))}, ["y0"], mel), {"s": np.abs(RNG.normal(size=(2, 33))).astype(np.float32)})
    yield "stft_window", single("STFT", sound, {"onesided": 0}, 1, {"x1": np.array(8, np.int64), "x2": floats(16)})


def place_cases():
    from onnx import helper
    image = {"x0": RNG.integers(-4, 5, (2, 3, 6, 7)).astype(np.float32)}
    for name, attributes in (("", {}), ("_strides", {"strides": [2, 2]}), ("_pads", {"pads": [1, 0, 1, 1], "strides": [2, 1]}),
                             ("_columns", {"storage_order": 1}), ("_same", {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
                             ("_dilations", {"dilations": [2, 1]})):
        yield f"max_places{name}", single("MaxPool", image, {"kernel_shape": [2, 3], **attributes}, 2)
    for name, shape, attributes in (("", (2, 3, 4, 6), {"kernel_shape": [2, 3], "strides": [2, 3]}), ("_line", (2, 3, 9), {
            "kernel_shape": [2], "strides": [3]})):
        nodes = [helper.make_node("MaxPool", ["x0"], ["m", "i"], **attributes),
                 helper.make_node("MaxUnpool", ["m", "i"], ["y0"], **attributes)]
        # In multiples of the stride, so that the shapes agree.
        given = {"x0": floats(*shape[:2], *(s // t * t if t == k else s // t * t - t + k for s, t, k in zip(
            shape[2:], attributes["strides"], attributes["kernel_shape"])))}
        yield f"max_unpool{name}", (graph_of(nodes, given, ["y0"]), given)
    for n in (1, 2, 3, 4):
        yield f"det_{n}", single("Det", {"x0": floats(5, n, n)}, {})
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


def places_of(array, graph):
    """Of strings their places among a LabelEncoder's values."""
    if array.dtype != object:
        return array
    attributes = {a.name: a for a in graph.node[0].attribute}
    names = list(dict.fromkeys([*attributes["values_strings"].strings, attributes["default_string"].s]))
    return np.vectorize(lambda text: names.index(text.encode()), otypes=[np.int64])(array)


def classical_cases():
    from onnx import numpy_helper
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
    yield "ml_label_encoder_nan", single("LabelEncoder", {"x0": np.array([[1, np.nan], [-0.0, 3]], np.float32)}, {
        "keys_floats": [float("nan"), 0.0], "values_floats": [4.5, -1.0], "default_float": 9.0}, domain=ml)
    yield "ml_label_encoder_tensors", single("LabelEncoder", words, {
        "keys_tensor": numpy_helper.from_array(np.array([4, 0, 4])), "values_tensor": numpy_helper.from_array(np.array([7, 5, 6])),
        "default_tensor": numpy_helper.from_array(np.array([-2]))}, domain=ml)
    # Places of the strings, in the order in which they come first; the default is the last.
    yield "ml_label_encoder_strings", single("LabelEncoder", words, {
        "keys_int64s": [1, 3, 4, 5], "values_strings": ["b", "a", "b", "c"], "default_string": "none"}, domain=ml)
    numbers_missing = {"x0": np.array([[4, -1], [-1, 6]], np.int64)}
    for given in ([9], [8, 9]):
        yield f"ml_imputer_whole_{len(given)}", single("Imputer", numbers_missing, {
            "imputed_value_int64s": given, "replaced_value_int64": -1}, domain=ml)
    for kernel in ("LINEAR", "RBF"):
        for classes in (2, 3, 5):
            pairs, vectors = classes * (classes - 1) // 2, 2 * classes
            attributes = {"coefficients": values((classes - 1) * vectors), "support_vectors": values(vectors * 4),
                          "vectors_per_class": [2] * classes, "rho": values(pairs), "kernel_type": kernel,
                          "kernel_params": [0.3, 0.0, 0.0], "classlabels_ints": list(range(3, 3 + classes)),
                          "prob_a": (-np.abs(floats(pairs)) - 0.5).tolist(), "prob_b": (floats(pairs) / 4).tolist()}
            yield f"ml_svm_probabilities_{kernel}_{classes}", single("SVMClassifier", x, attributes, 2, domain=ml)
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


def numbers(kind, *shape, bits=8):
    """Weights of 7 bits are what every processor's onnxruntime sums exactly."""
    limits = np.iinfo(kind)
    return RNG.integers(limits.min >> (8 - bits), (limits.max >> (8 - bits)) + 1, shape).astype(kind)


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
    for family in (recurrent_cases, quantised_recurrent_cases, loop_cases, run_time_loop_cases, counted_cases, branch_cases, signal_cases, place_cases, sampling_cases, classical_cases,
                   tree_cases, bit_cases, integer_cases, between_cases, rounding_cases):
        yield from family()


def make(name, graph, inputs, work):
    import onnx
    import onnxruntime
    from onnx import helper
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML),
                                                     helper.make_opsetid("com.microsoft", 1)],
                              ir_version=8)
    path = work / f"{name}.onnx"
    onnx.save(model, path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
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
    return node_tests.Case(name, path, "", list(inputs.items()), [places_of(a, graph) for a in session.run(None, inputs)],
                           options=["--rounding=spec"] if literal else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--work", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--target", choices=sorted(programs.BATCH), default="host")
    parser.add_argument("--compiler", default="gcc")
    arguments = parser.parse_args()
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        common.skip("the package onnxruntime is not installed: scripts/setup test")
    arguments.frozen, arguments.jobs = False, 2
    models = pathlib.Path(arguments.work) / "models"
    models.mkdir(parents=True, exist_ok=True)
    cases = [make(name, graph, inputs, models) for name, (graph, inputs) in all_cases() if arguments.only in name]
    program = argparse.Namespace(**{**vars(arguments), "work": str(pathlib.Path(arguments.work) / "run")})
    node_tests.run(cases, program, rtol=1e-4, atol=1e-6)
    bad = [c for c in cases if c.verdict != "passed"]
    for case in bad:
        print(f"FAILED {case.name}: {case.verdict}, {case.why}\n{case.text}")
    print(f"{len(cases) - len(bad)} passed, {len(bad)} failed")
    if bad:
        raise common.Failure("what onnxruntime gives is right")


if __name__ == "__main__":
    common.main_of(main)
