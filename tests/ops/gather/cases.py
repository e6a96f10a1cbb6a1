# SPDX-License-Identifier: Apache-2.0
"""GATHER, GATHER_ND, SCATTER_ND, EMBEDDING_LOOKUP and DYNAMIC_UPDATE_SLICE with indices that are inputs or
constants, of every type. Indices that are out of range LiteRT refuses when it runs."""

import numpy as np
from case import Case, Tensor, const, random_samples
from moved import TYPES, tensor

I16, I32, I64 = "int16", "int32", "int64"
ADDED = ("int8", "float32", "int32", "int64", "uint8", "bool")
PAIRS = [(k, t) for k in ("GATHER", "GATHER_ND", "EMBEDDING_LOOKUP", "DYNAMIC_UPDATE_SLICE") for t in TYPES]
PAIRS += [("SCATTER_ND", t) for t in ADDED]
PAIR_BY = "outputs"

GATHERS = (  # shape, shape of the indices, axis, batch dimensions
    ((5,), (3,), 0, 0), ((5,), (), 0, 0), ((1,), (4,), 0, 0), ((4, 3), (2,), 0, 0), ((4, 3), (3,), 1, 0),
    ((4, 3), (2, 2), 1, 0), ((2, 3, 4), (2,), -1, 0), ((2, 3, 4), (5,), 1, 0), ((2, 3, 4), (), 2, 0),
    ((2, 4), (2, 3), 1, 1), ((2, 3, 4), (2, 2), 1, 1), ((2, 3, 4), (2, 3), 2, 1), ((2, 3, 4), (2, 3, 2), 2, 2),
    ((2, 2, 3), (2, 1, 2), 2, 1), ((17, 9), (4,), 0, 0), ((1, 16, 8), (16,), 1, 0), ((6, 2), (1, 1, 3), 0, 0),
)
NDS = (  # shape, shape of the indices
    ((5,), (3, 1)), ((5,), (1,)), ((4, 3), (2, 2)), ((4, 3), (2, 1)), ((4, 3), (1,)), ((4, 3), (2,)),
    ((2, 3, 4), (5, 3)), ((2, 3, 4), (5, 2)), ((2, 3, 4), (2, 2, 1)), ((2, 3, 4), (1, 2, 3)),
    ((2, 3, 4, 5), (3, 4)), ((2, 3, 4, 5), (3, 2)), ((1, 1), (4, 2)), ((7, 9), (6, 1)), ((3, 2, 8), (2, 3, 2)),
    ((9,), (2, 2, 1)), ((3, 3), (9, 2)), ((2, 2, 2), (4, 1)), ((5, 3), (2, 2, 2)),
)
LOOKUPS = (((4, 3), 2), ((1, 5), 4), ((9, 1), 7), ((3, 2, 2), 5), ((6, 17), 3), ((2, 4, 3, 2), 3), ((10, 8), 1))
UPDATES = (
    ((5,), (2,)), ((5,), (5,)), ((5,), (1,)), ((3, 4), (1, 4)), ((3, 4), (2, 2)), ((3, 4), (3, 1)),
    ((3, 4), (3, 4)), ((2, 3, 4), (1, 1, 4)), ((2, 3, 4), (2, 1, 2)), ((2, 3, 4), (1, 3, 4)),
    ((1, 8, 2, 4), (1, 1, 2, 4)), ((1, 4, 4, 3), (1, 2, 2, 3)), ((1, 1), (1, 1)), ((4, 9), (1, 9)),
)
INTS = {I16: np.int16, I32: np.int32, I64: np.int64}


def indices_in(sizes, shape, dtype):
    """Draws, and the ends of every dimension: the last dimension of `shape` goes through `sizes`."""
    def draw(rng):
        out = np.zeros(shape, INTS[dtype])
        flat = out.reshape(-1)
        for i in range(flat.size):
            size = sizes[i % len(sizes)]
            flat[i] = (0, size - 1, rng.integers(size))[int(rng.integers(3))]
        return out
    return draw


