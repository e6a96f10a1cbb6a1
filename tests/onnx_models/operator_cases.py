# SPDX-License-Identifier: Apache-2.0
"""Cases of operators.py: loops and results as large as the data says, transforms, quantised recurrent layers, labels."""
import numpy as np

from operator_models import RNG, floats, graph_of, numbers, single


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
    yield "compress_half", single("Compress", {"x0": floats(6).astype(np.float16), **flags}, {})
    yield "compress_none", single("Compress", {"x0": floats(6), "x1": np.zeros(4, bool)}, {})
    for kind in (np.float32, np.int64, np.bool_, np.uint8):
        yield f"non_zero_{np.dtype(kind)}", single("NonZero", {"x0": RNG.integers(0, 2, (2, 3, 4)).astype(kind)}, {})
    yield "non_zero_none", single("NonZero", {"x0": np.zeros((2, 3), np.float32)}, {})
    spots = [helper.make_node("NonZero", ["x0"], ["n"]), helper.make_node("Transpose", ["n"], ["y0"], perm=[1, 0]),
             helper.make_node("Gather", ["y0", "k"], ["r"], axis=1), helper.make_node("Gather", ["x1", "r"], ["y1"], axis=0)]
    given = {"x0": RNG.integers(0, 2, (4, 3)).astype(np.float32), "x1": floats(4, 5)}
    yield "non_zero_rows", (graph_of(spots, given, ["y0", "y1"], {"k": np.array(0, np.int64)}), given)
    # Onnxruntime has it of these types. A row of zeros is behind others, and 0 beside -0 is the first of them.
    outputs = ["y0", "y1", "y2", "y3"]
    for kind in (np.float32, np.float64, np.int8, np.int64):
        x = {"x0": RNG.integers(-3, 4, (3, 4, 2)).astype(kind)}
        for ordered in (0, 1):
            node = helper.make_node("Unique", ["x0"], outputs, sorted=ordered)
            yield f"unique_{np.dtype(kind)}_{ordered}", (graph_of([node], x, outputs), x)
    for axis, shape in ((0, (6, 5, 2)), (1, (2, 5, 6)), (-1, (2, 5, 6)), (2, (2, 3, 9, 2)), (3, (2, 2, 3, 12))):
        x = {"x0": RNG.integers(0, 2, shape).astype(np.float32)}
        for ordered in (0, 1):
            node = helper.make_node("Unique", ["x0"], outputs, axis=axis, sorted=ordered)
            yield f"unique_axis_{axis}_{ordered}", (graph_of([node], x, outputs), x)
    # Rows whose order depends on which of the other axes is compared first.
    x = {"x0": np.array([[[0, 0], [1, 0]], [[0, 1], [0, 0]]], np.float32)}
    yield "unique_axes_in_order", (graph_of([helper.make_node("Unique", ["x0"], outputs, axis=2)], x, outputs), x)
    x = {"x0": np.array([0.0, 2, -0.0, np.inf, -np.inf, 2, 1e-40], np.float32)}
    nodes = [helper.make_node("Unique", ["x0"], ["u", "", "y1"]), helper.make_node("Neg", ["u"], ["y0"])]
    yield "unique_behind", (graph_of(nodes, x, ["y0", "y1"]), x)
    nodes = [helper.make_node("Unique", ["k"], outputs), helper.make_node("Gather", ["x0", "y1"], ["y4"])]
    known = {"k": np.array([[3, 1, 3], [0, 1, 1]], np.int64)}
    yield "unique_known", (graph_of(nodes, x, [*outputs, "y4"], known), x)
    for name, form, most, overlap, score in (("", 0, 5, 0.3, 0.2), ("_centre", 1, 4, 0.1, None), ("_all", 0, 100, 0.9, -9.0),
                                             ("_few", 0, 1, 0.0, 0.0), ("_no_threshold", 1, 3, None, 0.4), ("_none", 0, 2, 0.5, 9.0)):
        # Few values: sides that touch, boxes without area, equal scores.
        boxes = (RNG.integers(0, 9, (2, 24, 4)) / 4).astype(np.float32)
        scores = (RNG.integers(-3, 9, (2, 3, 24)) / 8).astype(np.float32)
        known = {"x2": np.array([most], np.int64)}
        known.update({} if overlap is None else {"x3": np.array([overlap], np.float32)})
        known.update({} if score is None else {"x4": np.array([score], np.float32)})
        yield f"suppression{name}", single("NonMaxSuppression", {"x0": boxes, "x1": scores}, {"center_point_box": form}, 1, known)


