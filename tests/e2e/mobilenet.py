# SPDX-License-Identifier: Apache-2.0
"""A MobileNetV2 1.0 of 224 x 224 pixels, int8, with random weights: the size of network that compile
time is promised for. Structure and channel counts are those of arXiv 1801.04381, table 2."""
import numpy as np

from tflite_builder import ModelBuilder

# expansion, output channels, repeats, stride of the first
BLOCKS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
          (6, 320, 1, 1))


class Network:
    def __init__(self, seed=1):
        self.rng = np.random.default_rng(seed)
        self.m = ModelBuilder("mobilenet_v2")
        self.count = 0

    def layer(self, kind, x, side, channels, out, kernel, stride, relu):
        """(result, its side). Scales keep outputs about as large as inputs."""
        self.count += 1
        depthwise = kind == "DEPTHWISE_CONV_2D"
        taps = kernel * kernel * (1 if depthwise else channels)
        shape = (1, kernel, kernel, out) if depthwise else (out, kernel, kernel, channels)
        weights = self.rng.integers(-127, 128, shape, np.int8)
        scales = self.rng.uniform(0.5, 1.5, out) / (74 * np.sqrt(taps))
        in_scale, zero = (0.02, -128) if relu[0] else (0.04, 3)
        w = self.m.const(f"w{self.count}", weights, scales, 0, 3 if depthwise else 0)
        b = self.m.const(f"b{self.count}", self.rng.integers(-2000, 2000, out, np.int32),
                         scales * in_scale, 0)
        side = (side + stride - 1) // stride
        out_scale, out_zero = (0.02, -128) if relu[1] else (0.04, 3)
        y = self.m.tensor(f"y{self.count}", "int8", (1, side, side, out), out_scale, out_zero)
        options = {"depth_multiplier": 1} if depthwise else {}
        self.m.op(kind, [x, w, b], [y], version=3, padding="SAME", stride_h=stride, stride_w=stride,
                  activation="RELU6" if relu[1] else "NONE", **options)
        return y, side


def mobilenet_v2():
    """The model's bytes."""
    n = Network()
    image = n.m.tensor("image", "int8", (1, 224, 224, 3), 0.02, -128)
    x, side = n.layer("CONV_2D", image, 224, 3, 32, 3, 2, (True, True))
    channels, linear = 32, False
    for expansion, out, repeats, stride in BLOCKS:
        for repeat in range(repeats):
            step = stride if repeat == 0 else 1
            inner, before = channels * expansion, x
            if expansion > 1:
                x, _ = n.layer("CONV_2D", x, side, channels, inner, 1, 1, (not linear, True))
            x, new_side = n.layer("DEPTHWISE_CONV_2D", x, side, inner, inner, 3, step, (True, True))
            x, _ = n.layer("CONV_2D", x, new_side, inner, out, 1, 1, (True, False))
            if repeat > 0:
                n.count += 1
                y = n.m.tensor(f"y{n.count}", "int8", (1, new_side, new_side, out), 0.04, 3)
                n.m.op("ADD", [before, x], [y], version=2, activation="NONE")
                x = y
            side, channels, linear = new_side, out, True
    x, side = n.layer("CONV_2D", x, side, channels, 1280, 1, 1, (False, True))
    pooled = n.m.tensor("pooled", "int8", (1, 1, 1, 1280), 0.02, -128)
    n.m.op("AVERAGE_POOL_2D", [x], [pooled], version=2, padding="VALID", stride_h=1, stride_w=1,
           filter_h=side, filter_w=side, activation="NONE")
    x, _ = n.layer("CONV_2D", pooled, 1, 1280, 1001, 1, 1, (True, False))
    return n.m.finish([image], [x])
