# SPDX-License-Identifier: Apache-2.0
"""Models of one FULLY_CONNECTED whose int4 weights have a float16 scale for each block of a row, and what they mean.

LiteRT's reference kernels give the bias alone. Its kernels for 4 bits compute what has blocks of a multiple of 32 and four
units or more, without its activation (`Meaning.known`).
"""

import dataclasses
import pathlib
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
import models_hybrid  # noqa: E402

F = np.float32
ACTIVATIONS = {"NONE": (-np.inf, np.inf), "RELU": (0, np.inf), "RELU_N1_TO_1": (-1, 1), "RELU6": (0, 6)}


@dataclasses.dataclass
class Layer:
    units: int
    depth: int
    block: int
    rows: int = 1
    bias: bool = True
    activation: str = "NONE"
    scale: tuple = (0.01, 0.03)
    weights: tuple = (-8, 7)
    keep: bool = False  # three dimensions in, three out


LAYERS = {
    "plain": Layer(16, 64, 32),
    "one_block": Layer(5, 32, 32, bias=False),
    "one_unit": Layer(1, 96, 32, rows=3),
    "rows": Layer(7, 128, 64, rows=4, activation="RELU"),
    "wide": Layer(9, 512, 32, rows=2),
    "large_blocks": Layer(6, 512, 256, rows=2, activation="RELU6"),
    "bounded": Layer(12, 64, 32, activation="RELU_N1_TO_1", scale=(0.001, 0.02)),
    "tiny_scales": Layer(8, 64, 32, scale=(1e-7, 1e-5), bias=False),  # some are subnormal float16
    "positive": Layer(8, 64, 32, weights=(0, 7), rows=2),
    "kept": Layer(10, 64, 32, rows=6, keep=True),
    "short_blocks": Layer(6, 48, 16, rows=2),
    "pairs": Layer(4, 10, 2, rows=2),
}


def _tensor(model, name, shape, dtype, data=None, quantization=None):
    t = schema.TensorT()
    t.name, t.shape, t.type, t.quantization = name, np.array(shape, np.int32), dtype, quantization
    t.buffer = 0
    if data is not None:
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(data, np.uint8)
        model.buffers.append(buffer)
        t.buffer = len(model.buffers) - 1
    model.subgraphs[0].tensors.append(t)
    return len(model.subgraphs[0].tensors) - 1


def _weights(model, layer, rng):
    """Tensors of weights and scales; the weights' index."""
    scales = rng.uniform(*layer.scale, (layer.units, layer.depth // layer.block)).astype(np.float16)
    values = rng.integers(*layer.weights, (layer.units, layer.depth), endpoint=True).reshape(-1)
    details = schema.BlockwiseQuantizationT()
    details.scales = _tensor(model, "scales", scales.shape, schema.TensorType.FLOAT16, scales.tobytes())
    details.zeroPoints, details.blockSize = -1, layer.block
    quantization = schema.QuantizationParametersT()
    quantization.details, quantization.detailsType = details, schema.QuantizationDetails.BlockwiseQuantization
    packed = ((values[0::2] & 15) | ((values[1::2] & 15) << 4)).astype(np.uint8)
    return _tensor(model, "weights", (layer.units, layer.depth), schema.TensorType.INT4, packed.tobytes(), quantization)


def model_of(layer, seed):
    rng = np.random.default_rng(seed)
    model, graph, op = schema.ModelT(), schema.SubGraphT(), schema.OperatorT()
    model.version, model.buffers, model.subgraphs, graph.tensors = 3, [schema.BufferT()], [graph], []
    lead = (2, layer.rows // 2) if layer.keep else (layer.rows,)
    x = _tensor(model, "x", (*lead, layer.depth), schema.TensorType.FLOAT32)
    op.inputs = [x, _weights(model, layer, rng), -1]
    if layer.bias:
        bias = rng.normal(0, 1, layer.units).astype(F)
        op.inputs[2] = _tensor(model, "bias", bias.shape, schema.TensorType.FLOAT32, bias.tobytes())
    y = _tensor(model, "y", (*lead, layer.units), schema.TensorType.FLOAT32)
    options = schema.FullyConnectedOptionsT()
    options.fusedActivationFunction = getattr(schema.ActivationFunctionType, layer.activation)
    options.keepNumDims = layer.keep
    op.opcodeIndex, op.outputs = 0, [y]
    op.builtinOptionsType, op.builtinOptions = schema.BuiltinOptions.FullyConnectedOptions, options
    graph.operators, graph.inputs, graph.outputs = [op], [x], [y]
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.FULLY_CONNECTED
    code.version = 10
    model.operatorCodes = [code]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


class Meaning:
    """What the layer of a file computes, step by step in float32."""

    def __init__(self, data):
        model = schema.ModelT.InitFromPackedBuf(data, 0)
        self.graph = model.subgraphs[0]
        op = self.graph.operators[0]
        self.weights_tensor = self.graph.tensors[op.inputs[1]]
        self.options = op.builtinOptions

        def bytes_of(tensor):
            return np.asarray(model.buffers[tensor.buffer].data, np.uint8).tobytes()
        details = self.weights_tensor.quantization.details
        scales = self.graph.tensors[details.scales]
        self.block = details.blockSize
        self.units, self.depth = (int(d) for d in self.weights_tensor.shape)
        packed = np.frombuffer(bytes_of(self.weights_tensor), np.uint8).astype(np.int64)
        halves = np.stack([packed & 15, packed >> 4], 1).reshape(self.units, self.depth)
        self.weights = (halves ^ 8) - 8
        self.scales = np.frombuffer(bytes_of(scales), np.float16).reshape(self.units, -1).astype(F)
        has_bias = op.inputs[2] >= 0
        self.bias = np.frombuffer(bytes_of(self.graph.tensors[op.inputs[2]]), F) if has_bias else np.zeros(self.units, F)

    @property
    def known(self):
        """Whether LiteRT computes it, but for the activation."""
        return self.block % 32 == 0 and self.units >= 4

    def activated(self, values):
        names = vars(schema.ActivationFunctionType)
        low, high = next(b for name, b in ACTIVATIONS.items() if names[name] == self.options.fusedActivationFunction)
        return np.clip(values, F(low), F(high)).astype(F)

    def row(self, x):
        """Results of one row, before the activation."""
        q, scale, zero = models_hybrid.asymmetric(x)
        return (self._scaled(q * self.weights) - self._scaled(self.weights) * F(zero)) * scale + self.bias

    def _scaled(self, values):
        """Sums of integers in blocks, which are scaled and added in float32."""
        sums, total = values.reshape(self.units, -1, self.block).sum(2), np.zeros(self.units, F)
        for block in range(sums.shape[1]):
            total = total + sums[:, block].astype(F) * self.scales[:, block]
        return total

    def results(self, x):
        return np.stack([self.row(row) for row in x.reshape(-1, self.depth)])


def write(folder):
    for seed, (name, layer) in enumerate(LAYERS.items()):
        (folder / f"blocks_{name}.tflite").write_bytes(model_of(layer, seed))
