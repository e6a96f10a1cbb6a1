# SPDX-License-Identifier: Apache-2.0
"""Models as data that can be changed, written as .tflite, and given inputs.

A model's inputs are a function of the bytes of its file, so a file alone repeats a failure.
"""

import copy
import dataclasses
import pathlib
import struct
import sys
import typing
import zlib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
from tflite_builder import OPERATORS, TENSOR_TYPES, ModelBuilder  # noqa: E402

SAMPLES = 2


@dataclasses.dataclass
class Tensor:
    """`scale` None: not quantised. `data`: an array, or None. `type_number`: see ModelBuilder."""

    dtype: str
    shape: list
    scale: list | None = None
    zero_point: list = dataclasses.field(default_factory=lambda: [0])
    axis: int = 0
    data: typing.Any = None
    signature: list | None = None
    variable: bool = False
    type_number: int | None = None


@dataclasses.dataclass
class Op:
    kind: str
    inputs: list
    outputs: list
    options: dict = dataclasses.field(default_factory=dict)
    version: int = 1
    omit_options: bool = False


@dataclasses.dataclass
class Model:
    tensors: list = dataclasses.field(default_factory=list)
    ops: list = dataclasses.field(default_factory=list)
    inputs: list = dataclasses.field(default_factory=list)
    outputs: list = dataclasses.field(default_factory=list)

    def copy(self):
        return copy.deepcopy(self)

    def file(self):
        """The bytes of the .tflite."""
        b = ModelBuilder()
        for i, t in enumerate(self.tensors):
            data = None if t.data is None else np.ascontiguousarray(t.data).tobytes()
            b.tensor(name_of(i), t.dtype, t.shape, t.scale, t.zero_point, t.axis, data, t.signature,
                     t.variable, t.type_number)
        for op in self.ops:
            b.op(op.kind, op.inputs, op.outputs, op.version, op.omit_options, **op.options)
        return b.finish(self.inputs, self.outputs)

    @staticmethod
    def read(file):
        """As much of a file as judging it takes: operators, ports, scales, float constants."""
        return _read(file)

    def operand_values(self, tensor, results, inputs):
        """A float operand's elements: a constant's, an input's, or those among `results`."""
        if tensor in self.inputs and self.tensors[tensor].dtype == "float32":
            return np.frombuffer(inputs[self.inputs.index(tensor)], np.float32)
        if tensor < 0 or self.tensors[tensor].data is not None:
            return None if tensor < 0 else np.ravel(self.tensors[tensor].data)
        dtype, values = results.get(name_of(tensor), ("", b""))
        return np.frombuffer(values, np.float32) if dtype == "f32" else None


def name_of(tensor):
    return f"t{tensor}"


# --- What a file says, without any library's opinion of it -----------------------------------------

_DTYPES = {number: np.dtype(name) for name, number in TENSOR_TYPES.items()}
_KINDS = {code: kind for kind, (code, _) in OPERATORS.items()}


class _Table:
    """A FlatBuffers table and its fields by slot."""

    def __init__(self, data, at):
        self._data, self._at = data, at
        self._vtable = at - struct.unpack_from("<i", data, at)[0]

    def _field(self, slot):
        size = struct.unpack_from("<H", self._data, self._vtable)[0]
        position = 4 + 2 * slot
        offset = struct.unpack_from("<H", self._data, self._vtable + position)[0] \
            if position < size else 0
        return self._at + offset if offset else None

    def _target(self, at):
        return at + struct.unpack_from("<I", self._data, at)[0]

    def number(self, slot, form, default=0):
        at = self._field(slot)
        return default if at is None else struct.unpack_from("<" + form, self._data, at)[0]

    def table(self, slot):
        at = self._field(slot)
        return None if at is None else _Table(self._data, self._target(at))

    def tables(self, slot):
        at = self._field(slot)
        if at is None:
            return []
        at = self._target(at)
        count = struct.unpack_from("<I", self._data, at)[0]
        return [_Table(self._data, self._target(at + 4 + 4 * i)) for i in range(count)]

    def first_of(self, slot):
        """Where the first element of a list is."""
        return self._target(self._field(slot)) + 4

    def numbers(self, slot, form):
        at = self._field(slot)
        if at is None:
            return None
        at = self._target(at)
        count = struct.unpack_from("<I", self._data, at)[0]
        return list(struct.unpack_from(f"<{count}{form}", self._data, at + 4))


