# SPDX-License-Identifier: Apache-2.0
"""Builds and converts the two-input time-series graph in tests/models/gadget.

Its weights are random: it has no task, it has the operators that a person who writes a model by
hand in TensorFlow gets from the converter, wired as such models are (branches, two inputs, two
outputs, gates, skip connections, shape shuffling).
"""

import common  # noqa: I001  (sets the environment that TensorFlow reads)

import numpy as np
import tensorflow as tf

FOLDER = common.MODELS_DIR / "gadget"
SEED = 7
STEPS = 32  # of the window
AXES = 6  # three of the accelerometer, three of the gyroscope
SETTINGS = 4
CLASSES = 5
CALIBRATION_COUNT = 400
SAMPLE_COUNT = 20


def weights(rng):
    """Random weights by name, scaled so that activations stay around one."""

    def draw(*shape):
        fan_in = np.prod(shape[:-1])
        return tf.constant(rng.normal(0, 1.4 / np.sqrt(fan_in), shape).astype(np.float32))

    return {
        "accel": draw(5, 3, 8),
        "gyro": draw(3, 3, 8),
        "gyro_bias": draw(8),
        "mix": draw(3, 1, 8, 1),
        "settings": draw(SETTINGS, 8),
        "settings_bias": draw(8),
        "state": draw(24, CLASSES),
        "state_bias": draw(CLASSES),
        "offsets": draw(1, 1, 8),
    }


def make_function(w):
    """The graph; `motion` is [1, STEPS, AXES] and `settings` [1, SETTINGS]."""

    @tf.function(
        input_signature=[
            tf.TensorSpec((1, STEPS, AXES), tf.float32, name="motion"),
            tf.TensorSpec((1, SETTINGS), tf.float32, name="settings"),
        ]
    )
    def gadget(motion, settings):
        accel, gyro = tf.split(motion, 2, axis=2)

        # Accelerometer: a strided 1-D convolution, made free of drift, with a steep knee.
        a = tf.nn.conv1d(accel, w["accel"], stride=2, padding="SAME")
        a = a - tf.reduce_mean(a, axis=1, keepdims=True)
        a = tf.nn.leaky_relu(a, 0.1)

        # Gyroscope: every second step, history of two steps, gates the accelerometer.
        g = gyro[:, ::2, :]
        g = tf.pad(g, [[0, 0], [2, 0], [0, 0]])
        g = tf.nn.conv1d(g, w["gyro"], stride=1, padding="VALID") + w["gyro_bias"]
        gated = a * tf.sigmoid(g)
        bent = gated * tf.nn.relu6(gated + 3.0) * (1.0 / 6.0)  # becomes HARD_SWISH

        # Coarse and fine view of the same signal.
        frames = tf.reshape(bent, (1, 16, 1, 8))
        coarse = tf.nn.avg_pool2d(frames, (4, 1), (4, 1), "VALID")
        coarse = tf.nn.depthwise_conv2d(coarse, w["mix"], (1, 1, 1, 1), "SAME")
        wide = tf.compat.v1.image.resize_nearest_neighbor(coarse, (16, 1))
        joined = tf.maximum(tf.reshape(wide, (1, 16, 8)), bent)
        joined = tf.minimum(joined, w["offsets"] + 1.5)

        # One number a step, for a display: the output `trend`.
        turned = tf.transpose(joined, (0, 2, 1))
        first, last = tf.unstack(turned, axis=1)[0], turned[:, -1, :]
        trend = tf.tanh(tf.stack([first, last], axis=1))

        # One decision for the window: the output `state`.
        s = tf.nn.relu(tf.matmul(settings, w["settings"]) + w["settings_bias"])
        peak = tf.reshape(tf.nn.max_pool2d(frames, (16, 1), (16, 1), "VALID"), (1, 8))
        features = tf.concat([s, tf.reduce_mean(joined, axis=1), peak], axis=1)
        state = tf.nn.softmax(tf.matmul(features, w["state"]) + w["state_bias"])
        return {"state": state, "trend": trend}

    return gadget


def draw_inputs(rng, count):
    """`count` samples: a few sine waves with noise on each axis, and settings in -1..1."""
    time = np.arange(STEPS)[None, :, None]
    rate = rng.uniform(0.05, 0.9, (count, 1, AXES))
    phase = rng.uniform(0, 2 * np.pi, (count, 1, AXES))
    size = rng.uniform(0.2, 1.5, (count, 1, AXES))
    motion = size * np.sin(rate * time + phase) + rng.normal(0, 0.1, (count, STEPS, AXES))
    settings = rng.uniform(-1, 1, (count, SETTINGS))
    return motion.astype(np.float32), settings.astype(np.float32)


def save_expected(kind, model, values):
    """Writes the inputs as the model takes them and LiteRT's outputs; `values` by input name."""
    interpreter = common.reference(model)
    input_names, output_names = common.signature_names(model)
    inputs = []
    for name, detail in zip(input_names, interpreter.get_input_details(), strict=True):
        real = values[name]
        inputs.append(real if detail["dtype"] == np.float32 else common.quantize(real, detail))
        common.save_array(FOLDER / f"inputs_{kind}_{name}.npy", inputs[-1])
    runs = [
        common.run(interpreter, [value[i : i + 1] for value in inputs]) for i in range(SAMPLE_COUNT)
    ]
    for index, name in enumerate(output_names):
        stacked = np.concatenate([outputs[index] for outputs in runs])
        common.save_array(FOLDER / f"outputs_{kind}_{name}.npy", stacked)


def generate():
    """Writes the folder's models, inputs and expected outputs; returns the report's lines."""
    common.make_deterministic(SEED)
    rng = np.random.default_rng(SEED)
    function = make_function(weights(rng))
    motion, settings = draw_inputs(rng, CALIBRATION_COUNT)
    samples = [
        {"motion": motion[i : i + 1], "settings": settings[i : i + 1]}
        for i in range(CALIBRATION_COUNT)
    ]
    models = {kind: common.convert(function, (), samples, kind) for kind in ("f32", "int8")}
    motion, settings = draw_inputs(rng, SAMPLE_COUNT)
    report = []
    for kind, model in models.items():
        common.write(FOLDER / f"gadget_{kind}.tflite", model)
        save_expected(kind, model, {"motion": motion, "settings": settings})
        report.append(f"gadget_{kind}.tflite: {len(model)} bytes")
        report.append("  " + " ".join(common.operators(model)))
    return report
