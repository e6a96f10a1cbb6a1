# SPDX-License-Identifier: Apache-2.0
"""Networks of one-dimensional signals: the C gives onnxruntime's results, and costs as much as that of the same network
over images of one row."""
import argparse
import json

import common
import networks
import node_tests
import numpy as np
import pytest


class Signals(networks.Maker):
    """Operators over signals, or (images) over images of one row: attributes are those of signals."""

    def __init__(self, images):
        super().__init__(21)
        self.images = images

    def window(self, kind, x, kernel, *constants, **attributes):
        ones = {"kernel_shape": 1, "strides": 1, "dilations": 1, "output_padding": 0}
        attributes = {"kernel_shape": [kernel], **attributes}
        if self.images:
            for name, value in attributes.items():
                if name in ones:
                    attributes[name] = [ones[name], *value]
                if name == "pads":
                    attributes[name] = [0, value[0], 0, value[1]]
        return self.op(kind, x, *constants, **attributes)

    def filters(self, *shape):
        return self.weights(*shape[:2], *([1] if self.images else []), *shape[2:])

    def layer(self, x, before, after, kernel, group=1, **attributes):
        return self.window("Conv", x, kernel, self.filters(after, before // group, kernel), self.weights(after), group=group,
                           **attributes)

    def padded(self, x, before):
        pads = [0, 0, before, 0, 0, 0]
        return self.op("Pad", x, self.const(np.array([0, *pads[:3], 0, *pads[3:]] if self.images else pads, np.int64)))

    def network(self, shape, result_shape):
        row = lambda s: [*s[:2], 1, s[2]] if self.images and len(s) == 3 else s  # noqa: E731
        return self.model(row(shape), "y", row(result_shape))


def activity(m):
    x = m.op("Relu", m.layer("x", 6, 16, 5, pads=[2, 2]))
    x = m.op("Relu", m.layer(x, 16, 24, 5, pads=[2, 2], strides=[2]))
    x = m.op("Clip", m.layer(x, 24, 24, 3, group=24, dilations=[2]), m.const(np.float32(0)), m.const(np.float32(6)))
    m.linear(m.op("Flatten", m.op("GlobalAveragePool", x)), 24, 6)
    return m.network([1, 6, 64], [1, 6])


def causal(m):
    x = m.layer("x", 4, 16, 1)
    for step in (1, 2, 4):
        y = m.layer(m.padded(x, 2 * step), 16, 16, 3, group=16, dilations=[step])
        x = m.op("Add", m.op("Relu", m.layer(y, 16, 16, 1)), x)
    m.layer(x, 16, 3, 1)
    return m.network([1, 4, 32], [1, 3, 32])


def grouped(m):
    x = m.op("Relu", m.layer("x", 8, 12, 3, group=2, pads=[1, 0], strides=[2]))
    m.layer(x, 12, 12, 4, group=3)
    return m.network([1, 8, 31], [1, 12, 12])


def pools(m):
    x = m.window("MaxPool", m.op("Relu", m.layer("x", 3, 8, 3, pads=[1, 1])), 3, strides=[2], pads=[1, 0])
    x = m.window("AveragePool", x, 2, strides=[2])
    m.window("AveragePool", m.layer(x, 8, 8, 1), 3, pads=[1, 1])
    return m.network([1, 3, 48], [1, 8, 12])


def transposed(m):
    x = m.op("Relu", m.layer("x", 5, 12, 3))
    x = m.window("ConvTranspose", x, 4, m.filters(12, 6, 4), m.weights(6), strides=[2], pads=[1, 1])
    m.op("Sigmoid", x)
    return m.network([1, 5, 22], [1, 6, 40])


NETWORKS = [activity, causal, grouped, pools, transposed]
FIGURES = ("arena_bytes", "constants_bytes", "estimated_cycles")


@pytest.mark.parametrize("make", NETWORKS, ids=lambda make: make.__name__)
def test_as_images(make, tmp_path):
    common.need_modules("onnx", "onnxruntime")
    import onnx
    import onnxruntime
    cost, cases = [], []
    for images in (False, True):
        path = tmp_path / f"{'images' if images else 'signals'}.onnx"
        onnx.save(make(Signals(images)), path)
        told = json.loads(common.aotc("check", path, "--cpu", "cortex-m4f", "--json"))
        cost.append({name: told[name] for name in FIGURES})
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        x = np.random.default_rng(5).standard_normal(session.get_inputs()[0].shape).astype(np.float32)
        cases.append(node_tests.Case(path.stem, path, "signals", [("x", x)], session.run(None, {"x": x})))
        if not images:
            turned = node_tests.Case("turned", path, "signals", [("x", x.transpose(0, 2, 1))], cases[0].outputs,
                                     options=["--input-layout", "nhwc"])
            cases.append(turned)
    node_tests.run(cases, argparse.Namespace(frozen=False, compiler="gcc", jobs=1, target="host", work=tmp_path / "c"),
                   rtol=1e-4, atol=1e-6)
    assert [(c.name, c.why, c.text) for c in cases if c.verdict != "passed"] == []
    # onnxruntime's kernels of images and of signals treat NaN differently, so do ours: a MaxPool costs some more cycles.
    signals, images = (c.pop("estimated_cycles") for c in cost)
    assert signals <= images * (1.01 if make is pools else 1) and cost[0] == cost[1]