def with_scale(file, tensor, scale):
    """The file with another scale of a tensor that has one."""
    at = _root(file).tables(2)[0].tables(0)[tensor].table(4).first_of(2)
    return file[:at] + struct.pack("<f", scale) + file[at + 4:]


def _root(file):
    return _Table(file, struct.unpack_from("<I", file, 0)[0])


def _shape(tensor):
    """An open batch is 1."""
    shape = tensor.numbers(0, "i") or []
    signature = tensor.numbers(7, "i")
    if signature is not None and len(signature) == len(shape):
        shape = [1 if s < 0 else d for s, d in zip(signature, shape)]
    return [max(d, 0) for d in shape]


def input_types(file):
    """(shape, type) of every input."""
    subgraph = _root(file).tables(2)[0]
    tensors = subgraph.tables(0)
    return [(_shape(tensors[i]), _DTYPES.get(tensors[i].number(1, "b")))
            for i in subgraph.numbers(1, "i")]


def output_types(file):
    """(shape, type) of every output, as the file has them."""
    subgraph = _root(file).tables(2)[0]
    tensors = subgraph.tables(0)
    return [(_shape(tensors[i]), _DTYPES.get(tensors[i].number(1, "b")))
            for i in subgraph.numbers(2, "i")]


def _read(file):
    root = _root(file)
    buffers = [b.numbers(0, "B") or [] for b in root.tables(4)]
    codes = [max(c.number(0, "b"), c.number(3, "i")) for c in root.tables(1)]
    subgraph = root.tables(2)[0]
    model = Model(inputs=subgraph.numbers(1, "i") or [], outputs=subgraph.numbers(2, "i") or [])
    for raw in subgraph.tables(0):
        dtype = _DTYPES.get(raw.number(1, "b"), np.dtype(np.uint8))
        tensor = Tensor(dtype.name, _shape(raw))
        quantization = raw.table(4)
        if quantization is not None:
            tensor.scale = quantization.numbers(2, "f")
        data = bytes(buffers[raw.number(2, "I")])
        if data and len(data) % dtype.itemsize == 0:
            tensor.data = np.frombuffer(data, dtype)
        model.tensors.append(tensor)
    for raw in subgraph.tables(3):
        code = codes[raw.number(0, "I")]
        model.ops.append(Op(_KINDS.get(code, f"operator {code}"), raw.numbers(1, "i") or [],
                            raw.numbers(2, "i") or []))
    return model


_SPECIALS = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1e-40, 1.0, -1.0, 6.0],
                     dtype=np.float32)


def _quantises_rows(file):
    """Has it an operator with float activations and int8 weights? LiteRT's results are undefined where its
    input has a NaN or an infinity, or next to nothing but zeros."""
    model = _read(file)
    def dtype(op, i):
        return model.tensors[op.inputs[i]].dtype if len(op.inputs) > i and op.inputs[i] >= 0 else None
    return any(dtype(op, 0) == "float32" and dtype(op, 1) == "int8" for op in model.ops)


def samples_of(file):
    """SAMPLES lists of the bytes of every input."""
    rng = np.random.default_rng(zlib.crc32(file))
    specials = _SPECIALS[np.isin(np.abs(_SPECIALS), (0, 1, 6))] if _quantises_rows(file) else _SPECIALS
    return [[_values(rng, shape, dtype, which, specials).tobytes() for shape, dtype in input_types(file)]
            for which in range(SAMPLES)]


def _values(rng, shape, dtype, which, specials):
    """Sample 0 is all ordinary values; sample 1 has extremes among them."""
    if dtype is None:
        return np.zeros(0, np.uint8)
    if dtype == np.bool_:
        return rng.integers(0, 2, size=shape).astype(np.bool_)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if dtype.itemsize > 1 and which == 0:
            return rng.integers(max(info.min, -1000), 1000, size=shape, dtype=dtype)
        values = rng.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)
        if which == 1 and dtype.itemsize == 1:
            ends = np.array([info.min, info.max], dtype=dtype)
            values = np.where(rng.random(size=shape) < 0.5, rng.choice(ends, size=shape), values)
        return values.astype(dtype)
    values = rng.standard_normal(size=shape) * rng.choice([0.5, 2.0, 6.0])
    if which == 1:
        values = np.where(rng.random(size=shape) < 0.15, rng.choice(specials, size=shape), values)
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(dtype)
