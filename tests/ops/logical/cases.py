# SPDX-License-Identifier: Apache-2.0
"""LOGICAL_AND, LOGICAL_OR and LOGICAL_NOT of bool."""

from case import Case, Tensor
from families import binary, unary

KINDS = ("LOGICAL_AND", "LOGICAL_OR")
PAIRS = [(k, "bool") for k in KINDS + ("LOGICAL_NOT",)]


def cases(rng):
    for kind in KINDS:
        yield from binary(rng, kind, "bool")
    yield from unary(rng, "LOGICAL_NOT", "bool")
    yield Case("logical_and_int8", "LOGICAL_AND", [Tensor("int8", (3,)), Tensor("int8", (3,))],
               [Tensor("int8")])
