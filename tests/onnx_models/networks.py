#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small networks, made here with the onnx package and by PyTorch's exporters: the C beside onnxruntime.

Usage: networks.py --work DIR [--target host|cortex_m4]

Networks that PyTorch exported, both ways (tests/models/torch, made by scripts/make-torch-models), go the same way.
Each is compiled, runs on random inputs, and must give what onnxruntime gives (relative 1e-3, absolute 1e-7); of the
transpositions around convolutions no more may be left than is written here, and none where the caller feeds NHWC. Without the packages it is skipped; with
CI=true it fails.
"""
import argparse
import json
import os
import pathlib
import re
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import common  # noqa: E402
import node_tests  # noqa: E402


class Maker:
    """Nodes one behind the other; every method gives the name of its result."""

    def __init__(self, seed):
        from onnx import helper
        self._helper = helper
        self._rng = np.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def const(self, array):
        from onnx import numpy_helper
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weights(self, *shape):
        return self.const((self._rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32))

    def op(self, kind, *operands, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(self._helper.make_node(kind, list(operands), [name], **attributes))
        return name

    def conv(self, x, channels, kernel, stride=1, group=1, relu=True):
        before, after = channels
        x = self.op("Conv", x, self.weights(after, before // group, kernel, kernel), self.weights(after), group=group,
                    kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4, strides=[stride] * 2)
        return self.op("Relu", x) if relu else x

    def normalized(self, x, channels):
        scale = np.abs(self._rng.standard_normal((2, channels))).astype(np.float32) + 0.5
        return self.op("BatchNormalization", x, self.const(scale[0]), self.weights(channels), self.weights(channels),
                       self.const(scale[1]))

    def linear(self, x, columns, rows):
        return self.op("Gemm", x, self.weights(rows, columns), self.weights(rows), transB=1)

    def model(self, shape, result, result_shape):
        import onnx
        h = self._helper
        self.nodes[-1].output[0] = result
        ports = [h.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s) for n, s in (("x", shape), (result, result_shape))]
        graph = h.make_graph(self.nodes, "network", ports[:1], ports[1:], self.constants)
        return h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)


def images():
    m = Maker(1)
    x = m.conv("x", (3, 16), 3, stride=2)
    x = m.conv(x, (16, 16), 3, group=16)
    x = m.op("MaxPool", m.conv(x, (16, 32), 1), kernel_shape=[2, 2], strides=[2, 2])
    x = m.op("Add", x, m.conv(x, (32, 32), 3))
    x = m.linear(m.op("Flatten", m.op("GlobalAveragePool", x)), 32, 10)
    m.op("Softmax", x, axis=-1)
    return m.model([1, 3, 32, 32], "y", [1, 10])


def residual():
    m = Maker(2)
    x = m.conv("x", (1, 8), 3)
    for stride in (1, 2):
        y = m.op("Relu", m.normalized(m.conv(x, (8, 8), 3, stride=stride, relu=False), 8))
        y = m.normalized(m.conv(y, (8, 8), 3, relu=False), 8)
        side = x if stride == 1 else m.conv(x, (8, 8), 1, stride=2, relu=False)
        x = m.op("Clip", m.op("Add", y, side), m.const(np.float32(0)), m.const(np.float32(6)))
    x = m.op("ReduceMean", x, axes=[2, 3], keepdims=0)
    m.linear(x, 8, 4)
    return m.model([1, 1, 16, 16], "y", [1, 4])


def transformer(seed=3, length=8, width=16):
    m = Maker(seed)

    def product(x):
        return m.op("Add", m.op("MatMul", x, m.weights(width, width)), m.weights(width))

    def norm(x):
        return m.op("LayerNormalization", x, m.const(np.ones(width, np.float32)), m.weights(width), axis=-1)

    x = norm("x")
    q, k, v = product(x), product(x), product(x)
    scores = m.op("Div", m.op("MatMul", q, m.op("Transpose", k, perm=[0, 2, 1])), m.const(np.float32(4)))
    x = m.op("Add", "x", product(m.op("MatMul", m.op("Softmax", scores, axis=-1), v)))
    y = product(norm(x))
    half = m.op("Mul", y, m.const(np.float32(0.5)))
    erf = m.op("Erf", m.op("Div", y, m.const(np.float32(np.sqrt(2)))))
    y = product(m.op("Mul", half, m.op("Add", erf, m.const(np.float32(1)))))
    m.op("Add", x, y)
    return m.model([1, length, width], "y", [1, length, width])


# How many transpositions may be left: that of an input of several channels, and the one of attention.
NETWORKS = {"images": (images, 1), "images_nhwc": (images, 0), "residual": (residual, 0), "residual_nhwc": (residual, 0),
            "transformer": (transformer, 1)}


# The same of what PyTorch exported, most of which have none: heads of attention are turned to and fro.
TORCH = HERE.parent / "models" / "torch"
# Resize is put together from gathers, through which transposes do not move: one in front and one behind. Sums of float
# that group normalisation has keep their order: one in front of it, beside that of an input of several channels.
LEFT_OF_TORCH = {"convolutional": 1, "interpolate": 2, "sound": 2, "squeeze": 1, "transformer": 5}


def case_of(name, path):
    import onnx
    import onnxruntime
    if name in NETWORKS:
        model = NETWORKS[name][0]()
        onnx.save(model, path)
    else:
        model = onnx.load(path, load_external_data=False)
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(7).standard_normal(shape).astype(np.float32)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    case = node_tests.Case(name, path, "networks", [("x", x)], session.run(None, {"x": x}))
    if name.endswith("_nhwc"):
        case.inputs, case.options = [("x", x.transpose(0, 2, 3, 1))], ["--input-layout", "nhwc"]
    return case


def transpositions(folder, prefix):
    functions = json.loads((folder / prefix / f"{prefix}.map.json").read_text())["functions"]
    return sum(len(f["calls"]) for f in functions if re.search("_transpose(_(?!conv)|$)", f["name"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--target", choices=("host", "cortex_m4"), default="host")
    arguments = parser.parse_args()
    common.need_modules("onnx", "onnxruntime")
    arguments.frozen, arguments.compiler, arguments.jobs = False, "gcc", 2
    models = arguments.work.resolve() / "models"
    models.mkdir(parents=True, exist_ok=True)
    cases = [case_of(name, models / f"{name}.onnx") for name in NETWORKS]
    cases += [case_of(path.stem, path) for path in sorted(TORCH.glob("*.onnx"))]
    arguments.work = arguments.work.resolve() / "c"
    node_tests.run(cases, arguments)
    failed = 0
    for index, case in enumerate(cases):
        left = transpositions(arguments.work, f"m{index}") if case.verdict == "passed" else 0
        most = NETWORKS[case.name][1] if case.name in NETWORKS else LEFT_OF_TORCH.get(case.name.partition("_")[0], 0)
        print(f"{case.name}: {case.verdict} {case.why}, {left} transpositions\n{case.text}", end="")
        failed += case.verdict != "passed" or left > most
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    common.main_of(main)
