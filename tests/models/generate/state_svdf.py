# SPDX-License-Identifier: Apache-2.0
"""Models of SVDF layers, whose states are variable tensors. A model holds several layers side by side, each
with an input and an output of its own: a case is a layer. What differs from case to case is in the tables at
the end; some are drawn.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "oracle"))
import tflite_builder  # noqa: E402


class Layer:
    """Sizes and options of a layer. `state`: the type of state and weights over time where integer."""

    def __init__(self, inputs, units, memory, rank=1, batch=1, activation="RELU", bias=True, weights=1.0,
                 in_zero=0, out_zero=-128, out_scale=0.06, steep=1.0, state="int16", seed=1):
        self.inputs, self.units, self.memory, self.rank, self.batch = inputs, units, memory, rank, batch
        self.activation, self.bias, self.weights, self.seed = activation, bias, weights, seed
        self.in_zero, self.out_zero, self.out_scale, self.steep = in_zero, out_zero, out_scale, steep
        self.state = state

    @property
    def filters(self):
        return self.units * self.rank


def add_int8(g, layer, number):
    """The layer on an input of its own; both."""
    rng = np.random.default_rng(layer.seed)
    wide = layer.state == "int16"
    in_scale, feature_scale, time_scale = 0.03, 0.006 * layer.weights, 1 / 32768 if wide else 1 / 128
    # What a typical feature is, spread over half of the state's range; steeper ones are cut off.
    typical = in_scale * feature_scale * 127 * 64 * np.sqrt(layer.inputs)
    state_scale = typical * 2 / layer.steep / (32768 if wide else 128)
    x = g.tensor(f"x_{number}", "int8", (layer.batch, layer.inputs), in_scale, layer.in_zero)
    features = rng.integers(-127, 128, (layer.filters, layer.inputs)).astype(np.int8)
    most = 32767 if wide else 127
    time = rng.integers(-most, most + 1, (layer.filters, layer.memory)).astype(layer.state)
    bias_scale = np.float32(state_scale) * np.float32(time_scale)
    bias = np.round(rng.normal(0, 0.5, layer.units) / bias_scale).clip(-2**30, 2**30).astype(np.int32)
    state = g.tensor(f"state_{number}", layer.state, (layer.batch, layer.filters * layer.memory), state_scale, 0,
                     is_variable=True)
    y = g.tensor(f"y_{number}", "int8", (layer.batch, layer.units), layer.out_scale, layer.out_zero)
    g.op("SVDF", [x, g.const(f"features_{number}", features, feature_scale),
                  g.const(f"time_{number}", time, time_scale),
                  g.const(f"bias_{number}", bias, bias_scale) if layer.bias else -1, state], [y],
         version=3, rank=layer.rank, activation=layer.activation)
    return x, y


def add_float(g, layer, number):
    rng = np.random.default_rng(layer.seed)

    def const(name, *shape):
        return g.const(f"{name}_{number}", rng.normal(0, 0.5, shape).astype(np.float32))

    x = g.tensor(f"x_{number}", "float32", (layer.batch, layer.inputs))
    state = g.tensor(f"state_{number}", "float32", (layer.batch, layer.filters * layer.memory), is_variable=True)
    y = g.tensor(f"y_{number}", "float32", (layer.batch, layer.units))
    g.op("SVDF", [x, const("features", layer.filters, layer.inputs), const("time", layer.filters, layer.memory),
                  const("bias", layer.units) if layer.bias else -1, state], [y], version=1, rank=layer.rank,
         activation=layer.activation)
    return x, y


def add_hybrid(g, layer, number):
    """Float activations, int8 weights. Rows are quantised with a zero point in every second layer."""
    rng = np.random.default_rng(layer.seed)

    def const(name, scale, *shape):
        return g.const(f"{name}_{number}", rng.integers(-127, 128, shape).astype(np.int8), scale)

    x = g.tensor(f"x_{number}", "float32", (layer.batch, layer.inputs))
    features, time = const("features", 0.011, layer.filters, layer.inputs), const("time", 0.007, layer.filters, layer.memory)
    bias = g.const(f"bias_{number}", rng.normal(0, 0.5, layer.units).astype(np.float32)) if layer.bias else -1
    state = g.tensor(f"state_{number}", "float32", (layer.batch, layer.filters * layer.memory), is_variable=True)
    y = g.tensor(f"y_{number}", "float32", (layer.batch, layer.units))
    g.op("SVDF", [x, features, time, bias, state], [y], version=4, rank=layer.rank, activation=layer.activation,
         asymmetric_quantize_inputs=number % 2 == 1)
    return x, y


def model(layers, add):
    g = tflite_builder.ModelBuilder()
    ports = [add(g, layer, number) for number, layer in enumerate(layers)]
    return g.finish([x for x, _ in ports], [y for _, y in ports])


def drawn(count, seed, **more):
    """Layers of sizes that are drawn."""
    rng = np.random.default_rng(seed)
    return [Layer(inputs=int(rng.integers(1, 20)), units=int(rng.integers(1, 9)), memory=int(rng.integers(1, 12)),
                  rank=int(rng.integers(1, 4)), batch=int(rng.integers(1, 3)), bias=bool(rng.integers(0, 2)),
                  in_zero=int(rng.integers(-128, 128)), seed=seed + 1 + i, **more) for i in range(count)]


SHAPES = [
    dict(inputs=5, units=4, memory=6), dict(inputs=1, units=1, memory=1), dict(inputs=3, units=2, memory=2),
    dict(inputs=7, units=5, memory=3, rank=2), dict(inputs=4, units=3, memory=4, rank=3, batch=2),
    dict(inputs=6, units=6, memory=9, bias=False), dict(inputs=2, units=9, memory=5, rank=2, batch=3),
    dict(inputs=16, units=1, memory=32),
]
KERNELS = [  # for kernels: whole groups of filters, words of state
    dict(inputs=8, units=8, memory=8), dict(inputs=12, units=4, memory=10, rank=2),
    dict(inputs=4, units=16, memory=4, batch=2), dict(inputs=16, units=8, memory=12),
    dict(inputs=8, units=8, memory=2), dict(inputs=20, units=8, memory=32), dict(inputs=5, units=3, memory=16),
    dict(inputs=40, units=8, memory=40),
]
VALUES = [
    dict(weights=6.0, steep=8.0), dict(in_zero=-128), dict(in_zero=127, out_zero=5), dict(out_zero=0, bias=False),
    dict(out_scale=0.001), dict(out_scale=2.0, out_zero=127), dict(steep=0.01, in_zero=-7), dict(steep=300.0),
]


def layers_of(table, seed, **more):
    return [Layer(**{"inputs": 5, "units": 4, "memory": 6, **row, **more}, seed=seed + i)
            for i, row in enumerate(table)]


def float_values():
    return [Layer(5, 4, 6, activation=activation, batch=batch, seed=500 + 3 * batch + i) for batch in (1, 2)
            for i, activation in enumerate(("NONE", "RELU", "RELU6", "RELU_N1_TO_1"))]


def builders():
    """{name: function that gives the model's bytes}"""
    tables = {"shapes": layers_of(SHAPES, 100), "kernels": layers_of(KERNELS, 200), "values": layers_of(VALUES, 300),
              "drawn": drawn(8, 400)}
    for name, layers in tables.items():
        yield f"svdf_{name}_int8", lambda layers=layers: model(layers, add_int8)
    tables["values"] = float_values()
    for name, layers in tables.items():
        yield f"svdf_{name}_f32", lambda layers=layers: model(layers, add_float)
        yield f"svdf_{name}_hybrid", lambda layers=layers: model(layers, add_hybrid)
