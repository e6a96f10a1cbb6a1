# SPDX-License-Identifier: Apache-2.0
"""Functions with branches and loops that are decided at run time. Builders as in state_variables."""

import common  # noqa: I001  (sets the environment that TensorFlow reads)

import numpy as np
import tensorflow as tf
from state_variables import SEED, draw, normal_samples, spec, variable, zeros

INT = tf.int32


def weights(number, *shape):
    """Not a tensor yet: one that a branch makes is the branch's own, others are captured."""
    return draw(np.random.default_rng(SEED + 100 + number), *shape).numpy()


# --- Branches ------------------------------------------------------------------------------------


def if_then_else():
    """The condition is an input; both branches capture a value computed before."""
    w, row = weights(0, 4, 4), weights(1, 1, 4)

    @tf.function(input_signature=[spec("flag", (), tf.bool), spec("x")])
    def function(flag, x):
        outer = x * 0.5 + row
        y = tf.cond(flag, lambda: tf.nn.relu(tf.matmul(x, tf.constant(w))) + outer,
                    lambda: outer * outer - x)
        return {"y": y + 1.0}

    return function, [], None


def if_on_sum():
    """The condition is computed: two different layers, whose weights are the branches' own."""
    w, v = weights(2, 4, 6), weights(3, 4, 6)

    @tf.function(input_signature=[spec("x")])
    def function(x):
        y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.matmul(x, tf.constant(w)),
                    lambda: tf.nn.relu(tf.matmul(x, tf.constant(v))))
        return {"y": y}

    return function, [], normal_samples(x=(1, 4))


def if_captured():
    """As above, but the branches capture the weights: constants that are operands of the IF."""
    w, v = tf.constant(weights(2, 4, 6)), tf.constant(weights(3, 4, 6))

    @tf.function(input_signature=[spec("x")])
    def function(x):
        y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.matmul(x, w),
                    lambda: tf.nn.relu(-tf.matmul(x, v)))
        return {"y": y}

    return function, [], normal_samples(x=(1, 4))


def if_two_results():
    """Results of several types; a branch gives an argument or a constant as it is."""

    @tf.function(input_signature=[spec("flag", (), tf.bool), spec("x"), spec("y")])
    def function(flag, x, y):
        small, count, same = tf.cond(
            flag, lambda: (x, tf.constant(7), y), lambda: (x - y, tf.constant(-1), y))
        return {"small": small, "count": count + 1, "same": same * 2.0}

    return function, [], None


def if_in_if():
    """Four ways, of which two join."""
    row = weights(4, 1, 4)

    @tf.function(input_signature=[spec("a", (), tf.bool), spec("b", (), tf.bool), spec("x")])
    def function(a, b, x):
        def inner():
            return tf.cond(b, lambda: x * row, lambda: x + row)

        y = tf.cond(a, lambda: inner() * 2.0, lambda: tf.cond(b, lambda: row - x, lambda: row * 3.0))
        return {"y": y}

    return function, [], None


# --- Loops ---------------------------------------------------------------------------------------


def while_count():
    """The trip count is an input, 0 too; the loop captures a constant and an outer value."""
    w = weights(5, 4, 4)

    @tf.function(input_signature=[spec("n", (), INT), spec("x")])
    def function(n, x):
        outer = x * 0.25

        def step(i, v):
            return i + 1, tf.matmul(v, w) + outer

        i, y = tf.while_loop(lambda i, _: i < n, step, (0, x))
        return {"y": y, "steps": i}

    return function, [], None


def while_until():
    """Halves until the sum of squares is small: the data decide."""

    @tf.function(input_signature=[spec("x")])
    def function(x):
        def going_on(_, v):
            return tf.reduce_sum(v * v) > 0.5

        steps, y = tf.while_loop(going_on, lambda i, v: (i + 1, v * 0.5), (0, x))
        return {"y": y, "steps": steps}

    return function, [], None


def while_zero_trips():
    """The loop never runs (the count is never positive): what comes out is what went in."""

    @tf.function(input_signature=[spec("n", (), INT), spec("x")])
    def function(n, x):
        i, y = tf.while_loop(lambda i, _: i < n, lambda i, v: (i + 1, v + 1.0), (0, x * 2.0))
        return {"y": y, "steps": i}

    return function, [], None


def while_bool():
    """The condition itself is carried, with a float and an integer."""

    @tf.function(input_signature=[spec("x"), spec("limit", ())])
    def function(x, limit):
        def step(_, total, i):
            total = total + tf.maximum(x, 0.0) * 0.5 + 0.25
            i = i + 1
            far = tf.reduce_max(total) < limit
            return tf.logical_and(far, i < 9), total, i

        _, total, steps = tf.while_loop(
            lambda on, *_: on, step, (tf.constant(True), tf.zeros((1, 4)), 0))
        return {"total": total, "steps": steps}

    return function, [], None


