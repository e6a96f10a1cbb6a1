# SPDX-License-Identifier: Apache-2.0
"""Models of layers that cores with vectors compute by kernels of their own: uint8 with any zero point of the weights,
int16, and float32. All layers of a model read its input, or the result of a layer that is named. Sizes are odd: channels
that are no multiple of 8, windows whose rows are shorter than a vector or longer than an unrolled loop, batches, and sums
that need more than 32 bits. `tiny` has products and sums that are subnormal numbers."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "random_models"))
from model import Model, Op, Tensor  # noqa: E402

# Input shape, then layers: operator, output channels, window, options.
NARROW = ((1, 12, 10, 3), ("CONV_2D", 16, (3, 3)), ("CONV_2D", 11, (5, 5), {"stride": 2}),
          ("CONV_2D", 9, (3, 3), {"padding": "VALID", "activation": "RELU"}))
WIDE = ((1, 9, 7, 24), ("CONV_2D", 24, (1, 1)), ("CONV_2D", 8, (3, 3), {"activation": "RELU6"}), ("CONV_2D", 19, (3, 3), {"stride": 2}),
        ("CONV_2D", 9, (2, 3), {"dilation": 2}), ("CONV_2D", 10, (9, 7), {"padding": "VALID"}),
        ("DEPTHWISE_CONV_2D", 24, (3, 3), {"activation": "RELU"}), ("DEPTHWISE_CONV_2D", 24, (3, 3), {"stride": 2}),
        ("DEPTHWISE_CONV_2D", 24, (5, 2), {"dilation": 2}), ("DEPTHWISE_CONV_2D", 24, (4, 4), {"padding": "VALID", "stride": 3}))
DEEP = ((1, 6, 8, 64), ("CONV_2D", 16, (3, 3)), ("CONV_2D", 20, (3, 3), {"stride": 2}), ("CONV_2D", 13, (1, 1), {"activation": "RELU"}),
        ("CONV_2D", 8, (5, 5), {"padding": "VALID"}), ("DEPTHWISE_CONV_2D", 64, (3, 3)))
TWICE = ((2, 5, 5, 13), ("CONV_2D", 10, (1, 1)), ("CONV_2D", 21, (1, 1), {"activation": "RELU"}),
         ("DEPTHWISE_CONV_2D", 13, (3, 3)), ("DEPTHWISE_CONV_2D", 13, (2, 3), {"padding": "VALID"}))
ROWS = ((5, 40), ("FULLY_CONNECTED", 24), ("FULLY_CONNECTED", 9, {"activation": "RELU"}), ("FULLY_CONNECTED", 3))
ROW = ((1, 643), ("FULLY_CONNECTED", 13), ("FULLY_CONNECTED", 16, {"activation": "RELU6"}), ("FULLY_CONNECTED", 16, {"heavy": True}),
       ("FULLY_CONNECTED", 5))
SHORT = ((1, 6), ("FULLY_CONNECTED", 16), ("FULLY_CONNECTED", 4))
GRAPHS = {"narrow": NARROW, "wide": WIDE, "deep": DEEP, "twice": TWICE, "rows": ROWS, "row": ROW, "short": SHORT}
# Channels of each remainder by 4, pixels of each by 2 and 3, few steps and many; floats only.
EDGES = ((1, 7, 5, 6), ("CONV_2D", 1, (1, 1)), ("CONV_2D", 2, (3, 3)), ("CONV_2D", 3, (2, 2), {"stride": 2}), ("CONV_2D", 4, (1, 5)),
         ("CONV_2D", 7, (5, 1), {"padding": "VALID"}), ("CONV_2D", 8, (3, 3), {"dilation": 2}), ("CONV_2D", 13, (7, 5), {"padding": "VALID"}),
         ("CONV_2D", 14, (7, 3), {"activation": "RELU_N1_TO_1"}), ("CONV_2D", 18, (1, 1), {"stride": 3}),
         ("CONV_2D", 5, (3, 1), {"dilation": 3, "activation": "RELU6"}), ("DEPTHWISE_CONV_2D", 6, (2, 3), {"stride": 2}),
         ("DEPTHWISE_CONV_2D", 6, (7, 1), {"padding": "VALID", "activation": "RELU6"}), ("DEPTHWISE_CONV_2D", 6, (3, 3), {"dilation": 2}))
# Channels whose pixels are farther apart than loads can move their address by.
FAR = ((1, 5, 6, 130), ("DEPTHWISE_CONV_2D", 130, (3, 3), {"activation": "RELU"}), ("DEPTHWISE_CONV_2D", 130, (1, 4), {"padding": "VALID"}))
# Layers that read result 1, whose elements are about 1e-20.
TINY = ((1, 6, 5, 9), ("CONV_2D", 10, (1, 1), {"tiny": True}), ("CONV_2D", 11, (3, 3), {"tiny": True, "of": 0}),
        ("CONV_2D", 8, (1, 1), {"tiny": True, "of": 0, "activation": "RELU"}),
        ("CONV_2D", 2, (2, 2), {"tiny": True, "of": 0, "padding": "VALID", "activation": "RELU6"}),
        ("DEPTHWISE_CONV_2D", 10, (3, 3), {"tiny": True, "of": 0}), ("CONV_2D", 12, (1, 1), {"tiny": True, "of": 1}), ("CONV_2D", 6, (3, 3), {"of": 0, "stride": 2}))
GRAPHS_OF_FLOATS = {**GRAPHS, "edges": EDGES, "far": FAR, "tiny": TINY}
FLOATS = tuple(f"vectors_{graph}_float32" for graph in GRAPHS_OF_FLOATS)
NAMES = tuple(f"vectors_{graph}_{dtype}" for graph in GRAPHS for dtype in ("uint8", "int16")) + FLOATS


def rounded(values):
    return [float(np.float32(v)) for v in values]


class Layers:
    def __init__(self, name):
        _, graph, self.dtype = name.split("_")
        shape, *layers = GRAPHS_OF_FLOATS[graph]
        self.random = np.random.default_rng(sum(name.encode()))
        self.model = Model()
        self.x = self.tensor(shape, 0.05 if self.dtype == "uint8" else 0.0004)
        self.model.inputs = [0]
        for layer in layers:
            self.add(*layer)

    def tensor(self, shape, scale):
        if self.dtype == "float32":
            self.model.tensors.append(Tensor("float32", list(shape)))
            return self.model.tensors[-1]
        zero = int(self.random.integers(0, 256)) if self.dtype == "uint8" else 0
        self.model.tensors.append(Tensor(self.dtype, list(shape), rounded([scale]), [zero]))
        return self.model.tensors[-1]

    def constant(self, data, scales, zeros=None, axis=0):
        self.model.tensors.append(
            Tensor(data.dtype.name, list(data.shape), rounded(scales), zeros or [0] * len(scales), axis, data))
        return len(self.model.tensors) - 1

    # Some products of tiny numbers are subnormal. A part of them, `zeros`, is 0: a bias would hide a subnormal sum.
    def floats(self, shape, tiny, zeros=0):
        values = self.random.normal(0, 1, shape)
        if tiny:
            values *= 10.0 ** self.random.choice([-20, -19, -18], shape) * (self.random.random(shape) >= zeros)
        self.model.tensors.append(Tensor("float32", list(shape), data=values.astype(np.float32)))
        return len(self.model.tensors) - 1

    def weights(self, kind, shape, channels, heavy):
        # Two thirds of a bell: some of uint8 take nine bits without their zero point.
        values = self.random.normal(0, 60, shape).round()
        if self.dtype == "uint8":
            zero = int(self.random.choice([97, 128, 150, 255]))
            data = np.clip(values + min(zero, 160), 0, 255).astype(np.uint8)
            return self.constant(data, self.random.uniform(0.002, 0.02, 1), [zero])
        data = np.where(values < 0, -127, 127) if heavy else np.clip(values, -127, 127)
        count = 1 if kind == "FULLY_CONNECTED" else channels
        return self.constant(data.astype(np.int8), self.random.uniform(0.002, 0.02, count),
                             axis=3 if kind == "DEPTHWISE_CONV_2D" else 0)

    def integers(self, kind, shape, channels, options):
        w = self.weights(kind, shape, channels, options.get("heavy"))
        scales = self.model.tensors[w].scale
        wide = self.dtype == "int16" and not options.get("narrow_bias")
        bias = self.random.integers(-2000, 2000, channels).astype(np.int64 if wide else np.int32)
        b = self.constant(bias, [self.x.scale[0] * s for s in scales])
        return w, b, self.x.scale[0] * max(scales) * np.sqrt(int(np.prod(shape)) // channels) * 60

    def add(self, kind, channels, window=None, options=None):
        if isinstance(window, dict):
            window, options = None, window
        options = options or {}
        x = self.model.outputs[options["of"]] if "of" in options else 0
        shape_in = self.model.tensors[x].shape
        inner = shape_in[-1]
        shape = {"CONV_2D": lambda: [channels, *window, inner], "DEPTHWISE_CONV_2D": lambda: [1, *window, channels],
                 "FULLY_CONNECTED": lambda: [channels, inner]}[kind]()
        if self.dtype == "float32":
            w, b, scale = self.floats(shape, options.get("tiny")), self.floats([channels], options.get("tiny"), 0.5), None
        else:
            w, b, scale = self.integers(kind, shape, channels, options)
        one = {"activation": options.get("activation", "NONE")}
        if window is None:
            out, one["keep_num_dims"], one["asymmetric_quantize_inputs"] = [shape_in[0], channels], False, False
        else:
            stride, dilation, padding = options.get("stride", 1), options.get("dilation", 1), options.get("padding", "SAME")
            reach = [(taps - 1) * dilation + 1 for taps in window]
            out = [shape_in[0], *(-(-n // stride) if padding == "SAME" else (n - r) // stride + 1
                                      for n, r in zip(shape_in[1:3], reach)), channels]
            one |= {"padding": padding, "stride_h": stride, "stride_w": stride, "dilation_h": dilation, "dilation_w": dilation}
        if kind == "DEPTHWISE_CONV_2D":
            one["depth_multiplier"] = 1
        y = len(self.model.tensors)
        self.tensor(out, scale)
        self.model.ops.append(Op(kind, [x, w, b], [y], one))
        self.model.outputs.append(y)


def file(name):
    return Layers(name).model.file()
