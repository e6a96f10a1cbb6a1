# SPDX-License-Identifier: Apache-2.0
"""Cases of operators.py: convolutions and pools of every rank, trees that test for equality, labels that are strings, and
distances from the rows of a table. All of them compile and run in about 40 CPU seconds."""
import numpy as np

from odd_models import one
from operator_models import floats, graph_of, numbers, single

ML, MICROSOFT = "ai.onnx.ml", "com.microsoft"


def window_cases():
    small = lambda *shape: floats(*shape) / 4  # noqa: E731
    for name, x, w, attributes in (
            ("volume", (1, 3, 5, 6, 4), (4, 3, 3, 2, 3), {"pads": [1, 0, 1, 1, 1, 0], "strides": [2, 1, 1]}),
            ("volume_groups", (2, 4, 4, 5, 3), (6, 2, 2, 3, 1), {"group": 2, "dilations": [2, 1, 1]}),
            ("volume_depthwise", (1, 4, 4, 4, 5), (8, 1, 3, 3, 3), {"group": 4, "auto_pad": "SAME_UPPER"}),
            ("volume_wide", (1, 1, 8, 7, 9), (2, 1, 7, 7, 7), {})):
        yield f"export_conv_{name}", single("Conv", {"x0": floats(*x)}, attributes, 1, {"x1": small(*w), "x2": floats(w[0])})
    for name, x, w, attributes in (("line", (1, 4, 20), (6, 4, 3), {"pads": [4, 0], "dilations": [2]}),
                                   ("image", (1, 4, 6, 5), (6, 2, 3, 2), {"group": 2, "strides": [2, 1]})):
        given = {"x0": floats(*x), "x1": small(*w)}
        yield f"export_conv_computed_{name}", single("Conv", given, attributes)
        yield f"export_conv_computed_{name}_bias", single("Conv", {**given, "x2": floats(w[0])}, attributes)
    for name, x, w, attributes in (
            ("groups", (1, 4, 5, 6), (4, 3, 3, 4), {"group": 2, "strides": [2, 2], "pads": [1, 1, 1, 1]}),
            ("depthwise", (1, 6, 4, 5), (6, 1, 4, 4), {"group": 6, "strides": [2, 2], "pads": [1, 1, 1, 1]}),
            ("dilation", (2, 3, 4, 5), (3, 4, 3, 2), {"dilations": [2, 3], "strides": [2, 1], "output_padding": [1, 0]}),
            ("far", (1, 3, 4, 4), (3, 4, 2, 2), {"strides": [2, 2], "pads": [2, 3, 2, 3]}),
            ("line_groups", (1, 4, 9), (4, 2, 5), {"group": 4, "strides": [3], "output_shape": [26]}),
            ("volume", (1, 3, 3, 4, 2), (3, 2, 3, 2, 3), {"strides": [2, 1, 3], "pads": [1, 0, 0, 0, 1, 2]})):
        given = {"x0": floats(*x)}
        yield f"export_transposed_{name}", single("ConvTranspose", given, attributes, 1, {"x1": small(*w)})
        bias = {"x1": small(*w), "x2": floats(w[1] * attributes.get("group", 1))}
        yield f"export_transposed_{name}_bias", single("ConvTranspose", given, attributes, 1, bias)
    yield "export_transposed_computed", single("ConvTranspose", {"x0": floats(1, 3, 4, 5), "x1": small(3, 2, 3, 3)}, {"strides": [2, 2]})


def pool_cases():
    image, line, volume = {"x0": floats(1, 3, 7, 8)}, {"x0": floats(2, 3, 11)}, {"x0": floats(1, 2, 5, 6, 7)}
    three = {"kernel_shape": [2, 3, 2], "strides": [2, 1, 2], "pads": [1, 0, 1, 0, 2, 0]}
    for op, more in (("MaxPool", {}), ("AveragePool", {}), ("AveragePool", {"count_include_pad": 1}), ("LpPool", {}), ("LpPool", {"p": 1})):
        name = f"export_{op.lower()}{''.join(f'_{k}{v}' for k, v in more.items())}"
        yield f"{name}_line", single(op, line, {"kernel_shape": [3], "strides": [2], "pads": [1, 1], **more})
        yield f"{name}_image", single(op, image, {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [2, 1, 1, 1], **more})
        yield f"{name}_volume", single(op, volume, {**three, **more})
    yield "export_averagepool_ceil", one("AveragePool", image, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1],
                                                              "ceil_mode": 1, "count_include_pad": 1}, opset=19)
    for kind in ("int8", "uint8"):
        yield f"export_maxpool_{kind}", single("MaxPool", {"x0": numbers(kind, 1, 3, 4, 5, 6)}, three)


def resize_cases():
    image, line = {"x0": floats(1, 3, 5, 6)}, {"x0": floats(1, 2, 7)}
    for coordinates in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"):
        attributes = {"mode": "linear", "coordinate_transformation_mode": coordinates}
        for name, sizes in (("up", [1, 3, 10, 18]), ("down", [1, 3, 3, 4]), ("one", [1, 3, 5, 12])):
            yield f"export_resize_{name}_{coordinates}", single("Resize", image, attributes, 1, {"x3": np.array(sizes)})
        yield f"export_resize_line_{coordinates}", single("Resize", line, attributes, 1, {"x3": np.array([1, 2, 15])})