def _case(name, kind, parts, options=None, const_index=False, rng=None):
    """`parts`: tensors, and (Tensor, draw) for indices, in the operator's order."""
    inputs, draws = [], []
    for part in parts:
        if not isinstance(part, tuple):
            inputs.append(part)
            if part.data is None:
                draws.append(None)
        elif const_index:
            inputs.append(const(part[1](rng)))
        else:
            inputs.append(part[0])
            draws.append(part[1])
    data = next(t for t in inputs if t.data is None and not (t.dtype in INTS and kind == "EMBEDDING_LOOKUP"
                                                               and t is inputs[0]))
    moved = {"EMBEDDING_LOOKUP": 1, "SCATTER_ND": 1}.get(kind, 0)
    t = inputs[moved] if inputs[moved].data is None else data
    case = Case(name, kind, inputs, [tensor(t.dtype)], options or {})

    def samples(rng):
        out = []
        for sample in random_samples(case, rng, 2):
            out.append([a if d is None else d(rng) for a, d in zip(sample, draws)])
        return out
    case.samples = samples
    return case


def _index(dtype, shape, sizes):
    return Tensor(dtype, tuple(shape)), indices_in(sizes, shape, dtype)


def cases(rng):
    for dtype in TYPES:
        for i, (shape, indices, axis, batch) in enumerate(GATHERS):
            size, of = (shape[axis],), (I32, I64, I16)[i % 3]
            for fixed in (False, True) if i % 3 == 0 else (False,):
                yield _case(f"gather_{dtype}_{i:02}{'_constant' if fixed else ''}", "GATHER",
                            [tensor(dtype, shape), _index(of, indices, size)],
                            dict(axis=axis, batch_dims=batch), fixed, rng)
        for i, (shape, indices) in enumerate(NDS):
            of = (I32, I64, I16)[i % 3]
            for fixed in (False, True) if i % 3 == 0 else (False,):
                yield _case(f"gather_nd_{dtype}_{i:02}{'_constant' if fixed else ''}", "GATHER_ND",
                            [tensor(dtype, shape), _index(of, indices, shape[:indices[-1]])], None, fixed, rng)
        for i, (shape, count) in enumerate(LOOKUPS * 3):
            yield _case(f"embedding_lookup_{dtype}_{i:02}", "EMBEDDING_LOOKUP",
                        [_index(I32, (count,), shape[:1]), tensor(dtype, shape)], None, i % 3 == 1, rng)
        for i, (shape, part) in enumerate(UPDATES):
            for of in (I32, I64):
                yield _case(f"dynamic_update_slice_{dtype}_{of}_{i:02}", "DYNAMIC_UPDATE_SLICE",
                            [tensor(dtype, shape), tensor(dtype, part),
                             (Tensor(of, (len(shape),)), _begins(shape, part, of))], None, i % 5 == 3, rng)
    for dtype in ADDED:
        for i, (shape, indices) in enumerate(NDS * 2):
            rest = shape[indices[-1]:]
            yield _case(f"scatter_nd_{dtype}_{i:02}", "SCATTER_ND",
                        [_index(I32, indices, shape[:indices[-1]]), tensor(dtype, indices[:-1] + rest),
                         const(np.array(shape, np.int32))], None, i % 3 == 1, rng)
    yield from _out_of_range()


def _begins(shape, part, of):
    """Inside, and beyond either end: the box is moved back."""
    def draw(rng):
        wild = [int(rng.integers(-3, n + 3)) for n in shape]
        if rng.integers(3) == 0:
            info = np.iinfo(INTS[of])
            wild[0] = info.min if rng.integers(2) else info.max
        return np.array(wild, INTS[of])
    return draw


def _out_of_range():
    """LiteRT refuses these when it runs; as constants they are refused before."""
    for name, value in (("negative", -1), ("size", 4), ("least", np.iinfo(np.int32).min),
                        ("most", np.iinfo(np.int32).max)):
        for fixed in (False, True):
            index = const(np.array([0, value], np.int32)) if fixed else Tensor(I32, (2,))
            bad = lambda rng, value=value: [[np.zeros((4, 3), np.float32), np.array([0, value], np.int32)]]
            tag = f"{name}_{'constant' if fixed else 'input'}"
            for kind, options in (("GATHER", dict(axis=0)), ("GATHER_ND", {})):
                x = tensor("float32", (4, 3))
                yield Case(f"{kind.lower()}_{tag}", kind, [x, index], [tensor("float32")], options,
                           samples=(lambda rng: [[np.zeros((4, 3), np.float32)]]) if fixed else bad)
