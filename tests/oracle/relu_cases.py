# SPDX-License-Identifier: Apache-2.0
"""RELU, RELU6 and RELU_N1_TO_1: int8 with a change of quantisation, float32."""

import int16_cases
import uint8_cases
from case import Case, Tensor
from patterns import unary_cases

QUANTIZATIONS = (
    (0.05, -3, 0.05, -3),
    (0.1, 0, 0.1, 0),
    (0.05, -128, 0.05, -128),
    (0.05, 127, 0.05, 127),
    (0.1, 5, 0.03, -128),
    (0.03, -7, 0.1, 9),
    (1.0, -1, 0.01, 0),
    (0.01, 1, 1.0, 0),
    (1e-5, 3, 2e-5, 4),
    (1e4, 3, 3e4, 4),
    (0.5, 0, 1.0, 0),
    (1 / 3, 10, 1 / 7, -20),
    (6 / 255, -128, 6 / 255, -128),
    (1e-9, 2, 1.0, 3),
    (0.02, 0, 0.0235, -128),
    (0.7, 127, 0.9, 127),
    (0.1, -100, 0.6, -100),
    (0.7, -100, 0.2, -128),
    (0.3, -128, 0.2, -128),
    (0.1, -128, 0.14, -128),
    (0.9, -128, 0.6, -128),
)


def cases(kind, of_int16):
    """`of_int16` gives cases of int16."""
    yield from _cases(kind, of_int16)
    yield from uint8_cases.of(_cases(kind, of_int16))


def _cases(kind, of_int16):
    yield from unary_cases(kind, QUANTIZATIONS)
    yield Case("int32", kind, [Tensor("int32", (3,))], [Tensor("int32")])
    yield Case("int8_to_float32", kind, [Tensor("int8", (3,), 0.1)], [Tensor("float32")])
    yield from of_int16(kind)


def of_int16(kind):
    yield from int16_cases.relus(kind)
    yield from int16_cases.zero_points(kind, 0.001)
