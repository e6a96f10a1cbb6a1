# SPDX-License-Identifier: Apache-2.0
"""Models of recurrent layers without gates: RNN, UNIDIRECTIONAL_SEQUENCE_RNN, BIDIRECTIONAL_SEQUENCE_RNN, whose
states are variable tensors. A model holds several layers side by side; what differs is in the tables at the end.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "oracle"))
import tflite_builder  # noqa: E402


class Layer:
    """Sizes and options. `back`: units of the way back; `aux`: inputs of the auxiliary input, 0 without weights."""

    def __init__(self, inputs, units, batch=1, times=4, time_major=False, activation="TANH", asymmetric=False,
                 back=0, merged=False, aux=None, step=False, weights=1.0, seed=1):
        self.inputs, self.units, self.batch, self.times, self.step = inputs, units, batch, times, step
        self.time_major, self.activation, self.asymmetric = time_major, activation, asymmetric
        self.back, self.merged, self.aux, self.weights, self.seed = back, merged, aux, weights, seed

    def shape(self, features):
        if self.step:
            return (self.batch, features)
        return (self.times, self.batch, features) if self.time_major else (
            self.batch, self.times, features)


def add(g, layer, kind, number):
    """The layer on inputs of its own; inputs and results."""
    rng = np.random.default_rng(layer.seed)

    def matrix(name, units, depth):
        values, scale = rng.integers(-127, 128, (units, depth)), rng.uniform(0.003, 0.008) * layer.weights
        name = f"{name}_{number}"
        return g.const(name, values.astype(np.int8), scale) if kind == "hybrid" else g.const(
            name, (values * scale).astype(np.float32))

    def direction(name, units):
        return [matrix(f"w_{name}", units, layer.inputs), matrix(f"r_{name}", units, units),
                g.const(f"bias_{name}_{number}", rng.normal(0, 0.3, units).astype(np.float32)),
                g.tensor(f"state_{name}_{number}", "float32", (layer.batch, units), is_variable=True)]

    x = g.tensor(f"x_{number}", "float32", layer.shape(layer.inputs))
    inputs, operands, depths = [x], [x, *direction("there", layer.units)], [layer.units]
    name, options = "RNN" if layer.step else "UNIDIRECTIONAL_SEQUENCE_RNN", {}
    if layer.back:
        operands += direction("back", layer.back)
        aux = -1 if layer.aux is None else g.tensor(f"aux_{number}", "float32", layer.shape(layer.aux or layer.inputs))
        inputs += [aux] if layer.aux is not None else []
        operands += [aux, *([matrix("a_there", layer.units, layer.aux), matrix("a_back", layer.back, layer.aux)]
                            if layer.aux else [-1, -1])]
        depths = [layer.units + layer.back] if layer.merged else [layer.units, layer.back]
        name, options = "BIDIRECTIONAL_SEQUENCE_RNN", dict(merge_outputs=layer.merged)
    if not layer.step:
        options["time_major"] = layer.time_major
    results = [g.tensor(f"y_{number}_{i}", "float32", layer.shape(d)) for i, d in enumerate(depths)]
    g.op(name, operands, results, activation=layer.activation, asymmetric_quantize_inputs=layer.asymmetric, **options)
    return inputs, results


def model(layers, kind):
    g = tflite_builder.ModelBuilder()
    inputs, results = [], []
    for number, layer in enumerate(layers):
        more, given = add(g, layer, kind, number)
        inputs, results = inputs + more, results + given
    return g.finish(inputs, results)


ACTIVATIONS = (("RELU", 0.4), ("RELU6", 0.4), ("RELU_N1_TO_1", 1.0), ("NONE", 0.2))
# Asymmetric rows of values that saturate, from -1 to 1, have their zero point on a tie.
EVEN = dict(asymmetric=True, weights=0.3)
TABLES = {
    "step": [dict(inputs=5, units=4), dict(inputs=1, units=1), dict(inputs=9, units=7, batch=3),
             dict(inputs=16, units=8, batch=2, **EVEN)],
    "sequence": [dict(inputs=5, units=4), dict(inputs=7, units=6, batch=2), dict(inputs=3, units=8, batch=2,
                 time_major=True), dict(inputs=17, units=5, times=1), dict(inputs=8, units=8, **EVEN),
                 dict(inputs=2, units=3, times=20)],
    "activations": [dict(inputs=5, units=4, activation=a, weights=w) for a, w in ACTIVATIONS],
    "both": [dict(inputs=5, units=4, back=4), dict(inputs=4, units=3, back=6, batch=2, merged=True),
             dict(inputs=6, units=5, back=5, batch=2, time_major=True, merged=True, **EVEN),
             dict(inputs=8, units=2, back=7, **EVEN, time_major=True)],
    "both_aux": [dict(inputs=5, units=4, back=3, aux=5), dict(inputs=5, units=4, back=4, aux=0, batch=2),
                 dict(inputs=5, units=4, back=4, aux=0, time_major=True, batch=2, merged=True, **EVEN),
                 dict(inputs=4, units=6, back=5, aux=4, time_major=True, batch=2, merged=True, **EVEN),
                 dict(inputs=4, units=6, back=5, aux=4, **EVEN, merged=True)],
}


def builders():
    """{name: function that gives the model's bytes}"""
    for kind in ("f32", "hybrid"):
        for at, (name, table) in enumerate(TABLES.items()):
            layers = [Layer(**row, step=name == "step", seed=100 * at + i) for i, row in enumerate(table)]
            for layer in layers:  # LiteRT goes over such a sequence more than once
                layer.time_major &= not (layer.back and kind == "hybrid")
            yield f"rnn_{name}_{kind}", lambda layers=layers, kind=kind: model(layers, kind)
