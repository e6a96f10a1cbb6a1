# SPDX-License-Identifier: Apache-2.0
"""ADD_N of two to six tensors, some of them constant, or the same."""

import numpy as np
from case import Case, Tensor, const
from families import constant, special

PAIRS = [("ADD_N", "float32"), ("ADD_N", "int32")]
SHAPES = ((5,), (1,), (3, 4), (2, 3, 4), (1, 5, 7, 3), (), (17,))


def _case(name, dtype, inputs, samples=None):
    return Case(f"{dtype}_{name}", "ADD_N", inputs, [Tensor(dtype)], {},
                "ulp" if dtype == "float32" else "exact", samples=samples)


def cases(rng):
    for dtype in ("float32", "int32"):
        for i, shape in enumerate(SHAPES):
            for count in (2, 3, 6) if i < 4 else (2, 4):
                yield _case(f"{i}_{count}", dtype, [Tensor(dtype, shape) for _ in range(count)])
        x = Tensor(dtype, (2, 5))
        yield _case("itself", dtype, [x, x])
        yield _case("thrice", dtype, [x, Tensor(dtype, (2, 5)), x])
        yield _case("constant", dtype, [x, constant(rng, x)])
        yield _case("constant_first", dtype, [constant(rng, x), x, constant(rng, x)])
        values = special(dtype)
        yield _case("special", dtype, [Tensor(dtype, (len(values),))] * 2, lambda rng, v=values: [[v]])
        yield _case("ends", dtype, [Tensor(dtype, (len(values),)), Tensor(dtype, (len(values),))],
                    lambda rng, v=values: [[v, v[::-1]]])
    yield _case("one", "float32", [Tensor("float32", (3,))])
    yield _case("shapes", "float32", [Tensor("float32", (3,)), Tensor("float32", (1,))])
    yield Case("int8", "ADD_N", [Tensor("int8", (3,), 0.1), Tensor("int8", (3,), 0.1)], [Tensor("int8", (), 0.1)])
