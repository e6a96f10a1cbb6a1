# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models and the numbers in them, which operators.py compiles. Numbers follow from the order in which they are
asked for: new cases come behind the others."""
import numpy as np

RNG = np.random.default_rng(7)


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def graph_of(nodes, inputs, outputs, constants=()):
    from onnx import helper, numpy_helper
    values = lambda names: [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)  # noqa: E731
                            for n, a in names.items()]
    return helper.make_graph(nodes, "g", values(inputs), [helper.make_empty_tensor_value_info(o) for o in outputs],
                             [numpy_helper.from_array(a, n) for n, a in dict(constants).items()])


def single(op, inputs, attributes, outputs=1, constants=(), domain=""):
    """(graph, inputs) of one operator; names are in the order of its operands, constants among them."""
    from onnx import helper
    names = {**inputs, **dict(constants)}
    order = sorted(names, key=lambda n: int(n[1:]))
    operands = [f"x{i}" if f"x{i}" in names else "" for i in range(int(order[-1][1:]) + 1)]
    node = helper.make_node(op, operands, [f"y{i}" for i in range(outputs)], domain=domain, **attributes)
    return graph_of([node], inputs, node.output, constants), inputs


def numbers(kind, *shape, bits=8):
    """Weights of 7 bits are what every processor's onnxruntime sums exactly."""
    limits = np.iinfo(kind)
    return RNG.integers(limits.min >> (8 - bits), (limits.max >> (8 - bits)) + 1, shape).astype(kind)
