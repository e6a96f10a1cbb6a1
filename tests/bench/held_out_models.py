# SPDX-License-Identifier: Apache-2.0
"""Models that no cost of compiler/cores was chosen with: kinds of estimates.py with other seeds and shapes.

A cost that is mended because of one of them must hold for its whole kind, or the set no longer tells anything.
"""
import pathlib
import sys
import tempfile

import estimated_models as made
import numpy as np

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "onnx_models"), str(TESTS / "models" / "generate")]


def lstm(kind, **sizes):
    import state_lstm
    return state_lstm.model([state_lstm.Layer(**sizes)], kind)


def gru(inputs, cells, times):
    """Float, as PyTorch exports it."""
    import networks
    m, rng = networks.Maker(903), np.random.default_rng(903)
    w, r, b = (m.const(rng.uniform(-1, 1, shape).astype(np.float32) / np.float32(cells ** 0.5))
               for shape in ((1, 3 * cells, inputs), (1, 3 * cells, cells), (1, 6 * cells)))
    m.op("GRU", "x", w, r, b, hidden_size=cells, linear_before_reset=1)
    return m.model([times, 1, inputs], "y", [times, 1, 1, cells]).SerializeToString()


def transformer():
    import networks
    return networks.transformer(seed=904, length=12, width=20).SerializeToString()


def quantised(network, **sizes):
    """int8 between QuantizeLinear and DequantizeLinear, a scale for each channel."""
    import quantised as q
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        q.quantise(q.NETWORKS[network](**sizes), "s8s8_channels", path)
        return path.read_bytes()


def tcn(kind):
    return made.tcn(kind, (1, 1, 40, 10), channels=20, width=5, dilations=(1, 3, 9), seed=905)


MADE = {  # name: (end of the file name, function that gives the bytes)
    "lstm_21x28_int8": (".tflite", lambda: lstm("int8", inputs=21, cells=28, times=6, in_zero=7, seed=901)),
    "lstm_13x20_f32": (".tflite", lambda: lstm("f32", inputs=13, cells=20, times=5, seed=902)),
    "lstm_13x20_hybrid": (".tflite", lambda: lstm("hybrid", inputs=13, cells=20, times=5, seed=902)),
    "gru_11x20_onnx": (".onnx", lambda: gru(11, 20, 7)),
    "tcn_20_int8": (".tflite", lambda: tcn("int8")),
    "tcn_20_int16": (".tflite", lambda: tcn("int16")),
    "transformer_12x20_onnx": (".onnx", transformer),
    "transformer_10x32_qdq": (".onnx", lambda: quantised("transformer", seed=906, length=10, width=32)),
    "unet_24x20_int8": (".tflite", lambda: made.transposed_unet("int8", (1, 24, 20, 1), 6, (3, 3), seed=907)),
    "unet_12x16_f32": (".tflite", lambda: made.transposed_unet("f32", (1, 12, 16, 2), 4, seed=908)),
    "one_channel_20x36_int8": (".tflite", lambda: made.one_channel("int8", (1, 20, 36, 1), 6, seed=909)),
    "dilated_20x12_int8": (".tflite", lambda: made.dilated("int8", (1, 20, 12, 6), 10, seed=910)),
    "cnn_24x20_int16": (".tflite", lambda: made.cnn("int16", (1, 24, 20, 4), 10, seed=911)),
    "cnn_20x24_dynamic": (".tflite", lambda: made.cnn("dynamic", (1, 20, 24, 2), 6, seed=912)),
    "kws_40_qdq": (".onnx", lambda: quantised("keyword", seed=913, channels=40)),
}
