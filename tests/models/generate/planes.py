# SPDX-License-Identifier: Apache-2.0
"""Networks of planes (NCHW) as converters from PyTorch write them, and their twins of NHWC.

TFLite's convolutions and pools want NHWC, so that each stands between two transposes, and all else works on planes. The
twins have the same weights. A few kilobytes each, committed in tests/models/planes. Weights are random and seeded;
they have no task.
"""

import common  # noqa: I001  (sets the environment that TensorFlow reads)

import keras
import numpy as np
import tensorflow as tf
from keras import layers

FOLDER = common.MODELS_DIR / "planes"
SEED = 31


class Build:
    """Layers on planes or, for the twin, on images: channels are dimension 1 or 3."""

    def __init__(self, planes):
        self.planes = planes
        self.channels = 1 if planes else 3
        self.seed = SEED
        self.rng = np.random.default_rng(SEED)

    def image(self, height, width, channels):
        return layers.Input((channels, height, width) if self.planes else (height, width, channels), batch_size=1,
                            name="image")

    def windows(self, layer, x):
        """A layer that exists for NHWC only."""
        if not self.planes:
            return layer(x)
        return keras.ops.transpose(layer(keras.ops.transpose(x, (0, 2, 3, 1))), (0, 3, 1, 2))

    def weights(self):
        self.seed += 1
        return {"kernel_initializer": keras.initializers.GlorotUniform(self.seed),
                "bias_initializer": keras.initializers.RandomUniform(-0.2, 0.2, self.seed)}

    def conv(self, x, channels, size, **options):
        return self.windows(layers.Conv2D(channels, size, **self.weights(), **options), x)

    def depthwise(self, x, size, **options):
        weights = self.weights()
        return self.windows(layers.DepthwiseConv2D(size, depthwise_initializer=weights["kernel_initializer"],
                                                   bias_initializer=weights["bias_initializer"], **options), x)

    def per_channel(self, channels, low, high):
        values = self.rng.uniform(low, high, channels).astype(np.float32)
        return values.reshape((channels, 1, 1) if self.planes else (channels,))

    def pad(self, x, amount):
        around = [amount, amount]
        return tf.pad(x, [[0, 0], [0, 0], around, around] if self.planes else [[0, 0], around, around, [0, 0]])

    def mean(self, x, keep):
        return keras.ops.mean(x, axis=(2, 3) if self.planes else (1, 2), keepdims=keep)

    def join(self, *parts):
        return keras.ops.concatenate(parts, axis=self.channels)

    def flat(self, x):
        """Planes after planes, as PyTorch's flatten has them: the twin, too, as its weights are the same."""
        if not self.planes:
            x = keras.ops.transpose(x, (0, 3, 1, 2))
        return layers.Flatten()(x)


class Pad(layers.Layer):
    def __init__(self, build, amount):
        super().__init__()
        self.build_, self.amount = build, amount

    def call(self, x):
        return self.build_.pad(x, self.amount)


def plain(b):
    """Convolutions that pad for themselves, poolings, a mean over each plane."""
    x = b.image(16, 16, 3)
    y = b.conv(Pad(b, 1)(x), 8, 3)
    y = layers.ReLU()(y)
    y = b.windows(layers.MaxPooling2D(2), y)
    y = b.conv(Pad(b, 1)(y), 16, 3)
    y = layers.ReLU()(y)
    y = b.windows(layers.AveragePooling2D(2), y)
    y = b.conv(y, 24, 1)
    y = layers.ReLU(6.0)(y)
    return keras.Model(x, layers.Dense(5, **b.weights())(b.mean(y, False)))


def residual(b):
    """Depthwise and pointwise convolutions, residual sums, factors and sums per channel, a gate, branches."""
    x = b.image(12, 12, 4)
    y = stem = layers.ReLU()(b.conv(Pad(b, 1)(x), 8, 3))
    y = b.depthwise(Pad(b, 1)(y), 3)
    y = layers.ReLU(6.0)(y)
    y = b.conv(y, 8, 1) + stem
    # Behind a sum, where the converter does not fold them into convolutions.
    y = y * b.per_channel(8, 0.5, 1.5) + b.per_channel(8, -0.3, 0.3)
    gate = keras.ops.sigmoid(b.conv(layers.ReLU()(b.conv(b.mean(y, True), 4, 1)), 8, 1))
    y = y * gate
    left, right = keras.ops.split(y, 2, axis=b.channels)
    y = b.join(b.conv(left, 4, 3, padding="same"), layers.LeakyReLU(0.1)(right))
    y = b.windows(layers.MaxPooling2D(3, strides=2), y)
    return keras.Model(x, layers.Dense(4, **b.weights())(b.mean(y, False)))


def flatten(b):
    """One channel, and a fully connected layer behind planes of several elements."""
    x = b.image(10, 10, 1)
    y = layers.ReLU()(b.conv(x, 6, 3))
    y = b.windows(layers.MaxPooling2D(2), y)
    y = b.flat(layers.ReLU()(b.conv(y, 8, 2)))
    return keras.Model(x, keras.ops.softmax(layers.Dense(4, **b.weights())(y)))


def convert(make, planes, kind):
    common.make_deterministic(SEED)
    keras.backend.clear_session()
    model = make(Build(planes))
    rng = np.random.default_rng(SEED)
    shape = model.inputs[0].shape
    samples = [rng.standard_normal(shape).astype(np.float32) for _ in range(20)]
    if not planes:  # the same images
        n, h, w, c = shape
        rng = np.random.default_rng(SEED)
        samples = [rng.standard_normal((n, c, h, w)).astype(np.float32).transpose(0, 2, 3, 1) for _ in range(20)]
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if kind != "f32":
        common.set_up_quantization(converter, [[sample] for sample in samples], kind)
    return converter.convert()


def generate():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for make in (plain, residual, flatten):
        for kind in ("f32", "int8"):
            for form, planes in (("planes", True), ("images", False)):
                model = convert(make, planes, kind)
                name = f"{make.__name__}_{form}_{kind}.tflite"
                (FOLDER / name).write_bytes(model)
                operators = common.operators(model)
                transposes = sum(operator.startswith("TRANSPOSE/") for operator in operators)
                yield f"{name}: {len(model)} bytes, {len(operators)} operators, {transposes} transposes"
