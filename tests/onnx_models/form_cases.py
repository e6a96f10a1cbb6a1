# SPDX-License-Identifier: Apache-2.0
"""Cases of operators.py: one quantised layer whose constant weights and bias have every form that exporters write. The
integers are the same in all forms, and so the layer must be computed in integers (`in_floats`)."""
import json

import common
import numpy as np

from operator_models import graph_of

X, OUT = ("sx", "zx"), ("sy", "zy")
KNOWN = {"sx": np.float32(0.0213), "zx": np.uint8(117), "sy": np.float32(0.171), "zy": np.uint8(131)}
# Shape of the operand, of the weights, attributes, axis of the output channels.
LAYERS = {
    "conv": ("Conv", (1, 4, 7, 6), (6, 4, 3, 3), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}, 0),
    "depthwise": ("Conv", (1, 6, 7, 6), (6, 1, 3, 3), {"kernel_shape": [3, 3], "group": 6}, 0),
    "line": ("Conv", (1, 4, 19), (6, 4, 3), {"kernel_shape": [3], "pads": [1, 1]}, 0),
    "gemm": ("Gemm", (3, 20), (6, 20), {"transB": 1}, 0),
    "gemm_columns": ("Gemm", (3, 20), (20, 6), {}, 1),
    "matmul": ("MatMul", (2, 3, 20), (20, 6), {}, 1),
}
WEIGHTS = ("stored", "floats", "turned", "reshaped", "sliced", "by_nodes", "contributed", "int4", "uint4")
BIASES = ("none", "integers", "floats", "floats_by_nodes")


