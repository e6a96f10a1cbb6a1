# SPDX-License-Identifier: Apache-2.0
"""BATCH_MATMUL: float32 and int8, both operands computed, transposed or not, batches broadcast."""

import itertools

from case import Case, Tensor
from int16_cases import int16
from patterns import float32, int8

# name: batch of x, batch of y, rows, depth, columns
GEOMETRIES = {
    "plain": ((), (), 3, 5, 4), "one_element": ((), (), 1, 1, 1), "row": ((1,), (1,), 1, 9, 6),
    "column": ((1,), (1,), 6, 9, 1), "outer_product": ((), (), 5, 1, 4), "batch": ((3,), (3,), 2, 4, 5),
    "heads": ((1, 2), (1, 2), 4, 3, 4), "x_broadcast": ((1,), (3,), 2, 4, 5),
    "y_broadcast": ((3,), (1,), 2, 4, 5), "ranks": ((2, 3), (), 2, 4, 3), "ranks_y": ((), (2, 3), 2, 4, 3),
    "crossed": ((2, 1), (1, 3), 2, 4, 3), "rank5": ((2, 1, 2), (1, 3, 2), 2, 3, 2),
    "deep": ((2,), (2,), 2, 67, 3),
}
QUANTISATIONS = {
    "equal": (0.05, -3, 0.05, -3, 0.05, -3), "zero_min": (0.1, -128, 0.02, -128, 0.4, -128),
    "zero_max": (0.1, 127, 0.02, 127, 1.3, 127), "finer": (0.5, 4, 0.1, 0, 0.02, -100),
    "coarser": (0.01, 4, 0.01, -9, 1.0, 0), "saturates": (1.0, 100, 0.5, 3, 0.5, -20),
    "tiny_ratio": (1e-6, 1, 1e-5, 0, 1.0, 2), "halves": (0.5, 0, 1.0, 0, 1.0, 0),
    # sa * sb rounds in float32.
    "rounded_product": (0.0123456789, 3, 0.0987654321, -5, 0.0317, 4),
}


def _shapes(geometry, adj_x, adj_y):
    x_batch, y_batch, rows, depth, columns = geometry
    x, y = (rows, depth), (depth, columns)
    return x_batch + (x[::-1] if adj_x else x), y_batch + (y[::-1] if adj_y else y)


def _case(name, x, y, out, adj_x=False, adj_y=False):
    return Case(name, "BATCH_MATMUL", [x, y], [out], dict(adj_x=adj_x, adj_y=adj_y))


def cases(rng):
    for (name, geometry), (adj_x, adj_y) in itertools.product(
            GEOMETRIES.items(), itertools.product((False, True), repeat=2)):
        x, y = _shapes(geometry, adj_x, adj_y)
        tag = name + "_adj_x" * adj_x + "_adj_y" * adj_y
        yield _case(f"float32_{tag}", float32(x), float32(y), float32(), adj_x, adj_y)
        yield _case(f"int8_{tag}", int8(x, 0.05, -7), int8(y, 0.03, 11), int8((), 0.09, 5), adj_x, adj_y)
    for name, (sx, zx, sy, zy, so, zo) in QUANTISATIONS.items():
        yield _case(f"int8_q_{name}", int8((2, 9, 16), sx, zx), int8((2, 16, 20), sy, zy),
                    int8((), so, zo))
    for i, (name, geometry) in enumerate(GEOMETRIES.items()):
        x, y = _shapes(geometry, i % 3 == 0, i % 2 == 0)
        for other, scale in (("int16", 0.0007), ("int8", 0.03)):
            yield _case(f"int16_by_{other}_{name}", int16(x, 0.001), Tensor(other, y, scale, 0),
                        int16((), 0.004 if other == "int8" else 0.02), i % 3 == 0, i % 2 == 0)
    # Sums of 32 bits and of 64, multipliers that are shifted by 32 and others.
    for i, (sx, sy, so) in enumerate(((0.5, 1.0, 0.3), (1e-6, 1e-5, 1.0), (0.0123456789, 0.0987654321, 0.317))):
        for other in ("int16", "int8"):
            yield _case(f"int16_by_{other}_q_{i}", int16((2, 9, 16), sx), Tensor(other, (2, 16, 20), sy, 0),
                        int16((), so))
    yield _case("int16_by_int8_very_deep", int16((2, 700), 1e-4), int8((700, 3), 0.02, 0), int16((), 0.01))
    yield _case("int16_zero_point", int16((2, 3), 0.001, 5), int16((3, 5)), int16())
    yield _case("float32_depths_differ", float32((2, 3)), float32((4, 5)), float32())
    yield _case("float32_batches_differ", float32((2, 2, 3)), float32((3, 3, 5)), float32())
    yield _case("float32_rank1", float32((3,)), float32((3, 5)), float32())
    yield _case("int32", Tensor("int32", (2, 3)), Tensor("int32", (3, 5)), Tensor("int32"))
