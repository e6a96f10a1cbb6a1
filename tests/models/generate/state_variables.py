# SPDX-License-Identifier: Apache-2.0
"""Functions that keep variables between runs: counters, averages, delays, streamed convolutions.

Each builder gives (function, variables, samples): a tf.function with a signature, the variables that
it reads and writes, and what to calibrate integer forms with (None: float only).
"""

import common  # noqa: I001  (sets the environment that TensorFlow reads)

import numpy as np
import tensorflow as tf

SEED = 31


def spec(name, shape=(1, 4), dtype=tf.float32):
    return tf.TensorSpec(shape, dtype, name=name)


def variable(value, name):
    return tf.Variable(np.asarray(value), trainable=False, name=name)


def zeros(*shape):
    return np.zeros(shape, np.float32)


def draw(rng, *shape):
    """Weights scaled so that results stay around one."""
    fan_in = np.prod(shape[:-1])
    return tf.constant(rng.normal(0, 1.2 / np.sqrt(fan_in), shape).astype(np.float32))


def normal_samples(count=200, **shapes):
    rng = np.random.default_rng(SEED)
    return [{name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
            for _ in range(count)]


# --- Single variables ----------------------------------------------------------------------------


def counter():
    """One more at every run."""
    count = variable(zeros(1), "count")

    @tf.function(input_signature=[spec("x")])
    def function(x):
        count.assign(count + 1.0)
        return {"y": x + count, "runs": tf.identity(count)}

    return function, [count], None


def counter_int32():
    """Integer variables: the number of the run, a scalar, and the sum of what was given."""
    runs, total = variable(np.int32(-3), "runs"), variable(np.zeros((2,), np.int32), "total")

    @tf.function(input_signature=[spec("steps", (2,), tf.int32)])
    def function(steps):
        runs.assign(runs + 1)
        total.assign(total + steps)
        return {"runs": runs.read_value(), "total": total * 3}

    return function, [runs, total], None


def latch():
    """A boolean variable: set by the first large value, for ever."""
    seen = variable(np.zeros((1, 4), np.bool_), "seen")

    @tf.function(input_signature=[spec("x")])
    def function(x):
        before = seen.read_value()
        seen.assign(tf.logical_or(before, tf.greater(x, 2.0)))
        return {"seen": seen.read_value(), "before": before}

    return function, [seen], None


def accumulator():
    """A leaky sum; as int8, the variable is int8 as well."""
    total = variable(zeros(1, 6), "total")

    @tf.function(input_signature=[spec("x", (1, 6))])
    def function(x):
        total.assign(total * 0.75 + x)
        return {"total": tf.nn.relu(total.read_value() + 0.25)}

    return function, [total], normal_samples(x=(1, 6))


def delay():
    """The result is what was given in the run before; the state is the input as it is."""
    kept = variable(zeros(1, 4), "kept")

    @tf.function(input_signature=[spec("x")])
    def function(x):
        y = kept.read_value()
        kept.assign(x)
        return {"y": y}

    return function, [kept], None


def two_variables():
    """A moving average and a decaying peak."""
    mean, peak = variable(zeros(1, 4), "mean"), variable(zeros(1, 4), "peak")

    @tf.function(input_signature=[spec("x")])
    def function(x):
        mean.assign(mean * 0.875 + x * 0.125)
        peak.assign(tf.maximum(peak * 0.9, x))
        return {"above": peak - mean, "mean": mean.read_value()}

    return function, [mean, peak], None


def swap_variables():
    """Each variable takes the other's old value: neither may be written before both are read."""
    a, b = variable(zeros(1, 4), "a"), variable(zeros(1, 4) + 1, "b")

    @tf.function(input_signature=[spec("x")])
    def function(x):
        old_a, old_b = a.read_value(), b.read_value()
        a.assign(old_b)
        b.assign(old_a * 0.5 + x)
        return {"a": old_a, "b": old_b, "sum": a + b}

    return function, [a, b], None


def read_after_assign():
    """Read, written, read, written, read in one run; every value read is a result."""
    v = variable(zeros(1, 4), "v")

    @tf.function(input_signature=[spec("x")])
    def function(x):
        first = v.read_value()
        v.assign(first + x)
        second = v.read_value()
        v.assign(second * 0.5)
        third = v.read_value()
        return {"first": first, "second": second, "third": third, "spread": first - third}

    return function, [v], None


def init_nonzero():
    """The first value is not zero."""
    rng = np.random.default_rng(SEED)
    v = variable(rng.standard_normal((1, 3, 4)).astype(np.float32), "v")

    @tf.function(input_signature=[spec("x", (1, 3, 4))])
    def function(x):
        y = v * x
        v.assign(v * 0.96875 + x * 0.0625)
        return {"y": y}

    return function, [v], None


def sometimes():
    """Written only when asked to, in one branch only."""
    v = variable(zeros(1, 4) + 0.5, "v")

    @tf.function(input_signature=[spec("store", (), tf.bool), spec("x")])
    def function(store, x):
        def keep():
            v.assign(x)
            return x * 2.0

        before = v.read_value()
        y = tf.cond(store, keep, lambda: x - v)
        return {"y": y, "before": before, "after": v.read_value()}

    return function, [v], None


def in_while():
    """Written at every step of a loop, whose trip count is an input."""
    v = variable(zeros(1, 4), "v")

    @tf.function(input_signature=[spec("n", (), tf.int32), spec("x")])
    def function(n, x):
        def step(i, total):
            v.assign(v * 0.5 + x)
            return i + 1, total + v

        _, total = tf.while_loop(lambda i, _: i < n, step, (0, tf.zeros((1, 4))))
        return {"total": total, "v": v.read_value()}

    return function, [v], None


# --- Streamed layers -----------------------------------------------------------------------------


def push(ring, frame):
    """The window with the new frame behind the old ones, of which as many are kept as before."""
    window = tf.concat([ring, frame], axis=1)
    ring.assign(window[:, frame.shape[1]:])
    return window


def stream_conv():
    """Two convolutions over time, one frame a run, then a dense layer on the newest steps."""
    rng = np.random.default_rng(SEED)
    first, second = draw(rng, 3, 1, 8, 12), draw(rng, 5, 1, 12, 1)
    pointwise, dense, bias = draw(rng, 1, 1, 12, 12), draw(rng, 24, 3), draw(rng, 1, 3)
    rings = [variable(zeros(1, 2, 1, 8), "frames"), variable(zeros(1, 4, 1, 12), "first"),
             variable(zeros(1, 1, 12), "second")]

    @tf.function(input_signature=[spec("frame", (1, 1, 8))])
    def function(frame):
        x = push(rings[0], tf.reshape(frame, (1, 1, 1, 8)))
        x = tf.nn.relu(tf.nn.conv2d(x, first, 1, "VALID"))
        x = push(rings[1], x)
        x = tf.nn.depthwise_conv2d(x, second, (1, 1, 1, 1), "VALID")
        x = tf.nn.relu(tf.nn.conv2d(x, pointwise, 1, "VALID"))
        x = push(rings[2], tf.reshape(x, (1, 1, 12)))
        return {"score": tf.matmul(tf.reshape(x, (1, 24)), dense) + bias}

    return function, rings, normal_samples(frame=(1, 1, 8))


def stream_hop():
    """Two frames a run into a window of five, a convolution with stride 2, the mean over time."""
    rng = np.random.default_rng(SEED + 1)
    taps, bias = draw(rng, 3, 1, 6, 10), draw(rng, 1, 10)
    ring = variable(zeros(1, 3, 1, 6), "frames")

    @tf.function(input_signature=[spec("frames", (1, 2, 1, 6))])
    def function(frames):
        x = tf.nn.conv2d(push(ring, frames), taps, (1, 2, 1, 1), "VALID")
        x = tf.nn.relu6(tf.nn.bias_add(x, bias[0]))
        return {"features": tf.reduce_mean(x, axis=(1, 2))}

    return function, [ring], normal_samples(frames=(1, 2, 1, 6))


# --- States as pairs of an input and an output ---------------------------------------------------


def stream_pair():
    """A streamed convolution whose window is given and returned."""
    rng = np.random.default_rng(SEED + 2)
    taps, dense = draw(rng, 4, 1, 8, 10), draw(rng, 10, 3)

    @tf.function(input_signature=[spec("frame", (1, 1, 1, 8)), spec("window_in", (1, 3, 1, 8))])
    def function(frame, window_in):
        x = tf.concat([window_in, frame], axis=1)
        y = tf.nn.relu(tf.nn.conv2d(x, taps, 1, "VALID"))
        return {"score": tf.matmul(tf.reshape(y, (1, 10)), dense), "window_out": x[:, 1:]}

    return function, [], normal_samples(frame=(1, 1, 1, 8), window_in=(1, 3, 1, 8))


def gru(gates_of):
    """One step of a GRU, then a dense layer; what it remembers is given and returned."""
    rng = np.random.default_rng(SEED + 3)
    from_x, from_h, dense = draw(rng, 6, 36), draw(rng, 12, 36), draw(rng, 12, 4)

    @tf.function(input_signature=[spec("x", (1, 6)), spec("h_in", (1, 12))])
    def function(x, h_in):
        z, r, cx, ch = gates_of(x, h_in, from_x, from_h)
        c = tf.tanh(cx + r * ch)
        h_out = z * h_in + (1.0 - z) * c
        return {"y": tf.matmul(h_out, dense), "h_out": h_out}

    return function


def gates_apart(x, h, from_x, from_h):
    zx, rx, cx = tf.split(tf.matmul(x, from_x), 3, axis=1)
    zh, rh, ch = tf.split(tf.matmul(h, from_h), 3, axis=1)
    return tf.sigmoid(zx + zh), tf.sigmoid(rx + rh), cx, ch


def gates_joined(x, h, from_x, from_h):
    both = tf.concat([from_x[:, :24], from_h[:, :24]], 0)
    z, r = tf.split(tf.sigmoid(tf.matmul(tf.concat([x, h], 1), both)), 2, axis=1)
    return z, r, tf.matmul(x, from_x[:, 24:]), tf.matmul(h, from_h[:, 24:])


def gru_pair():
    """Calibrated with the values that a sequence has, so that what is returned has the scale of
    what is given."""
    function = gru(gates_apart)
    model = common.convert(function)
    names = common.signature_names(model)
    step = tf.lite.Interpreter(
        model_content=model,
        experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    step.allocate_tensors()
    samples, h = [], zeros(1, 12)
    for sample in normal_samples(300, x=(1, 6)):
        samples.append({"x": sample["x"], "h_in": h})
        results = common.run(step, [samples[-1][name] for name in names[0]])
        h = results[names[1].index("h_out")]
    return function, [], samples


def gru_scales():
    """As above with other matrices, calibrated with noise: as int8, what is returned has another
    scale than what is given, and is not a state as it is."""
    return gru(gates_joined), [], normal_samples(x=(1, 6), h_in=(1, 12))
