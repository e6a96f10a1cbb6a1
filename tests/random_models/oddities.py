# SPDX-License-Identifier: Apache-2.0
"""Spoils fields of a model that is in order: what converters, tools and accidents leave behind.

Each oddity changes one thing and may leave the model as good as it was. Which of them LiteRT accepts
is not our business here; the lane finds out.
"""

import numpy as np

ODD_INTS = [0, -1, 1, 2, 3, 5, 7, 127, -128, 1000, 2**31 - 1, -2**31]
ODD_REALS = [0.0, -1.0, 1.0, 1e-30, 1e10, 1e30, 3.0e38, float("inf"), float("nan"), 1e-45]


def option(g):
    op = g.rng.choice(g.model.ops)
    if not op.options:
        return
    name = g.rng.choice(sorted(op.options))
    value = op.options[name]
    if name == "activation":
        op.options[name] = g.rng.choice([1, 2, 3, 4, 5, 6, 100, -1])
    elif name == "padding":
        op.options[name] = g.rng.choice([0, 1, 2, -1])
    elif name in ("in_type", "out_type", "output_type"):
        op.options[name] = g.rng.choice([0, 2, 4, 5, 9, 99])
    elif isinstance(value, bool):
        op.options[name] = not value
    elif isinstance(value, list):
        op.options[name] = [g.rng.choice(ODD_INTS) for _ in range(g.pick(0, 5))]
    elif isinstance(value, float):
        op.options[name] = g.rng.choice(ODD_REALS)
    else:
        op.options[name] = g.rng.choice(ODD_INTS)


