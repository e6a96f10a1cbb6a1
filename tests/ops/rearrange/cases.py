# SPDX-License-Identifier: Apache-2.0
"""REVERSE_V2, TILE, BROADCAST_TO, MIRROR_PAD, DEPTH_TO_SPACE, SPACE_TO_DEPTH, SPACE_TO_BATCH_ND and
BATCH_TO_SPACE_ND of every type: sizes of one, odd sizes, blocks that borders cut, and what LiteRT refuses."""

import numpy as np
from case import Case, const
from moved import TYPES, one_sample, tensor

KINDS = ("REVERSE_V2", "TILE", "BROADCAST_TO", "MIRROR_PAD", "DEPTH_TO_SPACE", "SPACE_TO_DEPTH",
         "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND")
OF_DEPTH = ("int8", "float32", "int32", "int64", "uint8")
PAIRS = [(kind, dtype) for kind in KINDS for dtype in (OF_DEPTH if "DEPTH" in kind else TYPES)]
PAIR_BY = "outputs"

REVERSES = (
    ((5,), (0,)), ((1,), (0,)), ((3, 4), (0,)), ((3, 4), (1,)), ((3, 4), (0, 1)), ((3, 4), (-1,)),
    ((2, 3, 4), (0,)), ((2, 3, 4), (1,)), ((2, 3, 4), (2,)), ((2, 3, 4), (1, 2)), ((2, 3, 4), (0, 1)),
    ((2, 3, 4), (2, 1, 0)), ((1, 5, 3, 2), (1,)), ((1, 5, 3, 2), (2,)), ((1, 5, 3, 2), (1, 2)),
    ((1, 5, 3, 2), (-1,)), ((1, 1, 7, 1), (2,)), ((2, 1, 3, 1, 4), (1, 2, 3)), ((17,), (-1,)),
    ((1, 16), (1,)), ((2, 3, 8), (1,)), ((2, 3), (0, 0)), ((2, 3), (2,)), ((2, 3, 4), (0, 2)),
)
TILES = (
    ((5,), (1,)), ((5,), (3,)), ((1,), (7,)), ((3, 4), (2, 1)), ((3, 4), (1, 2)), ((3, 4), (2, 3)),
    ((1, 4), (3, 1)), ((3, 1), (1, 5)), ((1, 1), (2, 2)), ((2, 3, 4), (1, 1, 2)), ((2, 3, 4), (1, 2, 1)),
    ((2, 3, 4), (2, 1, 1)), ((2, 1, 3), (1, 4, 2)), ((2, 2, 2), (3, 2, 2)), ((1, 2, 2, 3), (1, 2, 2, 1)),
    ((1, 2, 2, 1), (1, 1, 1, 4)), ((2, 1, 1, 8), (1, 3, 3, 1)), ((1, 17), (2, 1)), ((4, 9), (1, 2)),
    ((2, 1, 2, 1, 2), (1, 2, 2, 2, 1)), ((6, 6), (2, 2)), ((2, 3), (1, -1)),
)
BROADCASTS = (
    ((3,), (2, 3)), ((1,), (4,)), ((1,), (1,)), ((2, 1, 3), (2, 5, 3)), ((1, 1), (3, 2, 4)), ((2, 3), (2, 3)),
    ((4, 1), (4, 6)), ((1, 6), (4, 6)), ((1, 4, 1), (3, 4, 5)), ((5,), (3, 2, 5)), ((5, 1), (2, 5, 3)),
    ((2, 1, 1, 3), (2, 4, 4, 3)), ((1, 1, 1, 1), (2, 3, 2, 3)), ((3, 1, 2), (3, 7, 2)), ((8,), (9, 8)),
    ((1, 3, 1, 2), (2, 3, 4, 2)), ((17, 1), (17, 3)), ((1, 17), (3, 17)), ((2, 2, 1), (2, 2, 9)),
    ((1, 2, 1, 2), (3, 2, 3, 2)), ((2, 3), (3, 3)), ((2, 3), (3,)),
)
MIRRORS = (
    ((5,), ((2, 1),)), ((5,), ((0, 4),)), ((5,), ((4, 0),)), ((1,), ((0, 0),)), ((2,), ((1, 1),)),
    ((3, 4), ((1, 2), (2, 1))), ((3, 4), ((0, 0), (3, 3))), ((3, 4), ((2, 2), (0, 0))),
    ((2, 3, 4), ((1, 1), (2, 2), (3, 3))), ((2, 3, 4), ((0, 0), (1, 0), (0, 2))),
    ((1, 4, 5, 3), ((0, 0), (1, 1), (1, 1), (0, 0))), ((1, 4, 5, 3), ((0, 0), (3, 2), (0, 4), (0, 0))),
    ((1, 4, 5, 3), ((0, 0), (0, 0), (2, 2), (0, 0))), ((2, 3, 3, 1), ((0, 0), (2, 2), (2, 2), (0, 0))),
    ((1, 2, 2, 8), ((0, 0), (1, 0), (0, 1), (0, 0))), ((1, 9, 2), ((0, 0), (4, 4), (0, 0))),
    ((2, 2, 2, 2), ((1, 1), (1, 1), (1, 1), (1, 1))), ((6, 1), ((5, 5), (0, 0))),
    ((1, 16), ((0, 0), (15, 15))), ((3, 3), ((1, 1), (1, 1))), ((4,), ((5, 0),)), ((4,), ((-1, 0),)),
)
SPACES = (  # of the wide side, and the block
    ((1, 2, 2, 1), 2), ((1, 2, 2, 3), 2), ((1, 4, 4, 1), 2), ((1, 4, 6, 2), 2), ((2, 4, 2, 3), 2),
    ((1, 3, 3, 1), 3), ((1, 6, 3, 2), 3), ((2, 3, 6, 1), 3), ((1, 4, 4, 4), 4), ((1, 8, 4, 1), 4),
    ((1, 5, 5, 2), 5), ((1, 1, 1, 1), 1), ((2, 3, 5, 4), 1), ((3, 2, 2, 2), 2), ((1, 2, 8, 1), 2),
    ((1, 8, 2, 5), 2), ((1, 6, 6, 3), 2), ((1, 2, 4, 8), 2), ((2, 6, 6, 1), 6), ((1, 10, 2, 2), 2),
    ((1, 2, 2, 17), 2), ((1, 9, 9, 2), 3),
)
BATCHES = (  # space, block, padding or crops
    ((1, 4, 4, 1), (2, 2), ((0, 0), (0, 0))), ((1, 4, 4, 3), (2, 2), ((0, 0), (0, 0))),
    ((2, 4, 6, 2), (2, 3), ((0, 0), (0, 0))), ((1, 3, 5, 2), (2, 2), ((1, 0), (0, 1))),
    ((1, 3, 5, 1), (2, 2), ((0, 1), (1, 0))), ((2, 5, 4, 1), (3, 2), ((1, 0), (1, 1))),
    ((1, 7, 1, 3), (2, 1), ((1, 0), (0, 0))), ((1, 1, 7, 3), (1, 4), ((0, 0), (0, 1))),
    ((1, 5, 5, 1), (4, 4), ((2, 1), (1, 2))), ((1, 6, 6, 2), (3, 3), ((0, 0), (0, 0))),
    ((3, 2, 2, 4), (2, 2), ((0, 0), (0, 0))), ((1, 9, 3, 2), (3, 1), ((0, 0), (0, 0))),
    ((1, 4, 4, 2), (1, 1), ((0, 0), (0, 0))), ((1, 4, 4, 2), (2, 2), ((2, 2), (2, 2))),
    ((1, 2, 3, 1), (2, 2), ((3, 1), (2, 3))), ((1, 10, 4), (2,), ((0, 0),)), ((1, 9, 4), (4,), ((2, 1),)),
    ((2, 7, 3), (8,), ((1, 0),)), ((1, 12, 5), (8,), ((4, 0),)), ((2, 3, 1), (3,), ((0, 0),)),
    ((1, 5, 2), (16,), ((11, 0),)), ((1, 8, 8, 1), (4, 2), ((2, 2), (0, 0))),
    ((1, 4, 5, 1), (2, 2), ((0, 0), (0, 0))), ((4, 4), (2,), ((0, 0),)),
)


