# SPDX-License-Identifier: Apache-2.0
"""Models that are refused, with the words that say why: what would give a result that nobody can use."""
import numpy as np

from operator_models import graph_of


def lstm_by_rate():
    """Silero VAD in small: by the rate of samples an LSTM runs whose weights fit frames of that rate, and only the frames of
    one rate are given."""
    from onnx import helper
    hidden = 3

    def branch(name, width):
        weights = {f"{name}_w": np.ones((1, 4 * hidden, width), np.float32), f"{name}_r": np.ones((1, 4 * hidden, hidden), np.float32)}
        lstm = helper.make_node("LSTM", ["frames", *weights], ["", name], hidden_size=hidden)
        return graph_of([lstm], {}, [name], weights)

    choice = helper.make_node("If", ["is_wide"], ["y0"], then_branch=branch("wide", 4), else_branch=branch("narrow", 2))
    inputs = {"frames": np.zeros((5, 1, 4), np.float32), "sr": np.array(0, np.int64)}
    return graph_of([helper.make_node("Equal", ["sr", "rate"], ["is_wide"]), choice], inputs, ["y0"],
                    {"rate": np.array(16000, np.int64)})


def refused_models():
    """(name, model, what the message has), and arguments with which the model compiles, if the message gives them."""
    from onnx import TensorProto, helper
    node, one = helper.make_node, helper.make_tensor_value_info

    def loop(condition, turns, outputs, *nodes):
        body = helper.make_graph(nodes, "body", [one("i", TensorProto.INT64, []), one("c", TensorProto.BOOL, []),
                                                 one("s", TensorProto.FLOAT, [2])],
                                 [helper.make_empty_tensor_value_info(o) for o in outputs])
        x = {"x0": np.zeros(2, np.float32)}
        given = {"n": turns, "c0": condition}
        results = [f"y{i}" for i in range(len(outputs) - 1)]
        return graph_of([node("Loop", ["n", "c0", "x0"], results, body=body)], x, results, given)

    add, goes, spots = node("Add", ["s", "s"], ["t"]), node("Identity", ["c"], ["d"]), node("NonZero", ["s"], ["q"])
    three, yes = np.array(3, np.int64), np.array(True)
    yield "loop_of_counted", loop(yes, three, ["d", "t", "q"], add, goes, spots), "'q', whose number of elements"
    yield "loop_by_float", loop(np.float32(1), three, ["d", "t"], add, goes), "the condition is f32, but must be bool"
    yield "loop_of_float", loop(yes, np.float32(2.5), ["d", "t"], add, goes), "the maximum trip count is f32, but must be i64"
    yield "loop_says_float", loop(yes, three, ["e", "t"], add, node("ReduceSum", ["s"], ["e"], keepdims=0)), "condition of the body"
    less = node("Less", ["r", "r2"], ["d"])
    sums = [node("ReduceSum", ["s"], ["r"], keepdims=0), node("ReduceSum", ["t"], ["r2"], keepdims=0), less]
    yield "loop_too_long", loop(yes, np.array(1 << 31, np.int64), ["d", "t", "t2"], add, *sums, node("Neg", ["t"], ["t2"])), \
        "is too large with 2147483648 iterations"
    x = {"x0": np.zeros((2, 4), np.int64)}
    yield "divided_by_counted", graph_of([node("NonZero", ["x0"], ["n"]), node("Div", ["k", "n"], ["y0"])], x, ["y0"],
                                         {"k": np.array(7, np.int64)}), "'n', whose number of elements"
    halves = {"x0": np.zeros(6, np.float16), "x1": np.zeros(6, bool)}
    yield "sum_of_counted", graph_of([node("Compress", ["x0", "x1"], ["m"]), node("ReduceSum", ["m"], ["y0"], keepdims=0)], halves,
                                     ["y0"]), "'m', whose number of elements"
    numbers = {"x0": np.zeros(6, np.float32), "x1": np.zeros(6, np.int32)}
    yield "compress_by_int", graph_of([node("Compress", ["x0", "x1"], ["y0"])], numbers, ["y0"]), "the condition is i32, but must be bool"
    boxes = {"x0": np.zeros((1, 6, 4), np.float32), "x1": np.zeros((1, 2, 6), np.float32)}
    for overlap in (-0.5, 1.5, np.nan):
        yield f"suppression_{overlap}", graph_of([node("NonMaxSuppression", ["x0", "x1", "most", "overlap"], ["y0"])], boxes, ["y0"], {
            "most": np.array([3], np.int64), "overlap": np.array([overlap], np.float32)}), f"the IoU threshold is {overlap}"
    # --value is advised for inputs, and for what follows from small ones.
    cells = {"x0": np.zeros((1, 4, 8), np.float32), "x1": np.zeros((1, 1, 8), np.int64), "x2": np.zeros((1, 1, 8), np.float32)}
    yield "scatter_by_input", graph_of([node("ScatterElements", ["x0", "x1", "x2"], ["y0"], axis=1)], cells, ["y0"]), \
        "give the value of input 'x1': --value x1=[...]"
    yield "scatter_by_computed", graph_of([node("ArgMax", ["x0"], ["i"], axis=1), node("Expand", ["i", "s"], ["j"]),
                                           node("ScatterElements", ["x0", "j", "x2"], ["y0"], axis=1)],
                                          {"x0": np.zeros((1, 40, 8), np.float32), "x2": cells["x2"]}, ["y0"], {"s": np.array([1, 1, 8])}), \
        "the model computes this value from input 'x0': export the model with a constant instead"
    yield "rate_decides_lstm", lstm_by_rate(), \
        "give the value of this input, so that only one branch is compiled: --value sr=16000", "--value", "sr=16000"
    yield "rate_names_lstm", lstm_by_rate(), \
        "op 1 LSTM 'narrow': input 1 has shape 1x12x2, expected ", "--value", "sr=16000"
    places = {"x0": np.zeros((1, 1, 2, 2), np.float32), "x1": np.zeros((1, 1, 2, 2), np.int64)}
    yield "unpool_nothing", graph_of([node("MaxUnpool", ["x0", "x1"], ["y0"], kernel_shape=[0, 2], strides=[2, 2])], places, ["y0"]), \
        "kernel_shape must be at least 1"
    yield from refused_labels()