class Form:
    """Nodes and constants of one layer; its weights and bias are added in a form."""

    def __init__(self, layer, several, seed):
        self.op, self.shape, weights, self.attributes, self.axis = LAYERS[layer]
        self.random = np.random.default_rng(seed)
        channels = weights[self.axis]
        # 7 bits: every processor's onnxruntime sums them exactly.
        self.integers = self.random.integers(-63, 64, weights).astype(np.int8)
        self.scales = (self.random.uniform(0.4, 1.6, channels) * 0.01).astype(np.float32) if several else np.float32(0.011)
        self.zeros = np.zeros_like(self.scales, np.int8)
        self.bias = (self.random.standard_normal(channels) * 0.7).astype(np.float32)
        self.nodes, self.constants = [], dict(KNOWN)

    def node(self, op, inputs, output, **attributes):
        from onnx import helper
        domain = attributes.pop("domain", "")
        self.nodes.append(helper.make_node(op, inputs, [output], domain=domain, **attributes))
        return output

    def const(self, name, value):
        self.constants[name] = np.asarray(value)
        return name

    def dequantized(self, values, output, axis=None, domain=""):
        scales = [self.const("sw", self.scales), self.const("zw", self.zeros)]
        more = {"axis": self.axis if axis is None else axis} if self.scales.ndim else {}
        return self.node("DequantizeLinear", [values, *scales], output, domain=domain, **more)

    def add_weights(self, form):
        w, rank = self.integers, self.integers.ndim
        if form == "floats":
            wide = self.scales.reshape([-1 if d == self.axis else 1 for d in range(rank)]) if self.scales.ndim else self.scales
            # Between two integers, at ties, and beyond the range.
            real = (w + self.random.choice([-0.5, -0.3, 0.0, 0.2, 0.5], w.shape)).astype(np.float32) * wide
            scales = [self.const("sw", self.scales), self.const("zw", self.zeros)]
            more = {"axis": self.axis} if self.scales.ndim else {}
            stored = self.node("QuantizeLinear", [self.const("w", real.astype(np.float32)), *scales], "wq", **more)
            return self.dequantized(stored, "wd")
        if form == "turned":
            real = self.dequantized(self.const("w", w.transpose().copy()), "wt", rank - 1 - self.axis)
            return self.node("Transpose", [real], "wd", perm=list(range(rank))[::-1])
        if form == "reshaped":
            flat = (w.shape[0], -1) if self.axis == 0 else (-1, w.shape[-1])
            real = self.dequantized(self.const("w", w.reshape(flat)), "wt")
            return self.node("Reshape", [real, self.const("shape", np.array(w.shape))], "wd")
        if form == "sliced":
            more = np.concatenate([w, w[:2]])  # of the first dimension one in front and one behind are cut off
            more = np.roll(more, 1, axis=0)
            scales = self.scales
            if self.axis == 0 and scales.ndim:
                self.scales = np.roll(np.concatenate([scales, scales[:2]]), 1)
                self.zeros = np.zeros_like(self.scales, np.int8)
            real = self.dequantized(self.const("w", more), "wt")
            self.scales = scales
            return self.node("Slice", [real, self.const("from", [1]), self.const("to", [1 + w.shape[0]])], "wd")
        if form.endswith("int4"):
            import ml_dtypes
            kind, zero = getattr(ml_dtypes, form), 8 if form == "uint4" else 0
            self.integers = w = w % 16 - 8
            self.scales, self.zeros = self.scales * 4, np.full(self.scales.shape, zero, kind)
            return self.dequantized(self.const("w", (w + zero).astype(kind)), "wd")
        if form == "by_nodes":
            stored = self.node("Cast", [self.const("w", w.astype(np.int32))], "wc", to=3)
            self.node("Identity", [self.const("s", self.scales)], "sw")
            real = self.dequantized(stored, "wd")
            del self.constants["sw"]
            return real
        return self.dequantized(self.const("w", w), "wd", domain="com.microsoft" if form == "contributed" else "")

    def add_bias(self, form):
        if form == "none":
            return []
        scales = (KNOWN["sx"] * self.scales).astype(np.float32)
        if form == "integers":
            self.const("bq", np.rint(self.bias / scales).astype(np.int32))
            self.const("sb", scales)
            return [self.node("DequantizeLinear", ["bq", "sb"], "bd", **({"axis": 0} if scales.ndim else {}))]
        self.const("b", self.bias)
        return ["b" if form == "floats" else self.node("Identity", ["b"], "bi")]

    def case(self):
        from onnx import helper
        given = {"x": self.random.integers(0, 256, self.shape).astype(np.uint8)}
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        graph = graph_of(self.nodes, given, ["y"], self.constants)
        return helper.make_model(graph, opset_imports=opsets, ir_version=10), given


def form_case(layer, weights, bias, several, seed):
    form = Form(layer, several, seed)
    x = form.node("DequantizeLinear", ["x", *X], "xd")
    operands = [x, form.add_weights(weights)]
    operands += form.add_bias(bias) if form.op != "MatMul" else []
    c = form.node(form.op, operands, "c", **form.attributes)
    form.node("QuantizeLinear", [c, *OUT], "y")
    return form.case()


def form_cases():
    for seed, layer in enumerate(LAYERS):
        for several in (False, True):
            for weights in WEIGHTS:
                yield f"form_{layer}_{weights}{'_channels' if several else ''}", form_case(layer, weights, "integers", several, seed)
            for bias in BIASES:
                yield f"form_{layer}_bias_{bias}{'_channels' if several else ''}", form_case(layer, "stored", bias, several, seed)


def in_floats(cases):
    """[(name, what is wrong)] of the layers that are not computed in integers between the inputs and the outputs."""
    bad = []
    for case in (c for c in cases if c.name.startswith(("form_", "average_whole_"))):
        told = json.loads(common.aotc("check", case.path, "--json"))
        ports = {port["name"] for kind in ("inputs", "outputs") for port in told[kind]}
        real = [t["name"] for t in told["tensors"] if t["dtype"] == "f32" and t["name"] not in ports]
        if real:
            bad.append((case.name, f"tensors are floats: {', '.join(real)}"))
    return bad
