# SPDX-License-Identifier: Apache-2.0
"""Keras models with Keras's default batch, which leaves the first dimension open.

`SMALL` and `SMALL_INT16` are a few kilobytes each and are committed in tests/models/keras: what the converter writes
for Flatten, Reshape, Conv1D, and an unrolled LSTM and GRU (SHAPE, STRIDED_SLICE, PACK, FILL, ... around the
layers). `ORDINARY` are what people train, too large to be committed: scripts/make-keras-models
writes them. Weights are random and seeded; they have no task.
"""

import common  # noqa: I001  (sets the environment that TensorFlow reads)

import keras
import numpy as np
import tensorflow as tf
from keras import layers

FOLDER = common.MODELS_DIR / "keras"
SEED = 23


def flatten():
    x = layers.Input((6, 6, 1), name="image")
    y = layers.Conv2D(4, 3, activation="relu")(x)
    y = layers.MaxPooling2D()(y)
    y = layers.Flatten()(y)
    return keras.Model(x, layers.Dense(3, activation="softmax")(y))


def reshape():
    x = layers.Input((24,), name="frame")
    y = layers.Reshape((4, 6, 1))(x)
    y = layers.Conv2D(2, 3, padding="same", activation="relu")(y)
    y = layers.Reshape((-1, 4))(y)
    y = layers.Dense(5)(y)
    return keras.Model(x, layers.Reshape((60,))(y))


def conv1d():
    x = layers.Input((16, 3), name="motion")
    y = layers.Conv1D(4, 3, padding="same", activation="relu")(x)
    y = layers.Conv1D(4, 3, strides=2)(y)
    y = layers.GlobalAveragePooling1D()(y)
    return keras.Model(x, layers.Dense(2)(y))


def lstm_unrolled():
    x = layers.Input((3, 3), name="motion")
    y = layers.LSTM(3, unroll=True)(x)
    return keras.Model(x, layers.Dense(2)(y))


def gru_steps():
    """Steps enough for the calls of all but the first to become a loop."""
    x = layers.Input((6, 4), name="motion")
    y = layers.GRU(6, unroll=True, bias_initializer="glorot_uniform")(x)
    return keras.Model(x, layers.Dense(2)(y))


def lstm_turns():
    """As large as a gesture model's: what a step costs beside its weights is seen."""
    x = layers.Input((12, 6), name="motion")
    y = layers.LSTM(16, unroll=True)(x)
    return keras.Model(x, layers.Dense(5, activation="softmax")(y))


def gru_turns():
    x = layers.Input((12, 6), name="motion")
    y = layers.GRU(16, unroll=True, bias_initializer="glorot_uniform")(x)
    return keras.Model(x, layers.Dense(5, activation="softmax")(y))


def weights():
    """Layers with weights enough for the converter to quantise them by themselves: from 1,024 on."""
    x = layers.Input((6, 6, 8), name="image")
    y = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
    y = layers.Conv2D(72, 1)(y)
    y = layers.DepthwiseConv2D(4, strides=2, padding="same", activation="relu")(y)
    y = layers.Conv2D(12, 2, padding="same", activation="relu6")(y)
    y = layers.Flatten()(y)
    y = layers.Dense(16, activation="relu")(y)
    return keras.Model(x, layers.Dense(70)(y))


def glance():
    """A small vision network with what such networks have: depthwise and pointwise convolutions, a
    residual, a gate over channels, branches that are joined."""
    x = layers.Input((12, 12, 2), name="image")
    y = layers.ZeroPadding2D(1)(x)
    y = stem = layers.Conv2D(8, 3, strides=1, activation="relu")(y)
    y = layers.DepthwiseConv2D(3, padding="same")(y)
    y = layers.ReLU(6.0)(y)
    y = layers.Conv2D(8, 1)(y)
    y = layers.Add()([stem, y])
    gate = layers.GlobalAveragePooling2D(keepdims=True)(y)
    gate = layers.Conv2D(8, 1, activation="sigmoid")(gate)
    y = layers.Multiply()([y, gate])
    a = layers.MaxPooling2D(2)(y)
    b = layers.AveragePooling2D(3, strides=2, padding="same")(y)
    y = layers.Concatenate()([a, b])
    y = layers.LeakyReLU(negative_slope=0.1)(layers.Conv2D(12, 3, strides=2)(y))
    y = layers.Flatten()(y)
    y = layers.Dense(10, activation="tanh")(y)
    return keras.Model(x, layers.Dense(4, activation="softmax")(y))


def mnist_cnn():
    x = layers.Input((28, 28, 1), name="image")
    y = layers.Conv2D(16, 3, activation="relu")(x)
    y = layers.MaxPooling2D()(y)
    y = layers.Conv2D(32, 3, activation="relu")(y)
    y = layers.MaxPooling2D()(y)
    y = layers.Flatten()(y)
    y = layers.Dropout(0.5)(y)
    return keras.Model(x, layers.Dense(10, activation="softmax")(y))


def dilated_causal_conv1d():
    x = layers.Input((64, 6), name="motion")
    y = x
    for dilation in (1, 2, 4):
        y = layers.Conv1D(16, 3, padding="causal", dilation_rate=dilation, activation="relu")(y)
    y = layers.GlobalAveragePooling1D()(y)
    return keras.Model(x, layers.Dense(5, activation="softmax")(y))