def tests_of_equality():
    rng = np.random.default_rng(5)
    rows = rng.integers(-2, 3, (40, 4)).astype(np.float32)
    rows[3, :2], rows[7, 1:], rows[9, 0] = np.nan, np.inf, -0.0
    return {"x0": rows}


def tree_3(mode, tracks=0):
    """A tree of two tests."""
    return {"nodes_treeids": [0] * 5, "nodes_nodeids": list(range(5)), "nodes_featureids": [0, 1, 0, 0, 0],
            "nodes_values": [1.0, 0.0, 0, 0, 0], "nodes_modes": [mode, mode, "LEAF", "LEAF", "LEAF"],
            "nodes_truenodeids": [1, 3, 0, 0, 0], "nodes_falsenodeids": [2, 4, 0, 0, 0],
            "nodes_missing_value_tracks_true": [tracks, 1 - tracks, 0, 0, 0]}


def tree_cases():
    from onnx import helper, numpy_helper
    x = tests_of_equality()
    for mode in ("BRANCH_EQ", "BRANCH_NEQ"):
        for tracks in (0, 1):
            leaves = {"target_treeids": [0] * 3, "target_nodeids": [2, 3, 4], "target_ids": [0] * 3, "target_weights": [1.0, 2.5, -3.0]}
            yield f"export_tree_{mode[7:].lower()}_{tracks}", single("TreeEnsembleRegressor", x, {**tree_3(mode, tracks), **leaves,
                                                                                                "n_targets": 1}, domain=ML)
    tensor = lambda values, kind=np.float32: numpy_helper.from_array(np.array(values, kind))  # noqa: E731
    nan = np.nan
    for name, modes, splits, sets in (("equal", [4, 5, 4], [1, 0, -1], None), ("member", [6, 0, 6], [nan, 0, nan], [-1, 1, nan, 0, 2, -2, nan]),
                                      ("mixed", [6, 4, 5], [nan, 1, 2], [2, 0, nan])):
        attributes = {"n_targets": 1, "aggregate_function": 1, "post_transform": 0, "tree_roots": [0], "nodes_featureids": [0, 1, 2],
                      "nodes_truenodeids": [1, 0, 1], "nodes_trueleafs": [0, 1, 1], "nodes_falsenodeids": [2, 2, 3],
                      "nodes_falseleafs": [0, 1, 1], "nodes_modes": tensor(modes, np.uint8), "nodes_splits": tensor(splits),
                      "leaf_targetids": [0] * 4, "leaf_weights": tensor([1, 2, 3, 4])}
        if sets:
            attributes["membership_values"] = tensor(sets)
        for missing in (None, [1, 1, 0]):
            more = {} if missing is None else {"nodes_missing_value_tracks_true": missing}
            graph, given = single("TreeEnsemble", x, {**attributes, **more}, domain=ML)
            opsets = [helper.make_opsetid("", 21), helper.make_opsetid(ML, 5)]
            yield (f"export_tree_{name}{'' if missing is None else '_missing'}",
                   (helper.make_model(graph, opset_imports=opsets, ir_version=10), given))
    # Boosting that stops early, and trees of data without information, leave single leaves.
    single_leaves = {"nodes_treeids": [0, 1], "nodes_nodeids": [0, 0], "nodes_featureids": [0, -2], "nodes_values": [0.0, -2.0],
                     "nodes_modes": ["LEAF", "LEAF"], "nodes_truenodeids": [0, 0], "nodes_falsenodeids": [0, 0]}
    for name, ids in (("one_target", [0, 0]), ("targets", [0, 1])):
        leaves = {"target_treeids": [0, 1], "target_nodeids": [0, 0], "target_ids": ids, "target_weights": [2.5, 1.25]}
        yield f"export_tree_leaves_{name}", single("TreeEnsembleRegressor", x, {**single_leaves, **leaves, "n_targets": max(ids) + 1}, domain=ML)
    for count, ids in ((2, [0, 0]), (2, [1, 1]), (3, [0, 2])):
        leaves = {"class_treeids": [0, 1], "class_nodeids": [0, 0], "class_ids": ids, "class_weights": [0.4, 0.7]}
        yield (f"export_tree_leaves_{count}_classes_{ids[1]}",
               single("TreeEnsembleClassifier", x, {**single_leaves, **leaves, "classlabels_int64s": list(range(count))}, 2, domain=ML))
    # CatBoost's binary classifier: both classes have weights, each the other's less than nothing.
    for post in ("NONE", "LOGISTIC", "SOFTMAX"):
        for weights in ([0.2, 0.8, 0.7, 0.3, 0.4, 0.0], [-0.2, 0.8, 0.7, -0.3, 0.4, 0.0]):
            for labels in ({"classlabels_int64s": [0, 1]}, {"classlabels_strings": ["no", "yes"]}):
                leaves = {"class_treeids": [0] * 6, "class_nodeids": [2, 2, 3, 3, 4, 4], "class_ids": [0, 1] * 3, "class_weights": weights}
                yield (f"export_tree_both_{post.lower()}_{int(weights[0] > 0)}_{list(labels)[0][12:]}",
                       single("TreeEnsembleClassifier", x, {**tree_3("BRANCH_GT"), **leaves, **labels, "post_transform": post}, 2, domain=ML))