def mask(g):
    slices = [op for op in g.model.ops if op.kind == "STRIDED_SLICE"]
    if slices:
        op = g.rng.choice(slices)
        name = g.rng.choice(["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                             "shrink_axis_mask"])
        op.options[name] = g.rng.choice([0, 1, 2, 3, 4, 5, 8, 16, 255, -1])
        g.guessed = True


def no_options(g):
    op = g.rng.choice(g.model.ops)
    op.omit_options = True
    g.guessed = True


def version(g):
    g.rng.choice(g.model.ops).version = g.rng.choice([0, 1, 2, 3, 4, 5, 7, 99, -1])


def quantised(g):
    return [t for t in g.model.tensors if t.scale and t.zero_point]


def odd_scale(g):
    if tensors := quantised(g):
        t = g.rng.choice(tensors)
        t.scale[g.pick(0, len(t.scale) - 1)] = g.rng.choice(ODD_REALS)


def other_scale(g):
    """A scale that is in order, but not what the neighbours expect."""
    if tensors := quantised(g):
        t = g.rng.choice(tensors)
        factor = g.rng.choice([1.0001, 1.01, 1.03, 2.0, 0.5, 1000.0, 1e-3, 1e-6, 1e6])
        i = g.pick(0, len(t.scale) - 1)
        t.scale[i] = float(np.float32(t.scale[i] * factor))


def zero_point(g):
    if tensors := quantised(g):
        t = g.rng.choice(tensors)
        choices = [0, 1, -1, 127, -128, 128, -129, 255, 1000, 2**31, -2**40]
        t.zero_point[g.pick(0, len(t.zero_point) - 1)] = g.rng.choice(choices)


def count_of_zero_points(g):
    if tensors := quantised(g):
        t = g.rng.choice(tensors)
        t.zero_point = t.zero_point + [0] if g.chance(50) else t.zero_point[:-1]


def axis(g):
    if tensors := [t for t in quantised(g)]:
        g.rng.choice(tensors).axis = g.rng.choice([0, 1, 2, 3, 4, -1, 9])


def per_channel(g):
    if tensors := [t for t in quantised(g) if t.shape]:
        t = g.rng.choice(tensors)
        t.axis = g.pick(0, len(t.shape) - 1)
        t.scale = [g.scale() for _ in range(t.shape[t.axis])]
        t.zero_point = [0] * len(t.scale)


def no_quantisation(g):
    if tensors := quantised(g):
        g.rng.choice(tensors).scale = None


def needless_quantisation(g):
    t = g.rng.choice(g.model.tensors)
    t.scale, t.zero_point = [g.scale()], [g.pick(-3, 3)]


def type_of_tensor(g):
    g.rng.choice(g.model.tensors).type_number = g.rng.choice([0, 1, 2, 3, 4, 6, 7, 9, 10, 17, 99])


def shape(g):
    t = g.rng.choice([t for t in g.model.tensors if t.data is None])
    change = g.pick(0, 3)
    if change == 0 or not t.shape:
        t.shape.insert(g.pick(0, len(t.shape)), 1)
    elif change == 1:
        t.shape.pop(g.pick(0, len(t.shape) - 1))
    else:
        t.shape[g.pick(0, len(t.shape) - 1)] += g.rng.choice([1, -1])
    t.shape = [max(d, 0) for d in t.shape]


def reshaped_constant(g):
    tensors = [t for t in g.model.tensors if t.data is not None]
    if tensors:
        t = g.rng.choice(tensors)
        t.shape = [1] + t.shape if g.chance(50) else [int(np.prod(t.shape))]


def small_constant(g):
    """Axes, sizes and shapes that mean something else."""
    tensors = [t for t in g.model.tensors if t.data is not None and t.data.dtype.kind == "i"
               and t.data.dtype.itemsize >= 4 and t.scale is None and t.data.size]
    if tensors:
        t = g.rng.choice(tensors)
        t.data = t.data.copy()
        t.data.flat[g.pick(0, t.data.size - 1)] = g.rng.choice(ODD_INTS[:8])
        g.guessed = True


def weights_value(g):
    tensors = [t for t in g.model.tensors if t.data is not None and t.data.dtype.kind == "f"
               and t.data.size]
    if tensors:
        t = g.rng.choice(tensors)
        t.data = t.data.copy()
        t.data.flat[g.pick(0, t.data.size - 1)] = g.rng.choice(
            [np.inf, -np.inf, np.nan, 1e38, -0.0, 1e-40])


def large_bias(g):
    tensors = [t for t in g.model.tensors if t.data is not None and t.dtype == "int32"
               and t.scale is not None and t.data.size]
    if tensors:
        t = g.rng.choice(tensors)
        t.data = t.data.copy()
        t.data.flat[g.pick(0, t.data.size - 1)] = g.rng.choice([2**31 - 1, -2**31, 10**6, 2**30])


def no_operand(g):
    op = g.rng.choice([op for op in g.model.ops if op.inputs] or [None])
    if op is None:
        return
    i = g.pick(0, len(op.inputs) - 1)
    if g.chance(50):
        op.inputs[i] = -1
    else:
        op.inputs.pop(i)


def other_operand(g):
    op = g.rng.choice(g.model.ops)
    if op.inputs:
        op.inputs[g.pick(0, len(op.inputs) - 1)] = g.pick(0, len(g.model.tensors) - 1)


def more_operands(g):
    op = g.rng.choice(g.model.ops)
    op.inputs.append(g.rng.choice([-1, g.pick(0, len(g.model.tensors) - 1)]))


def port(g):
    ports = g.rng.choice([g.model.inputs, g.model.outputs])
    what = g.pick(0, 3)
    if what == 0 and ports:
        ports.append(g.rng.choice(ports))
    elif what == 1 and len(ports) > 1:
        ports.pop()
    elif what == 2:
        ports.append(g.pick(0, len(g.model.tensors) - 1))
    elif g.model.inputs:
        g.model.outputs.append(g.model.inputs[0])


def constant_operand(g):
    """An input becomes a constant where there is another."""
    if len(g.model.inputs) > 1:
        t = g[g.model.inputs.pop()]
        t.data = g.data(t.dtype, t.shape)


def open_batch(g):
    t = g[g.model.inputs[0]]
    if t.shape and t.shape[0] == 1:
        t.signature = [-1] + t.shape[1:]


def variable(g):
    g.rng.choice(g.model.tensors).variable = True


ODDITIES = [
    (option, 14), (mask, 3), (no_options, 3), (version, 6), (odd_scale, 5), (other_scale, 8),
    (zero_point, 6), (count_of_zero_points, 3), (axis, 4), (per_channel, 4), (no_quantisation, 4),
    (needless_quantisation, 4), (type_of_tensor, 3), (shape, 4), (reshaped_constant, 4),
    (small_constant, 8), (weights_value, 4), (large_bias, 3), (no_operand, 3), (other_operand, 3),
    (more_operands, 2), (port, 4), (constant_operand, 3), (open_batch, 4), (variable, 1),
]


def spoil(g):
    for _ in range(g.rng.choice([1, 1, 1, 2, 3])):
        g.rng.choices([f for f, _ in ODDITIES], [w for _, w in ODDITIES])[0](g)
