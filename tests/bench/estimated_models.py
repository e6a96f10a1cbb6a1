# SPDX-License-Identifier: Apache-2.0
"""Small networks with drawn weights, for estimates.py and layer_coverage.py: kinds that no other fixture has."""
import numpy as np
from tflite_builder import ModelBuilder

# Types of activations and weights.
KINDS = {"f32": ("float32", "float32"), "int8": ("int8", "int8"), "int16": ("int16", "int8"),
         "uint8": ("uint8", "uint8"), "int4": ("int8", "int4"), "dynamic": ("float32", "int8")}
SCALE = {"int8": 0.05, "int16": 0.0005, "uint8": 0.05}
ZERO = {"int8": 3, "int16": 0, "uint8": 131}
ZERO_OF_LOGISTIC = {"int8": -128, "uint8": 0}
MOST = {"int8": 127, "int4": 7, "uint8": 127}  # the largest weight; those of uint8 are around 128


class Network:
    """Layers one behind the other. `last` and `shape` are the newest result; a branch starts where they are set."""

    def __init__(self, kind, shape, seed=1):
        self.dtype, self.weight_type = KINDS[kind]
        self.m, self.rng, self.count = ModelBuilder(), np.random.default_rng(seed), 0
        self.first = self.last = self.tensor(shape)
        self.shape = tuple(shape)

    def tensor(self, shape, scale=None, zero=None):
        self.count += 1
        name = f"t{self.count}"
        if self.dtype == "float32":
            return self.m.tensor(name, "float32", tuple(shape))
        return self.m.tensor(name, self.dtype, tuple(shape), scale or SCALE[self.dtype],
                             ZERO[self.dtype] if zero is None else zero)

    def weights(self, shape, axis):
        """Weights, and a bias for each of `shape[axis]` channels."""
        self.count += 1
        n, fan = shape[axis], int(np.prod(shape)) // shape[axis]
        if self.weight_type == "float32":
            w = self.rng.normal(0, (2 / fan) ** 0.5, shape).astype(np.float32)
            b = self.rng.normal(0, 0.1, n).astype(np.float32)
            return self.m.const(f"w{self.count}", w), self.m.const(f"b{self.count}", b)
        most = MOST[self.weight_type]
        scales = (self.rng.uniform(0.5, 1, n) * 0.025 * (127 / most) / fan ** 0.5).astype(np.float32)
        w = self.rng.integers(-most, most + 1, shape).astype(np.int8)
        if self.weight_type == "int4":
            weights = self.m.int4(f"w{self.count}", w, list(scales), [0] * n, axis)
        elif self.weight_type == "uint8":
            scales = scales[:1].repeat(n)
            weights = self.m.const(f"w{self.count}", (w.astype(np.int16) + 128).astype(np.uint8), scales[0], 128)
        else:
            weights = self.m.const(f"w{self.count}", w, list(scales), [0] * n, axis)
        if self.dtype == "float32":
            return weights, self.m.const(f"b{self.count}", self.rng.normal(0, 0.1, n).astype(np.float32))
        wide = np.int64 if self.dtype == "int16" else np.int32
        b = self.rng.integers(-800, 800, n).astype(wide)
        scales = list(scales * SCALE[self.dtype])
        if self.weight_type == "uint8":
            return weights, self.m.const(f"b{self.count}", b, scales[0], 0)
        return weights, self.m.const(f"b{self.count}", b, scales, [0] * n)

    def op(self, kind, inputs, shape, scale=None, zero=None, **options):
        out = self.tensor(shape, scale, zero)
        self.m.op(kind, inputs, [out], **options)
        self.last, self.shape = out, tuple(shape)
        return out

    def conv(self, channels, kernel=(3, 3), stride=1, dilation=(1, 1), depthwise=False, activation="RELU", groups=1):
        n, h, w, c = self.shape
        if depthwise:
            channels = c
            constants = self.weights((1, *kernel, c), 3)
        else:
            constants = self.weights((channels, *kernel, c // groups), 0)
        more = {"depth_multiplier": 1} if depthwise else {}
        shape = (n, -(-h // stride), -(-w // stride), channels)
        return self.op("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", [self.last, *constants], shape, padding="SAME",
                       stride_w=stride, stride_h=stride, dilation_h=dilation[0], dilation_w=dilation[1],
                       activation=activation, **more)

    def transposed(self, channels, kernel=(2, 2), stride=2):
        n, h, w, c = self.shape
        shape = (n, h * stride, w * stride, channels)
        size = self.m.const(f"size{self.count}", np.array(shape, np.int32))
        weights, bias = self.weights((channels, *kernel, c), 0)
        return self.op("TRANSPOSE_CONV", [size, weights, self.last, bias], shape, version=3, padding="SAME",
                       stride_w=stride, stride_h=stride)

    def pool(self, kind="MAX_POOL_2D"):
        n, h, w, c = self.shape
        return self.op(kind, [self.last], (n, h // 2, w // 2, c), padding="VALID", stride_w=2, stride_h=2, filter_w=2,
                       filter_h=2)

    def enlarge(self):
        n, h, w, c = self.shape
        size = self.m.const(f"size{self.count}", np.array([2 * h, 2 * w], np.int32))
        return self.op("RESIZE_NEAREST_NEIGHBOR", [self.last, size], (n, 2 * h, 2 * w, c))

    def beside(self, other, channels):
        return self.op("CONCATENATION", [self.last, other], (*self.shape[:3], self.shape[3] + channels), axis=3)

    def reshape(self, *shape):
        return self.op("RESHAPE", [self.last, self.m.const(f"to{self.count}", np.array(shape, np.int32))], shape)

    def dense(self, units):
        n = int(np.prod(self.shape))
        if len(self.shape) > 2:
            self.reshape(1, n)
        return self.op("FULLY_CONNECTED", [self.last, *self.weights((units, n), 0)], (1, units))

    def finish(self, *results):
        return self.m.finish([self.first], list(results) or [self.last])


def tcn(kind, shape=(1, 1, 64, 12), channels=16, width=3, dilations=(1, 2, 4, 8), seed=1):
    """Dilated convolutions over time with residual sums."""
    net = Network(kind, shape, seed)
    before = net.conv(channels, (1, width))
    for dilation in dilations:
        net.conv(channels, (1, width), dilation=(1, dilation))
        before = net.op("ADD", [net.last, before], net.shape, pot_scale_int16=False)
    net.dense(6)
    return net.finish()


def dilated(kind, shape=(1, 16, 16, 4), channels=12, seed=1):
    net = Network(kind, shape, seed)
    for dilation in (1, 2, 4):
        net.conv(channels, dilation=(dilation, dilation))
    net.conv(channels, dilation=(2, 2), depthwise=True)
    net.pool("AVERAGE_POOL_2D")
    net.dense(4)
    return net.finish()


def one_channel(kind, shape=(1, 28, 28, 1), channels=4, seed=1):
    net = Network(kind, shape, seed)
    net.conv(1, (5, 5))
    net.pool()
    net.conv(1)
    net.conv(channels, stride=2)
    net.dense(10)
    return net.finish()


def unet(kind):
    net = Network(kind, (1, 16, 16, 2))
    top = net.conv(8)
    net.pool()
    middle = net.conv(16)
    net.pool()
    net.conv(24)
    net.enlarge()
    net.beside(middle, 16)
    net.conv(16)
    net.enlarge()
    net.beside(top, 8)
    net.conv(8)
    net.conv(2, (1, 1), activation="NONE")
    return net.finish()


def transposed_unet(kind, shape=(1, 16, 16, 3), channels=8, kernel=(2, 2), seed=1):
    """Like unet(), but transposed convolutions enlarge."""
    net = Network(kind, shape, seed)
    top = net.conv(channels)
    net.pool()
    middle = net.conv(2 * channels)
    net.pool()
    net.conv(3 * channels)
    net.transposed(2 * channels, kernel)
    net.beside(middle, 2 * channels)
    net.conv(2 * channels)
    net.transposed(channels, kernel)
    net.beside(top, channels)
    net.conv(channels)
    net.conv(2, (1, 1), activation="NONE")
    return net.finish()


def cnn(kind, shape=(1, 16, 16, 3), channels=8, seed=1):
    net = Network(kind, shape, seed)
    net.conv(channels, stride=2)
    net.conv(channels, depthwise=True)
    net.conv(2 * channels, (1, 1))
    net.pool()
    net.conv(2 * channels)
    net.dense(10)
    return net.finish()


def wide(kind):
    """A layer of each kind with enough channels for the inner loop to dominate."""
    net = Network(kind, (1, 10, 10, 64))
    net.conv(64, (1, 1))
    net.conv(64)
    net.conv(64, depthwise=True)
    net.pool()
    net.pool()
    net.dense(64)
    return net.finish()


def grouped(kind):
    """Convolutions whose channels form groups."""
    net = Network(kind, (1, 16, 16, 8))
    for channels, groups, stride in ((16, 2, 1), (16, 4, 2), (32, 8, 1)):
        net.conv(channels, groups=groups, stride=stride)
    net.conv(16, (1, 1), groups=2)
    net.dense(8)
    return net.finish()


def detection(kind):
    """Boxes and classes of the cells of two feature maps."""
    anchors, classes = 2, 5
    net = Network(kind, (1, 32, 32, 3))
    for channels in (8, 16):
        net.conv(channels, stride=2)
        net.conv(channels, depthwise=True)
        net.conv(2 * channels, (1, 1))
    maps = [(net.last, net.shape)]
    net.conv(32, stride=2)
    maps.append((net.last, net.shape))
    results = []
    for values in (4, classes):
        parts, cells = [], 0
        for net.last, net.shape in maps:
            net.conv(anchors * values, activation="NONE")
            cells += anchors * net.shape[1] * net.shape[2]
            parts.append(net.reshape(1, int(np.prod(net.shape)) // values, values))
        net.op("CONCATENATION", parts, (1, cells, values), axis=1)
        if values == classes:
            net.op("LOGISTIC", [net.last], net.shape, scale=1 / 256, zero=ZERO_OF_LOGISTIC.get(net.dtype))
        results.append(net.last)
    return net.finish(*results)


MADE = {f"{make.__name__}_{kind}": (make, kind)
        for make, kinds in ((tcn, ("f32", "int8", "int16")), (dilated, ("f32", "int8")), (one_channel, ("f32", "int8")),
                            (unet, ("f32", "int8")), (cnn, ("f32", "int8", "int16")))
        for kind in kinds}
# Only for coverage.
MORE = {f"{make.__name__}_{kind}": (make, kind)
        for make, kinds in ((transposed_unet, ("f32", "int8")), (detection, ("int8",)), (grouped, ("int8",)), (wide, ("f32",)),
                            (cnn, ("int4", "uint8", "dynamic")))
        for kind in kinds}


def made(name):
    """The bytes of a model."""
    make, kind = {**MADE, **MORE}[name]
    return make(kind)
