# SPDX-License-Identifier: Apache-2.0
"""Models of one or two UNIDIRECTIONAL_SEQUENCE_LSTM layers, as the converter writes Keras's: the states are
variable tensors. What differs from model to model is in the tables at the end.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "oracle"))
import tflite_builder  # noqa: E402

GATES = 4  # input, forget, cell, output


class Layer:
    """Sizes and options of a layer."""

    def __init__(self, inputs, cells, batch=1, times=4, time_major=False, coupled=False, clip=0.0,
                 cell_exponent=-11, weights=1.0, in_zero=0, out_zero=0, hidden=None, seed=1):
        self.inputs, self.cells, self.batch, self.times = inputs, cells, batch, times
        self.time_major, self.coupled, self.clip = time_major, coupled, clip
        self.cell_exponent, self.weights, self.seed = cell_exponent, weights, seed
        self.in_zero, self.out_zero = in_zero, out_zero
        self.hidden = hidden or (1 / 128, out_zero)  # what LiteRT quantises the output by

    def shape(self, features):
        return (self.times, self.batch, features) if self.time_major else (
            self.batch, self.times, features)


def gates(layer, make):
    """make(gate) for each, absent for the input gate of a coupled layer."""
    return [-1 if layer.coupled and gate == 0 else make(gate) for gate in range(GATES)]


def add_lstm(g, x, layer, int8, number=0):
    """The layer on tensor x; its result."""
    rng = np.random.default_rng(layer.seed)
    in_scale, out_scale = 0.03, 1 / 128
    scales = rng.uniform(0.004, 0.012, 2 * GATES) * layer.weights

    def weights(kind, depth, scale):
        values = rng.integers(-127, 128, (layer.cells, depth))
        name = f"{kind}_{number}"
        return g.const(name, values.astype(np.int8), scale) if int8 else g.const(
            name, (values * scale).astype(np.float32))

    def bias(scale):
        values = rng.normal(0, 0.5, layer.cells)
        return g.const(f"bias_{number}", np.round(values / scale).astype(np.int32), scale) if int8 else g.const(
            f"bias_{number}", values.astype(np.float32))

    of_input = gates(layer, lambda k: weights(f"w{k}", layer.inputs, scales[k]))
    recurrent = gates(layer, lambda k: weights(f"r{k}", layer.cells, scales[GATES + k]))
    biases = gates(layer, lambda k: bias(in_scale * scales[k]))
    state = (layer.batch, layer.cells)
    kind = "int8" if int8 else "float32"
    h = g.tensor(f"output_state_{number}", kind, state, *((out_scale, layer.out_zero) if int8 else ()),
                 is_variable=True)
    c = g.tensor(f"cell_state_{number}", "int16" if int8 else kind, state,
                 *((2.0 ** layer.cell_exponent, 0) if int8 else ()), is_variable=True)
    y = g.tensor(f"y_{number}", kind, layer.shape(layer.cells), *((out_scale, layer.out_zero) if int8 else ()))
    inside = ()
    if int8:
        inside = [g.tensor(f"inside_{number}_{k}", "int16", (1,), 2.0 ** -12, 0) for k in range(GATES)]
        inside.append(g.tensor(f"hidden_{number}", "int8", (1,), *layer.hidden))
    operands = [x, *of_input, *recurrent, -1, -1, -1, *biases, -1, -1, h, c, -1, -1, -1, -1]
    g.op("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [y], version=3 if int8 else 1, intermediates=inside,
         activation="TANH", cell_clip=layer.clip, time_major=layer.time_major)
    return y


def model(layers, int8):
    g = tflite_builder.ModelBuilder()
    first = layers[0]
    kind = "int8" if int8 else "float32"
    x = g.tensor("x", kind, first.shape(first.inputs), *((0.03, first.in_zero) if int8 else ()))
    y = x
    for number, layer in enumerate(layers):
        y = add_lstm(g, y, layer, int8, number)
    return g.finish([x], [y])


SMALL = dict(inputs=5, cells=6)
LAYERS = {
    "plain": [Layer(**SMALL)],
    "one_step": [Layer(**SMALL, times=1, seed=2)],
    "one_cell": [Layer(inputs=3, cells=1, seed=3)],
    "one_input": [Layer(inputs=1, cells=7, times=9, seed=4)],
    "batch": [Layer(**SMALL, batch=3, seed=5)],
    "time_major": [Layer(**SMALL, batch=2, times=5, time_major=True, seed=6)],
    "coupled": [Layer(**SMALL, coupled=True, seed=7)],
    "clip": [Layer(**SMALL, clip=0.4, seed=8)],
    "coupled_clip": [Layer(**SMALL, batch=2, coupled=True, clip=0.7, seed=9)],
    "flat": [Layer(**SMALL, weights=0.1, seed=11)],
    "long": [Layer(inputs=4, cells=5, times=40, seed=12)],
    "even": [Layer(inputs=8, cells=12, batch=2, times=3, weights=0.7, seed=23)],  # for kernels
    "wide": [Layer(inputs=24, cells=17, times=2, seed=13)],
}
# Only int8 has zero points and scales; in floats what is steep makes much of every last bit.
INT8 = {
    "steep": [Layer(**SMALL, weights=6.0, seed=10)],  # gates saturate
    "zero_points": [Layer(**SMALL, in_zero=-128, out_zero=17, seed=14)],
    "cell_15": [Layer(**SMALL, cell_exponent=-15, weights=2.0, seed=15)],
    "cell_13": [Layer(**SMALL, cell_exponent=-13, weights=2.0, seed=16)],
    "cell_9": [Layer(**SMALL, cell_exponent=-9, weights=2.0, seed=17)],
    "cell_12": [Layer(**SMALL, cell_exponent=-12, coupled=True, weights=3.0, seed=18)],
    "hidden": [Layer(**SMALL, out_zero=-5, hidden=(0.0071, 3), seed=19)],
    "left_shift": [Layer(**SMALL, weights=40.0, times=3, seed=20)],
}
FLOAT = {"two_layers": [Layer(**SMALL, seed=21), Layer(inputs=6, cells=4, seed=22)]}


def builders():
    """{name: function that gives the model's bytes}"""
    for name, layers in {**LAYERS, **INT8}.items():
        yield f"lstm_{name}_int8", lambda layers=layers: model(layers, True)
    for name, layers in {**LAYERS, **FLOAT}.items():
        yield f"lstm_{name}_f32", lambda layers=layers: model(layers, False)
