# SPDX-License-Identifier: Apache-2.0
"""Operators that LiteRT runs on stored values without a look at scales: every tensor has another scale and zero point.
Chains show that aotc's passes keep the scales apart: two transposes that cancel, a slice of a reshape, an addition behind."""

import numpy as np
from case import Case, Tensor, const
from families import drawn

SCALES = {"int8": ((0.05, -3), (0.07, 11), (0.02, 0)), "uint8": ((0.05, 100), (0.03, 7), (0.02, 128)),
          "int16": ((0.001, 0), (0.003, 0), (0.002, 0))}
IMAGE = (1, 4, 6, 4)
POOL = dict(padding="SAME", stride_h=1, stride_w=1, filter_h=3, filter_w=3, activation="RELU6")


def _tensor(dtype, shape=(), which=0):
    return Tensor(dtype, tuple(shape), *SCALES[dtype][which])


def _ints(*values):
    return const(np.array(values, np.int32))


def _unary(x, y, z):
    """(operator, shape, constant operands behind, options) of one operand."""
    yield "REVERSE_V2", (3, 4), [_ints(1)], {}
    yield "TRANSPOSE", (2, 3, 4), [_ints(2, 0, 1)], {}
    yield "RESHAPE", (2, 6), [_ints(3, 4)], dict(new_shape=[3, 4])
    yield "SQUEEZE", (1, 6, 1), [], dict(squeeze_dims=[])
    yield "SLICE", (4, 6), [_ints(1, 2), _ints(2, 3)], {}
    yield "STRIDED_SLICE", (4, 6), [_ints(0, 1), _ints(4, 6), _ints(2, 3)], {}
    yield "TILE", (2, 3), [_ints(2, 2)], {}
    yield "BROADCAST_TO", (1, 3), [_ints(4, 3)], {}
    yield "PAD", (2, 3), [const(np.array([[1, 2], [0, 1]], np.int32))], {}
    yield "GATHER", (4, 3), [_ints(2, 0, 2)], dict(axis=0, batch_dims=0)
    yield "GATHER_ND", (4, 3), [const(np.array([[2, 1], [0, 2]], np.int32))], {}
    yield "MATRIX_DIAG", (2, 3), [], {}
    yield "RESIZE_NEAREST_NEIGHBOR", IMAGE, [_ints(7, 5)], dict(align_corners=False, half_pixel_centers=False)
    yield "RESIZE_BILINEAR", IMAGE, [_ints(7, 5)], dict(align_corners=False, half_pixel_centers=True)
    yield "MAX_POOL_2D", IMAGE, [], POOL
    yield "AVERAGE_POOL_2D", IMAGE, [], POOL
    if x.dtype != "int16":
        yield "DEPTH_TO_SPACE", IMAGE, [], dict(block_size=2)
        yield "SPACE_TO_DEPTH", IMAGE, [], dict(block_size=2)
    if x.dtype != "int8":
        yield "REVERSE_SEQUENCE", (4, 3), [_ints(2, 4, 1)], dict(seq_dim=0, batch_dim=1)


