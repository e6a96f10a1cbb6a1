# SPDX-License-Identifier: Apache-2.0
"""MATRIX_DIAG and MATRIX_SET_DIAG of every type: one element, several matrices, matrices that are not
square."""

from case import Case
from moved import one_sample, tensor

TYPES = ("int8", "float32", "int16", "int32", "int64", "uint8")
PAIRS = [(k, t) for k in ("MATRIX_DIAG", "MATRIX_SET_DIAG") for t in TYPES]
PAIR_BY = "outputs"
ROWS = ((3,), (1,), (2, 3), (4, 1), (2, 2, 5), (1, 7), (3, 1, 2), (17,), (2, 1, 2, 3), (5, 4))
MATRICES = ((3, 3), (1, 1), (2, 4), (4, 2), (2, 3, 3), (2, 1, 5), (3, 5, 1), (2, 2, 2, 3), (1, 6, 6), (7, 9))


def cases(rng):
    for dtype in TYPES:
        for turn in range(2):
            for i, shape in enumerate(ROWS):
                more = (2,) * turn + shape
                yield one_sample(Case(f"matrix_diag_{dtype}_{turn}_{i}", "MATRIX_DIAG", [tensor(dtype, more)],
                                      [tensor(dtype)]))
            for i, shape in enumerate(MATRICES):
                more = (3,) * turn + shape
                rows = more[:-2] + (min(more[-2:]),)
                yield one_sample(Case(f"matrix_set_diag_{dtype}_{turn}_{i}", "MATRIX_SET_DIAG",
                                      [tensor(dtype, more), tensor(dtype, rows)], [tensor(dtype)]))
