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
CELL_GATE = 2


class Layer:
    """Sizes and options of a layer."""

    def __init__(self, inputs, cells, batch=1, times=4, time_major=False, coupled=False, clip=0.0,
                 cell_exponent=-11, weights=1.0, in_zero=0, out_zero=0, hidden=None, seed=1, peepholes=False,
                 projection=0, projection_bias=True, projection_clip=0.0, normalised=False, activation="TANH",
                 asymmetric=False, norm_scale=1 / 20000, gate_scales=(2e-4, 3e-4, 2.5e-4, 1.5e-4)):
        self.inputs, self.cells, self.batch, self.times = inputs, cells, batch, times
        self.time_major, self.coupled, self.clip = time_major, coupled, clip
        self.cell_exponent, self.weights, self.seed = cell_exponent, weights, seed
        self.in_zero, self.out_zero = in_zero, out_zero
        self.hidden = hidden or (1 / 128, out_zero)  # what LiteRT quantises the output by
        self.peepholes, self.normalised, self.activation = peepholes, normalised, activation
        self.projection, self.projection_bias, self.projection_clip = projection, projection_bias, projection_clip
        self.asymmetric = asymmetric
        # int8 with layer normalisation: scales of coefficients and of what is normalised.
        self.norm_scale, self.gate_scales = norm_scale, gate_scales
        self.outputs = projection or cells

    def shape(self, features):
        return (self.times, self.batch, features) if self.time_major else (
            self.batch, self.times, features)


def gates(layer, make):
    """make(gate) for each, absent for the input gate of a coupled layer."""
    return [-1 if layer.coupled and gate == 0 else make(gate) for gate in range(GATES)]


class Weights:
    """Constants of a layer: int8 (`int8`, and `hybrid` for matrices and peepholes alone) or float32."""

    def __init__(self, g, layer, kind, name):
        self._g, self._layer, self._kind, self._name = g, layer, kind, name
        self._rng = np.random.default_rng(layer.seed)
        self.scales = self._rng.uniform(0.004, 0.012, 2 * GATES) * layer.weights

    def matrix(self, kind, shape, scale):
        values = self._rng.integers(-127, 128, shape)
        name = f"{kind}_{self._name}"
        return self._g.const(name, (values * scale).astype(np.float32)) if self._kind == "f32" else self._g.const(
            name, values.astype(np.int8), scale)

    def peephole(self, gate):
        if self._kind != "int8":
            return self.matrix(f"p{gate}", (self._layer.cells,), 0.008)
        values = self._rng.integers(-32767, 32768, self._layer.cells)
        return self._g.const(f"p{gate}_{self._name}", values.astype(np.int16), 1 / 32767)

    def bias(self, scale, size=None):
        values = self._rng.normal(0, 0.5, size or self._layer.cells)
        name = f"bias_{self._name}"
        return self._g.const(name, np.round(values / scale).astype(np.int32), scale) if self._kind == "int8" else (
            self._g.const(name, values.astype(np.float32)))

    def norm(self, gate):
        values = self._rng.normal(0.6, 0.3, self._layer.cells)
        if self._kind == "int8":
            scale = self._layer.norm_scale
            return self._g.const(f"norm{gate}_{self._name}",
                                 np.clip(np.round(values / scale), -32767, 32767).astype(np.int16), scale)
        return self._g.const(f"norm{gate}_{self._name}", values.astype(np.float32))


def weights_of(w, layer, in_scale):
    """Weights of the input, recurrent ones, peepholes, biases, and both of the projection."""
    of_input = gates(layer, lambda k: w.matrix(f"w{k}", (layer.cells, layer.inputs), w.scales[k]))
    recurrent = gates(layer, lambda k: w.matrix(f"r{k}", (layer.cells, layer.outputs), w.scales[GATES + k]))
    # Layer normalisation adds the bias behind itself, where LiteRT's int8 has ten bits more.
    biases = gates(layer, lambda k: w.bias(layer.norm_scale / 1024 if layer.normalised else in_scale * w.scales[k]))
    peepholes = [w.peephole(k) if k >= 0 else -1
                 for k in gates(layer, lambda k: k) if k != CELL_GATE] if layer.peepholes else [-1, -1, -1]
    projection = [-1, -1]
    if layer.projection:
        projection[0] = w.matrix("projection", (layer.outputs, layer.cells), 0.006)
        if layer.projection_bias:
            projection[1] = w.bias(layer.hidden[0] * 0.006, layer.outputs)
    return [*of_input, *recurrent, *peepholes, *biases, *projection]


def states_of(g, layer, kind, name):
    """Both variables."""
    h = g.tensor(f"output_state_{name}", "int8" if kind == "int8" else "float32", (layer.batch, layer.outputs),
                 *((1 / 128, layer.out_zero) if kind == "int8" else ()), is_variable=True)
    c = g.tensor(f"cell_state_{name}", "int16" if kind == "int8" else "float32", (layer.batch, layer.cells),
                 *((2.0 ** layer.cell_exponent, 0) if kind == "int8" else ()), is_variable=True)
    return [h, c]


