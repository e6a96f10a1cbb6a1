# SPDX-License-Identifier: Apache-2.0
"""Changes the order and the names of a .tflite file's inputs and outputs in place. The file is a flatbuffer (tables
with offsets), so an order of equal length is overwritten and a new name is appended."""
from __future__ import annotations

import struct
from typing import Sequence

from . import _errors


class _Table:
    """A table of the file, or a vector of such tables."""

    def __init__(self, data: bytearray, at: int):
        self.data, self.at = data, at

    def field(self, number: int) -> int:
        """The offset of the field; 0 if it is absent."""
        vtable = self.at - struct.unpack_from("<i", self.data, self.at)[0]
        size = struct.unpack_from("<H", self.data, vtable)[0]
        entry = 4 + 2 * number
        offset = struct.unpack_from("<H", self.data, vtable + entry)[0] if entry < size else 0
        return self.at + offset if offset else 0

    def target(self, number: int) -> int:
        """The target of the offset in a field; 0 if the field is absent."""
        at = self.field(number)
        return at + _u32(self.data, at) if at else 0

    def tables(self, number: int) -> list[_Table]:
        at = self.target(number)
        places = range(at + 4, at + 4 + 4 * _u32(self.data, at), 4) if at else ()
        return [_Table(self.data, place + _u32(self.data, place)) for place in places]

    def text(self, number: int) -> str:
        at = self.target(number)
        return bytes(self.data[at + 4:at + 4 + _u32(self.data, at)]).decode() if at else ""

    def set_text(self, number: int, text: str) -> None:
        """Appends the text and leads the field's offset there."""
        self.data += bytes(-len(self.data) % 4)
        struct.pack_into("<I", self.data, self.field(number), len(self.data) - self.field(number))
        encoded = text.encode()
        self.data += struct.pack("<I", len(encoded)) + encoded + b"\0"

    def number(self, number: int) -> int:
        at = self.field(number)
        return _u32(self.data, at) if at else 0


def _u32(data: bytearray, at: int) -> int:
    return int(struct.unpack_from("<I", data, at)[0])


# Fields of the schema: Model, SubGraph, SignatureDef, TensorMap.
_SUBGRAPHS, _SIGNATURES = 2, 7
_TENSORS, _TENSOR_NAME = 0, 3
_OF_SUBGRAPH, _OF_SIGNATURE = {"inputs": 1, "outputs": 2}, {"inputs": 0, "outputs": 1}
_SUBGRAPH_INDEX = 4
_NAME, _TENSOR = 0, 1


def rewire(model: bytes, inputs: Sequence[tuple[str, str]], outputs: Sequence[tuple[str, str]]) -> bytes:
    """The model with its inputs and outputs in the order of these lists. Each entry is a name in the model's only
    signature and its replacement. Raises ModelError if the signature has other names."""
    data = bytearray(model)
    try:
        root = _Table(data, _u32(data, 0))
        [signature] = root.tables(_SIGNATURES)
        subgraph = root.tables(_SUBGRAPHS)[signature.number(_SUBGRAPH_INDEX)]
        for kind, wanted in (("inputs", inputs), ("outputs", outputs)):
            maps = {entry.text(_NAME): entry for entry in signature.tables(_OF_SIGNATURE[kind])}
            if sorted(maps) != sorted(old for old, _ in wanted):
                raise _lost(kind, [new for old, new in wanted if old not in maps])
            at = subgraph.target(_OF_SUBGRAPH[kind])
            count = _u32(data, at)
            had = struct.unpack_from(f"<{count}i", data, at + 4)
            order = [maps[old].number(_TENSOR) for old, _ in wanted]
            if sorted(had) != sorted(order):
                raise _lost(kind, [new for (_, new), tensor in zip(wanted, order) if order.count(tensor) > 1])
            struct.pack_into(f"<{count}i", data, at + 4, *order)
            for old, new in wanted:
                maps[old].set_text(_NAME, new)
                if kind == "inputs":  # messages name the tensor
                    subgraph.tables(_TENSORS)[maps[old].number(_TENSOR)].set_text(_TENSOR_NAME, new)
    except (struct.error, ValueError, IndexError) as error:
        raise _errors.InternalError(f"the converter's .tflite file has no readable signature: {error!r}") from error
    return bytes(data)


def _lost(kind: str, names: Sequence[str]) -> _errors.ModelError:
    listed = ", ".join(repr(name) for name in names) or "some"
    return _errors.ModelError(f"error: the converter merged or dropped {kind} of the model: {listed} [converter]\n"
                              f"  help: omit {kind} that nothing reads, that are constant, or that are equal")