def not_a_number_cases():
    """What is bounded stays no number; and one beside a constant does."""
    x = {"x0": np.array([[1, np.nan, 3, -np.inf, np.inf, -4]], np.float32)}
    bounds = {"x1": np.array(-1, np.float32), "x2": np.array(2, np.float32)}
    yield "clip_nan", single("Clip", x, {}, 1, bounds)
    for name, known in (("above", {"x2": bounds["x2"]}), ("below", {"x1": bounds["x1"]}), ("", {}), ("turned", {
            "x1": bounds["x2"], "x2": bounds["x1"]}), ("no_number", {"x1": np.array(np.nan, np.float32), "x2": bounds["x2"]}),
            ("infinite", {"x1": np.array(-np.inf, np.float32)})):
        yield f"clip_nan_{name}", single("Clip", x, {}, 1, known)
        halves = {k: v.astype(np.float16) for k, v in known.items()}
        yield f"clip_nan_{name}_half", single("Clip", {"x0": x["x0"].astype(np.float16)}, {}, 1, halves)
    yield "clip_nan_given", single("Clip", {**x, "x1": bounds["x1"], "x2": bounds["x2"]}, {}, 1)
    odd = np.array([np.nan, 1, np.inf, -np.inf, 0, 2], np.float32)
    pairs = {"x0": np.repeat(odd, 6).reshape(6, 6), "x1": np.tile(odd, 6).reshape(6, 6)}
    for op in ("Max", "Min"):
        yield f"{op.lower()}_nan_constant", single(op, x, {}, 1, {"x1": bounds["x1"]})
        yield f"{op.lower()}_nans", single(op, pairs, {}, 1)
        yield f"{op.lower()}_nans_three", single(op, {**pairs, "x2": odd}, {}, 1)
        yield f"{op.lower()}_nans_half", single(op, {k: v.astype(np.float16) for k, v in pairs.items()}, {}, 1)
        yield f"{op.lower()}_nan_known", single(op, {"x0": pairs["x0"]}, {}, 1, {"x1": odd})
        yield f"{op.lower()}_constant_nan", single(op, {"x1": x["x0"]}, {}, 1, {"x0": bounds["x1"]})
    yield "hard_sigmoid_nan", single("HardSigmoid", x, {}, 1)


def category_cases():
    """Of a category that is not known `zeros` makes an error, which ends the run."""
    for name, kind, shape in (("", np.float32, (3, 2)), ("_whole", np.int64, (5,))):
        x = {"x0": RNG.choice(np.array([1, 4, -7], kind), shape)}
        of = {"cats_int64s": [4, 1, -7], "zeros": 0}
        yield f"one_hot_known{name}", single("OneHotEncoder", x, of, domain="ai.onnx.ml")
        x = {"x0": x["x0"].copy()}
        x["x0"].flat[-1] = 5
        yield f"one_hot_not_known{name}_fails", single("OneHotEncoder", x, of, domain="ai.onnx.ml")


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


def transform_cases():
    from onnx import helper
    for name, axis, known in (("", 1, {}), ("_short", 1, {"x1": np.array(7, np.int64)}), ("_long", 2, {"x1": np.array(12, np.int64)})):
        for attributes in ({"axis": axis}, {"axis": axis, "onesided": 1}, {"axis": axis, "inverse": 1}):
            for parts in (1, 2):
                if parts == 1 or "onesided" not in attributes:
                    text = "_".join(attributes) + f"_{parts}"
                    yield f"dft{name}_{text}", single("DFT", {"x0": floats(2, 9, 9, parts)}, attributes, 1, known)
    mel = {"x0": np.array(6, np.int64), "x1": np.array(64, np.int64), "x2": np.array(8000, np.int64),
           "x3": np.array(20, np.float32), "x4": np.array(3500, np.float32)}
    node = helper.make_node
    yield "mel", (graph_of([node("MelWeightMatrix", list(mel), ["m"]), node("MatMul", ["s", "m"], ["y0"])],
                           {"s": np.abs(floats(2, 33))}, ["y0"], mel), {"s": np.abs(RNG.normal(size=(2, 33))).astype(np.float32)})
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