def refused_labels():
    from onnx import helper, numpy_helper
    node, ml, x = helper.make_node, "ai.onnx.ml", {"x0": np.zeros((4, 3), np.float32)}

    def with_names(nodes, outputs):
        graph = graph_of(nodes, x, outputs)
        graph.initializer.extend(numpy_helper.from_array(np.array(v, dtype=object), k) for k, v in (("n", ["a", "b", "c"]),))
        return graph

    best = node("ArgMax", ["x0"], ["i"], axis=1, keepdims=0)
    other = node("LabelEncoder", ["i"], ["y1"], domain=ml, keys_int64s=[0, 1], values_strings=["b", "a"])
    yield "labels_of_two_lists", with_names([best, node("Gather", ["n", "i"], ["y0"]), other], ["y0", "y1"]), \
        "the model has two different lists of label strings"
    yield "labels_compared", with_names([best, node("Gather", ["n", "i"], ["g"]), node("Equal", ["g", "n"], ["y0"])], ["y0"]), \
        "Equal is not supported for STRING"
    # A string in a tensor of floats does not hide its type.
    stray = numpy_helper.from_array(np.array([-2], np.float32))
    stray.string_data.append(b"stray")
    encoder = node("LabelEncoder", ["i"], ["y0"], domain=ml, keys_int64s=[0, 1], values_int64s=[7, 5], default_tensor=stray)
    yield "labels_of_stray_string", graph_of([best, encoder], x, ["y0"]), "the default must have the same type as the values"
    tree = {"nodes_treeids": [0] * 3, "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0] * 3, "nodes_values": [0.5, 0, 0],
            "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0],
            "classlabels_int64s": [0, 1], "class_treeids": [0] * 3}
    for name, more in (("uneven", {"class_nodeids": [1, 1, 2], "class_ids": [0, 1, 1], "class_weights": [1.0, 2.0, 3.0]}),
                       ("based", {"class_nodeids": [1, 1, 2, 2], "class_treeids": [0] * 4, "class_ids": [0, 1, 0, 1],
                                  "class_weights": [1.0, 2.0, 3.0, 4.0], "base_values": [0.5, 0.25]})):
        classifier = node("TreeEnsembleClassifier", ["x0"], ["y0", "y1"], domain=ml, **{**tree, **more})
        yield f"trees_of_two_{name}", graph_of([classifier], x, ["y0", "y1"]), "all leaves of a tree have weights for the same classes"
    lists = node("TreeEnsemble", ["x0"], ["y0"], domain=ml, n_targets=1, tree_roots=[0], nodes_featureids=[0], nodes_truenodeids=[0],
                 nodes_trueleafs=[1], nodes_falsenodeids=[1], nodes_falseleafs=[1], leaf_targetids=[0, 0],
                 nodes_modes=numpy_helper.from_array(np.array([6], np.uint8)), leaf_weights=numpy_helper.from_array(np.ones(2, np.float32)),
                 nodes_splits=numpy_helper.from_array(np.zeros(1, np.float32)),
                 membership_values=numpy_helper.from_array(np.ones(2, np.float32)))
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(ml, 5)]
    yield "trees_of_no_list", helper.make_model(graph_of([lists], x, ["y0"]), opset_imports=opsets, ir_version=10), \
        "membership_values has fewer lists"
    # 2,000 tests, one of them of 5,000 values: all tests get as many.
    count, longest = 2000, 5000
    sets = np.concatenate([v for i in range(count) for v in ([i], [np.nan])] + [np.arange(count, count + longest), [np.nan]])
    nodes = np.arange(count + 1)
    leaves, last = np.ones(count + 1, np.int64), nodes == count
    long = node("TreeEnsemble", ["x0"], ["y0"], domain=ml, n_targets=1, tree_roots=[0], nodes_featureids=[0] * (count + 1),
                nodes_truenodeids=[0] * (count + 1), nodes_trueleafs=leaves.tolist(), leaf_targetids=[0, 0],
                nodes_falsenodeids=np.where(last, 1, nodes + 1).tolist(), nodes_falseleafs=last.astype(np.int64).tolist(),
                nodes_modes=numpy_helper.from_array(np.full(count + 1, 6, np.uint8)),
                leaf_weights=numpy_helper.from_array(np.ones(2, np.float32)),
                nodes_splits=numpy_helper.from_array(np.zeros(count + 1, np.float32)),
                membership_values=numpy_helper.from_array(sets.astype(np.float32)))
    yield "trees_of_long_list", helper.make_model(graph_of([long], x, ["y0"]), opset_imports=opsets, ir_version=10), \
        "2001 membership tests of up to 5000 values are too many"