def add_lstm(g, x, layer, kind, number=0):
    """The layer on tensor x; its result. `kind`: f32, hybrid or int8."""
    w = Weights(g, layer, kind, number)
    int8 = kind == "int8"
    operands = [x, *weights_of(w, layer, 0.03), *states_of(g, layer, kind, number)]
    operands += gates(layer, w.norm) if layer.normalised else [-1] * GATES
    y = g.tensor(f"y_{number}", "int8" if int8 else "float32", layer.shape(layer.outputs),
                 *((1 / 128, layer.out_zero) if int8 else ()))
    inside = ()
    if int8:
        scales = layer.gate_scales if layer.normalised else (2.0 ** -12,) * GATES
        inside = [g.tensor(f"inside_{number}_{k}", "int16", (1,), scales[k], 0) for k in range(GATES)]
        inside.append(g.tensor(f"hidden_{number}", "int8", (1,), *layer.hidden))
    g.op("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [y], version=3 if int8 else 1, intermediates=inside,
         activation=layer.activation, cell_clip=layer.clip, proj_clip=layer.projection_clip,
         time_major=layer.time_major, asymmetric_quantize_inputs=layer.asymmetric)
    return y


def model(layers, kind):
    g = tflite_builder.ModelBuilder()
    first = layers[0]
    x = g.tensor("x", "int8" if kind == "int8" else "float32", first.shape(first.inputs),
                 *((0.03, first.in_zero) if kind == "int8" else ()))
    y = x
    for number, layer in enumerate(layers):
        y = add_lstm(g, y, layer, kind, number)
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
    # Widths and numbers of steps that kernels divide in every way, the last ones with gates and cells that saturate.
    "odd": [Layer(inputs=37, cells=20, times=8, clip=0.9, seed=24)],
    "odd_batch": [Layer(inputs=67, cells=35, batch=2, times=7, time_major=True, in_zero=-128, seed=25)],
    "vectors": [Layer(inputs=48, cells=32, times=6, out_zero=-5, hidden=(0.0071, 3), seed=26)],
    "odd_steep": [Layer(inputs=50, cells=17, times=5, weights=6.0, cell_exponent=-9, seed=27)],
    "odd_left": [Layer(inputs=19, cells=9, times=4, weights=40.0, cell_exponent=-15, seed=28)],
}
FLOAT = {"two_layers": [Layer(**SMALL, seed=21), Layer(inputs=6, cells=4, seed=22)]}
# Float activations with weights of both kinds.
BOTH = {
    "projection": [Layer(**SMALL, projection=4, seed=31)],
    "projection_wide": [Layer(inputs=7, cells=5, projection=9, projection_bias=False, batch=2, seed=32)],
    "projection_clip": [Layer(**SMALL, projection=3, projection_clip=0.3, clip=0.5, coupled=True, seed=33)],
    "peepholes": [Layer(**SMALL, peepholes=True, batch=2, seed=34)],
    "peepholes_coupled": [Layer(**SMALL, peepholes=True, coupled=True, projection=5, seed=35)],
    "normalised": [Layer(inputs=5, cells=8, normalised=True, seed=36)],
    "normalised_coupled": [Layer(inputs=4, cells=9, normalised=True, coupled=True, batch=2, time_major=True, seed=37)],
    "everything": [Layer(inputs=8, cells=12, normalised=True, peepholes=True, projection=6, clip=0.8,
                         projection_clip=0.7, batch=2, seed=38)],
    "relu": [Layer(**SMALL, weights=0.4, activation="RELU", seed=39)],
    "relu6": [Layer(**SMALL, weights=0.4, activation="RELU6", seed=40)],
    "relu_n1_to_1": [Layer(**SMALL, activation="RELU_N1_TO_1", seed=41)],
}
# Peepholes, projection and layer normalisation of int8, of which "normalised" and the like are as above.
EXTRA = {name: layers for name, layers in BOTH.items() if layers[0].activation == "TANH"}
EXTRA.update({
    # Batches of a time are one vector to LiteRT, which has weights for as many cells as there are outputs.
    "peepholes_time": [Layer(**SMALL, peepholes=True, projection=4, batch=3, time_major=True, seed=71)],
    "projection_zero": [Layer(**SMALL, projection=5, hidden=(0.006, -17), in_zero=-128, out_zero=9, seed=72)],
    "projection_clip_zero": [Layer(**SMALL, projection=5, projection_clip=0.2, hidden=(0.007, 30), out_zero=-40,
                                   seed=73)],
    "projection_steep": [Layer(**SMALL, projection=9, weights=5.0, hidden=(0.0078125, 128 - 1), seed=74)],
    "peepholes_cell_15": [Layer(**SMALL, cell_exponent=-15, peepholes=True, weights=2.0, seed=75)],
    "peepholes_cell_9": [Layer(**SMALL, cell_exponent=-9, peepholes=True, weights=2.0, clip=0.9, seed=76)],
    "normalised_flat": [Layer(**SMALL, normalised=True, weights=0.01, gate_scales=(0.05,) * 4, norm_scale=1e-3,
                              seed=77)],  # variances below 1
    "normalised_far": [Layer(inputs=5, cells=9, normalised=True, peepholes=True, weights=30.0, in_zero=-128,
                             gate_scales=(1e-3, 4e-5, 3e-5, 1e-5), seed=78)],  # gates saturate
    "normalised_one": [Layer(inputs=3, cells=1, normalised=True, seed=79)],
    "normalised_wide": [Layer(inputs=24, cells=35, normalised=True, projection=17, times=2, norm_scale=3e-4, seed=80)],
    "normalised_even": [Layer(inputs=8, cells=16, normalised=True, peepholes=True, projection=8, coupled=True, batch=2,
                              time_major=True, norm_scale=1e-5, seed=81)],
    "two_layers": [Layer(**SMALL, projection=4, peepholes=True, in_zero=5, seed=82),
                   Layer(inputs=4, cells=6, normalised=True, seed=83)],
})
HYBRID = {name: LAYERS[name] for name in ("plain", "batch", "time_major", "coupled", "clip", "long", "wide", "even")}
HYBRID["asymmetric"] = [Layer(**SMALL, asymmetric=True, batch=2, seed=42)]
HYBRID["asymmetric_everything"] = [Layer(inputs=9, cells=10, asymmetric=True, peepholes=True, projection=11,
                                         time_major=True, normalised=True, seed=43)]
