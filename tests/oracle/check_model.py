#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our numpy models with LiteRT on every operator of whole .tflite files.

Each operator gets the inputs LiteRT gave it, so one wrong layer does not spoil the next. Proves
the models on real networks, where the operator cases prove them on constructed ones.
"""

import argparse
import pathlib
import sys

import numpy as np
from case import Case, Tensor
from litert_layers import Layers
from numpy_models import MODELS, difference
from tflite_builder import ACTIVATIONS, OPERATORS, PADDINGS, TENSOR_TYPES

import flatbuffers

_NAMES = {code: name for name, (code, _) in OPERATORS.items()}
_TYPES = {number: name for name, number in TENSOR_TYPES.items()}
_READERS = {
    "i32": flatbuffers.number_types.Int32Flags,
    "f32": flatbuffers.number_types.Float32Flags,
}


class _Table:
    """A FlatBuffers table read by field number."""

    def __init__(self, buffer, position):
        self._t = flatbuffers.table.Table(buffer, position)

    def _offset(self, slot):
        return self._t.Offset(4 + 2 * slot)

    def number(self, slot, flags, default=0):
        o = self._offset(slot)
        return self._t.Get(flags, self._t.Pos + o) if o else default

    def table(self, slot):
        o = self._offset(slot)
        return _Table(self._t.Bytes, self._t.Indirect(self._t.Pos + o)) if o else None

    def tables(self, slot):
        o = self._offset(slot)
        start = self._t.Vector(o) if o else 0
        return [_Table(self._t.Bytes, self._t.Indirect(start + 4 * i))
                for i in range(self._t.VectorLen(o) if o else 0)]

    def array(self, slot, dtype):
        o = self._offset(slot)
        if not o:
            return None
        return np.frombuffer(self._t.Bytes, dtype, self._t.VectorLen(o), self._t.Vector(o))


def _tensor(table, buffers):
    n = flatbuffers.number_types
    dtype = _TYPES[table.number(1, n.Int8Flags)]
    shape = table.array(0, "<i4")
    shape = () if shape is None else tuple(int(d) for d in shape)
    quantization = table.table(4)
    scale = zero = None
    axis = 0
    if quantization:
        scale, zero = quantization.array(2, "<f4"), quantization.array(3, "<i8")
        axis = quantization.number(6, n.Int32Flags)
    raw = buffers[table.number(2, n.Uint32Flags)].array(0, np.uint8)
    data = None if raw is None or not raw.size else raw.view(dtype).reshape(shape)
    return Tensor(dtype, shape, scale if scale is not None and scale.size else None,
                  0 if zero is None or not zero.size else zero, axis, data)


def _options(kind, table):
    options = {}
    for name, (slot, what, default) in OPERATORS[kind][1][1].items():
        if table is None:
            options[name] = default
        elif what == "i32s":
            value = table.array(slot, "<i4")
            options[name] = None if value is None else [int(v) for v in value]
        else:
            flags = _READERS.get(what, flatbuffers.number_types.Int8Flags)
            options[name] = table.number(slot, flags, default)
    for name, names in (("padding", PADDINGS), ("activation", ACTIVATIONS)):
        if name in options:
            options[name] = {v: k for k, v in names.items()}[options[name]]
    return options


def read_operators(content):
    """(kind or code, options, input tensor numbers, result tensor numbers) of the first subgraph,
    and its tensors."""
    n = flatbuffers.number_types
    root = _Table(content, flatbuffers.encode.Get(flatbuffers.packer.uoffset, content, 0))
    codes = [max(c.number(0, n.Int8Flags), c.number(3, n.Int32Flags)) for c in root.tables(1)]
    buffers, graph = root.tables(4), root.tables(2)[0]
    tensors = [_tensor(t, buffers) for t in graph.tables(0)]
    operators = []
    for o in graph.tables(3):
        code = codes[o.number(0, n.Uint32Flags)]
        kind = _NAMES.get(code, code)
        options = _options(kind, o.table(4)) if kind in OPERATORS else {}
        operators.append((kind, options, list(o.array(1, "<i4")), list(o.array(2, "<i4"))))
    return operators, tensors


def check(path, seed, sample_count):
    """(equal, different or without model) over operators and samples; prints what differs."""
    content = path.read_bytes()
    layers = Layers(content)
    operators, tensors = read_operators(content)
    rng = np.random.default_rng(seed)
    good = bad = 0
    for _ in range(sample_count):
        inputs = layers.random_inputs(rng)
        values = {d["index"]: a for d, a in zip(layers.inputs, inputs)}
        for i, (operator, results) in enumerate(zip(operators, layers.run(inputs))):
            kind, options, ins, outs = operator
            values.update(zip(outs, results))
            if kind not in MODELS:
                print(f"{path.name}: operator {i}: no model of operator {kind}")
                bad += 1
                continue
            operands = [None if t < 0 else tensors[t] for t in ins]
            case = Case("x", kind, operands, [tensors[t] for t in outs], options)
            given = [values[t] for t in ins if t >= 0 and tensors[t].data is None]
            reason = difference(case, given, results)
            if reason:
                print(f"{path.name}: operator {i} {kind}: {reason}")
            good, bad = good + (not reason), bad + bool(reason)
    return good, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", type=int, default=1)
    args = parser.parse_args()
    passed = failed = 0
    for path in args.models:
        good, bad = check(path, args.seed, args.samples)
        print(f"{path.name}: {good} operator results equal, {bad} not")
        passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
