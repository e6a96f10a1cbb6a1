# SPDX-License-Identifier: Apache-2.0
"""Cases of operators.py: float activations with integer weights. Weights that are dequantised (kept_), blocks of 4 and
8 bits (kept_nbits_), activations that are quantised by their data (hybrid_), elementwise functions of one byte
tensor (table_), and sums of products of integers (sums_; centred_ and computed_ have operands that are not known). Each
of a family in FAMILIES is compiled to one operator, besides transpositions and conversions at the borders."""
import json

import common
import numpy as np

from operator_models import graph_of

MICROSOFT = "com.microsoft"


def model_of(nodes, given, outputs, known):
    from onnx import helper
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph_of(nodes, given, outputs, known), opset_imports=opsets, ir_version=10), given


def integers(random, kind, shape):
    import ml_dtypes
    low, high = {"int8": (-127, 128), "uint8": (0, 256), "int4": (-8, 8), "uint4": (0, 16)}[kind]
    return random.integers(low, high, shape).astype(getattr(ml_dtypes, kind) if kind.endswith("4") else kind)


# ---------------------------------------------------------------- weights that are dequantised

# Shape of the activations and of the weights as they are stored, axis of several scales, length of their blocks.
SCALES = {"tensor": None, "columns": (1, 0), "rows": (0, 8), "blocks": (0, 16), "uneven": (0, 12)}
MOVES = ("none", "turned", "reshaped", "sliced")