HYBRID["asymmetric_coupled"] = [Layer(inputs=9, cells=10, asymmetric=True, coupled=True, projection=4, seed=44)]
HYBRID["two_layers"] = FLOAT["two_layers"]


def add_both(g, x, there, back, kind, merged, aux):
    """Layers from both ends of x; their results. `aux`: inputs of an auxiliary input, 0 for one without weights."""
    layers = {"there": there, "back": back}
    operands, states = [x], []
    for name, layer in layers.items():
        operands += weights_of(Weights(g, layer, kind, name), layer, 0.03)
        states += states_of(g, layer, kind, name)
    second = g.tensor("aux", "float32", there.shape(aux or there.inputs)) if aux is not None else -1
    operands += [*states, second]
    for name, layer in layers.items():
        w = Weights(g, layer, kind, name)
        operands += gates(layer, lambda k, w=w, layer=layer: w.matrix(
            f"a{k}", (layer.cells, aux), w.scales[k])) if aux else [-1] * GATES
    depths = [there.outputs + back.outputs] if merged else [there.outputs, back.outputs]
    results = [g.tensor(f"y_{i}", "float32", there.shape(depth)) for i, depth in enumerate(depths)]
    g.op("BIDIRECTIONAL_SEQUENCE_LSTM", operands, results, activation=there.activation, cell_clip=there.clip,
         proj_clip=there.projection_clip, merge_outputs=merged, time_major=there.time_major,
         asymmetric_quantize_inputs=there.asymmetric)
    return [second] if aux is not None else [], results


def both_model(there, back, kind, merged=False, aux=None):
    g = tflite_builder.ModelBuilder()
    x = g.tensor("x", "float32", there.shape(there.inputs))
    more, results = add_both(g, x, there, back, kind, merged, aux)
    return g.finish([x, *more], results)


# Layers there and back, merged, auxiliary input.
BOTH_WAYS = {
    "plain": (Layer(**SMALL, seed=51), Layer(**SMALL, seed=52), False, None),
    "merged": (Layer(**SMALL, seed=53), Layer(**SMALL, seed=54), True, None),
    "time_major": (Layer(**SMALL, batch=2, time_major=True, seed=55),
                   Layer(**SMALL, batch=2, time_major=True, coupled=True, seed=56), True, None),
    "aux": (Layer(**SMALL, seed=57), Layer(**SMALL, seed=58), False, 3),
    "aux_merged": (Layer(**SMALL, batch=2, time_major=True, coupled=True, seed=59),
                   Layer(**SMALL, batch=2, time_major=True, seed=60), True, 5),
    "second_input": (Layer(**SMALL, batch=2, seed=61), Layer(**SMALL, batch=2, seed=62), False, 0),
    "everything": (Layer(inputs=8, cells=12, peepholes=True, projection=6, clip=0.8, projection_clip=0.7, seed=63),
                   Layer(inputs=8, cells=12, projection=6, projection_bias=False, coupled=True, seed=64),
                   True, 4),
    "asymmetric": (Layer(**SMALL, asymmetric=True, projection=4, seed=65), Layer(**SMALL, projection=4, seed=66), True, 3),
}


def builders():
    """{name: function that gives the model's bytes}"""
    tables = {"int8": {**LAYERS, **INT8, **EXTRA}, "f32": {**LAYERS, **FLOAT, **BOTH}, "hybrid": {**HYBRID, **BOTH}}
    for kind, table in tables.items():
        for name, layers in table.items():
            yield f"lstm_{name}_{kind}", lambda layers=layers, kind=kind: model(layers, kind)
    for kind in ("f32", "hybrid"):
        for name, (there, back, *rest) in BOTH_WAYS.items():
            yield f"both_lstm_{name}_{kind}", (
                lambda there=there, back=back, kind=kind, rest=rest: both_model(there, back, kind, *rest))
