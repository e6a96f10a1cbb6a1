#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random networks in the forms that quantisers write, compared with onnxruntime.

A network has one to five layers. Its form says how activations and weights are stored: int8 or uint8 activations (the
results are equal), int16 or uint16 activations or int4 weights (at most one step apart for each layer, because
onnxruntime computes floats), float activations with dequantised weights, or quantize_dynamic's operators (floats).
Every other network of int8 or uint8 activations is as PyTorch writes it: weights of -128, a Pad before a Conv, views
around a mean or a pool without a quantisation of their own (uint8), and maybe a Clip behind each quantisation.

Usage: random_forms.py --work DIR [--count N] [--seed N] [--form NAME ...] [--target host|cortex_m4|cortex_m55|riscv32]

Prints the number of networks by form. 100 networks take about 20 CPU seconds on the host.
"""
import argparse
import collections
import os
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import common  # noqa: E402
import node_tests  # noqa: E402

ACTIVATIONS = {"int8": np.int8, "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16, "int4_weights": np.int8}
FORMS = (*ACTIVATIONS, "weight_only", "dynamic")
BATCH = 100


class Network:
    """Float nodes, of which each form makes its own."""

    def __init__(self, random):
        self.random = random
        self.nodes, self.constants, self.weights, self.layers = [], {}, set(), 0
        self.bare = set()  # tensors that stay float between their node and the next one
        self.shape = (1, int(random.integers(1, 9)), *(int(d) for d in random.integers(5, 13, random.integers(1, 3))))
        self.given = random.standard_normal(self.shape).astype(np.float32)
        self.last = "x"

    def constant(self, name, array):
        self.constants[name] = np.asarray(array)
        return name

    def add(self, op, inputs, shape, **attributes):
        from onnx import helper
        self.last, self.shape = f"t{len(self.nodes)}", shape
        self.nodes.append(helper.make_node(op, inputs, [self.last], **attributes))

    def weight(self, shape):
        name = self.constant(f"w{len(self.nodes)}", self.random.standard_normal(shape).astype(np.float32) * 0.3)
        self.weights.add(name)
        return name

    def bias(self, count):
        return self.constant(f"b{len(self.nodes)}", self.random.standard_normal(count).astype(np.float32) * 0.2)

    def conv(self):
        random, channels, dims = self.random, self.shape[1], len(self.shape) - 2
        groups = int(random.choice([g for g in (1, 1, 2, channels) if channels % g == 0]))
        units = groups * int(random.integers(1, 12 // groups + 2))
        kernel = [int(min(k, d)) for k, d in zip(random.integers(1, 4, dims), self.shape[2:])]
        strides = [int(s) for s in random.integers(1, 3, dims)]
        pads = [int(random.integers(0, k)) for k in kernel] * 2
        out = [(d + 2 * p - k) // s + 1 for d, p, k, s in zip(self.shape[2:], pads, kernel, strides)]
        inputs = [self.last, self.weight((units, channels // groups, *kernel))]
        if random.integers(4):
            inputs.append(self.bias(units))
        self.add("Conv", inputs, (1, units, *out), kernel_shape=kernel, strides=strides, pads=pads, group=groups)
        self.layers += 1

    def pool(self, op):
        dims = len(self.shape) - 2
        kernel = [int(min(k, d)) for k, d in zip(self.random.integers(2, 4, dims), self.shape[2:])]
        strides = [int(s) for s in self.random.integers(1, 3, dims)]
        out = [(d - k) // s + 1 for d, k, s in zip(self.shape[2:], kernel, strides)]
        self.add(op, [self.last], (*self.shape[:2], *out), kernel_shape=kernel, strides=strides)
        self.layers += 1

    def add_branch(self):
        first, shape = self.last, self.shape
        inputs = [first, self.weight((shape[1], shape[1], *([1] * (len(shape) - 2)))), self.bias(shape[1])]
        self.add("Conv", inputs, shape)
        self.add("Add", [first, self.last], shape)
        self.layers += 2

    def concat_branch(self):
        first, shape, units = self.last, self.shape, int(self.random.integers(1, 6))
        inputs = [first, self.weight((units, shape[1], *([1] * (len(shape) - 2)))), self.bias(units)]
        self.add("Conv", inputs, (1, units, *shape[2:]))
        self.add("Concat", [first, self.last], (1, shape[1] + units, *shape[2:]), axis=1)
        self.layers += 2

    def pad(self):
        dims = len(self.shape) - 2
        before, after = ([0, 0, *(int(p) for p in self.random.integers(0, 3, dims))] for _ in range(2))
        name = self.constant(f"pads{len(self.nodes)}", np.array(before + after))
        self.add("Pad", [self.last, name], tuple(d + b + a for d, b, a in zip(self.shape, before, after)))

    def view(self, shape, bare=True):
        name = self.constant(f"view{len(self.nodes)}", np.array(shape))
        self.add("Reshape", [self.last, name], tuple(shape))
        if bare:
            self.bare.add(self.last)

    def mean_between_views(self):
        """A mean or a pool of the whole image, in another shape, whose result is quantised in a third one."""
        rows = self.shape[1]
        kind = self.random.integers(3)
        if kind == 0:
            self.add("AveragePool", [self.last], (1, rows, *([1] * (len(self.shape) - 2))), kernel_shape=list(self.shape[2:]))
        elif kind == 1:
            self.add("GlobalAveragePool", [self.last], (1, rows, *([1] * (len(self.shape) - 2))))
        else:
            self.view((1, rows, int(np.prod(self.shape[2:]))))
            self.add("ReduceMean", [self.last, self.constant("axes", np.array([2]))], (1, rows, 1))
        self.bare.add(self.last)
        self.view((1, rows), bare=False)
        self.layers += 1

    def head(self, softmax, torch=False):
        if torch and self.random.integers(2):
            self.mean_between_views()
        elif self.random.integers(2):
            shape = (*self.shape[:2], *([1] * (len(self.shape) - 2)))
            if self.random.integers(2):
                self.add("GlobalAveragePool", [self.last], shape)
            else:
                self.add("ReduceMean", [self.last, self.constant("axes", np.arange(2, len(shape)))], shape)
            self.layers += 1
        depth, units = int(np.prod(self.shape)), int(self.random.integers(2, 9))
        self.add("Flatten", [self.last], (1, depth))
        self.add("Gemm", [self.last, self.weight((units, depth)), self.bias(units)], (1, units), transB=1)
        self.layers += 1
        if softmax:
            self.add("Softmax", [self.last], (1, units), axis=1)
            self.layers += 1


def network_of(random, form):
    net = Network(random)
    quantised = form in ACTIVATIONS
    net.torch = form in ("int8", "uint8") and bool(random.integers(2))
    for _ in range(int(random.integers(1, 4))):
        kinds = ["conv", "conv"]
        if min(net.shape[2:]) >= 2 and quantised:
            kinds += ["average", "maximum"]
        if quantised:
            kinds += ["add", "concat"]
        kind = random.choice(kinds)
        if kind == "conv":
            if net.torch and random.integers(3) == 0:
                net.pad()
            net.conv()
        elif kind in ("average", "maximum"):
            net.pool("AveragePool" if kind == "average" else "MaxPool")
        else:
            net.add_branch() if kind == "add" else net.concat_branch()
    if random.integers(2) or form == "dynamic":
        # onnxruntime 1.32 refuses most models with such views of int8.
        net.head(quantised and bool(random.integers(2)), net.torch and form == "uint8")
    return net


def session_of(model):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def model_of(nodes, given, outputs, constants):
    from onnx import helper, numpy_helper
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, given.shape)],
                              [helper.make_empty_tensor_value_info(name) for name in outputs],
                              [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


class Quantised:
    """The nodes of a network in one form."""

    def __init__(self, net, form):
        self.net, self.form, self.random = net, form, net.random
        self.nodes, self.constants = [], {}
        self.four = form == "int4_weights" or (form == "weight_only" and self.random.integers(2))
        self.bound = int(self.random.integers(60, 128)) if net.torch and self.random.integers(2) else None

    def node(self, op, inputs, outputs, **attributes):
        from onnx import helper
        self.nodes.append(helper.make_node(op, inputs, outputs, **attributes))

    def put(self, name, value):
        self.constants[name] = value
        return name

    def quantise_weights(self, name):
        """(integers, scales, axis) of a weight, a scale for each unit or one."""
        w = self.net.constants[name]
        limit = 7 if self.four else 127
        axes = tuple(range(1, w.ndim))
        per_channel = bool(self.random.integers(2)) and self.form != "dynamic"
        most = np.abs(w).max(axis=axes, keepdims=True) if per_channel else np.abs(w).max()
        # PyTorch divides by 127.5: the largest magnitude becomes -128 or 127.
        scale = np.maximum(most / (limit + 0.5 * self.net.torch), 1e-6).astype(np.float32)
        integers = np.clip(np.rint(w / scale), -limit - self.net.torch, limit)
        return integers.astype(np.int8), scale.ravel() if per_channel else scale.reshape(())

    def weights(self, name):
        import ml_dtypes
        q, scale = self.quantise_weights(name)
        stored = ml_dtypes.int4 if self.four else np.int8
        attributes = {"axis": 0} if scale.ndim else {}
        self.put(f"{name}_s", scale)
        self.put(f"{name}_z", np.zeros(scale.shape, stored))
        if not self.four and self.form != "weight_only" and self.random.integers(3) == 0:  # as AddQDQPairToWeight
            self.put(name, self.net.constants[name])
            self.node("QuantizeLinear", [name, f"{name}_s", f"{name}_z"], [f"{name}_q"], **attributes)
        else:
            self.put(f"{name}_q", q.astype(stored))
        self.node("DequantizeLinear", [f"{name}_q", f"{name}_s", f"{name}_z"], [f"{name}_d"], **attributes)
        return f"{name}_d", scale

    def activations(self, ranges, dtype):
        """Scale and zero point of each tensor."""
        info, out = np.iinfo(dtype), {}
        steps = float(info.max - info.min)
        for name, (low, high) in ranges.items():
            scale = np.float32(max(high - low, 1e-3) / steps)
            zero = np.clip(np.rint(info.min - low / scale), info.min, info.max)
            out[name] = (scale, dtype(zero))
        return out

    def quantised_nodes(self, ranges):
        dtype = ACTIVATIONS[self.form]
        of = self.activations(ranges, dtype)
        for node in self.net.nodes:  # these keep the quantisation of their operand
            if node.op_type in ("MaxPool", "Flatten", "Pad"):
                of[node.output[0]] = of[node.input[0]]
        for name, (scale, zero) in of.items():
            if name not in self.net.bare:
                self.put(f"{name}_s", scale)
                self.put(f"{name}_z", zero)
        self.pair("x", "x")
        for node in self.net.nodes:
            inputs = []
            for i, name in enumerate(node.input):
                if name in self.net.weights:
                    dequantised, scale = self.weights(name)
                    inputs.append(dequantised)
                elif name.startswith(("axes", "pads", "view")):
                    inputs.append(self.put(name, self.net.constants[name]))
                elif name in self.net.constants and i == 2:
                    inputs.append(self.quantised_bias(name, of[node.input[0]][0], scale))
                else:
                    inputs.append(f"{name}_{'f' if name in self.net.bare else 'd'}")
            self.node(node.op_type, inputs, [f"{node.output[0]}_f"], **attributes_of(node))
            if node.output[0] in self.net.bare:
                continue
            self.pair(f"{node.output[0]}_f", node.output[0], last=node is self.net.nodes[-1] and node.op_type != "Softmax")
        # onnxruntime computes a Softmax in floats if its integers are the model's output.
        return f"{self.net.last}_{'d' if self.net.nodes[-1].op_type == 'Softmax' else 'q'}"

    def pair(self, source, name, last=False):
        bounds = self.bound is not None and not last
        self.node("QuantizeLinear", [source, f"{name}_s", f"{name}_z"], [f"{name}_w" if bounds else f"{name}_q"])
        if bounds:
            bound = self.put("bound", ACTIVATIONS[self.form](self.bound))
            self.node("Clip", [f"{name}_w", "", bound], [f"{name}_q"])
        if not last:
            self.node("DequantizeLinear", [f"{name}_q", f"{name}_s", f"{name}_z"], [f"{name}_d"])

    def quantised_bias(self, name, x_scale, scale):
        bias, real = self.net.constants[name], np.float32(x_scale) * scale
        if self.random.integers(4) == 0 and self.form in ("int8", "uint8"):  # PyTorch's float bias
            return self.put(f"{name}_float", bias)
        real = np.broadcast_to(real, bias.shape) if scale.ndim else real
        self.put(f"{name}_q", np.rint(bias / real).astype(np.int32))
        self.put(f"{name}_s", np.asarray(real, np.float32))
        self.node("DequantizeLinear", [f"{name}_q", f"{name}_s"], [f"{name}_d"], **({"axis": 0} if scale.ndim else {}))
        return f"{name}_d"

    def weight_only_nodes(self):
        for node in self.net.nodes:
            inputs = [self.weights(n)[0] if n in self.net.weights else n for n in node.input]
            self.constants.update({n: self.net.constants[n] for n in inputs if n in self.net.constants})
            self.node(node.op_type, inputs, node.output, **attributes_of(node))
        return self.net.last

    def dynamic_nodes(self):
        for node in self.net.nodes:
            if node.op_type not in ("Conv", "Gemm"):
                self.constants.update({n: self.net.constants[n] for n in node.input if n in self.net.constants})
                self.node(node.op_type, node.input, node.output, **attributes_of(node))
                continue
            x, w, y = node.input[0], node.input[1], node.output[0]
            q, scale = self.quantise_weights(w)
            self.put(f"{w}_q", q if node.op_type == "Conv" else q.T.copy())
            self.put(f"{w}_s", scale)
            self.put(f"{w}_z", np.int8(0))
            self.node("DynamicQuantizeLinear", [x], [f"{y}_u", f"{y}_us", f"{y}_uz"])
            attributes = attributes_of(node) if node.op_type == "Conv" else {}
            self.node("ConvInteger" if node.op_type == "Conv" else "MatMulInteger",
                      [f"{y}_u", f"{w}_q", f"{y}_uz", f"{w}_z"], [f"{y}_i"], **attributes)
            self.node("Cast", [f"{y}_i"], [f"{y}_c"], to=1)
            self.node("Mul", [f"{y}_us", f"{w}_s"], [f"{y}_m"])
            biased = len(node.input) > 2
            self.node("Mul", [f"{y}_c", f"{y}_m"], [f"{y}_p" if biased else y])
            if biased:
                bias = self.net.constants[node.input[2]]
                shape = (1, -1, *([1] * (q.ndim - 2))) if node.op_type == "Conv" else (-1,)
                self.put(node.input[2], bias.reshape(shape))
                self.node("Add", [f"{y}_p", node.input[2]], [y])
        return self.net.last


def attributes_of(node):
    from onnx import helper
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def case_of(number, form, seed, work):
    import onnx
    random = np.random.default_rng([seed, number])
    net = network_of(random, form)
    made = Quantised(net, form)
    if form in ACTIVATIONS:
        names = [n.output[0] for n in net.nodes]
        values = session_of(model_of(net.nodes, net.given, names, net.constants)).run(None, {"x": net.given})
        ranges = {n: (min(0.0, float(v.min())), max(0.0, float(v.max()))) for n, v in zip(names, values)}
        last = made.quantised_nodes({"x": (float(net.given.min()), float(net.given.max())), **ranges})
    else:
        last = made.weight_only_nodes() if form == "weight_only" else made.dynamic_nodes()
    model = model_of(made.nodes, net.given, [last], made.constants)
    path = work / f"{form}_{number}.onnx"
    onnx.save(model, path)
    case = node_tests.Case(path.stem, path, form, [("x", net.given)], session_of(model).run(None, {"x": net.given}))
    case.layers = net.layers
    return case


def judge(case, found, apart):
    want = case.outputs[0]
    got = np.frombuffer(found[0], want.dtype).reshape(want.shape)
    if want.dtype == np.float32:
        # A value that dynamic quantisation rounds otherwise moves a result by a step of 1/255 of the range.
        slack = 0.02 if case.family == "dynamic" else 1e-4
        good = np.abs(got - want).max() <= slack * max(np.abs(want).max(), 1e-3)
        case.why = f"by up to {np.abs(got - want).max()} of {np.abs(want).max()}"
    else:
        difference = np.abs(got.astype(np.int64) - want.astype(np.int64))
        apart[case.family] += np.array([np.count_nonzero(difference), difference.size])
        good = difference.max() <= (0 if case.family in ("int8", "uint8") else case.layers)
        case.why = f"by up to {difference.max()} after {case.layers} layers, {np.count_nonzero(difference)} elements"
    case.verdict = "passed" if good else "wrong"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--count", type=int, default=70)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--form", action="append", choices=FORMS)
    parser.add_argument("--target", choices=sorted(node_tests.programs.BATCH), default="host")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 4))
    arguments = parser.parse_args()
    common.need_modules("onnx", "onnxruntime")
    forms = arguments.form or FORMS
    counts, apart = collections.Counter(), collections.defaultdict(lambda: np.zeros(2, np.int64))
    arguments.work.mkdir(parents=True, exist_ok=True)
    for begin in range(0, arguments.count, BATCH):
        numbers = range(begin, min(begin + BATCH, arguments.count))
        cases = [case_of(i, forms[i % len(forms)], arguments.seed, arguments.work) for i in numbers]
        run = argparse.Namespace(frozen=False, compiler="gcc", jobs=arguments.jobs, target=arguments.target,
                                 work=arguments.work / "c")
        node_tests.run(cases, run, judged=lambda case, found: judge(case, found, apart))
        for case in cases:
            counts[case.family, case.verdict] += 1
            if case.verdict == "passed":
                case.path.unlink()
            else:
                print(f"{case.verdict.upper()} {case.path}: {case.why} {case.text}")
    for form in forms:
        unequal, elements = apart[form]
        print(f"{form}: {counts[form, 'passed']} passed, {counts[form, 'refused']} refused, {counts[form, 'wrong']} wrong"
              + (f", {unequal} of {elements} elements apart" if elements else ""))
    wrong = sum(n for (_, verdict), n in counts.items() if verdict != "passed")
    print(f"{sum(counts.values()) - wrong} passed, {wrong} failed")
    if wrong:
        raise common.Failure("networks are refused or differ from onnxruntime's results")


if __name__ == "__main__":
    common.main_of(main)
