# SPDX-License-Identifier: Apache-2.0
"""The single-layer graphs that tests/models/ops holds: one function for each, in TensorFlow.

A case is written with the public TensorFlow call that a user would write; which operators the
converter makes of it is the point of having it. Inputs are float32 unless the case says otherwise.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import tensorflow as tf

BOTH = ("f32", "int8")
INPUT_NAMES = ("x", "y")


@dataclasses.dataclass(frozen=True)
class Case:
    """`build(draw, *inputs)` makes the graph; `draw(*shape)` gives it random constants."""

    name: str
    shapes: tuple
    build: Callable
    kinds: tuple = BOTH
    dtype: tf.DType = tf.float32
    span: float = 1.0  # inputs are drawn from -span..span


CASES = []


def case(*shapes, name=None, **options):
    """Registers the decorated function under its name; `shapes` are those of its inputs."""

    def register(function):
        CASES.append(Case(name or function.__name__, shapes, function, **options))
        return function

    return register


def conv(x, w, strides=1, padding="SAME", dilations=1):
    return tf.nn.conv2d(x, w, strides, padding, dilations=dilations)


def depthwise(x, w, stride=1, padding="SAME", dilations=1):
    """DEPTHWISE_CONV_2D; dilations is a number."""
    return tf.nn.depthwise_conv2d(
        x, w, (1, stride, stride, 1), padding, dilations=(dilations, dilations)
    )


# --- CONV_2D ----------------------------------------------------------------------------------


@case((1, 6, 7, 3))
def conv_same(draw, x):
    return conv(x, draw(3, 3, 3, 4)) + draw(4)


@case((1, 7, 6, 2))
def conv_same_stride2(draw, x):
    return tf.nn.relu(conv(x, draw(3, 3, 2, 3), 2) + draw(3))


@case((1, 7, 6, 2))
def conv_valid_stride2(draw, x):
    return conv(x, draw(2, 3, 2, 5), 2, "VALID") + draw(5)


@case((1, 9, 5, 2))
def conv_rectangular(draw, x):
    return conv(x, draw(5, 2, 2, 3), (1, 3, 1, 1)) + draw(3)


@case((1, 4, 5, 6))
def conv_1x1_relu6(draw, x):
    return tf.nn.relu6(4.0 * (conv(x, draw(1, 1, 6, 5)) + draw(5)))


@case((1, 4, 4, 3))
def conv_relu_n1_to_1(draw, x):
    y = conv(x, draw(2, 2, 3, 4), padding="VALID") + draw(4)
    return tf.minimum(tf.maximum(y, -1.0), 1.0)


@case((1, 5, 5, 2))
def conv_no_bias(draw, x):
    return conv(x, draw(3, 3, 2, 2), padding="VALID")


@case((1, 9, 9, 2))
def conv_dilated_same(draw, x):
    return tf.nn.relu(conv(x, draw(3, 3, 2, 3), dilations=2) + draw(3))


@case((1, 9, 8, 2))
def conv_dilated_valid(draw, x):
    return conv(x, draw(3, 2, 2, 3), padding="VALID", dilations=(1, 2, 3, 1)) + draw(3)


@case((1, 8, 8, 2))
def conv_dilated_wrapped(draw, x):
    """As older versions of TensorFlow store a dilated convolution."""
    blocks = tf.space_to_batch(x, (2, 2), ((2, 2), (2, 2)))
    return tf.batch_to_space(conv(blocks, draw(3, 3, 2, 3), padding="VALID"), (2, 2), ((0, 0),) * 2)


@case((1, 9, 9, 3))
def depthwise_dilated_wrapped(draw, x):
    blocks = tf.space_to_batch(x, (2, 2), ((0, 1), (0, 1)))
    y = depthwise(blocks, draw(3, 3, 3, 1), padding="VALID")
    return tf.batch_to_space(y, (2, 2), ((0, 1), (0, 1))) + draw(3)


@case((1, 5, 5, 6))
def conv_groups(draw, x):
    return conv(x, draw(3, 3, 2, 9)) + draw(9)


@case((1, 7, 7, 2))
def conv_after_pad(draw, x):
    """This padding is that of SAME: the converter removes the PAD."""
    padded = tf.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return conv(padded, draw(3, 3, 2, 4), 2, "VALID") + draw(4)


@case((1, 8, 8, 2))
def conv_after_pad_uneven(draw, x):
    """Padding as PyTorch has it, of which SAME uses the other side: the PAD stays."""
    padded = tf.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return conv(padded, draw(3, 3, 2, 4), 2, "VALID") + draw(4)


@case((1, 12, 3))
def conv1d_causal_dilated(draw, x):
    padded = tf.pad(x, ((0, 0), (4, 0), (0, 0)))
    return tf.nn.relu(tf.nn.conv1d(padded, draw(3, 3, 4), 1, "VALID", dilations=2) + draw(4))


@case((2, 5, 4, 2))
def conv_batch2(draw, x):
    return conv(x, draw(3, 3, 2, 3)) + draw(3)


@case((None, 5, 4, 2))
def conv_dynamic_batch(draw, x):
    return conv(x, draw(3, 3, 2, 3)) + draw(3)


# --- DEPTHWISE_CONV_2D ------------------------------------------------------------------------


@case((1, 6, 5, 4))
def depthwise_same(draw, x):
    return tf.nn.relu6(3.0 * (depthwise(x, draw(3, 3, 4, 1)) + draw(4)))


@case((1, 7, 8, 3))
def depthwise_valid_stride2(draw, x):
    return depthwise(x, draw(3, 3, 3, 1), 2, "VALID") + draw(3)


@case((1, 5, 5, 2))
def depthwise_multiplier3(draw, x):
    return depthwise(x, draw(3, 3, 2, 3)) + draw(6)


@case((1, 6, 6, 1))
def depthwise_one_channel(draw, x):
    return depthwise(x, draw(3, 3, 1, 4), 2) + draw(4)


@case((1, 8, 8, 3))
def depthwise_dilated(draw, x):
    return depthwise(x, draw(3, 3, 3, 1), dilations=2) + draw(3)


# --- FULLY_CONNECTED --------------------------------------------------------------------------


@case((1, 10))
def dense(draw, x):
    return tf.matmul(x, draw(10, 7)) + draw(7)


@case((3, 6))
def dense_relu_batch3(draw, x):
    return tf.nn.relu(tf.matmul(x, draw(6, 5)) + draw(5))


@case((1, 9))
def dense_no_bias(draw, x):
    return tf.matmul(x, draw(9, 4))


@case((1, 4, 6))
def dense_rank3(draw, x):
    return tf.tensordot(x, draw(6, 5), 1) + draw(5)


@case((None, 3, 2, 2))
def dense_dynamic_flatten(draw, x):
    return tf.matmul(tf.reshape(x, (-1, 12)), draw(12, 3)) + draw(3)


# --- pools ------------------------------------------------------------------------------------


@case((1, 5, 7, 3))
def avg_pool_same(draw, x):
    return tf.nn.avg_pool2d(x, 3, 2, "SAME")


@case((1, 6, 6, 2))
def avg_pool_valid(draw, x):
    return tf.nn.avg_pool2d(x, (3, 2), (1, 2), "VALID")


@case((1, 5, 7, 3))
def max_pool_same(draw, x):
    return tf.nn.max_pool2d(x, (2, 3), 2, "SAME")


@case((1, 6, 7, 2))
def max_pool_overlapping(draw, x):
    return tf.nn.relu(tf.nn.max_pool2d(x, 3, 1, "VALID"))


# --- arithmetic -------------------------------------------------------------------------------


@case((1, 4, 3, 2), (1, 4, 3, 2))
def add(draw, x, y):
    return x + 2.0 * y


@case((1, 4, 3, 2), (1, 4, 3, 2))
def add_relu6(draw, x, y):
    return tf.nn.relu6(x + y)


@case((1, 4, 1, 3), (1, 1, 5, 3))
def add_broadcast_both(draw, x, y):
    return tf.nn.relu(x + y)


@case((1, 4, 3, 5))
def add_channel_constant(draw, x):
    return x + draw(5)


@case((1, 4, 3), (3,))
def add_rank1(draw, x, y):
    return x + y


@case((1, 4, 3, 2))
def sub_from_scalar(draw, x):
    return 1.5 - x


@case((1, 4, 3, 2), (1, 1, 1, 2))
def sub_broadcast_relu(draw, x, y):
    return tf.nn.relu(x - y)


@case((1, 4, 3, 5), (1, 1, 1, 5))
def mul_channel_gate(draw, x, y):
    return x * y


@case((1, 3, 4), (1, 3, 4))
def mul_relu6(draw, x, y):
    return tf.nn.relu6(x * y)


@case((1, 3, 4), (1, 3, 4), span=4.0)
def maximum(draw, x, y):
    return tf.maximum(x, y)


@case((1, 3, 4, 2), span=4.0)
def minimum_broadcast(draw, x):
    return tf.minimum(x, draw(4, 1))


# --- MEAN -------------------------------------------------------------------------------------


@case((1, 5, 4, 3))
def mean_hw_keep(draw, x):
    return tf.reduce_mean(x, (1, 2), keepdims=True)


@case((1, 5, 4, 3))
def mean_hw_drop(draw, x):
    return tf.reduce_mean(x, (1, 2))


@case((2, 3, 7))
def mean_last(draw, x):
    return tf.reduce_mean(x, -1)


@case((2, 3, 2, 2))
def mean_axes_0_3(draw, x):
    return tf.reduce_mean(x, (0, -1), keepdims=True)


# --- slices, splits and joins -----------------------------------------------------------------


@case((1, 6, 7, 3))
def strided_slice_masks(draw, x):
    return x[:, 1:, 1:6:2, :-1]


@case((1, 5, 4, 3))
def strided_slice_shrink(draw, x):
    return x[:, -2, ..., 1:]


@case((2, 5, 3))
def strided_slice_backwards(draw, x):
    return x[:, ::-1, 2:0:-1]


@case((1, 5, 3))
def strided_slice_new_axis(draw, x):
    return x[:, 2:4, tf.newaxis, :]


@case((1, 5, 4, 3))
def slice_rest(draw, x):
    return tf.slice(x, (0, 1, 0, 1), (1, 3, -1, -1))


@case((1, 3, 2), (1, 3, 2))
def pack_axis1(draw, x, y):
    return tf.stack((x, y, x), axis=1)


@case((1, 3, 2), (1, 3, 2))
def pack_last(draw, x, y):
    return tf.stack((x, y), axis=-1)


@case((1, 3, 4))
def unpack_axis1(draw, x):
    return tuple(tf.unstack(x, axis=1))


@case((2, 4, 2))
def unpack_last(draw, x):
    a, b = tf.unstack(x, axis=-1)
    return a - b


@case((1, 3, 4))
def unpack_one_used(draw, x):
    return tf.unstack(x, axis=1)[1]


@case((1, 6, 4))
def split_one_used(draw, x):
    return tf.nn.relu(tf.split(x, 3, axis=1)[2])


@case((1, 4, 6))
def split_last(draw, x):
    return tuple(tf.split(x, 3, axis=-1))


@case((1, 7, 3))
def split_sizes(draw, x):
    return tuple(tf.split(x, (2, 1, 4), axis=1))


@case((1, 3, 2, 2), (1, 3, 2, 3))
def concat_channels(draw, x, y):
    return tf.concat((x, y), axis=-1)


@case((1, 2, 3), (1, 1, 3))
def concat_ranges_differ(draw, x, y):
    return tf.concat((x, 8.0 * y, draw(1, 2, 3)), axis=1)


# --- shapes -----------------------------------------------------------------------------------


@case((1, 3, 4, 2))
def pad_hw(draw, x):
    return tf.pad(x, ((0, 0), (1, 2), (0, 1), (0, 0)))


@case((1, 3, 2, 3))
def pad_value_channels(draw, x):
    return tf.pad(x, ((0, 0), (0, 0), (1, 0), (0, 2)), constant_values=0.75)


@case((1, 4, 3, 2))
def reshape_flatten(draw, x):
    return tf.reshape(x, (1, -1))


@case((1, 4, 1, 3))
def squeeze(draw, x):
    return tf.squeeze(x, 2)


@case((1, 4, 3))
def expand_dims(draw, x):
    return tf.expand_dims(x, -1)


@case((1, 3, 4, 2))
def transpose_nchw(draw, x):
    return tf.transpose(x, (0, 3, 1, 2))


@case((2, 3, 4))
def transpose_reverse(draw, x):
    return tf.transpose(x)


def resize_nearest(x, size, **options):
    return tf.raw_ops.ResizeNearestNeighbor(images=x, size=size, **options)


@case((1, 3, 4, 2))
def resize_nearest_up(draw, x):
    return resize_nearest(x, (6, 7))


@case((1, 3, 4, 2))
def resize_nearest_half_pixel(draw, x):
    return resize_nearest(x, (5, 2), half_pixel_centers=True)


@case((1, 3, 4, 2))
def resize_nearest_corners(draw, x):
    return resize_nearest(x, (7, 6), align_corners=True)


# --- activations ------------------------------------------------------------------------------


@case((1, 16), span=4.0)
def relu(draw, x):
    return tf.nn.relu(x)


@case((1, 16), span=8.0)
def relu6(draw, x):
    return tf.nn.relu6(x)


@case((1, 16), span=2.0)
def relu_n1_to_1(draw, x):
    return tf.maximum(tf.minimum(x, 1.0), -1.0)


@case((1, 16), span=4.0)
def leaky_relu(draw, x):
    return tf.nn.leaky_relu(x, 0.3)


@case((1, 16), span=5.0)
def hard_swish(draw, x):
    return x * tf.nn.relu6(x + 3.0) * (1.0 / 6.0)


@case((1, 16), span=7.0)
def logistic(draw, x):
    return tf.sigmoid(x)


@case((1, 16), span=4.0)
def tanh(draw, x):
    return tf.tanh(x)


@case((2, 9), span=6.0)
def softmax(draw, x):
    return tf.nn.softmax(x)


@case((1, 2, 3, 4), span=3.0)
def softmax_rank4(draw, x):
    return tf.nn.softmax(x)


# --- integers and other types -----------------------------------------------------------------


@case((2, 9))
def argmax_last(draw, x):
    return tf.argmax(x, -1, output_type=tf.int32)


@case((1, 4, 5))
def argmax_axis1_int64(draw, x):
    return tf.argmax(x, 1)


@case((1, 8), kinds=("f32",), dtype=tf.int32, span=100.0)
def cast_int32_to_float(draw, x):
    return tf.cast(x, tf.float32)


@case((1, 8), kinds=("f32",), span=100.0)
def cast_float_to_int32(draw, x):
    return tf.cast(x, tf.int32)


@case((1, 8), kinds=("f32",), dtype=tf.uint8, span=255.0)
def cast_uint8_to_float(draw, x):
    return tf.cast(x, tf.float32)


@case((1, 8), kinds=("f32",), dtype=tf.bool)
def cast_bool_to_float(draw, x):
    return tf.cast(x, tf.float32)


@case((1, 8), kinds=("f32",), dtype=tf.int8, span=100.0)
def cast_int8_to_float(draw, x):
    return tf.cast(x, tf.float32)


@case((1, 5, 5, 2), kinds=("int8_float_io", "int8_uint8_io", "int16"))
def conv_io(draw, x):
    return tf.nn.relu(conv(x, draw(3, 3, 2, 3)) + draw(3))


@case((1, 10), kinds=("int8_float_io", "int8_uint8_io", "int16"))
def dense_io(draw, x):
    return tf.matmul(x, draw(10, 7)) + draw(7)


def inputs(case, rng, count):
    """`count` samples for a case: dictionaries by input name; a free batch is one."""
    low = 0 if case.dtype in (tf.bool, tf.uint8) else -case.span
    samples = []
    for _ in range(count):
        sample = {}
        for name, shape in zip(INPUT_NAMES, case.shapes, strict=False):
            fixed = tuple(1 if size is None else size for size in shape)
            values = rng.uniform(low, case.span, fixed)
            sample[name] = values.round() if case.dtype.is_bool else values
            sample[name] = sample[name].astype(case.dtype.as_numpy_dtype)
        samples.append(sample)
    return samples


def constants(rng):
    """The `draw` of a case: constants of a size that keeps results of a layer around one."""

    def draw(*shape):
        bound = 1.5 / np.sqrt(max(1, np.prod(shape[:-1])))
        return tf.constant(rng.uniform(-bound, bound, shape).astype(np.float32))

    return draw