def _case(kind, dtype, i, shape, constants, **options):
    name = f"{kind.lower()}_{dtype}_{i:02}"
    return one_sample(Case(name, kind, [tensor(dtype, shape), *(const(np.array(c, np.int32)) for c in constants)],
                           [tensor(dtype)], options))


def cases(rng):
    for dtype in TYPES:
        for kind, geometries in (("REVERSE_V2", REVERSES), ("TILE", TILES), ("BROADCAST_TO", BROADCASTS)):
            for i, (shape, numbers) in enumerate(geometries):
                case = _case(kind, dtype, i, shape, (numbers,))
                case.may_abort = min(numbers) < 0
                yield case
        for i, (shape, amounts) in enumerate(MIRRORS):
            yield _case("MIRROR_PAD", dtype, i, shape, (amounts,), mode=i % 2)
        for i in (4, 8, 11, 19):
            yield _case("MIRROR_PAD", dtype, 30 + i, *MIRRORS[i][:1], MIRRORS[i][1:], mode=1 - i % 2)
        for i, (shape, block) in enumerate(SPACES if dtype in OF_DEPTH else SPACES[:1]):
            n, h, w, c = shape
            yield _case("SPACE_TO_DEPTH", dtype, i, shape, (), block_size=block)
            deep = (n, h // block, w // block, c * block * block)
            yield _case("DEPTH_TO_SPACE", dtype, i, deep, (), block_size=block)
        for i, (shape, block, edges) in enumerate(BATCHES):
            yield _case("SPACE_TO_BATCH_ND", dtype, i, shape, (block, edges))
            blocks = [-(-(n + sum(e)) // b) for n, b, e in zip(shape[1:-1], block, edges)]
            batch = (shape[0] * int(np.prod(block)), *blocks, shape[-1])
            yield _case("BATCH_TO_SPACE_ND", dtype, i, batch, (block, edges))
    for kind in ("SPACE_TO_DEPTH", "DEPTH_TO_SPACE"):
        yield _case(kind, "int8", 90, (1, 3, 4, 6), (), block_size=2)
        zero = _case(kind, "int8", 91, (1, 4, 4, 4), (), block_size=0)
        zero.may_abort = True
        yield zero