def label_cases():
    from onnx import numpy_helper
    x, values = {"x0": floats(9, 4)}, lambda n: floats(n).tolist()  # noqa: E731
    ml = "ai.onnx.ml"
    words = {"x0": RNG.integers(0, 6, size=(3, 4)).astype(np.int64)}
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


def moved_byte_cases():
    """Bytes that become floats only to be moved, or to go through functions of one number."""
    from onnx import helper
    node = helper.make_node
    scales = {"s": np.array(0.05, np.float32), "z": np.array(3, np.int8), "t": np.array(0.07, np.float32), "u": np.array(-5, np.int8)}
    into = [node("QuantizeLinear", ["x0", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["r"])]
    given = {"x0": floats(4, 6, 5) * 3}
    for name, at in (("even", [0, 2, 4]), ("one", 5), ("list", [3]), ("uneven", [4, 0, 1]), ("from_end", [-3, -1])):
        moves = [node("Transpose", ["r"], ["m"], perm=[1, 0, 2]), node("Gather", ["m", "at"], ["g"], axis=0)]
        for kind, functions in (("", []), ("_neg", [node("Neg", ["g"], ["h"])])):
            for same in (False, True):
                last = "h" if functions else "g"
                out = [node("Flatten", [last], ["f"]), node("QuantizeLinear", ["f", *("sz" if same else "tu")], ["y0"])]
                known = {**scales, "at": np.array(at, np.int64)}
                yield (f"moved_bytes_{name}{kind}{'_same' if same else ''}",
                       (graph_of(into + moves + functions + out, given, ["y0"], known), given))
    # Two ways from the bytes, of which one moves them: no function of one byte.
    square = {"x0": floats(6, 6) * 3}
    two = [node("Transpose", ["r"], ["m"]), node("Neg", ["m"], ["n"]), node("Abs", ["r"], ["a"]), node("Add", ["n", "a"], ["b"]),
           node("QuantizeLinear", ["b", "t", "u"], ["y0"])]
    yield "moved_bytes_two_ways", (graph_of(into + two, square, ["y0"], scales), square)
    # A packed product, taken apart.
    given, known = {"x0": floats(5, 2, 6)}, {"w": floats(6, 48), "b": floats(48), "sizes": np.array([24, 8, 16], np.int64)}
    product = [node("MatMul", ["x0", "w"], ["p"]), node("Add", ["b", "p"], ["v"])]
    yield "packed_product_split", (graph_of([*product, node("Split", ["v", "sizes"], ["y0", "y1", "y2"], axis=-1)], given,
                                            ["y0", "y1", "y2"], known), given)
    known = {"w": known["w"], "b": known["b"], "shape": np.array([5, 2, 3, 16], np.int64)}
    parts = [node("Reshape", ["v", "shape"], ["a"]), node("Transpose", ["a"], ["c"], perm=[2, 1, 0, 3])]
    known |= {f"i{k}": np.array(k, np.int64) for k in range(3)}
    parts += [node("Gather", ["c", f"i{k}"], [f"y{k}"], axis=0) for k in range(3)]
    yield "packed_product_gather", (graph_of(product + parts, given, ["y0", "y1", "y2"], known), given)
    given, known = {"x0": floats(3, 4, 10) * 2}, {"g": floats(10), "b": floats(10)}
    yield "layer_normalization_rows", (graph_of([node("LayerNormalization", ["x0", "g", "b"], ["y0", "y1", "y2"], axis=-1)], given,
                                                ["y0", "y1", "y2"], known), given)
