# SPDX-License-Identifier: Apache-2.0
"""Cases of operators.py: sums and products of all pairs of bytes, with scales and zero points where float32 rounds the
values of the model's type otherwise than those 128 lower; softmax whose scale is below that of a whole row."""
import numpy as np

from operator_models import graph_of

# Scale and zero point of the operands, then of the result.
PAIRS = {
    "Add": {"uint8": (((0.11359592, 114), (0.5, 128), (0.5065443, 255)), ((5.0379677, 124), (5.031596, 90), (17.385738, 0)),
                      ((0.06376508, 230), (0.873082, 74), (0.3416152, 45)), ((0.34642038, 255), (0.002897227, 251), (0.24485359, 14))),
            "int8": (((0.21869439, -128), (0.1, 20), (0.3042201, -27)), ((0.008361784, -94), (0.17000687, -128), (0.23367453, -18)),
                     ((4.5742507, 127), (0.5807702, -95), (4.6560225, 46)))},
    "Mul": {"uint8": (((3.1049569, 2), (0.052563004, 84), (47.841656, 34)),),
            "int8": (((0.54438496, 0), (0.02, -63), (1.7145051, 127)),)},
}


def pair_case(op, kind, quantisations, form, columns):
    """The operator of com.microsoft, or a group between quantisations: of inputs that are bytes, or (inner) are floats.
    onnxruntime's loops take the operand that is repeated along rows as the second one: the first, or with `columns` not."""
    from onnx import helper
    node = helper.make_node
    limits = np.iinfo(kind)
    every = np.arange(limits.min, limits.max + 1).astype(kind)
    values = {"x0": every.reshape(256, 1), "x1": every.reshape(1, 256)}
    if columns:
        values = {"x0": values["x1"], "x1": values["x0"]}
    known = {}
    for name, (scale, zero) in zip(("x0", "x1", "y"), quantisations):
        known[f"s{name}"], known[f"z{name}"] = np.float32(scale), np.array(zero, kind)
    of = lambda name: [f"s{name}", f"z{name}"]  # noqa: E731
    if form == "operator":
        nodes = [node(f"QLinear{op}", ["x0", *of("x0"), "x1", *of("x1"), *of("y")], ["y0"], domain="com.microsoft")]
        return graph_of(nodes, values, ["y0"], known), values
    nodes = [node("DequantizeLinear", [f"q{x}" if form == "inner" else x, *of(x)], [f"d{x}"]) for x in values]
    nodes += [node(op, ["dx0", "dx1"], ["c"]), node("QuantizeLinear", ["c", *of("y")], ["q" if form == "inner" else "y0"])]
    if form == "inner":
        nodes = [node("QuantizeLinear", [x, *of(x)], [f"q{x}"]) for x in values] + nodes
        nodes.append(node("DequantizeLinear", ["q", *of("y")], ["y0"]))
        values = {x: (v.astype(np.int32) - int(known[f"z{x}"])).astype(np.float32) * known[f"s{x}"] for x, v in values.items()}
    return graph_of(nodes, values, ["y0"], known), values


# Windows whose averages are no ties in integers, whatever the order of the sum (whole), and such that are some.
AVERAGES = {"whole": (((5, 5), 1), ((3, 3), 1), ((7,), 1), ((25, 5), 1), ((2, 2), 1.37), ((4,), 0.8123)),
            "ties": (((2, 2), 1), ((4, 4), 1), ((8,), 1))}


def average_case(kind, kernel, ratio, zero, seed):
    """Of uint8 as they are, of int8 between float32: onnxruntime computes int8 inputs of the model in float."""
    from onnx import helper
    random, node = np.random.default_rng(seed), helper.make_node
    limits = np.iinfo(kind)
    known = {"s": np.float32(0.0237), "t": np.float32(0.0237 * ratio), "z": np.array(zero, kind)}
    # Two windows at the ends of the range, then windows around the middle.
    values = random.integers(limits.min, limits.max + 1, (2, 9, *(k * 5 for k in kernel))).astype(kind)
    values[0, :2] = np.array([limits.min, limits.max], kind).reshape(2, *[1] * len(kernel))
    nodes = [node("DequantizeLinear", ["q" if kind == "int8" else "x0", "s", "z"], ["d"]),
             node("AveragePool", ["d"], ["c"], kernel_shape=kernel, strides=kernel),
             node("QuantizeLinear", ["c", "t", "z"], ["p" if kind == "int8" else "y0"])]
    if kind == "int8":
        nodes = [node("QuantizeLinear", ["x0", "s", "z"], ["q"]), *nodes, node("DequantizeLinear", ["p", "t", "z"], ["y0"])]
        values = (values.astype(np.float32) - zero) * known["s"]
    return graph_of(nodes, {"x0": values}, ["y0"], known), {"x0": values}


def average_cases():
    seed = 0
    for name, windows in AVERAGES.items():
        for kernel, ratio in windows:
            for kind, zero in (("uint8", 0), ("uint8", 117), ("int8", -128), ("int8", 5)):
                seed += 1
                yield f"average_{name}_{'x'.join(map(str, kernel))}_{kind}_{zero}", average_case(kind, kernel, ratio, zero, seed)


def byte_cases():
    from onnx import helper, numpy_helper
    for op, kinds in PAIRS.items():
        for kind, all_scales in kinds.items():
            for i, scales in enumerate(all_scales):
                # onnxruntime computes int8 between quantisations as uint8, unless it is an input of the model.
                for form in ("operator", "group" if kind == "uint8" else "inner"):
                    for columns in (False, True):
                        name = f"bytes_{op.lower()}_{kind}_{form}_{i}{'_columns' if columns else ''}"
                        yield name, pair_case(op, kind, scales, form, columns)
    yield from average_cases()
    # One element each, where the order of the operands tells.
    for i, (a, b) in enumerate(((216, 85), (250, 215))):
        model, _ = pair_case("Add", "uint8", PAIRS["Add"]["uint8"][2 + i], "operator", False)
        x = {"x0": np.array([[a]], np.uint8), "x1": np.array([[b]], np.uint8)}
        known = {t.name: numpy_helper.to_array(t) for t in model.initializer}
        yield f"bytes_add_one_{i}", (graph_of(model.node, x, ["y0"], known), x)
    for kind, zero in (("uint8", 0), ("int8", -128)):
        limits = np.iinfo(kind)
        x = {"x0": np.stack([np.arange(limits.min, limits.max - 8), np.arange(limits.min + 9, limits.max + 1)], 1).astype(kind)}
        known = {"s": np.float32(0.00976232), "z": np.array(5, kind), "t": np.float32(0.00241587), "u": np.array(zero, kind)}
        node = helper.make_node("QLinearSoftmax", ["x0", "s", "z", "t", "u"], ["y0"], domain="com.microsoft", opset=13, axis=-1)
        yield f"bytes_softmax_{kind}", (graph_of([node], x, ["y0"], known), x)
