# SPDX-License-Identifier: Apache-2.0
"""CONCATENATION along any axis; int8 operands must share the result's quantisation."""

import uint8_cases
from case import Case, Tensor
from patterns import dtype_sweep

PAIRS = [("CONCATENATION", "uint8")]
PAIR_BY = "outputs"

GEOMETRIES = (
    (((1, 4, 4, 3), (1, 4, 4, 5)), 3),
    (((1, 4, 4, 3), (1, 2, 4, 3)), 1),
    (((2, 3), (2, 4)), -1),
    (((2, 3), (4, 3)), 0),
    (((5,), (1,), (3,)), 0),
    (((1, 2, 3), (1, 2, 3), (1, 2, 3)), 1),
    (((2, 2, 1, 2, 3), (2, 2, 4, 2, 3)), 2),
    (((2, 3),), 0),
    (((1, 1, 1, 1),) * 5, 3),
    (((3, 1, 2), (3, 7, 2)), -2),
)


def _case(name, dtype, shapes, axis, scale=None, zero=0):
    return Case(name, "CONCATENATION", [Tensor(dtype, s, scale, zero) for s in shapes],
                [Tensor(dtype, (), scale, zero)], dict(axis=axis))


def _requantised():
    """uint8 operands of other quantisations than the result's: each is scaled in float32."""
    scales = (0.1, 0.05, 0.2, 0.1 / 3, 0.07, 1.7)
    zeros = (128, 0, 255, 3, 200)
    for i, (shapes, axis) in enumerate(GEOMETRIES):
        for j, (scale, zero) in enumerate(((0.1, 128), (0.0625, 7), (0.3, 255), (0.011, 0))):
            case = _case(f"uint8_requantised_{i:02}_{j}", "uint8", shapes, axis, scale, zero)
            for k, t in enumerate(case.inputs):
                t.scale, t.zero_point = scales[(i + j + 2 * k) % 6], zeros[(i + 3 * j + k) % 5]
            if j == 0:  # one that is copied
                case.inputs[-1].scale, case.inputs[-1].zero_point = scale, zero
            yield case


def cases(rng):
    yield from _cases(rng)
    yield from uint8_cases.of(_cases(rng))
    yield from _requantised()


def _cases(rng):
    for i, (shapes, axis) in enumerate(GEOMETRIES):
        yield _case(f"int8_{i:02}", "int8", shapes, axis, 0.1, 3)
        yield _case(f"float32_{i:02}", "float32", shapes, axis)
    yield from dtype_sweep(rng, "CONCATENATION", lambda d, s, z: _case(
        f"type_{d}", d, ((2, 3), (2, 2)), 1, s, z))
    other = _case("int8_other_scale", "int8", ((2, 3), (2, 3)), 0, 0.1, 3)
    other.inputs[1].scale = 0.2
    yield other
    other = _case("int8_other_zero_point", "int8", ((2, 3), (2, 3)), 0, 0.1, 3)
    other.inputs[1].zero_point = 4
    yield other
    fused = _case("float32_relu", "float32", ((2, 3), (2, 3)), 0)
    fused.options["activation"] = "RELU"
    yield fused
    yield _case("int8_shapes_differ", "int8", ((2, 3), (3, 3)), 1, 0.1, 3)
