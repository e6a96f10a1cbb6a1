# SPDX-License-Identifier: Apache-2.0
"""Cases of operators.py: operators of com.microsoft that onnxruntime's optimiser and quantiser write."""
import numpy as np

from operator_models import floats, graph_of, numbers, single

MICROSOFT = "com.microsoft"


def has_half(x, w, divisor):
    """Is a sum of the 3x3 convolution with a border of zeros halfway between two multiples of `divisor`?"""
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(np.rint(x), ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), axis=(2, 3))
    return bool((np.einsum("ncyxkl,ockl->noyx", windows, w.astype(np.float64)) % divisor == divisor / 2).any())


def fused_cases():
    image, filters, bias = floats(1, 3, 6, 7), floats(4, 3, 3, 3), floats(4)
    around = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    for name, numbers_of in (("Relu", None), ("Sigmoid", None), ("Tanh", None), ("LeakyRelu", [0.3]), ("Clip", [-0.5, 0.75]),
                             ("HardSigmoid", [0.3, 0.4])):
        more = {"activation_params": numbers_of} if numbers_of else {}
        yield f"optimised_conv_{name.lower()}", single("FusedConv", {"x0": image}, {"activation": name, **around, **more}, 1,
                                                       {"x1": filters, "x2": bias}, MICROSOFT)
    yield "optimised_conv_sum", single("FusedConv", {"x0": image, "x3": floats(1, 4, 6, 7)}, {"activation": "Relu", **around}, 1,
                                       {"x1": filters, "x2": bias}, MICROSOFT)
    yield "optimised_conv_plain", single("FusedConv", {"x0": image}, {"activation": "Relu"}, 1, {"x1": filters}, MICROSOFT)
    for name, more in (("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.2})):
        yield f"optimised_gemm_{name.lower()}", single("FusedGemm", {"x0": floats(2, 5)}, {"activation": name, "transB": 1, **more},
                                                       1, {"x1": floats(6, 5), "x2": floats(6)}, MICROSOFT)
    for turn_a in (0, 1):
        for turn_b in (0, 1):
            a = floats(2, 4, 3) if turn_a else floats(2, 3, 4)
            b = floats(2, 5, 4) if turn_b else floats(2, 4, 5)
            yield f"optimised_matmul_{turn_a}{turn_b}", single(
                "FusedMatMul", {"x0": a, "x1": b}, {"transA": turn_a, "transB": turn_b, "alpha": 0.35}, 1, (), MICROSOFT)


def normalised_cases():
    from onnx import TensorProto, helper, numpy_helper
    x, skip = floats(1, 3, 8), floats(1, 3, 8)
    yield "optimised_gelu", single("Gelu", {"x0": x}, {}, 1, (), MICROSOFT)
    yield "optimised_bias_gelu", single("BiasGelu", {"x0": x}, {}, 1, {"x1": floats(8)}, MICROSOFT)
    yield "optimised_fast_gelu", single("FastGelu", {"x0": x}, {}, 1, (), MICROSOFT)
    yield "optimised_fast_gelu_bias", single("FastGelu", {"x0": x}, {}, 1, {"x1": floats(8)}, MICROSOFT)
    scale, shift, bias = floats(8), floats(8), floats(8)
    for name, known, attributes in (("plain", {"x2": scale}, {}), ("shift", {"x2": scale, "x3": shift}, {"epsilon": 0.25}),
                                    ("bias", {"x2": scale, "x3": shift, "x4": bias}, {"epsilon": 1e-5})):
        yield f"optimised_skip_{name}", single("SkipLayerNormalization", {"x0": x, "x1": skip}, attributes, 1, known, MICROSOFT)
    node = helper.make_node("SkipLayerNormalization", ["x0", "x1", "s", "t"], ["y0", "", "", "y1"], domain=MICROSOFT)
    yield "optimised_skip_sum", (graph_of([node], {"x0": x, "x1": skip}, ["y0", "y1"], {"s": scale, "t": shift}),
                                 {"x0": x, "x1": skip})
    # In front of operator set 17 the optimiser writes it all the same.
    value = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("LayerNormalization", ["x0", "s", "t"], ["y0"], epsilon=0.01)], "g",
                              [value("x0", TensorProto.FLOAT, [1, 3, 8])], [value("y0", TensorProto.FLOAT, [1, 3, 8])],
                              [numpy_helper.from_array(a, n) for a, n in ((scale, "s"), (shift, "t"))])
    yield "optimised_layer_norm_12", (helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8), {"x0": x})


def quantised_cases():
    """Weights have 7 bits, whose sums are exact on every processor."""
    from onnx import helper
    for kind, zero in (("int8", 3), ("uint8", 120), ("int16", 0), ("uint16", 32768)):
        of = np.dtype(kind).type
        known = {"s": np.float32(0.02), "z": of(zero), "t": np.float32(0.05), "u": of(zero),
                 "w": numbers("int8", 4, 3, 3, 3, bits=7), "ws": np.full(4, 0.01, np.float32), "wz": np.zeros(4, np.int8)}

        def node(op, inputs, output, **attributes):
            return helper.make_node(op, inputs, [output], domain=MICROSOFT if "uantize" in op else "", **attributes)

        nodes = [node("QuantizeLinear", ["x0", "s", "z"], "q"), node("DequantizeLinear", ["q", "s", "z"], "d"),
                 node("DequantizeLinear", ["w", "ws", "wz"], "f", axis=0),
                 node("Conv", ["d", "f"], "c", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
                 node("QuantizeLinear", ["c", "t", "u"], "e"), node("DequantizeLinear", ["e", "t", "u"], "y0")]
        given = {"x0": floats(1, 3, 5, 6)}
        # Numbers that are no ties of the scale.
        given["x0"] = (np.round(given["x0"] / np.float32(0.02)) * np.float32(0.02)).astype(np.float32)
        if kind.endswith("16"):  # onnxruntime computes these in float: with powers of 2 the sums are exact in any order
            known["s"], known["t"] = np.float32(2.0 ** -12), np.float32(2.0 ** -11)
            known["ws"] = np.full(4, 2.0 ** -7, np.float32)
            while has_half(given["x0"] * 2.0 ** 12, known["w"], 256):  # which integers round in another direction
                given["x0"] = given["x0"][..., ::-1] + np.float32(0.02)
        yield f"optimised_quantised_{kind}", (graph_of(nodes, given, ["y0"], known), given)
    for kind in ("int8", "uint8"):
        of = np.dtype(kind).type
        known = {"x1": numbers(kind, 6, 4, bits=7), "x2": np.float32(0.03), "x3": of(0), "x4": floats(4)}
        yield f"optimised_dynamic_{kind}", single("DynamicQuantizeMatMul", {"x0": floats(2, 6)}, {}, 1, known, MICROSOFT)


def optimised_cases():
    yield from fused_cases()
    yield from normalised_cases()
    yield from quantised_cases()