def while_exchange():
    """Carried values change places at every step: neither may be written before both are read."""

    @tf.function(input_signature=[spec("n", (), INT), spec("a"), spec("b"), spec("c")])
    def function(n, a, b, c):
        def step(i, a, b, c):
            return i + 1, b, c, a * 0.5 + b

        _, a, b, c = tf.while_loop(lambda i, *_: i < n, step, (0, a, b, c))
        return {"a": a, "b": b, "c": c}

    return function, [], None


def while_shift():
    """As above, the other way round: each value takes the one before it."""

    @tf.function(input_signature=[spec("n", (), INT), spec("a"), spec("b"), spec("c")])
    def function(n, a, b, c):
        def step(i, a, b, c):
            return i + 1, b * 0.5 + c, a, b

        _, a, b, c = tf.while_loop(lambda i, *_: i < n, step, (0, a, b, c))
        return {"a": a, "b": b, "c": c}

    return function, [], None


def while_constants():
    """Every carried value begins as a constant, two of them as the same one."""
    row = weights(6, 1, 4)

    @tf.function(input_signature=[spec("n", (), INT), spec("x")])
    def function(n, x):
        def step(i, a, b):
            return i + 1, a + x, b * 0.5 + a

        _, a, b = tf.while_loop(lambda i, *_: i < n, step, (0, row, row))
        return {"a": a, "b": b, "start": row + x}

    return function, [], None


def while_conv():
    """A convolution applied again and again to its own result."""
    taps = weights(7, 3, 3, 2, 2)

    @tf.function(input_signature=[spec("n", (), INT), spec("x", (1, 6, 6, 2))])
    def function(n, x):
        def step(i, v):
            return i + 1, tf.nn.relu(tf.nn.conv2d(v, taps, 1, "SAME"))

        _, y = tf.while_loop(lambda i, _: i < n, step, (0, x))
        return {"y": y}

    return function, [], None


def while_in_while():
    """Loops of m steps in n steps; the inner count grows with the outer one."""

    @tf.function(input_signature=[spec("n", (), INT), spec("m", (), INT), spec("x")])
    def function(n, m, x):
        def outer(i, v, total):
            def inner(j, u):
                return j + 1, u * 0.5 + x

            j, v = tf.while_loop(lambda j, _: j < m + i, inner, (0, v))
            return i + 1, v + 1.0, total + j

        _, y, total = tf.while_loop(lambda i, *_: i < n, outer, (0, x, 0))
        return {"y": y, "total": total}

    return function, [], None


def if_in_while():
    """A branch at every step: one way before step k, the other from there on."""

    @tf.function(input_signature=[spec("n", (), INT), spec("k", (), INT), spec("x")])
    def function(n, k, x):
        def step(i, count, v):
            count, v = tf.cond(i < k, lambda: (count * 2 + 1, v + x), lambda: (count - 3, v * 0.5))
            return i + 1, count, v

        _, count, y = tf.while_loop(lambda i, *_: i < n, step, (0, 0, x))
        return {"y": y, "count": count}

    return function, [], None


def collatz():
    """An integer's way to one, and what it did to a vector: the data decide at every step."""

    @tf.function(input_signature=[spec("n", (), INT), spec("x")])
    def function(n, x):
        def step(i, n, v):
            odd = tf.equal(tf.math.floormod(n, 2), 1)
            n, v = tf.cond(odd, lambda: (n * 3 + 1, v + x),
                           lambda: (tf.math.floordiv(n, 2), v * 0.5))
            return i + 1, n, v

        steps, _, y = tf.while_loop(lambda i, n, _: n > 1, step, (0, n, x))
        return {"y": y, "steps": steps}

    return function, [], None


def while_in_if():
    """A loop in one branch, a layer in the other."""
    w = weights(8, 4, 4)

    @tf.function(input_signature=[spec("flag", (), tf.bool), spec("n", (), INT), spec("x")])
    def function(flag, n, x):
        def loop():
            return tf.while_loop(lambda i, _: i < n, lambda i, v: (i + 1, v * 0.75 + x), (0, x))[1]

        return {"y": tf.cond(flag, loop, lambda: tf.matmul(x, tf.constant(w)))}

    return function, [], None


def everything():
    """A variable that is written in a branch in a loop, a window, and a loop over both."""
    taps = weights(9, 4, 4)
    level, ring = variable(zeros(1, 4), "level"), variable(zeros(1, 3, 4), "ring")

    @tf.function(input_signature=[spec("n", (), INT), spec("x")])
    def function(n, x):
        window = tf.concat([ring, tf.reshape(x, (1, 1, 4))], axis=1)
        ring.assign(window[:, 1:])

        def step(i, total):
            def raise_level():
                level.assign(level * 0.5 + x)
                return total + level

            total = tf.cond(tf.reduce_sum(total) > 0.0, lambda: total - level, raise_level)
            return i + 1, total

        _, total = tf.while_loop(lambda i, _: i < n, step, (0, tf.reduce_sum(window, axis=1)))
        return {"total": tf.matmul(total, taps), "level": level.read_value()}

    return function, [level, ring], None
