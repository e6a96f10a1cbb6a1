# SPDX-License-Identifier: Apache-2.0
"""SELECT, whose condition may rule whole rows, and SELECT_V2, which broadcasts."""

import numpy as np
from case import Case, Tensor, const
from families import constant, tensor

TYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float32")
PAIRS = [(k, t) for k in ("SELECT", "SELECT_V2") for t in TYPES]
Q = (0.05, -3)
# Shapes of condition and operands.
OF_BOTH = (((4,), (4,), (4,)), ((2, 3, 4), (2, 3, 4), (2, 3, 4)), ((1,), (1,), (1,)),
           ((), (), ()), ((1, 5, 7, 3), (1, 5, 7, 3), (1, 5, 7, 3)), ((17,), (17,), (17,)),
           ((2, 1, 3, 1, 4), (2, 1, 3, 1, 4), (2, 1, 3, 1, 4)), ((33, 2), (33, 2), (33, 2)))
ROWS = (((), (2, 3), (2, 3)), ((3,), (3, 5), (3, 5)), ((2,), (2, 3, 4), (2, 3, 4)), ((1,), (1, 6), (1, 6)),
        ((), (7,), (7,)), ((2,), (2, 1, 3, 2), (2, 1, 3, 2)), ((), (1, 2, 3, 4), (1, 2, 3, 4)))
BROADCASTS = (((1,), (2, 3), (2, 3)), ((2, 3), (1,), (2, 3)), ((2, 3), (3,), ()),
              ((4, 1), (1, 5), (1,)), ((2, 1, 3), (1, 4, 1), (2, 4, 3)), ((3,), (2, 3), (1, 1)),
              ((), (), (2, 2)))


def _tensor(dtype, shape):
    return Tensor(dtype, shape, 0.001, 0) if dtype == "int16" else tensor(dtype, shape, Q)


def _case(name, kind, dtype, shapes, **more):
    return Case(f"{kind.lower()}_{dtype}_{name}", kind,
                [Tensor("bool", shapes[0]), _tensor(dtype, shapes[1]), _tensor(dtype, shapes[2])],
                [_tensor(dtype, shapes[1] if shapes[1] == (1,) else ())], **more)


def cases(rng):
    for kind, dtype in PAIRS:
        own = ROWS if kind == "SELECT" else BROADCASTS
        for i, shapes in enumerate(OF_BOTH + own):
            yield _case(f"shapes_{i:02}", kind, dtype, shapes)
        for side in (0, 1, 2):
            case = _case(f"constant_{side}", kind, dtype, OF_BOTH[1])
            case.inputs[side] = constant(rng, case.inputs[side])
            yield case
        case = _case("constant_rows", kind, dtype, own[1])
        case.inputs[0] = const(np.resize([True, False], case.inputs[0].shape))
        yield case
        case = _case("itself", kind, dtype, OF_BOTH[4])
        case.inputs[2] = case.inputs[1]
        yield case
        if dtype == "bool":
            case = _case("condition_itself", kind, dtype, OF_BOTH[1])
            case.inputs[0] = case.inputs[1]
            yield case
    for shapes in (((2,), (3, 2), (3, 2)), ((2, 3), (2, 3), (3,))):
        yield _case(f"does_not_fit_{len(shapes[0])}", "SELECT", "int32", shapes)
    two = _case("two_scales", "SELECT_V2", "int8", OF_BOTH[0])
    two.inputs[1] = Tensor("int8", OF_BOTH[0][1], 0.1, 0)
    yield two
