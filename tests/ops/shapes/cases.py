# SPDX-License-Identifier: Apache-2.0
"""Operators that work out shapes: SHAPE, RANK, FILL, ZEROS_LIKE, RANGE, BROADCAST_TO, BROADCAST_ARGS,
GATHER, REDUCE_PROD, SUM, REDUCE_MAX, REDUCE_MIN, and int64 arithmetic. aotc computes them itself, so
each result meets an input of the model in a MAXIMUM."""

import numpy as np
from case import Case, Tensor, const

I32, I64, F32 = np.int32, np.int64, np.float32


def _case(name, kind, inputs, dtype, scale=None, zero=0, **options):
    tensor = Tensor(np.dtype(dtype).name, (), scale, zero)
    return Case(name, kind, inputs, [tensor], options, join=tensor)


def _ints(*values, dtype=I32):
    return const(np.array(values, dtype))


def cases(rng):
    for shape in ((), (5,), (1, 7, 1), (2, 3, 4, 5)):
        x = Tensor("float32", shape)
        dims = "x".join(map(str, shape)) or "scalar"
        if shape:
            yield _case(f"shape_i32_{dims}", "SHAPE", [x], I32, out_type="int32")
            yield _case(f"shape_i64_{dims}", "SHAPE", [x], I64, out_type="int64")
        yield _case(f"rank_{dims}", "RANK", [x], I32)
        for dtype in (F32, I32, I64):
            yield _case(f"zeros_like_{np.dtype(dtype).name}_{dims}", "ZEROS_LIKE",
                        [Tensor(np.dtype(dtype).name, shape)], dtype)
    for dims in ((3,), (2, 1, 4), (1,)):
        text = "x".join(map(str, dims))
        for dtype in (F32, I32, I64):
            yield _case(f"fill_{np.dtype(dtype).name}_{text}", "FILL",
                        [_ints(*dims), const(np.array(-7, dtype))], dtype)
        yield _case(f"fill_int8_{text}", "FILL",
                    [_ints(*dims, dtype=I64), const(np.array(-9, np.int8), 0.5, 3)], np.int8, 0.5, 3)
    for name, values in (("up", (0, 7, 2)), ("down", (5, -4, -3)), ("one", (3, 4, 9)),
                         ("exact", (0, 8, 4)), ("negative", (-9, -2, 2)), ("wrong", (0, 5, -1))):
        for dtype in (I32, I64, F32):
            yield _case(f"range_{name}_{np.dtype(dtype).name}", "RANGE",
                        [const(np.array(v, dtype)) for v in values], dtype)
    yield _case("range_fraction", "RANGE", [const(np.array(v, F32)) for v in (0.1, 2.0, 0.3)], F32)
    for frm, to in (((3,), (2, 3)), ((1,), (4,)), ((2, 1, 3), (2, 5, 3)), ((1, 1), (3, 2, 4)),
                    ((2, 3), (2, 3)), ((2, 3), (3, 3))):
        text = "x".join(map(str, frm)) + "_" + "x".join(map(str, to))
        for dtype in (F32, I32):
            data = rng.integers(-50, 50, size=frm).astype(dtype)
            yield _case(f"broadcast_to_{np.dtype(dtype).name}_{text}", "BROADCAST_TO",
                        [const(data), _ints(*to)], dtype)
        if frm != to:
            case = _case(f"broadcast_args_{text}", "BROADCAST_ARGS", [_ints(*frm), _ints(*to)], I32)
            case.may_abort = frm == (2, 3)
            yield case
    yield _case("broadcast_args_i64", "BROADCAST_ARGS",
                [_ints(1, 6, dtype=I64), _ints(5, 1, dtype=I64)], I64)
    yield _case("broadcast_args_both", "BROADCAST_ARGS", [_ints(4, 1, 3), _ints(2, 1)], I32)
    yield from _gathers(rng)
    yield from _reductions(rng)
    for kind in ("ADD", "SUB", "MUL"):
        for name, a, b in (("pair", (1, -5, 1 << 40), (2, 3, 1 << 40)), ("scalar", (4, 9), (3,)),
                           ("wraps", ((1 << 63) - 1, -(1 << 63)), (2, -3))):
            yield _case(f"{kind.lower()}_i64_{name}", kind,
                        [_ints(*a, dtype=I64), _ints(*b, dtype=I64)], I64)


def _gathers(rng):
    for name, shape, indices, axis, batch in (
            ("list", (5,), (0, 4, 2), 0, 0), ("rows", (4, 3), (3, 0), 0, 0),
            ("columns", (4, 3), (2, 2, 1), 1, 0), ("last", (2, 3, 4), (3, 0), -1, 0),
            ("table", (6,), ((0, 5), (1, 2)), 0, 0), ("batch", (2, 4), ((3, 0), (1, 1)), 1, 1),
            ("inner", (2, 3, 4), ((1, 0), (2, 2)), 1, 1), ("scalar", (4, 2), 3, 0, 0),
            ("outside", (4,), (4,), 0, 0)):
        for dtype in (F32, I32, I64):
            data = rng.integers(-90, 90, size=shape).astype(dtype)
            case = _case(f"gather_{name}_{np.dtype(dtype).name}", "GATHER",
                         [const(data), const(np.array(indices, I32))], dtype, axis=axis,
                         batch_dims=batch)
            case.may_abort = name == "outside"
            yield case
    yield _case("gather_i64_indices", "GATHER",
                [const(np.arange(6, dtype=I32)), _ints(5, 0, dtype=I64)], I32, axis=0)


def _reductions(rng):
    for kind in ("REDUCE_PROD", "SUM", "REDUCE_MAX", "REDUCE_MIN"):
        for name, shape, axes, keep in (
                ("list", (4,), (0,), False), ("keep", (4,), (0,), True),
                ("rows", (2, 3), (0,), False), ("columns", (2, 3), (-1,), False),
                ("outer_inner", (2, 3, 4), (0, 2), True), ("all", (2, 3, 2), (0, 1, 2), False),
                ("twice", (2, 3), (1, 1), False), ("scalar_axis", (4,), 0, False),
                ("scalar_axis_keep", (2, 3), -1, True)):
            for dtype in (I32, I64):
                data = rng.integers(-9, 9, size=shape).astype(dtype)
                yield _case(f"{kind.lower()}_{name}_{np.dtype(dtype).name}", kind,
                            [const(data), const(np.array(axes, I32))], dtype, keep_dims=keep)
        yield _case(f"{kind.lower()}_wraps", kind,
                    [_ints(1 << 30, 1 << 30, 7, -3), _ints(0)], I32, keep_dims=False)