def _others(rng, dtype, x, y, z):
    """(operator, operands, results, options) of several operands or results."""
    flags = const(np.array([True, False, True]))
    yield "PADV2", [x, const(np.array([[1, 0], [0, 2]], np.int32)), const(np.array([5], dtype), y.scale, y.zero_point)], [y], {}
    yield "SPLIT", [_ints(1), _tensor(dtype, (2, 6))], [y, z, _tensor(dtype)], dict(num_splits=3)
    yield "SPLIT_V", [_tensor(dtype, (2, 6)), _ints(4, 2), _ints(1)], [y, z], dict(num_splits=2)
    yield "TOPK_V2", [x, const(np.int32(2))], [y, Tensor("int32")], {}
    yield "EMBEDDING_LOOKUP", [_ints(2, 0), _tensor(dtype, (4, 3))], [y], {}
    yield "DYNAMIC_UPDATE_SLICE", [_tensor(dtype, (4, 3)), _tensor(dtype, (2, 3), 2), _ints(1, 0)], [y], {}
    yield "MATRIX_SET_DIAG", [_tensor(dtype, (3, 4)), _tensor(dtype, (3,), 2)], [y], {}
    for kind in ("MAXIMUM", "MINIMUM"):
        yield kind, [_tensor(dtype, (2, 3)), _tensor(dtype, (3,), 2)], [y], {}
    for kind in ("SELECT", "SELECT_V2"):
        yield kind, [flags, _tensor(dtype, (3,)), _tensor(dtype, (3,), 2)], [y], {}
    if dtype != "int16":
        yield "SCATTER_ND", [const(np.array([[3], [1]], np.int32)), _tensor(dtype, (2, 3)), _ints(5, 3)], [y], {}
        yield "ONE_HOT", [_ints(1, 0), const(np.int32(3)), _tensor(dtype), _tensor(dtype, (), 2)], [y], dict(axis=-1)
    else:
        yield "CONCATENATION", [_tensor(dtype, (2, 3)), _tensor(dtype, (2, 2), 2)], [y], dict(axis=1)
    fixed = _tensor(dtype, (2, 3), 2)
    yield "MAXIMUM", [_tensor(dtype, (2, 3)), const(drawn(rng, fixed), fixed.scale, fixed.zero_point)], [y], {}


def cases(rng):
    for dtype in SCALES:
        y, z = _tensor(dtype, (), 1), _tensor(dtype, (), 2)
        for kind, shape, more, options in _unary(_tensor(dtype), y, z):
            yield Case(f"{kind.lower()}_{dtype}", kind, [_tensor(dtype, shape), *more], [y], options)
        for i, (kind, inputs, outputs, options) in enumerate(_others(rng, dtype, _tensor(dtype, (2, 3)), y, z)):
            yield Case(f"{kind.lower()}_{dtype}_{i:02}", kind, inputs, outputs, options)
        yield _chain(f"transposes_{dtype}", "TRANSPOSE", dtype, (2, 3, 4), [_ints(2, 0, 1)], _transposed_back)
        yield _chain(f"sliced_{dtype}", "RESHAPE", dtype, (2, 6), [_ints(3, 4)], _sliced, new_shape=[3, 4])
        yield _chain(f"added_{dtype}", "REVERSE_V2", dtype, (2, 3, 4), [_ints(1)], _added)
    for kind, more, options in (("EXPAND_DIMS", [_ints(1)], {}), ("PACK", [], dict(axis=0, values_count=1)),
                                ("MIRROR_PAD", [const(np.array([[1, 1]], np.int32))], dict(mode=0))):
        yield Case(f"{kind.lower()}_refused", kind, [_tensor("int8", (4,)), *more], [_tensor("int8", (), 1)], options)
    fill = const(np.array([5], np.int8), *SCALES["int8"][0])
    yield Case("padv2_refused", "PADV2", [_tensor("int8", (4,), 1), const(np.array([[1, 1]], np.int32)), fill],
               [_tensor("int8", (), 1)])


def _chain(name, kind, dtype, shape, more, follow, **options):
    return Case(f"chain_{name}", kind, [_tensor(dtype, shape), *more], [_tensor(dtype, (), 1)], options,
                follow=lambda m, outputs: follow(m, dtype, outputs[0]))


def _next(m, dtype, shape, which):
    return m.tensor(f"next_{which}", dtype, shape, *SCALES[dtype][which])


def _transposed_back(m, dtype, x):
    back = _next(m, dtype, (2, 3, 4), 2)
    m.op("TRANSPOSE", [x, m.const("back", np.array([1, 2, 0], np.int32))], [back])
    return back


def _sliced(m, dtype, x):
    part = _next(m, dtype, (2, 2), 2)
    m.op("SLICE", [x, m.const("begin", np.array([1, 1], np.int32)), m.const("size", np.array([2, 2], np.int32))], [part])
    return part


def _added(m, dtype, x):
    turned, total = _next(m, dtype, (2, 3, 4), 0), _next(m, dtype, (2, 3, 4), 2)
    m.op("REVERSE_V2", [x, m.const("axis", np.array([1], np.int32))], [turned])
    m.op("ADD", [turned, x], [total], version=2)
    return total
