# SPDX-License-Identifier: Apache-2.0
"""Makes a model that fails smaller for as long as it fails in the same way."""

import numpy as np
from model import Model

MOST_TRIALS = 400


def reduce(model, fails):
    """`fails(model)`: does it still fail so? `model` does. The smallest that was found."""
    left = [MOST_TRIALS]

    def still(candidate):
        if left[0] <= 0 or not candidate.ops or not candidate.outputs or not candidate.inputs:
            return False
        left[0] -= 1
        return fails(candidate)

    model = _single(model, still)
    changed = True
    while changed and left[0] > 0:
        changed = False
        for step in (_operators, _ports, _dimensions, _fields):
            for candidate in step(model):
                if still(candidate):
                    model, changed = candidate, True
                    break
    return model


def _single(model, still):
    """Most failures are one operator's: each alone first."""
    for i in range(len(model.ops)):
        candidate = _with_operators(model, [i])
        if candidate is not None and still(candidate):
            return candidate
    return model


def _with_operators(model, kept):
    """Only these operators: what others computed becomes an input, what nobody reads an output."""
    m = model.copy()
    m.ops = [m.ops[i] for i in kept]
    made = [t for op in m.ops for t in op.outputs]
    read = [t for op in m.ops for t in op.inputs if t >= 0]
    m.inputs = list(dict.fromkeys(
        t for t in read if t not in made and m.tensors[t].data is None))
    m.outputs = list(dict.fromkeys(t for t in made if t not in read))
    if not m.inputs:
        return None
    return _without_unused(m)


def _without_unused(m):
    used = sorted({t for op in m.ops for t in op.inputs + op.outputs if t >= 0}
                  | set(m.inputs) | set(m.outputs))
    place = {t: i for i, t in enumerate(used)} | {-1: -1}
    m.tensors = [m.tensors[t] for t in used]
    for op in m.ops:
        op.inputs, op.outputs = [place[t] for t in op.inputs], [place[t] for t in op.outputs]
    m.inputs, m.outputs = [place[t] for t in m.inputs], [place[t] for t in m.outputs]
    return m


def _operators(model):
    n = len(model.ops)
    for first, count in [(0, n // 2), (n // 2, n - n // 2)] + [(i, 1) for i in reversed(range(n))]:
        rest = [i for i in range(n) if not first <= i < first + count]
        if rest and len(rest) < n and (candidate := _with_operators(model, rest)) is not None:
            yield candidate


def _ports(model):
    """Tensors that nobody reads, ports that are listed again."""
    for name in ("inputs", "outputs"):
        ports = getattr(model, name)
        for i in range(len(ports)):
            if len(ports) > 1:
                m = model.copy()
                del getattr(m, name)[i]
                yield m
    used = {t for op in model.ops for t in op.inputs + op.outputs} | set(model.inputs + model.outputs)
    if any(t not in used for t in range(len(model.tensors))):
        yield _without_unused(model.copy())


def _dimensions(model):
    """One size, wherever it stands, becomes smaller."""
    sizes = sorted({d for t in model.tensors for d in t.shape if d > 1}, reverse=True)
    for size in sizes:
        for smaller in dict.fromkeys((1, size // 2, size - 1)):
            if smaller >= 1:
                yield _resized(model, size, smaller)


def _resized(model, size, smaller):
    m = model.copy()
    for t in m.tensors:
        old = list(t.shape)
        t.shape = [smaller if d == size else d for d in old]
        if t.data is not None and list(t.data.shape) == old:
            t.data = t.data[tuple(slice(0, d) for d in t.shape)]
        if t.data is not None and t.scale is None and t.dtype in ("int32", "int64"):
            t.data = np.where(t.data == size, smaller, t.data).astype(t.data.dtype)
        if t.scale is not None and len(t.scale) == size:
            t.scale, t.zero_point = t.scale[:smaller], t.zero_point[:smaller]
    return m


_PLAIN = {"activation": "NONE", "padding": "VALID", "alpha": 0.5, "beta": 1.0}


def _fields(model):
    """Options, quantisation and data as they are in an ordinary model."""
    for i, op in enumerate(model.ops):
        for name, value in op.options.items():
            plain = _PLAIN.get(name, 1 if "stride" in name or "dilation" in name else 0)
            if isinstance(value, (int, float, str)) and value != plain:
                m = model.copy()
                m.ops[i].options[name] = plain
                yield m
        for name, plain in (("version", 1), ("omit_options", False)):
            if getattr(op, name) != plain:
                m = model.copy()
                setattr(m.ops[i], name, plain)
                yield m
    for i, t in enumerate(model.tensors):
        for name, plain in (("signature", None), ("variable", False), ("type_number", None),
                            ("axis", 0), ("scale", None)):
            if getattr(t, name) != plain:
                m = model.copy()
                setattr(m.tensors[i], name, plain)
                yield m
        if t.scale is not None:
            for name, plain in (("scale", [0.5] * len(t.scale)), ("zero_point", [0] * len(t.scale))):
                if getattr(t, name) != plain:
                    m = model.copy()
                    setattr(m.tensors[i], name, plain)
                    yield m
        if t.data is not None and t.data.size > 1 and np.any(t.data != t.data.flat[0]):
            m = model.copy()
            m.tensors[i].data = np.full_like(t.data, t.data.flat[0])
            yield m


def describe(model: Model):
    return ", ".join(op.kind for op in model.ops)
