#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds of the fuzzing of ONNX models: make_corpus.py DIR writes small models that between them have every kind
of message that aotc reads. They are made here with the onnx package."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(name, nodes, inputs, outputs, constants=(), functions=(), opset=17):
    graph = helper.make_graph(nodes, name, inputs, outputs, constants)
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid("own", 1)] if functions else [])
    return helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=8)


def models():
    node = helper.make_node
    rng = np.random.default_rng(1)
    weights = numpy_helper.from_array(rng.standard_normal((2, 1, 3, 3)).astype(np.float32), "w")
    yield model("conv", [node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]), node("Relu", ["c"], ["r"]),
                         node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2]), node("Flatten", ["p"], ["y"])],
                [value("x", [None, 1, 6, 6])], [value("y", [1, 8])], [weights])
    typed = helper.make_tensor("t", TensorProto.FLOAT, [2, 2], [1.0, 2.0, 3.0, 4.0])
    yield model("gemm", [node("Gemm", ["x", "t"], ["g"], alpha=0.5, transB=1), node("Softmax", ["g"], ["y"], axis=-1)],
                [value("x", [1, 2])], [value("y", [1, 2])], [typed])
    to = helper.make_tensor("rest", TensorProto.INT64, [1], [-1])
    yield model("shapes", [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i"], ["n"]),
                           node("Concat", ["n", "rest"], ["to"], axis=0), node("Reshape", ["x", "to"], ["y"])],
                [value("x", [2, 3, 4])], [value("y", [2, 12])], [to, helper.make_tensor("i", TensorProto.INT64, [1], [0])])
    then = helper.make_graph([node("Relu", ["x"], ["a"])], "then", [], [value("a", [2])])
    other = helper.make_graph([node("Tanh", ["x"], ["b"])], "other", [], [value("b", [2])])
    yield model("branch", [node("Constant", [], ["c"], value=helper.make_tensor("v", TensorProto.BOOL, [], [1])),
                           node("If", ["c"], ["y"], then_branch=then, else_branch=other)],
                [value("x", [2])], [value("y", [2])])
    twice = helper.make_function("own", "Twice", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)])
    yield model("function", [node("Twice", ["x"], ["y"], domain="own")], [value("x", [3])], [value("y", [3])],
                functions=[twice])
    yield model("moves", [node("Slice", ["x", "b", "e", "a", "s"], ["p"]), node("Transpose", ["p"], ["q"], perm=[1, 0]),
                          node("ReduceMean", ["q"], ["r"], axes=[1], keepdims=0), node("LeakyRelu", ["r"], ["y"], alpha=0.1)],
                [value("x", [4, 6])], [value("y", [3])],
                [helper.make_tensor(n, TensorProto.INT64, [1], v) for n, v in zip("beas", ([5], [-9], [1], [-2]))])
    yield from newer_models(node, rng)


