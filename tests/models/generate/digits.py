# SPDX-License-Identifier: Apache-2.0
"""Trains, converts and measures the handwritten digits sample in tests/models/digits.

The test set is the last quarter in scikit-learn's order, not a random one: neighbours tend to share
a writer, and a random quarter would put the same hand on both sides.
"""

import common  # noqa: I001  (sets the environment that TensorFlow reads)

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

FOLDER = common.MODELS_DIR / "digits"
SEED = 3
TEST_COUNT = 450
CALIBRATION_COUNT = 200
EPOCHS = 60
BATCH = 64
LEVELS = 16.0  # pixels are 0..16


def load():
    """Training images and labels, test images and labels; images: float32 [n, 8, 8, 1], 0..1."""
    digits = load_digits()
    images = (digits.images / LEVELS).astype(np.float32)[..., np.newaxis]
    labels = digits.target.astype(np.int32)
    cut = len(images) - TEST_COUNT
    return images[:cut], labels[:cut], images[cut:], labels[cut:]


def build():
    """Every kind of layer that a small vision model has, in about fifteen thousand parameters."""
    layers = tf.keras.layers
    image = layers.Input((8, 8, 1), name="image")
    x = layers.Conv2D(16, 3, padding="same", use_bias=False, name="stem")(image)
    x = layers.BatchNormalization(name="stem_norm")(x)
    x = stem = layers.ReLU(name="stem_relu")(x)
    x = layers.DepthwiseConv2D(3, padding="same", use_bias=False, name="depthwise")(x)
    x = layers.BatchNormalization(name="depthwise_norm")(x)
    x = layers.ReLU(6.0, name="depthwise_relu6")(x)
    x = layers.Conv2D(16, 1, use_bias=False, name="pointwise")(x)
    x = layers.BatchNormalization(name="pointwise_norm")(x)
    x = layers.Add(name="residual")([stem, x])
    x = layers.ReLU(name="residual_relu")(x)
    x = layers.Conv2D(24, 3, padding="valid", use_bias=False, name="valid")(x)
    x = layers.BatchNormalization(name="valid_norm")(x)
    x = layers.ReLU(name="valid_relu")(x)
    x = layers.MaxPooling2D(2, name="max_pool")(x)
    x = layers.Conv2D(32, 3, padding="same", use_bias=False, name="wide")(x)
    x = layers.BatchNormalization(name="wide_norm")(x)
    x = layers.ReLU(name="wide_relu")(x)
    x = layers.AveragePooling2D(2, strides=1, name="average_pool")(x)
    x = layers.Flatten(name="flatten")(x)
    x = layers.Dropout(0.3, name="dropout")(x)
    x = layers.Dense(24, activation="relu", name="hidden")(x)
    x = layers.Dense(10, name="logits")(x)
    return tf.keras.Model(image, layers.Softmax(name="probabilities")(x), name="digits")


def distort(images, rng):
    """Small random affine distortions and strokes of another weight, bilinear, zero outside."""
    count = len(images)
    angle = rng.uniform(-0.25, 0.25, count)
    zoom_y = rng.uniform(0.85, 1.15, count)
    zoom_x = rng.uniform(0.85, 1.15, count)
    shear = rng.uniform(-0.2, 0.2, count)
    move = rng.uniform(-0.9, 0.9, (count, 2))
    rows, columns = np.meshgrid(np.arange(8) - 3.5, np.arange(8) - 3.5, indexing="ij")
    cos, sin = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
    x = columns[None] + shear[:, None, None] * rows[None]
    y = rows[None]
    from_y = (cos * y - sin * x) * zoom_y[:, None, None] + 3.5 + move[:, :1, None]
    from_x = (sin * y + cos * x) * zoom_x[:, None, None] + 3.5 + move[:, 1:, None]
    padded = np.pad(images[..., 0], ((0, 0), (2, 2), (2, 2)))
    from_y = np.clip(from_y + 2, 0, 10.999)
    from_x = np.clip(from_x + 2, 0, 10.999)
    top, left = from_y.astype(int), from_x.astype(int)
    part_y, part_x = from_y - top, from_x - left
    index = np.arange(count)[:, None, None]
    upper = padded[index, top, left] * (1 - part_x) + padded[index, top, left + 1] * part_x
    lower = padded[index, top + 1, left] * (1 - part_x) + padded[index, top + 1, left + 1] * part_x
    mixed = upper * (1 - part_y) + lower * part_y
    weight = rng.uniform(0.85, 1.2, (count, 1, 1))
    return np.clip(mixed * weight, 0, 1).astype(np.float32)[..., np.newaxis]


def train(images, labels):
    """A network trained for EPOCHS passes, each over freshly distorted images."""
    network = build()
    steps = -(-len(images) // BATCH) * EPOCHS
    rate = tf.keras.optimizers.schedules.CosineDecay(4e-3, steps)
    network.compile(tf.keras.optimizers.Adam(rate), loss="sparse_categorical_crossentropy")
    rng = np.random.default_rng(SEED)
    for _ in range(EPOCHS):
        network.fit(distort(images, rng), labels, batch_size=BATCH, verbose=0)
    return network


def convert(network, calibration):
    """The models' bytes by kind; the images of `calibration` give the ranges of activations."""

    @tf.function(input_signature=[tf.TensorSpec((1, 8, 8, 1), tf.float32, name="image")])
    def classify(image):
        return {"probabilities": network(image, training=False)}

    samples = [{"image": image[np.newaxis]} for image in calibration]
    variables = [variable.value for variable in network.variables]
    return {kind: common.convert(classify, variables, samples, kind) for kind in ("f32", "int8")}


def expected(model, images):
    """The model's inputs for `images` and LiteRT's outputs, both as the model's own types."""
    interpreter = common.reference(model)
    detail = interpreter.get_input_details()[0]
    inputs = images if detail["dtype"] == np.float32 else common.quantize(images, detail)
    outputs = [common.run(interpreter, [sample[np.newaxis]])[0][0] for sample in inputs]
    return inputs, np.stack(outputs)


def accuracy(outputs, labels):
    """'x.xx % (n of m)' for outputs [m, 10]."""
    right = int((outputs.argmax(axis=1) == labels).sum())
    return f"{100 * right / len(labels):.2f} % ({right} of {len(labels)})"


def generate():
    """Writes the folder's models, test set and expected outputs; returns the report's lines."""
    common.make_deterministic(SEED)
    train_images, train_labels, test_images, test_labels = load()
    network = train(train_images, train_labels)
    choice = np.random.default_rng(SEED).permutation(len(train_images))[:CALIBRATION_COUNT]
    models = convert(network, train_images[choice])
    keras = network.predict(test_images, verbose=0)
    report = [f"digits: trained network in TensorFlow: {accuracy(keras, test_labels)}"]
    common.save_array(FOLDER / "test_labels.npy", test_labels.astype(np.uint8))
    for kind, model in models.items():
        common.write(FOLDER / f"digits_{kind}.tflite", model)
        inputs, outputs = expected(model, test_images)
        common.save_array(FOLDER / f"test_inputs_{kind}.npy", inputs)
        common.save_array(FOLDER / f"test_outputs_{kind}.npy", outputs)
        report.append(
            f"digits_{kind}.tflite: {len(model)} bytes, LiteRT: {accuracy(outputs, test_labels)}"
        )
        report.append("  " + " ".join(common.operators(model)))
    return report
