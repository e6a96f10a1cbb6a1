# SPDX-License-Identifier: Apache-2.0
"""BITCAST between all types whose bytes are numbers, of one size and of others; ATAN2."""

import numpy as np
from case import Case, Tensor, const
from families import SHAPES, special

TYPES = ("int8", "uint8", "int16", "int32", "uint32", "int64", "float32")
PAIRS = [("BITCAST", t) for t in TYPES] + [("ATAN2", "float32")]


def cases(rng):
    for source in TYPES:
        for target in TYPES:
            a, b = np.dtype(source).itemsize, np.dtype(target).itemsize
            for i, shape in enumerate(((), (3,), (2, 5), (1, 3, 2, 2))):
                whole = shape + (b // a,) if b > a else shape
                yield _bits(f"bitcast_{source}_{target}_{i}", whole, source, target)
        yield Case(f"bitcast_{source}_constant", "BITCAST", [const(_bytes(rng, source, (6,)))], [Tensor(source)],
                   join=Tensor(source, (6,))) if source in ("int8", "uint8", "int16", "int32", "int64") else \
            _bits(f"bitcast_{source}_more", (9, 2), source, source)
    yield _bits("bitcast_no_whole_element", (3, 3), "int8", "int32")
    yield _bits("bitcast_bool", (3, 3), "bool", "int8")
    for turn in range(2):
        for i, shape in enumerate(SHAPES):
            shape = shape[::-1] if turn else shape
            yield _angle(f"atan2_{turn}_{i:02}", shape, shape)
    values = np.append(special("float32"), np.float32([0.0, -0.0, 1, -1, 1e-20, -1e20]))
    y, x = np.meshgrid(values, values)
    yield _angle("atan2_special", y.shape, x.shape, samples=lambda rng: [[y, x]])
    yield _angle("atan2_broadcast", (2, 3), (3,))


def _angle(name, y, x, **more):
    return Case(name, "ATAN2", [Tensor("float32", y), Tensor("float32", x)], [Tensor("float32")], {}, "ulp", 4,
                kernels="builtin", **more)


def _bytes(rng, dtype, shape):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    data = rng.integers(0, 256, size=size).astype(np.uint8)
    return np.frombuffer(data.tobytes(), dtype).reshape(shape)


def _bits(name, shape, source, target):
    def samples(rng):
        return [[_bytes(rng, source, shape)] for _ in range(3)]
    return Case(name, "BITCAST", [Tensor(source, shape)], [Tensor(target)], samples=samples, kernels="builtin")
