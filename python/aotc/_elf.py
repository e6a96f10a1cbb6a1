# SPDX-License-Identifier: Apache-2.0
"""Sizes of the functions of an object file (ELF, little-endian)."""
from __future__ import annotations

import pathlib
import struct

_SYMBOLS, _FUNCTION = 2, 2  # SHT_SYMTAB, STT_FUNC


def function_sizes(path: pathlib.Path) -> dict[str, int]:
    """Bytes by function name; parts that the compiler split off (`name.part.0`) count with their function. Empty if
    the file cannot be read: the figure is a hint."""
    try:
        data = path.read_bytes()
        return _sizes(data) if data[:4] == b"\x7fELF" and data[5] == 1 else {}
    except (OSError, struct.error, IndexError):
        return {}


def _sizes(data: bytes) -> dict[str, int]:
    wide = data[4] == 2
    at = struct.unpack_from("<Q", data, 40)[0] if wide else struct.unpack_from("<I", data, 32)[0]
    entry, count = struct.unpack_from("<HH", data, 58 if wide else 46)
    # Of each section: type, offset, size, link.
    sections = [struct.unpack_from("<4xI16xQQI" if wide else "<4xI8xIII", data, at + i * entry) for i in range(count)]
    out: dict[str, int] = {}
    for kind, offset, size, link in sections:
        if kind != _SYMBOLS:
            continue
        names = sections[link][1]
        for place in range(offset, offset + size, 24 if wide else 16):
            if wide:
                name, info, _, length = struct.unpack_from("<IB3xQQ", data, place)
            else:
                name, _, length, info = struct.unpack_from("<IIIB", data, place)
            if info & 15 == _FUNCTION and length > 0:
                text = data[names + name:data.index(b"\0", names + name)].decode(errors="replace").split(".")[0]
                out[text] = out.get(text, 0) + length
    return out