def string_cases():
    from onnx import helper, numpy_helper
    node, x = helper.make_node, {"x0": floats(5, 3)}
    names = numpy_helper.from_array(np.array(["b", "a", "b"], dtype=object), "names")
    best = node("ArgMax", ["x0"], ["i"], axis=1, keepdims=0)
    for op, last in (("gather", node("Gather", ["names", "i"], ["y0"])),
                     ("extractor", node("ArrayFeatureExtractor", ["names", "i"], ["y0"], domain=ML))):
        graph = graph_of([best, last], x, ["y0"])
        graph.initializer.append(names)
        yield f"export_strings_{op}", (graph, x)
    graph = graph_of([best, node("Constant", [], ["names"], value=names), node("Gather", ["names", "i"], ["y0"])], x, ["y0"])
    yield "export_strings_constant", (graph, x)


def table_cases():
    """Distances from the rows of a table, as converters of nearest neighbours write them."""
    from onnx import TensorProto, helper
    node, one_of = helper.make_node, helper.make_tensor_value_info
    x = {"x0": floats(1, 6)}
    squares = [node("Sub", ["a", "b"], ["d"]), node("ReduceSumSquare", ["d"], ["s"], axes=[1], keepdims=0)]
    sums = [node("Sub", ["b", "a"], ["d"]), node("Abs", ["d"], ["e"]), node("ReduceSum", ["e", "axis"], ["s"], keepdims=0)]
    for name, steps, count in (("squares", squares, 300), ("sums", sums, 65), ("few", squares, 63), ("many", squares, 40000)):
        body = helper.make_graph([node("Identity", ["a"], ["same"]), *steps], "body",
                                 [one_of("a", TensorProto.FLOAT, [1, 6]), one_of("b", TensorProto.FLOAT, [6])],
                                 [one_of("same", TensorProto.FLOAT, [1, 6]), one_of("s", TensorProto.FLOAT, [1])])
        # Many rows have a generator of their own, so that cases behind them keep their numbers.
        table = floats(count, 6) if count < 1000 else np.random.default_rng(7).standard_normal((count, 6)).astype(np.float32)
        known = {"table": table, "k": np.array([5]), "axis": np.array([1])}
        nodes = [node("Scan", ["x0", "table"], ["y0", "c"], num_scan_inputs=1, body=body), node("Transpose", ["c"], ["t"], perm=[1, 0]),
                 node("TopK", ["t", "k"], ["y1", "y2"], axis=1, largest=0, sorted=1)]
        yield f"export_table_{name}", (graph_of(nodes, x, ["y0", "y1", "y2"], known), x)
    for metric in ("euclidean", "sqeuclidean"):
        yield f"export_table_{metric}", single("CDist", {"x0": floats(3, 6)}, {"metric": metric}, 1, {"x1": floats(40, 6)}, MICROSOFT)


def fused_cases():
    x, skip, scale = floats(1, 3, 8), floats(1, 3, 8), floats(8)
    for name, attributes in (("", {}), ("_alpha", {"alpha": 0.75})):
        yield f"export_quick_gelu{name}", single("QuickGelu", {"x0": x}, attributes, 1, (), MICROSOFT)
    yield "export_simplified", single("SimplifiedLayerNormalization", {"x0": x}, {"epsilon": 0.25}, 1, {"x1": scale})
    for name, known in (("", {"x2": scale}), ("_bias", {"x2": scale, "x3": floats(8)})):
        yield f"export_skip_simplified{name}", single("SkipSimplifiedLayerNormalization", {"x0": x, "x1": skip}, {}, 1, known, MICROSOFT)
    for turned in (0, 1):
        for batch_a, batch_b in ((1, 0), (0, 1), (1, 1)):
            a, b = floats(*((4, 2, 3) if batch_a else (2, 4, 3))), floats(*((3, 2, 5) if batch_b else (2, 3, 5)))
            if turned:
                a, b = (np.ascontiguousarray(v.swapaxes(0 if batch else 1, 2)) for v, batch in ((a, batch_a), (b, batch_b)))
            yield f"export_matmul_{batch_a}{batch_b}{turned}", single(
                "FusedMatMul", {"x0": a, "x1": b},
                {"transBatchA": batch_a, "transBatchB": batch_b, "transA": turned, "transB": turned, "alpha": 0.5}, 1, (), MICROSOFT)


def export_cases():
    for family in (window_cases, pool_cases, resize_cases, tree_cases, string_cases, table_cases, fused_cases):
        yield from family()
