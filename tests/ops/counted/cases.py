# SPDX-License-Identifier: Apache-2.0
"""WHERE and UNIQUE: results that have as many rows as the data says. No element that counts, and all of them."""

import numpy as np
from case import Case, Tensor, const
from families import special
from moved import tensor

WHERES = ("bool", "float32", "int64", "int32", "int8", "uint8", "uint32")
UNIQUES = ("int8", "uint8", "int16", "int32", "int64", "float32")
PAIRS = [("WHERE", t) for t in WHERES] + [("UNIQUE", t) for t in UNIQUES]
SHAPES = ((1,), (7,), (33,), (9,), (2, 3), (4, 1), (1, 5, 2), (2, 3, 4), (1, 3, 1, 2), (2, 1, 2, 1, 3), (3, 7))
LENGTHS = (1, 2, 5, 9, 16, 33, 50, 7, 3, 20)
BITS = np.float32([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-45, -1e-45, 3e38, 0.0, -1.5])


def cases(rng):
    for dtype in WHERES:
        for i, shape in enumerate(SHAPES):
            for known in (False, True):
                x = tensor(dtype, shape)
                data = _sparse(rng, dtype, shape, 1 if shape == (1,) else 2)
                if known:
                    x = const(data, x.scale, x.zero_point)
                case = Case(f"where_{dtype}_{i}{'_constant' * known}", "WHERE", [x],
                            [Tensor("int64", (1, len(shape)))], most_rows=None if known else int(np.prod(shape)))
                if known:
                    if not np.any(data):
                        continue
                    case.join = Tensor("int64", (1, 1))
                else:
                    case.samples = lambda rng, d=dtype, s=shape: [
                        [_sparse(rng, d, s, n)] for n in (1, 2, 7, 0)]
                yield case
    yield from _chains()
    yield from _refused_chains()
    yield Case("where_special", "WHERE", [Tensor("float32", (10,))], [Tensor("int64", (1, 1))], most_rows=10,
               samples=lambda rng: [[BITS], [-BITS]])
    yield Case("where_scalar", "WHERE", [Tensor("bool", ())], [Tensor("int64", (1, 0))], most_rows=1)
    for dtype in ("int16", "float64"):
        yield Case(f"where_{dtype}", "WHERE", [Tensor(dtype, (4,))], [Tensor("int64", (1, 1))], most_rows=4)
    for dtype in UNIQUES:
        for i, length in enumerate(LENGTHS):
            for index in ("int32", "int64"):
                yield Case(f"unique_{dtype}_{index}_{i}", "UNIQUE", [tensor(dtype, (length,))],
                           [tensor(dtype, (1,)), Tensor(index)], dict(idx_out_type=index), most_rows=length,
                           samples=lambda rng, d=dtype, n=length: [
                               [_repeated(rng, d, n, k)] for k in (1, 2, 5, 100)])
    zeros = np.float32([0.0, -0.0, 1.0, -0.0, np.inf, -np.inf, np.inf, 1e-45, 0.0])
    yield Case("unique_zeros", "UNIQUE", [Tensor("float32", (9,))], [Tensor("float32", (1,)), Tensor("int32")],
               dict(idx_out_type="int32"), most_rows=9, samples=lambda rng: [[zeros], [-zeros]])
    yield Case("unique_not_numbers", "UNIQUE", [Tensor("float32", (4,))], [Tensor("float32", (1,)), Tensor("int32")],
               dict(idx_out_type="int32"), most_rows=4, samples=lambda rng: [[[1.0, np.nan, 2.0, np.nan]]],
               undefined="the reference sorts by an order that NaN is not part of")
    yield Case("unique_rows", "UNIQUE", [Tensor("float32", (2, 2))], [Tensor("float32", (1,)), Tensor("int32")],
               dict(idx_out_type="int32"), most_rows=4)
    yield Case("unique_bool", "UNIQUE", [Tensor("bool", (3,))], [Tensor("bool", (1,)), Tensor("int32")],
               dict(idx_out_type="int32"), most_rows=3)
    yield Case("unique_other_index", "UNIQUE", [Tensor("int32", (3,))], [Tensor("int32", (1,)), Tensor("int64")],
               dict(idx_out_type="int32"), most_rows=3)


def _chain(name, shape, follow):
    return Case(f"behind_where_{name}", "WHERE", [Tensor("bool", shape)], [Tensor("int64", (1, len(shape)))],
                most_rows=int(np.prod(shape)), follow=follow,
                samples=lambda rng: [[_sparse(rng, "bool", shape, n)] for n in (1, 2, 7)])


def _open(m, name, dtype, *dims):
    """A tensor of open length."""
    return m.tensor(name, dtype, (1,) + dims, shape_signature=(-1,) + dims)


def _cast(m, outs):
    m.op("CAST", outs, [_open(m, "cast", "int32", 2)])
    return _last(m)


def _gathered_tuples(m, outs):
    values = np.arange(24, dtype=np.float32).reshape(3, 4, 2)
    values[0, 0] = 0  # what the rows that do not count get
    table = m.const("table", values)
    m.op("GATHER_ND", [table, outs[0]], [_open(m, "rows", "float32", 2)])
    m.op("SQUARE", [_last(m)], [_open(m, "square", "float32", 2)])
    return _last(m)


def _masked(m, outs):
    """As tf.boolean_mask is converted."""
    m.op("SQUEEZE", outs, [_open(m, "flat", "int64")], squeeze_dims=[1])
    cast = _open(m, "cast", "int32")
    m.op("CAST", [cast - 1], [cast])
    values = np.arange(21, dtype=np.int8).reshape(7, 3)
    values[0] = 0
    table = m.const("table", values)
    m.op("GATHER", [table, cast], [_open(m, "rows", "int8", 3)])
    return _last(m)


def _last(m):
    return len(m._tensors) - 1


def _chains():
    yield _chain("cast", (3, 4), _cast)
    yield _chain("gather_nd", (3, 4), _gathered_tuples)
    yield _chain("boolean_mask", (7,), _masked)


def _refused_chains():
    def total(m, outs):
        m.op("SUM", [outs[0], m.const("axes", np.int32([0]))], [m.tensor("sum", "int64", (2,))])
        return _last(m)

    def index(m, outs):  # rows that do not count would be no index
        m.op("CAST", outs, [_open(m, "cast", "float32", 1)])
        m.op("EXP", [_last(m)], [_open(m, "exp", "float32", 1)])
        back = _open(m, "back", "int32", 1)
        m.op("CAST", [back - 1], [back])
        m.op("GATHER_ND", [m.const("table", np.zeros((10000, 1), np.float32)), back],
             [_open(m, "rows", "float32", 1)])
        return _last(m)

    def shape(m, outs):
        m.op("SHAPE", outs, [m.tensor("shape", "int32", (2,))], out_type="int32")
        return _last(m)
    yield _chain("sum", (3, 4), total)
    yield _chain("shape", (3, 4), shape)
    yield _chain("other_indices", (7,), index)


def _sparse(rng, dtype, shape, one_of):
    """Every `one_of`th element, by chance, is not 0; with 0 none is."""
    values = special(dtype)
    data = rng.choice(values[values != 0], size=shape)
    keep = rng.integers(one_of, size=shape) == 0 if one_of else np.zeros(shape, bool)
    return np.where(keep, data, np.zeros((), data.dtype)).astype(data.dtype)


def _repeated(rng, dtype, length, different):
    if dtype == "float32":
        values = rng.standard_normal(different).astype(np.float32)
    else:
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, size=different, dtype=dtype, endpoint=True)
    return rng.choice(values, size=length)