def newer_models(node, rng):
    """Stored floats, steps in time, loops, sampling, and classical models."""
    arrays = lambda **named: [numpy_helper.from_array(a.astype(np.float32), n) for n, a in named.items()]  # noqa: E731
    half = helper.make_tensor("h", TensorProto.FLOAT16, [2], [1.5, -2.0])
    nibbles = helper.make_tensor("n", TensorProto.INT4, [2], [-3, 5])
    yield model("stored", [node("Add", ["x", "h"], ["a"]), node("CastLike", ["n", "a"], ["b"]), node("Mul", ["a", "b"], ["c"]),
                           node("Cast", ["c"], ["y"], to=TensorProto.FLOAT8E4M3FN, saturate=0)],
                [value("x", [2], TensorProto.FLOAT16)], [value("y", [2], TensorProto.FLOAT8E4M3FN)], [half, nibbles], opset=21)
    yield model("steps", [node("LSTM", ["x", "w", "r"], ["", "y"], hidden_size=2, direction="bidirectional", clip=3.0)],
                [value("x", [3, 1, 2])], [value("y", [2, 1, 2])],
                arrays(w=rng.standard_normal((2, 8, 2)), r=rng.standard_normal((2, 8, 2))))
    body = helper.make_graph([node("Add", ["s", "e"], ["t"]), node("Neg", ["t"], ["o"])], "body",
                             [value("s", [2]), value("e", [2])], [value("t", [2]), value("o", [2])])
    yield model("scan", [node("Scan", ["i", "x"], ["s", "y"], body=body, num_scan_inputs=1)],
                [value("i", [2]), value("x", [3, 2])], [value("y", [3, 2])])
    turn = helper.make_graph([node("Identity", ["c"], ["d"]), node("Relu", ["s"], ["t"])], "turn",
                             [value("i", [], TensorProto.INT64), value("c", [], TensorProto.BOOL), value("s", [2])],
                             [value("d", [], TensorProto.BOOL), value("t", [2])])
    yield model("loop", [node("Loop", ["n", "", "x"], ["y"], body=turn)], [value("x", [2])], [value("y", [2])],
                [helper.make_tensor("n", TensorProto.INT64, [], [3])])
    yield model("sampling", [node("Resize", ["x", "", "f"], ["r"], mode="cubic"),
                             node("GridSample", ["r", "g"], ["y"], padding_mode="reflection", mode="bilinear")],
                [value("x", [1, 1, 2, 2]), value("g", [1, 2, 2, 2])], [value("y", [1, 1, 2, 2])],
                arrays(f=np.array([1, 1, 1.5, 2])))
    ml = "ai.onnx.ml"
    linear = model("linear", [node("Scaler", ["x"], ["s"], domain=ml, offset=[0.5], scale=[2.0]),
                              node("LinearClassifier", ["s"], ["l", "p"], domain=ml, coefficients=[1.0, 2.0, -1.0, 0.5],
                                   intercepts=[0.0, 1.0], classlabels_ints=[3, 4], post_transform="SOFTMAX"),
                              node("Normalizer", ["p"], ["y"], domain=ml, norm="L1")],
                   [value("x", [1, 2])], [value("l", [1], TensorProto.INT64), value("y", [1, 2])])
    linear.opset_import.append(helper.make_opsetid(ml, 3))
    yield linear
    two = model("trees", [node("TreeEnsembleClassifier", ["x"], ["l", "y"], domain=ml, nodes_treeids=[0, 0, 0, 1, 1, 1],
                               nodes_nodeids=[0, 1, 2] * 2, nodes_featureids=[0, 0, 0, 1, 0, 0],
                               nodes_values=[0.5, 0.0, 0.0, -1.0, 0.0, 0.0], nodes_truenodeids=[1, 0, 0] * 2,
                               nodes_falsenodeids=[2, 0, 0] * 2, nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"] * 2,
                               class_treeids=[0, 0, 1, 1], class_nodeids=[1, 2, 1, 2], class_ids=[0] * 4,
                               class_weights=[0.1, 0.5, 0.25, 0.5], classlabels_int64s=[3, 4], post_transform="LOGISTIC")],
                [value("x", [1, 2])], [value("l", [1], TensorProto.INT64), value("y", [1, 2])])
    two.opset_import.append(helper.make_opsetid(ml, 1))
    yield two


    scale = helper.make_tensor("s", TensorProto.FLOAT, [], [0.1])
    zero = helper.make_tensor("z", TensorProto.INT8, [], [-128])
    bytes_of = helper.make_tensor("w", TensorProto.INT8, [2, 1, 3, 3], range(-9, 9))
    sums = helper.make_tensor("b", TensorProto.INT32, [2], [100, -100])
    several = helper.make_tensor("t", TensorProto.FLOAT, [2], [0.01, 0.02])
    yield model("groups", [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"]),
                           node("DequantizeLinear", ["w", "t"], ["e"], axis=0),
                           node("DequantizeLinear", ["b", "t"], ["f"], axis=0),
                           node("Conv", ["d", "e", "f"], ["c"]), node("Relu", ["c"], ["r"]),
                           node("QuantizeLinear", ["r", "s", "z"], ["u"]), node("DequantizeLinear", ["u", "s", "z"], ["v"]),
                           node("Sigmoid", ["v"], ["g"]), node("QuantizeLinear", ["g", "s", "z"], ["h"]),
                           node("DequantizeLinear", ["h", "s", "z"], ["y"])],
                [value("x", [1, 1, 6, 6])], [value("y", [1, 2, 4, 4])], [scale, zero, bytes_of, sums, several])
    matrix = helper.make_tensor("m", TensorProto.UINT8, [2, 3], [1, 2, 3, 250, 128, 7])
    middle = helper.make_tensor("z", TensorProto.UINT8, [], [128])
    yield model("integers", [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
                             node("MatMulInteger", ["q", "m", "z"], ["p"]), node("Cast", ["p"], ["c"], to=1),
                             node("Mul", ["c", "s"], ["y"])], [value("x", [4, 2])], [value("y", [4, 3])], [matrix])
    yield model("operators", [node("QuantizeLinear", ["x", "s", "z"], ["q"]),
                              node("QLinearMatMul", ["q", "s", "z", "m", "s", "z", "s", "z"], ["p"]),
                              node("DequantizeLinear", ["p", "s", "z"], ["y"])],
                [value("x", [4, 2])], [value("y", [4, 3])], [matrix, scale, middle])
    yield from models_of_data(node, rng)


