# SPDX-License-Identifier: Apache-2.0
"""Trains and converts the model of docs/from-keras.md, which shows most of this file.

It is written as a user would: a Keras model with an open batch, the converter's usual settings.
"""

import common  # noqa: I001  (sets the environment that TensorFlow reads)

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

FOLDER = common.MODELS_DIR / "from_keras"
SEED = 1
SAMPLES = 5


def train():
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)[..., np.newaxis]  # 1797 of 8x8x1, from 0 to 1
    layers = tf.keras.layers
    network = tf.keras.Sequential([
        layers.Input((8, 8, 1), name="image"),
        layers.Conv2D(8, 3, padding="same", activation="relu"),
        layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(10, activation="softmax", name="digit"),
    ])
    network.compile("adam", "sparse_categorical_crossentropy")
    network.fit(images[:1400], digits.target[:1400], epochs=40, verbose=0)
    return network, images, digits.target


def convert(network, images):
    converter = tf.lite.TFLiteConverter.from_keras_model(network)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([image[np.newaxis]] for image in images[:200])
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.int8
    converter.inference_output_type = tf.int8
    return converter.convert()


def run(model, images):
    """The model's inputs for `images` and what LiteRT's reference kernels make of them."""
    interpreter = common.reference(model)
    inputs = common.quantize(images, interpreter.get_input_details()[0])
    outputs = [common.run(interpreter, [image[np.newaxis]])[0][0] for image in inputs]
    return inputs, np.stack(outputs)


def generate():
    """Writes the folder's model, inputs and labels; returns the report's lines."""
    common.make_deterministic(SEED)
    network, images, labels = train()
    tests, right = images[1400:], labels[1400:]
    model = convert(network, images)
    inputs, outputs = run(model, tests)
    common.write(FOLDER / "reader.tflite", model)
    common.save_array(FOLDER / "images.npy", inputs[:SAMPLES])
    common.write(FOLDER / "labels.txt", b"zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n")

    def share(answers):
        return f"{int((answers.argmax(axis=1) == right).sum())} of {len(right)}"

    return [f"from_keras: in Keras {share(network.predict(tests, verbose=0))}, "
            f"as int8 with LiteRT {share(outputs)}; {len(model)} bytes",
            "  " + " ".join(common.operators(model)),
            f"  the first {SAMPLES} are {right[:SAMPLES].tolist()}"]
