# SPDX-License-Identifier: Apache-2.0
"""Models of which the estimated instructions are compared with counted ones: those that no other fixture has."""
import numpy as np
from tflite_builder import ModelBuilder

SCALE = {"int8": 0.05, "int16": 0.0005}
ZERO = {"int8": 3, "int16": 0}


class Network:
    """Layers over drawn weights: float32, int8, or int16 activations with int8 weights."""

    def __init__(self, dtype, shape, seed=1):
        self.m, self.dtype, self.rng, self.count = ModelBuilder(), dtype, np.random.default_rng(seed), 0
        self.first = self.last = self.tensor(shape)
        self.shape = tuple(shape)

    def tensor(self, shape, scale=None):
        self.count += 1
        name = f"t{self.count}"
        if self.dtype == "float32":
            return self.m.tensor(name, "float32", tuple(shape))
        return self.m.tensor(name, self.dtype, tuple(shape), scale or SCALE[self.dtype], ZERO[self.dtype])

    def weights(self, shape, axis):
        """Weights, and a bias for each of `shape[axis]` channels."""
        self.count += 1
        n, fan = shape[axis], int(np.prod(shape)) // shape[axis]
        if self.dtype == "float32":
            w = self.rng.normal(0, (2 / fan) ** 0.5, shape).astype(np.float32)
            b = self.rng.normal(0, 0.1, n).astype(np.float32)
            return self.m.const(f"w{self.count}", w), self.m.const(f"b{self.count}", b)
        scales = (self.rng.uniform(0.5, 1, n) * 0.025 / fan ** 0.5).astype(np.float32)
        w = self.rng.integers(-127, 128, shape).astype(np.int8)
        wide = np.int64 if self.dtype == "int16" else np.int32
        b = self.rng.integers(-800, 800, n).astype(wide)
        return (self.m.const(f"w{self.count}", w, list(scales), [0] * n, axis),
                self.m.const(f"b{self.count}", b, list(scales * SCALE[self.dtype]), [0] * n))

    def op(self, kind, inputs, shape, **options):
        out = self.tensor(shape, options.pop("scale", None))
        self.m.op(kind, inputs, [out], **options)
        self.last, self.shape = out, tuple(shape)
        return out

    def conv(self, channels, kernel=(3, 3), stride=1, dilation=(1, 1), depthwise=False, activation="RELU"):
        n, h, w, c = self.shape
        if depthwise:
            channels = c
            constants = self.weights((1, *kernel, c), 3)
        else:
            constants = self.weights((channels, *kernel, c), 0)
        more = {"depth_multiplier": 1} if depthwise else {}
        shape = (n, -(-h // stride), -(-w // stride), channels)
        return self.op("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", [self.last, *constants], shape, padding="SAME",
                       stride_w=stride, stride_h=stride, dilation_h=dilation[0], dilation_w=dilation[1],
                       activation=activation, **more)

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

    def dense(self, units):
        n = int(np.prod(self.shape))
        if len(self.shape) > 2:
            self.op("RESHAPE", [self.last, self.m.const(f"to{self.count}", np.array([1, n], np.int32))], (1, n))
        return self.op("FULLY_CONNECTED", [self.last, *self.weights((units, n), 0)], (1, units))

    def finish(self):
        return self.m.finish([self.first], [self.last])


def tcn(dtype):
    """Dilated convolutions over time with residual sums."""
    net = Network(dtype, (1, 1, 64, 12))
    before = net.conv(16, (1, 3))
    for dilation in (1, 2, 4, 8):
        net.conv(16, (1, 3), dilation=(1, dilation))
        before = net.op("ADD", [net.last, before], net.shape, pot_scale_int16=False)
    net.dense(6)
    return net.finish()


def dilated(dtype):
    net = Network(dtype, (1, 16, 16, 4))
    for dilation in (1, 2, 4):
        net.conv(12, dilation=(dilation, dilation))
    net.conv(12, dilation=(2, 2), depthwise=True)
    net.pool("AVERAGE_POOL_2D")
    net.dense(4)
    return net.finish()


def one_channel(dtype):
    net = Network(dtype, (1, 28, 28, 1))
    net.conv(1, (5, 5))
    net.pool()
    net.conv(1)
    net.conv(4, stride=2)
    net.dense(10)
    return net.finish()


def unet(dtype):
    net = Network(dtype, (1, 16, 16, 2))
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


def cnn(dtype):
    net = Network(dtype, (1, 16, 16, 3))
    net.conv(8, stride=2)
    net.conv(8, depthwise=True)
    net.conv(16, (1, 1))
    net.pool()
    net.conv(16)
    net.dense(10)
    return net.finish()


KINDS = {"f32": "float32", "int8": "int8", "int16": "int16"}
MADE = {f"{make.__name__}_{kind}": (make, KINDS[kind])
        for make, kinds in ((tcn, KINDS), (dilated, ("f32", "int8")), (one_channel, ("f32", "int8")),
                            (unet, ("f32", "int8")), (cnn, KINDS))
        for kind in kinds}


def made(name):
    """The bytes of a model."""
    make, dtype = MADE[name]
    return make(dtype)