def models_of_data(node, rng):
    """Turns and sizes that the data decides, transforms, strings, and a quantised recurrent layer."""
    whole = lambda name, dims, values: helper.make_tensor(name, TensorProto.INT64, dims, values)  # noqa: E731
    real = lambda name, dims, values: helper.make_tensor(name, TensorProto.FLOAT, dims, values)  # noqa: E731
    turn = helper.make_graph([node("Add", ["s", "c"], ["t"]), node("ReduceSum", ["t"], ["r"], keepdims=0),
                              node("Less", ["r", "e"], ["g"])], "turn",
                             [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL), value("s", [2])],
                             [value("g", [], TensorProto.BOOL), value("t", [2]), value("r", [])], [real("e", [], [9.0])])
    yield model("while", [node("Abs", ["x"], ["c"]), node("Loop", ["n", "", "x"], ["y", "z"], body=turn), node("Neg", ["z"], ["w"])],
                [value("x", [2])], [value("y", [2]), value("w", [None])], [whole("n", [], [5])])
    yield model("counted", [node("NonZero", ["x"], ["p"]), node("Transpose", ["p"], ["y"], perm=[1, 0]),
                            node("Compress", ["x", "k"], ["z"], axis=0),
                            node("NonMaxSuppression", ["b", "s", "n", "t", "t"], ["c"], center_point_box=1)],
                [value("x", [3, 2]), value("k", [3], TensorProto.BOOL), value("b", [1, 4, 4]), value("s", [1, 2, 4])],
                [value("y", [None, 2], TensorProto.INT64), value("z", [None, 2]), value("c", [None, 3], TensorProto.INT64)],
                [whole("n", [1], [2]), real("t", [1], [0.5])])
    numbers = [whole("n", [], [4]), whole("l", [], [8]), whole("h", [], [8000]), real("a", [], [20.0]), real("e", [], [3000.0])]
    yield model("transforms", [node("DFT", ["x", "l"], ["d"], axis=1, onesided=1), node("ReduceL2", ["d"], ["s"], axes=[2], keepdims=0),
                               node("MelWeightMatrix", ["n", "l", "h", "a", "e"], ["m"]), node("MatMul", ["s", "m"], ["y"]),
                               node("MaxPool", ["i"], ["p", "q"], kernel_shape=[2, 2], strides=[2, 2]),
                               node("MaxUnpool", ["p", "q"], ["u"], kernel_shape=[2, 2], strides=[2, 2]), node("Det", ["u"], ["v"])],
                [value("x", [2, 6, 1]), value("i", [1, 1, 4, 4])], [value("y", [2, 4]), value("v", [1, 1])], numbers)
    ml = "ai.onnx.ml"
    labels = model("labels", [node("SVMClassifier", ["x"], ["l", "y"], domain=ml, classlabels_ints=[3, 4], coefficients=[1.0, -1.0],
                                   support_vectors=[0.5, 0.25, -1.0, 2.0], vectors_per_class=[1, 1], rho=[0.1], kernel_type="RBF",
                                   kernel_params=[0.5, 0.0, 3.0], prob_a=[-1.0], prob_b=[0.1]),
                              node("LabelEncoder", ["l"], ["z"], domain=ml, keys_int64s=[4], values_strings=["four"])],
                   [value("x", [2, 2])], [value("y", [2, 2]), value("z", [2], TensorProto.STRING)])
    labels.opset_import.append(helper.make_opsetid(ml, 4))
    yield labels
    parts = [helper.make_tensor(n, TensorProto.INT8, d, rng.integers(-99, 99, d).ravel()) for n, d in
             (("w", [1, 2, 8]), ("r", [1, 2, 8]), ("z", [1]))]
    lstm = model("dynamic", [node("DynamicQuantizeLSTM", ["x", "w", "r", "", "", "", "", "", "s", "z", "s", "z"], ["", "y"],
                                  domain="com.microsoft", hidden_size=2)], [value("x", [2, 1, 2])], [value("y", [1, 1, 2])],
                 [*parts, real("s", [1], [0.01])])
    lstm.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    yield lstm


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for m in models():
        onnx.checker.check_model(m)
        (folder / f"{m.graph.name}.onnx").write_bytes(m.SerializeToString())


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        help_asked = sys.argv[1:] in (["-h"], ["--help"])
        print(__doc__, file=sys.stdout if help_asked else sys.stderr)
        sys.exit(0 if help_asked else 2)
    main()