def lstm():
    x = layers.Input((20, 6), name="motion")
    y = layers.LSTM(16)(x)
    return keras.Model(x, layers.Dense(5, activation="softmax")(y))


def gru():
    x = layers.Input((20, 6), name="motion")
    y = layers.GRU(16)(x)
    return keras.Model(x, layers.Dense(5, activation="softmax")(y))


def gru_unrolled():
    x = layers.Input((20, 6), name="motion")
    y = layers.GRU(16, unroll=True)(x)
    return keras.Model(x, layers.Dense(5, activation="softmax")(y))


def mlp():
    x = layers.Input((12,), name="features")
    y = layers.Dense(32, activation="elu")(x)
    y = layers.Dense(16, activation="gelu")(y)
    return keras.Model(x, layers.Dense(3)(y))


def unet():
    x = layers.Input((32, 32, 1), name="image")
    a = layers.Conv2D(8, 3, padding="same", activation="relu")(x)
    b = layers.Conv2D(16, 3, padding="same", activation="relu")(layers.MaxPooling2D()(a))
    c = layers.Conv2D(32, 3, padding="same", activation="relu")(layers.MaxPooling2D()(b))
    y = layers.Conv2DTranspose(16, 2, strides=2)(c)
    y = layers.Conv2D(16, 3, padding="same", activation="relu")(layers.Concatenate()([y, b]))
    y = layers.UpSampling2D()(y)
    y = layers.Conv2D(8, 3, padding="same", activation="relu")(layers.Concatenate()([y, a]))
    return keras.Model(x, layers.Conv2D(1, 1, activation="sigmoid")(y))


def self_attention():
    x = layers.Input((16, 8), name="sequence")
    y = layers.MultiHeadAttention(2, 8)(x, x)
    y = layers.LayerNormalization()(layers.Add()([x, y]))
    y = layers.GlobalAveragePooling1D()(y)
    return keras.Model(x, layers.Dense(3, activation="softmax")(y))


def mobilenet_v2():
    return keras.applications.MobileNetV2(
        input_shape=(96, 96, 3), alpha=0.35, weights=None, classes=10
    )


SMALL = (flatten, reshape, conv1d, lstm_unrolled, gru_steps)
# Committed with int16 activations and int8 weights; the first with int8 as well, to compare.
SMALL_INT16 = (glance, flatten, conv1d)
ORDINARY = (
    mnist_cnn,
    dilated_causal_conv1d,
    lstm,
    gru,
    gru_unrolled,
    mlp,
    unet,
    self_attention,
    mobilenet_v2,
)


def settle_normalisation(model, batch):
    """Gives batch normalisation the statistics of a batch, as training would: without, activations
    shrink to nothing from layer to layer, and so do their scales."""
    found = [x for x in model.layers if isinstance(x, layers.BatchNormalization)]
    for layer in found:
        layer.momentum = 0.0
    if found:
        model(batch, training=True)


def convert(build, kind):
    """The model's bytes as a user gets them from a trained Keras model: its batch stays open."""
    common.make_deterministic(SEED)
    keras.backend.clear_session()
    model = build()
    rng = np.random.default_rng(SEED)
    shape = (1, *model.inputs[0].shape[1:])
    samples = [[rng.standard_normal(shape).astype(np.float32)] for _ in range(20)]
    settle_normalisation(model, np.concatenate([sample[0] for sample in samples]))
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if kind in ("dynamic", "float16"):
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if kind == "float16":
            converter.target_spec.supported_types = [tf.float16]
    elif kind != "f32":
        common.set_up_quantization(converter, samples, kind)
    try:
        return converter.convert()
    except Exception as error:  # of several kinds; its text says what to do, as here
        if "SELECT_TF_OPS" not in str(error):
            raise
    converter.target_spec.supported_ops = [
        *converter.target_spec.supported_ops,
        tf.lite.OpsSet.SELECT_TF_OPS,
    ]
    converter._experimental_lower_tensor_list_ops = False
    return converter.convert()


# float32; int8 from input to output; int16 activations with int8 weights; float activations with weights
# of int8 (dynamic range) or float16.
KINDS = ("f32", "int8", "int16", "dynamic", "float16")


def write(folder, builders, kinds=("f32", "int8")):
    """Writes NAME_KIND.tflite of each; says what came out, or why the converter refused."""
    folder.mkdir(parents=True, exist_ok=True)
    for build in builders:
        for kind in kinds:
            name = f"{build.__name__}_{kind}.tflite"
            try:
                model = convert(build, kind)
            except Exception as error:  # the converter's own: some layers have no int8 form
                yield f"{name}: not converted: {str(error).splitlines()[0][:200]}"
                continue
            (folder / name).write_bytes(model)
            yield f"{name}: {len(model)} bytes, {len(common.operators(model))} operators"


def generate():
    yield from write(FOLDER, SMALL)
    yield from write(FOLDER, (lstm_turns, gru_turns), ("int8",))
    yield from write(FOLDER, (weights,), ("dynamic", "float16"))
    yield from write(FOLDER, SMALL_INT16, ("int16",))
    yield from write(FOLDER, SMALL_INT16[:1], ("int8",))
