# SPDX-License-Identifier: Apache-2.0
"""Keras twins of networks that PyTorch exported (tests/models/torch): the same layers and weights, converted to TFLite.

What tests/onnx_models/torch_twins.py compares. Integer models have inputs and outputs of float32, as those that onnxruntime
quantises. Keras pads as PyTorch does by a layer of its own, as its applications do.
"""

import common  # noqa: I001  (sets the environment that TensorFlow reads)

import keras
import numpy as np
import onnx
import tensorflow as tf
from keras import layers
from onnx import numpy_helper

FOLDER = common.MODELS_DIR / "twins"
TORCH = common.MODELS_DIR / "torch"


class Weights:
    """Constants of an exported network, in the order in which its nodes read them."""

    def __init__(self, name):
        graph = onnx.load(TORCH / f"{name}_script.onnx").graph
        self.of = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
        for node in graph.node:
            if node.op_type == "Identity":
                self.of[node.output[0]] = self.of[node.input[0]]
        self.nodes = [n for n in graph.node if n.op_type in ("Conv", "Gemm")]

    def next(self, depthwise=False):
        """Kernel and bias of the next convolution or product, as Keras has them."""
        node = self.nodes.pop(0)
        kernel, bias = self.of[node.input[1]], self.of[node.input[2]]
        if kernel.ndim == 2:
            return [kernel.T, bias]
        return [kernel.transpose((2, 3, 0, 1) if depthwise else (2, 3, 1, 0)), bias]


def convolution(x, weights, stride=1, activation=None, depthwise=False):
    kernel, bias = weights.next(depthwise)
    if kernel.shape[0] > 1:
        x = layers.ZeroPadding2D(1)(x)
    if depthwise:
        layer = layers.DepthwiseConv2D(kernel.shape[:2], stride, activation=activation)
    else:
        layer = layers.Conv2D(kernel.shape[3], kernel.shape[:2], stride, activation=activation)
    y = layer(x)
    layer.set_weights([kernel, bias])
    return y


def dense(x, kernel, bias, activation=None):
    layer = layers.Dense(len(bias), activation=activation)
    y = layer(x)
    layer.set_weights([kernel, bias])
    return y


def convolutional():
    w = Weights("convolutional")
    x = first = layers.Input((16, 16, 3), batch_size=1, name="x")
    x = convolution(x, w, 2, "relu6")
    for stride in (1, 2):
        x = convolution(x, w, stride, "relu6", depthwise=True)
        x = convolution(x, w, 1, "relu6")
    return keras.Model(first, dense(layers.GlobalAveragePooling2D()(x), *w.next(), "softmax"))


def residual():
    w = Weights("residual")
    first = layers.Input((12, 12, 1), batch_size=1, name="x")
    x = convolution(first, w, 1, "relu")
    y = convolution(convolution(x, w, 2, "relu"), w)
    x = layers.ReLU()(layers.Add()([y, convolution(x, w, 2)]))
    return keras.Model(first, dense(layers.GlobalAveragePooling2D()(x), *w.next()))


def transformer():
    w = Weights("transformer").of
    heads, length, width = 2, 6, 16
    first = x = layers.Input((length, width), batch_size=1, name="x")
    attention = layers.MultiHeadAttention(heads, width // heads)
    y = attention(x, x)
    kernel = w["onnx::MatMul_169"].reshape(width, 3, heads, -1)
    bias = w["layer.self_attn.in_proj_bias"].reshape(3, heads, -1)
    inner = [part for i in range(3) for part in (kernel[:, i], bias[i])]
    attention.set_weights([*inner, w["layer.self_attn.out_proj.weight"].T.reshape(heads, -1, width),
                           w["layer.self_attn.out_proj.bias"]])

    def norm(x, name):
        layer = layers.LayerNormalization(epsilon=1e-5)
        y = layer(x)
        layer.set_weights([w[f"layer.{name}.weight"], w[f"layer.{name}.bias"]])
        return y

    x = norm(layers.Add()([x, y]), "norm1")
    y = dense(x, w["onnx::MatMul_208"], w["layer.linear1.bias"], "gelu")
    y = dense(y, w["onnx::MatMul_209"], w["layer.linear2.bias"])
    x = norm(layers.Add()([x, y]), "norm2")
    return keras.Model(first, dense(x[:, 0], w["head.weight"].T, w["head.bias"]))


def generate():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for build in (convolutional, residual, transformer):
        for kind in ("f32", "int8_float_io"):
            common.make_deterministic(1)
            model = build()
            converter = tf.lite.TFLiteConverter.from_keras_model(model)
            if kind != "f32":
                random = np.random.default_rng(3)
                samples = [[random.standard_normal(model.inputs[0].shape).astype(np.float32)] for _ in range(20)]
                common.set_up_quantization(converter, samples, kind)
            data = converter.convert()
            (FOLDER / f"{build.__name__}_{kind[:4]}.tflite").write_bytes(data)
            yield f"{build.__name__}_{kind[:4]}.tflite: {len(data)} bytes, {len(common.operators(data))} operators"