def kept_case(kind, scales, moves, bias, seed, rows=1, depth=32, units=10, zero=None):
    """`zero`: the zero point, and no weight is above half of it."""
    from onnx import helper
    random, node = np.random.default_rng(seed), helper.make_node
    known, nodes = {}, []
    axis, block = SCALES[scales] or (None, 0)
    count = {"tensor": [], "columns": [units]}.get(scales, [-(-depth // max(block, 1)), units])
    known["s"] = random.uniform(0.005, 0.02, count).astype(np.float32)
    middle = {"int8": 0, "uint8": 121, "int4": 0, "uint4": 8}[kind]
    known["w"] = integers(random, kind, (depth, units))
    zeros = np.clip(random.integers(-3, 4, count) + middle, 0 if kind[0] == "u" else -8, 15 if kind == "uint4" else 200)
    if zero is not None:
        known["w"], zeros = known["w"] % (zero // 2), np.full(count, zero)
    known["z"] = zeros.astype(known["w"].dtype)
    attributes = {"axis": axis} if axis is not None else {}
    if block:
        attributes["block_size"] = block
    if moves == "sliced":
        assert axis != 0 or not block
        known["w"] = np.concatenate([known["w"], known["w"][:3]])
    if moves == "turned":
        known["w"], known["z"], known["s"] = known["w"].T.copy(), known["z"].T.copy(), known["s"].T.copy()
        attributes = {**attributes, **({"axis": 1 - axis} if axis is not None else {})}
    if moves == "reshaped":
        known["w"] = known["w"].reshape(2, depth // 2, units)
        attributes = {**attributes, **({"axis": 2} if axis is not None else {})}
    nodes.append(node("DequantizeLinear", ["w", "s", "z"], ["d"], **attributes))
    if moves == "turned":
        nodes.append(node("Transpose", ["d"], ["m"], perm=[1, 0]))
    elif moves == "reshaped":
        known["shape"] = np.array([depth, units])
        nodes.append(node("Reshape", ["d", "shape"], ["m"]))
    elif moves == "sliced":
        known["from"], known["to"] = np.array([0]), np.array([depth])
        nodes.append(node("Slice", ["d", "from", "to"], ["m"]))
    weights = "d" if moves == "none" else "m"
    given = {"x": random.standard_normal([rows, depth] if rows else [depth]).astype(np.float32)}
    known["b"] = random.standard_normal(units).astype(np.float32)
    if bias == "gemm":
        nodes.append(node("Gemm", ["x", weights, "b"], ["y"]))
    elif bias == "turned_gemm":
        nodes += [node("Transpose", [weights], ["v"], perm=[1, 0]),
                  node("Gemm", ["x", "v", "b"], ["y"], transB=1, alpha=0.5)]
    else:
        nodes.append(node("MatMul", ["x", weights], ["c" if bias == "added" else "y"]))
        if bias == "added":
            nodes += [node("Add", ["c", "b"], ["a"]), node("Relu", ["a"], ["y"])]
    used = {name for n in nodes for name in n.input}
    return model_of(nodes, given, ["y"], {k: v for k, v in known.items() if k in used})


def kept_cases():
    seed = 100
    for kind in ("int8", "uint8", "int4", "uint4"):
        for scales in SCALES:
            for moves in MOVES:
                blocks = scales not in ("tensor", "columns")
                if blocks and moves in ("reshaped", "sliced"):
                    continue
                seed += 1
                bias = ("none", "gemm", "added", "turned_gemm")[seed % 4]
                depth = 36 if scales == "uneven" else 32
                case = kept_case(kind, scales, moves, bias, seed, rows=seed % 3 + 1, depth=depth)
                yield f"kept_{kind}_{scales}_{moves}_{bias}", case
    for rows in (0, 1, 5):
        case = kept_case("int8", "tensor", "none", "none", 90 + rows, rows=rows, depth=31, units=7)
        yield f"kept_int8_of_{rows}_rows", case
    yield "kept_uint8_below_zero_point", kept_case("uint8", "tensor", "none", "none", 95, zero=200)


def nbits_case(bits, depth, zeros, bias, seed, block=16, units=6, rows=2):
    from onnx import helper
    random = np.random.default_rng(seed)
    blocks = -(-depth // block)
    # onnxruntime's quantiser writes scales below 0, too.
    known = {"w": random.integers(0, 256, (units, blocks, block * bits // 8)).astype(np.uint8),
             "s": random.uniform(-0.02, 0.02, units * blocks).astype(np.float32)}
    inputs = ["x", "w", "s"]
    if zeros or bias:
        inputs.append("z" if zeros else "")
    if zeros:
        known["z"] = random.integers(0, 256, units * -(-blocks * bits // 8)).astype(np.uint8)
    if bias:
        known["b"] = random.standard_normal(units).astype(np.float32)
        inputs += ["", "b"]
    node = helper.make_node("MatMulNBits", inputs, ["y"], domain=MICROSOFT, K=depth, N=units, bits=bits,
                            block_size=block)
    given = {"x": random.standard_normal([rows, depth]).astype(np.float32)}
    return model_of([node], given, ["y"], known)


def nbits_cases():
    forms = ((4, 32, 0, 0), (4, 48, 1, 0), (4, 48, 1, 1), (4, 40, 0, 1), (8, 32, 0, 0), (8, 48, 1, 0), (4, 16, 1, 0))
    for seed, (bits, depth, zeros, bias) in enumerate(forms):
        name = f"kept_nbits_{bits}_{depth}{'_zeros' if zeros else ''}{'_bias' if bias else ''}"
        yield name, nbits_case(bits, depth, zeros, bias, 300 + seed)


# ---------------------------------------------------------------- scales from the data

# Shapes of the activations and of the weights, attributes.
DYNAMIC = {
    "conv": ((1, 4, 7, 6), (6, 4, 3, 3), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    "strided": ((1, 6, 9, 9), (4, 6, 3, 3), {"kernel_shape": [3, 3], "pads": [0, 1, 1, 0], "strides": [2, 2]}),
    "depthwise": ((1, 6, 7, 6), (6, 1, 3, 3), {"kernel_shape": [3, 3], "group": 6, "pads": [1, 1, 1, 1]}),
    "grouped": ((1, 6, 7, 6), (4, 3, 3, 3), {"kernel_shape": [3, 3], "group": 2}),
    "line": ((1, 4, 19), (6, 4, 3), {"kernel_shape": [3], "pads": [1, 1]}),
    "row": ((1, 20), (20, 6), None),
    "rows": ((2, 3, 20), (20, 6), None),
    "columns": ((3, 20), (20, 6), None),
}
# One range for all images.
IMAGES = {
    "images": ((2, 4, 7, 6), (6, 4, 3, 3), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    "depthwise_images": ((3, 6, 5, 6), (6, 1, 3, 3), {"kernel_shape": [3, 3], "group": 6}),
    "lines": ((2, 4, 19), (6, 4, 3), {"kernel_shape": [3]}),
}


def dynamic_case(layer, kind, bias, zero, seed, scale=1.0):
    """As quantize_dynamic writes it."""
    from onnx import helper
    random, node = np.random.default_rng(seed), helper.make_node
    shape, weights, attributes = {**DYNAMIC, **IMAGES}[layer]
    several = layer == "columns"
    known = {"w": (random.integers(-63, 64, weights) + (zero if kind == "uint8" else 0)).astype(kind),
             "s": random.uniform(0.005, 0.02, weights[1:] if several else []).astype(np.float32)}
    known["z"] = np.full(known["s"].shape, zero, kind)
    op = "MatMulInteger" if attributes is None else "ConvInteger"
    product = node(op, ["q", "w", "xz", "z"], ["i"], **(attributes or {}))
    nodes = [node("DynamicQuantizeLinear", ["x"], ["q", "xs", "xz"]), node("Mul", ["xs", "s"], ["m"]), product,
             node("Cast", ["i"], ["f"], to=1), node("Mul", ["f", "m"], ["c" if bias else "y"])]
    if bias:
        channels = weights[1 if attributes is None else 0]
        known["b"] = random.standard_normal(channels).astype(np.float32)
        if attributes is not None:
            known["b"] = known["b"].reshape([1, -1] + [1] * (len(shape) - 2))
        nodes += [node("Add", ["c", "b"], ["a"]), node("Relu", ["a"], ["y"])]
    given = {"x": (random.standard_normal(shape) * scale).astype(np.float32)}
    return model_of(nodes, given, ["y"], known)


def dynamic_cases():
    for seed, layer in enumerate(DYNAMIC):
        for kind, zero in (("int8", 0), ("uint8", 128), ("uint8", 70)):
            for bias in (False, True):
                case = dynamic_case(layer, kind, bias, zero, 400 + seed)
                yield f"hybrid_{layer}_{kind}_{zero}{'_bias' if bias else ''}", case
    for seed, layer in enumerate(IMAGES):
        for kind, zero, bias in (("int8", 0, True), ("uint8", 70, False)):
            yield f"dynamic_{layer}_{kind}", dynamic_case(layer, kind, bias, zero, 480 + seed)
    for name, scale in (("zeros", 0.0), ("small", 1e-38), ("large", 1e30)):
        yield f"hybrid_of_{name}", dynamic_case("row", "int8", True, 0, 500, scale)


# ---------------------------------------------------------------- sums of products of integers

# Shapes of the activations and of the weights, attributes.
SUMS = {
    "image": ((1, 6, 7, 6), (9, 6, 3, 3), {"pads": [1, 1, 1, 1]}),
    "pixels": ((2, 8, 5, 4), (7, 8, 1, 1), {}),
    "strided": ((1, 5, 9, 8), (4, 5, 3, 2), {"pads": [0, 1, 2, 0], "strides": [2, 1], "dilations": [1, 2]}),
    "depthwise": ((1, 6, 7, 6), (6, 1, 3, 3), {"group": 6, "pads": [1, 1, 1, 1]}),
    "multiplied": ((1, 3, 6, 6), (6, 1, 2, 2), {"group": 3, "auto_pad": "SAME_UPPER"}),
    "grouped": ((1, 8, 7, 6), (6, 4, 3, 3), {"group": 2, "pads": [1, 0, 0, 1]}),
    "images": ((3, 4, 5, 5), (8, 4, 3, 3), {"pads": [1, 1, 1, 1]}),
    "line": ((1, 4, 19), (6, 4, 3), {"pads": [1, 1], "dilations": [2]}),
    "volume": ((2, 4, 4, 5, 3), (6, 2, 2, 3, 2), {"group": 2, "pads": [1, 0, 1, 0, 1, 1], "strides": [2, 1, 1]}),
    "row": ((1, 20), (20, 6), None),
    "rows": ((2, 3, 21), (21, 8), None),
}


def sums_node(layer, inputs, output):
    from onnx import helper
    attributes = SUMS[layer][2]
    op = "MatMulInteger" if attributes is None else "ConvInteger"
    return helper.make_node(op, inputs, [output], **(attributes or {}))


def sums_case(layer, kind, zero, several, random):
    """Known weights and zero points. `several`: one for each column of a matrix. onnxruntime saturates pairs of
    products of larger weights on some processors."""
    shape, weights, _ = SUMS[layer]
    zeros = zero + random.integers(-3, 4, weights[1]) if several else zero
    known = {"w": (random.integers(-60, 61, weights) + zero).astype(kind), "xz": np.array(119, np.uint8),
             "wz": np.array(zeros, kind)}
    given = {"x": random.integers(0, 256, shape).astype(np.uint8)}
    return model_of([sums_node(layer, ["x", "w", "xz", "wz"], "y")], given, ["y"], known)


def sums_cases():
    for layer in SUMS:
        random = np.random.default_rng(600 + len(layer))
        for kind, zero in (("int8", 0), ("uint8", 128), ("uint8", 70)):
            yield f"sums_{layer}_{kind}_{zero}", sums_case(layer, kind, zero, False, random)
        if SUMS[layer][2] is None:
            yield f"sums_{layer}_several", sums_case(layer, "int8", 0, True, random)
    from onnx import helper
    random, node = np.random.default_rng(700), helper.make_node
    one = lambda kind, value: np.array(value, kind)  # noqa: E731

    def draw(kind, *shape):
        return random.integers(np.iinfo(kind).min // 2, np.iinfo(kind).max // 2, shape).astype(kind)

    # Zero points that the model computes: padding has them.
    for layer in ("image", "depthwise", "grouped", "images", "line", "volume", "row", "rows"):
        shape, weights, _ = SUMS[layer]
        for kind, zero in (("int8", 0), ("uint8", 70)):
            nodes = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
                     sums_node(layer, ["q", "w", "z", "wz"], "y")]
            known = {"w": draw(kind, *weights), "wz": one(kind, zero)}
            given = {"x": random.standard_normal(shape).astype(np.float32)}
            yield f"centred_{layer}_{kind}", model_of(nodes, given, ["y"], known)
    # Weights that the model computes, with zero points that are known or not, and zero points that int8 does not hold.
    for layer in ("image", "grouped", "line", "volume", "row", "rows"):
        shape, weights, _ = SUMS[layer]
        given = {"x": draw("uint8", *shape), "w": draw("uint8", *weights)}
        zeros = {"xz": one("uint8", 101), "wz": one("uint8", 140)}
        nodes = [sums_node(layer, ["x", "w", "xz", "wz"], "y")]
        yield f"computed_{layer}", model_of(nodes, given, ["y"], zeros)
        yield f"computed_{layer}_zeros", model_of(nodes, {**given, **zeros}, ["y"], {})
    shape, weights, _ = SUMS["rows"]
    known = {"w": draw("uint8", *weights), "xz": one("uint8", 9), "wz": draw("uint8", weights[1]) * 2}
    nodes = [sums_node("rows", ["x", "w", "xz", "wz"], "y")]
    yield "computed_rows_several", model_of(nodes, {"x": draw("uint8", *shape)}, ["y"], known)
    batches = {"x": draw("uint8", 2, 1, 3, 9), "w": draw("int8", 4, 9, 5)}
    nodes = [node("MatMulInteger", ["x", "w", "xz"], ["y"])]
    yield "sums_batches", model_of(nodes, batches, ["y"], {"xz": one("uint8", 7)})


# ---------------------------------------------------------------- functions of one byte tensor

def function_nodes(name):
    """Nodes from d to c in floats, with bytes between them as quantisers write them."""
    from onnx import helper
    node = helper.make_node
    between = lambda x, y: [node("QuantizeLinear", [x, "u", "z"], [f"q{y}"]),  # noqa: E731
                            node("DequantizeLinear", [f"q{y}", "u", "z"], [y])]
    if name == "silu":
        return [node("Sigmoid", ["d"], ["e"]), *between("e", "f"), node("Mul", ["d", "f"], ["c"])]
    if name == "turned_silu":
        return [node("Sigmoid", ["d"], ["e"]), *between("e", "f"), node("Mul", ["f", "d"], ["c"])]
    if name == "mish":
        return [node("Softplus", ["d"], ["e"]), *between("e", "f"), node("Tanh", ["f"], ["g"]), *between("g", "h"),
                node("Mul", ["d", "h"], ["c"])]
    if name == "chain":
        return [node("LeakyRelu", ["d"], ["e"], alpha=0.2), *between("e", "f"), node("Tanh", ["f"], ["c"])]
    return [node("Mul", ["d", "d"], ["e"]), *between("e", "f"), node("Add", ["f", "d"], ["c"])]


def table_cases():
    from onnx import helper
    for name in ("silu", "turned_silu", "mish", "chain", "square"):
        for kind in ("uint8", "int8"):
            zero = np.array(131 if kind == "uint8" else 3, kind)
            known = {"s": np.float32(0.043), "u": np.float32(0.031), "t": np.float32(0.0391), "z": zero}
            nodes = [helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]), *function_nodes(name),
                     helper.make_node("QuantizeLinear", ["c", "t", "z"], ["r"])]
            # Between floats: onnxruntime computes int8 inputs of the model in float.
            nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), *nodes,
                     helper.make_node("DequantizeLinear", ["r", "t", "z"], ["y"])]
            given = {"x": ((np.arange(256) - 128).astype(np.float32) * known["s"]).reshape(4, 64)}
            yield f"table_{name}_{kind}", model_of(nodes, given, ["y"], known)


def weight_cases():
    yield from kept_cases()
    yield from nbits_cases()
    yield from dynamic_cases()
    yield from table_cases()
    yield from sums_cases()


# The operators that a case may be compiled to; that of the family must be among them, once.
FAMILIES = {
    "kept_": ({"fully_connected_dequantized"}, {"mul", "add"}),
    "hybrid_": ({"conv_2d", "depthwise_conv_2d", "fully_connected"}, {"transpose", "relu"}),
    "table_": ({"byte_table"}, {"quantize", "dequantize"}),
    "sums_": ({"conv_2d", "depthwise_conv_2d", "conv_3d_sums", "batch_matmul"}, {"quantize", "transpose"}),
}


def uneconomical(cases):
    """[(name, what is wrong)] of the cases that are compiled to other operators than those of their family."""
    bad = []
    for case in cases:
        for prefix, (own, others) in FAMILIES.items():
            if not case.name.startswith(prefix):
                continue
            layers = [layer["op"] for layer in json.loads(common.aotc("check", case.path, "--json"))["layers"]]
            if sum(op in own for op in layers) != 1 or not set(layers) <= own | others:
                bad.append((case.name, f"its layers are {', '.join(layers)}"))
    return bad
