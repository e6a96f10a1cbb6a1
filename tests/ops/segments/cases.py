# SPDX-License-Identifier: Apache-2.0
"""UNSORTED_SEGMENT_SUM and its relatives with numbers that are inputs or constants, and SEGMENT_SUM, whose numbers
are constants. LiteRT refuses numbers that are too large when it runs, and leaves out those below 0."""

import numpy as np
from case import Case, Tensor, const, random_samples

TYPES = ("float32", "int32")
UNSORTED = ("UNSORTED_SEGMENT_SUM", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN")
PAIRS = [(k, t) for k in UNSORTED + ("SEGMENT_SUM",) for t in TYPES]
PAIR_BY = "outputs"

SHAPES = (  # data, numbers, segments
    ((5,), (5,), 3), ((6,), (6,), 1), ((1,), (1,), 2), ((4, 3), (4,), 2), ((7, 2), (7,), 9), ((3, 4), (3, 4), 5),
    ((2, 3, 4), (2,), 2), ((2, 3, 4), (2, 3), 4), ((9, 1), (9,), 4), ((2, 2, 2, 2), (2, 2, 2), 3), ((17, 5), (17,), 6),
)
SORTED = ([0], [0, 0, 1], [0, 1, 2, 3], [0, 0, 0, 0, 0], [0, 1, 1, 2, 2, 2], list(range(12)))
TAILS = ((), (3,), (2, 2), (5,))


def _unsorted(name, kind, dtype, shape, numbers, segments, fixed=None):
    ids = Tensor("int32", numbers) if fixed is None else const(fixed)
    case = Case(name, kind, [Tensor(dtype, shape), ids, const(np.int32(segments))], [Tensor(dtype)],
                kernels="builtin")

    def samples(rng):
        out = []
        for i, sample in enumerate(random_samples(case, rng)):
            drawn = rng.integers(-1 if i == 2 else 0, segments, numbers).astype(np.int32)
            if i == 2:
                drawn.flat[0] = np.iinfo(np.int32).min
            out.append([sample[0], drawn])
        return out
    if fixed is None:
        case.samples = samples
    return case


def cases(rng):
    for kind in UNSORTED:
        for dtype in TYPES:
            for i, (shape, numbers, segments) in enumerate(SHAPES):
                tag = f"{kind.removeprefix('UNSORTED_SEGMENT_').lower()}_{dtype}_{i:02}"
                yield _unsorted(tag, kind, dtype, shape, numbers, segments)
                fixed = rng.integers(-2, segments, numbers).astype(np.int32)
                yield _unsorted(tag + "_constant", kind, dtype, shape, numbers, segments, fixed)
    for dtype in TYPES:
        for i, numbers in enumerate(SORTED):
            for j, tail in enumerate(TAILS):
                yield Case(f"sorted_{dtype}_{i}_{j}", "SEGMENT_SUM",
                           [Tensor(dtype, (len(numbers),) + tail), const(np.int32(numbers))], [Tensor(dtype)],
                           kernels="builtin")
    special = np.float32([np.nan, 1, 2, np.nan, -np.inf, 3, 0.0, -0.0, 3e38, 3e38])
    for kind in UNSORTED:
        case = _unsorted(f"special_{kind.lower()}", kind, "float32", (10,), (10,), 5,
                         np.int32([0, 0, 1, 1, 2, 2, 3, 3, 4, 4]))
        case.samples = lambda rng: [[special], [special[::-1]]]
        yield case
    case = _unsorted("out_of_range_constant", "UNSORTED_SEGMENT_SUM", "float32", (4,), (4,), 3, np.int32([0, 1, 2, 3]))
    yield case
    case = _unsorted("out_of_range", "UNSORTED_SEGMENT_SUM", "float32", (4,), (4,), 3)
    case.samples = lambda rng: [[np.ones(4), np.int32([0, 1, 2, 3])], [np.ones(4), np.int32([0, 0, 2, 2**31 - 1])]]
    yield case
    for tag, numbers in (("jumps", [0, 2]), ("falls", [0, 1, 0]), ("begins_late", [1, 2])):
        yield Case(f"sorted_{tag}", "SEGMENT_SUM", [Tensor("float32", (len(numbers), 2)), const(np.int32(numbers))],
                   [Tensor("float32")], kernels="builtin")
